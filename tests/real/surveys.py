"""Small tables of statsmodels: school districts (star98), and travellers with a row for each way to travel."""

from statsmodels.datasets import modechoice, star98

from .dataset import Dataset, Question, Table

CATALOG = """\
districts:
  unit: district
  unit_unique: true
  columns:
    NABOVE: {lower: 0, upper: 2000}
    NBELOW: {lower: 0, upper: 2000}
    LOWINC: {lower: 0, upper: 100}
    AVSALK: {lower: 20, upper: 100}
    PTRATIO: {lower: 0, upper: 40}
    PCTCHRT: {lower: 0, upper: 100}
choices:
  unit: individual
  max_rows: 4
  columns:
    mode: {values: [1, 2, 3, 4]}
    hinc: {lower: 0, upper: 80}
    invc: {lower: 0, upper: 200}
    ttme: {lower: 0, upper: 100}
modes: {public: true}
"""
CUT = "SELECT * REPLACE (least(NABOVE, 2000) AS NABOVE, least(NBELOW, 2000) AS NBELOW) FROM source"


def load():
    """Districts by number; the four ways of each traveller."""
    districts = star98.load_pandas().data.assign(district=lambda data: range(1, len(data) + 1))
    choices = modechoice.load_pandas().data.astype({"individual": int, "mode": int, "choice": bool})
    modes = choices[["mode"]].drop_duplicates().reset_index(drop=True)
    return {
        "districts": Table(districts, "district", CUT),
        "choices": Table(choices),
        "modes": Table(modes.assign(name=["air", "train", "bus", "car"]), "mode"),
    }


QUESTIONS = [
    Question(
        "SELECT SUM(NABOVE) AS above, SUM(NABOVE) / SUM(NABOVE + NBELOW) AS share FROM districts",
        exact="SELECT SUM(least(NABOVE, 2000)), SUM(least(NABOVE, 2000)) / SUM(least(NABOVE + NBELOW, "
        "4000)) FROM raw.districts",
    ),
    Question(
        "SELECT CASE WHEN LOWINC < 25 THEN 'rich' WHEN LOWINC < 50 THEN 'middle' ELSE 'poor' END AS kind, "
        "AVG(AVSALK) AS pay, AVG(PTRATIO) AS pupils FROM districts GROUP BY kind",
        keys=1,
    ),
    Question("SELECT CORR(LOWINC, AVSALK) AS r, REGR_R2(AVSALK, LOWINC) AS r2 FROM districts", within=1),
    Question(
        "SELECT AVG(PCTCHRT > 0) AS some_charter FROM districts",
        exact="SELECT AVG((PCTCHRT > 0)::integer) FROM districts",
    ),
    Question("SELECT ROUND(PTRATIO) AS pupils, COUNT(*) AS n FROM districts GROUP BY pupils", keys=1, least=4),
    Question(
        "SELECT m.name, COUNT(*) AS chosen FROM choices c JOIN modes m ON c.mode = m.mode WHERE choice GROUP BY 1",
        keys=1,
    ),
    Question("SELECT mode, AVG(ttme) AS waiting, AVG(invc) AS cost FROM choices GROUP BY mode", keys=1),
    Question("SELECT choice, AVG(hinc) AS income FROM choices WHERE mode = 1 GROUP BY choice", keys=1),
    Question(
        "WITH t AS (SELECT individual, MIN(invc) AS cheapest, MAX(CASE WHEN choice THEN invc END) AS paid FROM choices "
        "GROUP BY individual) SELECT AVG(paid - cheapest) AS more, COUNT(*) FILTER (WHERE paid = "
        "cheapest) AS thrifty FROM t"
    ),
    Question(
        "SELECT COUNT(*) AS n FROM choices a JOIN choices b ON a.individual = b.individual AND a.mode < b.mode "
        "WHERE a.choice AND b.invc > a.invc"
    ),
]
DATASET = Dataset("surveys", load, CATALOG, QUESTIONS)
