"""The RAND health insurance experiment (statsmodels): visits to a doctor in a year, skewed and often zero.

The file names no people. Consecutive years with the same plan, limitation and disease score are taken for one person's.
Where the score was filled in with a mean, such a run has up to 122 years, far beyond the owner's limit of five.
"""

import math

import numpy as np
from statsmodels.datasets import randhie

from .dataset import Dataset, Question, Table

LIMIT = 5
CATALOG = f"""\
years:
  unit: person
  max_rows: {LIMIT}
  columns:
    mdvis: {{lower: 0, upper: 30}}
    disea: {{lower: 0, upper: 60}}
    lncoins: {{lower: 0, upper: 5}}
    lpi: {{lower: 0, upper: 8}}
    health: {{values: [excellent, good, fair, poor]}}
enrolees:
  unit: person
  unit_unique: true
  columns:
    disea: {{lower: 0, upper: 60}}
"""
PERSON = ["lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"]
CUT = "CASE WHEN mdvis > 30 THEN 30 ELSE mdvis END"
BOUNDED = f"""\
SELECT * REPLACE ({CUT} AS mdvis), mdvis AS visits, least(1, {LIMIT} / COUNT(*) OVER (PARTITION BY person)) AS w
FROM source"""
"""Visits cut off at 30, and the weight of a person in questions without groups."""


def load():
    """People, and their years in the experiment."""
    data = randhie.load_pandas().data
    person = (data[PERSON].diff().abs().sum(axis=1) != 0).cumsum()
    health = np.select([data.hlthg == 1, data.hlthf == 1, data.hlthp == 1], ["good", "fair", "poor"], "excellent")
    years = data.drop(columns=["hlthg", "hlthf", "hlthp"]).assign(person=person, health=health)
    years["year"] = years.groupby("person").cumcount() + 1
    years["idp"] = years.idp.astype(bool)
    enrolees = years[years.year == 1].drop(columns=["mdvis", "year"])
    return {
        "years": Table(years.astype({"health": "string"}), bounded=BOUNDED),
        "enrolees": Table(enrolees.astype({"health": "string"}), "person"),
    }


PER_GROUP = f"""\
WITH cells AS (SELECT person, {{key}} AS k, COUNT(*) AS n, {{sum}} AS s FROM years GROUP BY ALL),
weights AS (SELECT *, least(n, {LIMIT}) AS kept,
  least(1, {LIMIT} / sqrt(SUM(least(n, {LIMIT}) ** 2) OVER (PARTITION BY person))) AS u FROM cells)
SELECT k, SUM(u * kept), SUM(u * kept / n * s) FROM weights GROUP BY k"""
"""Weights as docs/proofs/weights.md has them for Gaussian noise: at most five rows in a group, and a norm of five."""

QUESTIONS = [
    Question("SELECT COUNT(*) AS n FROM years", exact="SELECT SUM(w) FROM years"),
    Question("SELECT SUM(mdvis) AS visits FROM years", exact="SELECT SUM(w * mdvis) FROM years"),
    Question("SELECT AVG(mdvis) AS visits FROM years", exact="SELECT SUM(w * mdvis) / SUM(w) FROM years"),
    Question(
        "SELECT COUNT(*) FILTER (WHERE mdvis = 0) * 1.0 / COUNT(*) AS none FROM years",
        exact="SELECT SUM(w) FILTER (WHERE mdvis = 0) / SUM(w) FROM years",
    ),
    Question(
        "SELECT health, COUNT(*) AS n, SUM(mdvis) AS visits FROM years GROUP BY health",
        exact=PER_GROUP.format(key="health", sum="SUM(mdvis)"),
        keys=1,
        options={"mechanism": "gaussian"},
    ),
    Question(
        "SELECT year, COUNT(*) AS n, SUM(mdvis) AS visits FROM years WHERE year <= 5 GROUP BY year",
        exact=PER_GROUP.format(key="year", sum="SUM(mdvis)").replace("FROM years", "FROM years WHERE year <= 5"),
        keys=1,
        options={"mechanism": "gaussian"},
    ),
    Question(
        "SELECT lncoins > 0 AS pays, AVG(mdvis) AS visits FROM years GROUP BY pays",
        exact="SELECT lncoins > 0, SUM(w * mdvis) / SUM(w) FROM years GROUP BY 1",
        keys=1,
    ),
    Question(
        "SELECT HISTOGRAM(mdvis, [0, 1, 5, 10, 30]) FROM years",
        exact="SELECT SUM(w) FILTER (WHERE mdvis < 1), SUM(w) FILTER (WHERE mdvis >= 1 AND mdvis < 5), "
        "SUM(w) FILTER (WHERE mdvis >= 5 AND mdvis < 10), SUM(w) FILTER (WHERE mdvis >= 10 AND visits <= "
        "30) FROM years",
    ),
    Question(
        "SELECT STDDEV_POP(mdvis) AS s FROM years",
        exact="SELECT sqrt(SUM(w * mdvis * mdvis) / SUM(w) - (SUM(w * mdvis) / SUM(w)) ** 2) FROM years",
    ),
    Question(
        "SELECT REGR_SLOPE(mdvis, disea) AS slope, REGR_INTERCEPT(mdvis, disea) AS base FROM years",
        exact="WITH m AS (SELECT SUM(w * mdvis) / SUM(w) AS y, SUM(w * disea) / SUM(w) AS x, "
        "SUM(w * mdvis * disea) / SUM(w) AS xy, SUM(w * disea * disea) / SUM(w) AS xx FROM years) "
        "SELECT (xy - x * y) / (xx - x * x), y - x * (xy - x * y) / (xx - x * x) FROM m",
    ),
    Question(
        "SELECT RELATIVE_RISK(mdvis > 0, idp) AS risk FROM years",
        exact="SELECT SUM(w) FILTER (WHERE mdvis > 0 AND idp) / SUM(w) FILTER (WHERE idp) / "
        "(SUM(w) FILTER (WHERE mdvis > 0 AND NOT idp) / SUM(w) FILTER (WHERE NOT idp)) FROM years",
    ),
    Question("SELECT RATIO(mdvis, disea) AS r FROM years", exact="SELECT SUM(w * mdvis) / SUM(w * disea) FROM years"),
    Question("SELECT health, COUNT(*) AS n, AVG(disea) AS score FROM enrolees GROUP BY health", keys=1),
    Question("SELECT MEDIAN(disea) AS m, QUANTILE_CONT(disea, 0.95) AS q FROM enrolees"),
    Question("SELECT MIN(disea) AS low, MAX(disea) AS high FROM enrolees", within=0.5),
    Question("SELECT VAR_SAMP(disea) AS v FROM enrolees WHERE physlm > 0"),
    Question(
        "SELECT COUNT(DISTINCT lncoins) AS plans, COUNT(DISTINCT person) AS people FROM enrolees", within=math.inf
    ),
    Question(
        "WITH total AS (SELECT person, SUM(mdvis) AS visits, COUNT(*) AS n FROM years GROUP BY person) "
        "SELECT n, COUNT(*) AS people FROM total WHERE n <= 5 GROUP BY n ORDER BY n",
        keys=1,
    ),
    Question(
        "SELECT e.health, AVG(t.most) AS worst_year FROM (SELECT person, MAX(mdvis) AS most FROM years "
        "GROUP BY person) "
        "AS t JOIN enrolees AS e ON e.person = t.person GROUP BY e.health",
        keys=1,
    ),
    Question(
        "SELECT COUNT(*) AS never FROM enrolees WHERE person NOT IN (SELECT person FROM years WHERE mdvis > 0)",
    ),
    Question(
        "SELECT COUNT(*) AS more FROM (SELECT person, mdvis - LAG(mdvis) OVER (PARTITION BY person ORDER BY year) AS d "
        "FROM years) AS t WHERE d > 10",
        exact="WITH t AS (SELECT person, mdvis - LAG(mdvis) OVER (PARTITION BY person ORDER BY year) AS d FROM "
        f"raw.years), p AS (SELECT person, COUNT(*) AS n FROM t WHERE d > 10 GROUP BY person) SELECT "
        f"SUM(least(n, {LIMIT})) FROM p",
    ),
    Question("SELECT AVG(mdvis) AS visits FROM years WHERE year = 1", options={"epsilon": 1.0}, within=1),
]
DATASET = Dataset("rand_hie", load, CATALOG, QUESTIONS)
