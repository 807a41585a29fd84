"""The story: questions in the order in which they teach, asked privately, next to the exact answers of the owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from hedgerow.answer import Answer
from hedgerow.demo.hospital import HospitalFiles
from hedgerow.errors import HedgerowError, InternalError
from hedgerow.ledger import BudgetView
from hedgerow.session.connection import connect
from hedgerow.session.quote import Quote

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
        "Every answer is slightly wrong on purpose. The error bar says by how much.",
        "SELECT COUNT(*) AS patients FROM patients",
        epsilon=0.1,
    ),
    Chapter(
        "The price first",
        "A quote is free and reads no patient's row. It shows price and predicted error before anything is spent.",
        "SELECT region, COUNT(*) AS patients, AVG(age) AS mean_age\nFROM patients GROUP BY region ORDER BY region",
        keys=1,
        quoted=True,
    ),
    Chapter(
        "Groups that are not declared",
        "The diagnoses come from the data, so a diagnosis is shown only if enough patients share it. The catalog "
        "limits each patient to 20 visits, and the cost of a visit to 10,000. Error bars are about the noise, so the "
        "exact answers beside them have the same limits.",
        "SELECT diagnosis, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY diagnosis ORDER BY mean_cost DESC",
        bounded=BOUNDED_VISITS,
        keys=1,
        epsilon=0.5,
    ),
    Chapter(
        "Any SQL after the noise",
        "Quotients, HAVING and ORDER BY run on released numbers. They cost nothing more, and results have error bars.",
        "SELECT age // 10 * 10 AS decade,\n       SUM(CASE WHEN smoker THEN 1 ELSE 0 END) / COUNT(*) AS smokers\n"
        "FROM patients WHERE age >= 20\nGROUP BY 1 HAVING COUNT(*) > 1000 ORDER BY decade",
        keys=1,
        epsilon=0.3,
    ),
    Chapter(
        "Too few people",
        "An answer about a handful of patients has no number. It costs as much as any other answer, because otherwise "
        "the price would reveal how many patients there are.",
        "SELECT COUNT(*) AS visits, AVG(nights) AS mean_nights\nFROM visits WHERE diagnosis = 'leprosy'",
        epsilon=0.1,
    ),
    Chapter(
        "Two groups compared",
        "How many times as likely is bronchitis among smokers? Four counts are released for the price of one. The "
        "error bar is about the noise. The answer also has an interval about the population, and a p-value.",
        "SELECT region, RELATIVE_RISK(\n"
        "  EXISTS (SELECT 1 FROM visits\n"
        "          WHERE patient_id = patients.id AND diagnosis = 'bronchitis'),\n"
        "  smoker) AS relative_risk\nFROM patients GROUP BY region ORDER BY region",
        keys=1,
        epsilon=0.3,
    ),
    Chapter(
        "Public tables",
        "Answers about tables without people are exact and free.",
        "SELECT floor, SUM(beds) AS beds FROM wards GROUP BY floor ORDER BY floor",
        keys=1,
    ),
)

REFUSED = "SELECT *\nFROM patients\nWHERE id = 4711"

CLOSING = (
    "SELECT ward, COUNT(*) AS visits, AVG(nights) AS mean_nights FROM visits GROUP BY ward",
    "SELECT smoker, AVG(age) AS mean_age FROM patients GROUP BY smoker",
)


Rows = list[tuple[Any, ...]]

RELATIVE_RISK = """
CREATE TEMP MACRO relative_risk(outcome, exposed) AS
    AVG(CAST(outcome AS INT)) FILTER (exposed) / AVG(CAST(outcome AS INT)) FILTER (NOT exposed)
"""
"""An aggregate that DuckDB lacks."""


@dataclass(frozen=True)
class AnsweredChapter:
    """A chapter with its answers.

    `exact` and `bounded` come from plain DuckDB, bypassing hedgerow: the answer without and with the catalog's limits
    on one person. Error bars cover the bounded one.
    """

    chapter: Chapter
    quote: Quote | None
    answer: Answer
    exact: Rows
    bounded: Rows

    @property
    def beside(self) -> list[tuple[int | None, tuple[Any, ...] | None]]:
        """Return the index of each row in the answer, with its bounded row; then the exact rows of withheld groups."""
        shown = set(self._keys)
        withheld = [row for row in self.exact if row[: self.chapter.keys] not in shown]
        return [*self._paired(self.bounded), *((None, row) for row in withheld)]

    def held(self, rows: Rows) -> list[bool]:
        """Return, for each number, True if its error bar covers the one in `rows`; counts have bars with whole ends."""
        bars = self.answer.to_dict()["intervals"]
        return [
            _covers(bar, float(row[self.answer.columns.index(name)]))
            for index, row in self._paired(rows)
            if row is not None
            for name, bar in bars[index].items()
            if self.answer[name][index] is not None
        ]

    @property
    def _keys(self) -> list[tuple[Any, ...]]:
        return [tuple(row)[: self.chapter.keys] for row in self.answer]

    def _paired(self, rows: Rows) -> list[tuple[int, tuple[Any, ...] | None]]:
        """Return the index of each row in the answer, with the one of `rows` that has the same keys."""
        by_key = {row[: self.chapter.keys]: row for row in rows}
        return [(index, by_key.get(key)) for index, key in enumerate(self._keys)]


def _covers(bar: Mapping[str, Any], value: float) -> bool:
    """Return True if an error bar, of which an end that is None is open, covers a value."""
    lower, upper = bar["lower"], bar["upper"]
    return (lower is None or lower <= value) and (upper is None or value <= upper)


class Held(NamedTuple):
    """Number of error bars, and of those that cover the exact answer: over bounded data, and without the limits."""

    bars: int
    bounded: int
    without_limits: int


@dataclass(frozen=True)
class Story:
    """The whole story."""

    chapters: list[AnsweredChapter]
    refusal: HedgerowError
    budget: BudgetView
    left: str

    @property
    def held(self) -> Held:
        """Number of error bars in all, and of those that hold."""
        bounded = [held for chapter in self.chapters for held in chapter.held(chapter.bounded)]
        exact = [held for chapter in self.chapters for held in chapter.held(chapter.exact)]
        return Held(len(bounded), sum(bounded), sum(exact))


def run_story(files: HospitalFiles) -> Story:
    """Ask all questions of the hospital in `files`."""
    with connect(files.database, catalog=files.catalog) as database:
        quotes = [
            database.quote(chapter.query, epsilon=chapter.epsilon) if chapter.quoted else None for chapter in STORY
        ]
        answers = [database.sql(chapter.query, epsilon=chapter.epsilon) for chapter in STORY]
        try:
            database.sql(REFUSED)
        except HedgerowError as error:
            refusal = error
        else:
            raise InternalError("The demo's forbidden question was answered.")
        budget = database.budget
        left = str(budget)
    with duckdb.connect(str(files.database), read_only=True) as owner:
        owner.execute(RELATIVE_RISK)
        triples = zip(STORY, quotes, answers, strict=True)
        chapters = [
            AnsweredChapter(chapter, quote, answer, *exact_rows(owner, chapter, answer))
            for chapter, quote, answer in triples
        ]
    return Story(chapters, refusal, budget, left)


def exact_rows(owner: duckdb.DuckDBPyConnection, chapter: Chapter, answer: Answer) -> tuple[Rows, Rows]:
    """The owner's view of the file itself: the exact answer, without and with the catalog's limits."""
    exact = owner.execute(chapter.query).fetchall()
    if chapter.bounded is None:
        return exact, exact
    return exact, owner.execute(chapter.bounded, {"shown": answer[answer.columns[0]]}).fetchall()
