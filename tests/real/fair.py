"""Fair's survey of married women on affairs (statsmodels): one row each, codes for words, and zeros."""

from statsmodels.datasets import fair

from .dataset import Dataset, Question, Table

CATALOG = """\
women:
  unit: id
  unit_unique: true
  columns:
    age: {lower: 15, upper: 45}
    yrs_married: {lower: 0, upper: 25}
    children: {lower: 0, upper: 6}
    educ: {lower: 8, upper: 20}
    affairs: {lower: 0, upper: 5}
    rate_marriage: {values: [1.0, 2.0, 3.0, 4.0, 5.0]}
    religious: {values: [1, 2, 3, 4]}
occupations: {public: true}
"""
BOUNDED = "SELECT * REPLACE (CASE WHEN affairs > 5 THEN 5 ELSE affairs END AS affairs) FROM source"
OCCUPATIONS = ["student", "farming, unskilled", "white-collar", "teacher, nurse", "managerial", "professional"]


def load():
    """Women with a number each, and what the codes of occupations mean."""
    women = fair.load_pandas().data.assign(id=lambda data: range(1, len(data) + 1))
    codes = women[["occupation"]].drop_duplicates().sort_values("occupation").reset_index(drop=True)
    return {
        "women": Table(women, "id", BOUNDED),
        "occupations": Table(codes.assign(meaning=OCCUPATIONS), "occupation"),
    }


QUESTIONS = [
    Question("SELECT AVG(affairs) AS mean, MEDIAN(age) AS age, AVG(children) AS children FROM women"),
    Question("SELECT rate_marriage, AVG(affairs) AS mean, COUNT(*) AS n FROM women GROUP BY rate_marriage", keys=1),
    Question(
        "SELECT rate_marriage, COUNT(*) FILTER (WHERE affairs > 0) * 1.0 / COUNT(*) AS share FROM women GROUP BY 1",
        keys=1,
    ),
    Question(
        "SELECT o.meaning, AVG(w.educ) AS educ FROM women w JOIN occupations o USING (occupation) GROUP BY 1", keys=1
    ),
    Question("SELECT CORR(age, yrs_married) AS r, COVAR_POP(age, children) AS c FROM women"),
    Question("SELECT CAST(age AS INTEGER) // 10 * 10 AS decade, COUNT(*) AS n FROM women GROUP BY 1", keys=1),
    Question(
        "SELECT occupation_husb, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM women "
        "GROUP BY occupation_husb",
        keys=1,
    ),
    Question(
        "SELECT religious, affairs > 0 AS unfaithful, COUNT(*) AS n FROM women GROUP BY CUBE (religious, unfaithful)",
        keys=2,
    ),
    Question("SELECT QUANTILE_DISC(educ, 0.25) AS low, QUANTILE_DISC(educ, 0.75) AS high FROM women"),
    Question(
        "SELECT ODDS_RATIO(affairs > 0, religious >= 3) AS odds FROM women",
        exact="SELECT COUNT(*) FILTER (WHERE affairs > 0 AND religious >= 3) * COUNT(*) FILTER (WHERE affairs = 0 AND "
        "religious < 3) / (COUNT(*) FILTER (WHERE affairs = 0 AND religious >= 3) * COUNT(*) FILTER (WHERE affairs > 0 "
        "AND religious < 3)) FROM women",
    ),
    Question(
        "SELECT AVG(CASE WHEN children = 0 THEN affairs END) AS without, AVG(CASE WHEN children > 0 THEN affairs END) "
        "AS with_children FROM women"
    ),
    Question("SELECT SUM(affairs) AS s FROM women WHERE age BETWEEN 20 AND 30 AND (educ > 14 OR children = 0)"),
    Question("SELECT MODE(religious) AS most, MODE(rate_marriage) AS rate FROM women"),
    Question(
        "SELECT yrs_married, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY yrs_married) AS up_to FROM women "
        "GROUP BY yrs_married ORDER BY yrs_married",
        keys=1,
    ),
]
DATASET = Dataset("fair", load, CATALOG, QUESTIONS)
