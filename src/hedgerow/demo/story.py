"""The story: a few questions, in the order in which they teach."""

from dataclasses import dataclass

BOUNDED_VISITS = """
WITH pairs AS (
    SELECT patient_id, diagnosis, COUNT(*) AS n, LEAST(COUNT(*), 12) AS counted, SUM(LEAST(cost, 10000)) AS cost
    FROM visits WHERE list_contains($shown, diagnosis) GROUP BY patient_id, diagnosis),
weighted AS (
    SELECT *, counted / n * LEAST(1, SQRT(208 / SUM(counted * counted) OVER (PARTITION BY patient_id))) AS weight
    FROM pairs)
SELECT diagnosis, SUM(weight * n) AS visits, SUM(weight * cost) / SUM(weight * n) AS mean_cost
FROM weighted GROUP BY diagnosis
"""
"""Visits and their mean cost by diagnosis, as the catalog bounds them, in plain SQL.

A patient counts like 12 visits at most in one diagnosis. The squares of what they count there add up to at most
12² + 8² = 208 over all diagnoses, which is what 20 visits can come to. `docs/proofs/weights.md` has the argument.
"""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One question.

    Attributes:
        title: The subject of the chapter.
        text: What to look for.
        query: The statement, which DuckDB understands as well, given a macro for RELATIVE_RISK.
        bounded: The same question within the catalog's limits, for DuckDB, if they change the answer. `$shown` are the
            groups that were shown.
        keys: Number of its first columns that name a group.
        epsilon: The most it may cost; None for the catalog's default.
        quoted: Whether the price is quoted first.
    """

    title: str
    text: str
    query: str
    bounded: str | None = None
    keys: int = 0
    epsilon: float | None = None
    quoted: bool = False


STORY = (
    Chapter(
        "A count",
        "Every answer is a little wrong on purpose, and says by how much.",
        "SELECT COUNT(*) AS patients FROM patients",
        epsilon=0.1,
    ),
    Chapter(
        "First the price, then the question",
        "A quote is free and reads no patient's row: it tells price and error before anything is spent.",
        "SELECT region, COUNT(*) AS patients, AVG(age) AS mean_age\nFROM patients GROUP BY region ORDER BY region",
        keys=1,
        quoted=True,
    ),
    Chapter(
        "Groups that nobody declared",
        "The diagnoses are found in the data, so a group is shown only if enough patients share it: a rare one stays "
        "out of sight. A patient with many visits counts like 20, and a visit that cost more counts as 10,000. Error "
        "bars are about the noise, so the exact answers beside them keep the same limits.",
        "SELECT diagnosis, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY diagnosis ORDER BY mean_cost DESC",
        bounded=BOUNDED_VISITS,
        keys=1,
        epsilon=0.5,
    ),
    Chapter(
        "Any SQL after the noise",
        "Quotients, HAVING and ORDER BY work on released numbers. They cost nothing more, and the error bars follow.",
        "SELECT age // 10 * 10 AS decade,\n       SUM(CASE WHEN smoker THEN 1 ELSE 0 END) / COUNT(*) AS smokers\n"
        "FROM patients WHERE age >= 20\nGROUP BY 1 HAVING COUNT(*) > 1000 ORDER BY decade",
        keys=1,
        epsilon=0.3,
    ),
    Chapter(
        "Too few people",
        "A question about a handful of patients gets an answer without a number. It costs the same, or the price "
        "would tell how many they are.",
        "SELECT COUNT(*) AS visits, AVG(nights) AS mean_nights\nFROM visits WHERE diagnosis = 'leprosy'",
        epsilon=0.1,
    ),
    Chapter(
        "Two groups compared",
        "How many times as likely smokers are to have had bronchitis. Four counts are released for the price of one. "
        "The error bar is about the noise; an interval about the population and a p-value come with it.",
        "SELECT region, RELATIVE_RISK(\n"
        "  EXISTS (SELECT 1 FROM visits\n"
        "          WHERE patient_id = patients.id AND diagnosis = 'bronchitis'),\n"
        "  smoker) AS relative_risk\nFROM patients GROUP BY region ORDER BY region",
        keys=1,
        epsilon=0.3,
    ),
    Chapter(
        "Public tables",
        "A table that is about nobody is exact and free.",
        "SELECT floor, SUM(beds) AS beds FROM wards GROUP BY floor ORDER BY floor",
        keys=1,
    ),
)

REFUSED = "SELECT *\nFROM patients\nWHERE id = 4711"

CLOSING = (
    "SELECT ward, COUNT(*) AS visits, AVG(nights) AS mean_nights FROM visits GROUP BY ward",
    "SELECT smoker, AVG(age) AS mean_age FROM patients GROUP BY smoker",
)
