"""The story: each question asked privately, next to the exact answer that only the owner can see."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from hedgerow.answer import Answer
from hedgerow.demo.hospital import HospitalFiles
from hedgerow.demo.story import REFUSED, STORY, Chapter
from hedgerow.errors import HedgerowError, InternalError
from hedgerow.ledger import BudgetView
from hedgerow.session.connection import connect
from hedgerow.session.database import Database
from hedgerow.session.quote import Quote

Rows = list[tuple[Any, ...]]

RELATIVE_RISK = """
CREATE TEMP MACRO relative_risk(outcome, exposed) AS
    AVG(CAST(outcome AS INT)) FILTER (exposed) / AVG(CAST(outcome AS INT)) FILTER (NOT exposed)
"""
"""An aggregate that DuckDB lacks."""


@dataclass(frozen=True)
class Told:
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
        """Return, for each number, whether its error bar covers the one in `rows`."""
        return [
            bar.lower <= float(row[self.answer.columns.index(name)]) <= bar.upper
            for index, row in self._paired(rows)
            if row is not None
            for name, bar in self.answer.intervals[index].items()
            if self.answer[name][index] is not None
        ]

    @property
    def _keys(self) -> list[tuple[Any, ...]]:
        return [tuple(row)[: self.chapter.keys] for row in self.answer]

    def _paired(self, rows: Rows) -> list[tuple[int, tuple[Any, ...] | None]]:
        """Return the index of each row in the answer, with the one of `rows` that has the same keys."""
        by_key = {row[: self.chapter.keys]: row for row in rows}
        return [(index, by_key.get(key)) for index, key in enumerate(self._keys)]


class Held(NamedTuple):
    """Number of error bars, and of those that cover the exact answer: over bounded data, and without the limits."""

    bars: int
    bounded: int
    without_limits: int


@dataclass(frozen=True)
class Tale:
    """The whole story."""

    told: list[Told]
    refusal: HedgerowError
    budget: BudgetView
    left: str

    @property
    def held(self) -> Held:
        """Number of error bars in all, and of those that hold."""
        bounded = [held for told in self.told for held in told.held(told.bounded)]
        exact = [held for told in self.told for held in told.held(told.exact)]
        return Held(len(bounded), sum(bounded), sum(exact))


def tell_story(files: HospitalFiles) -> Tale:
    """Ask all questions of the hospital in `files`."""
    with connect(files.database, catalog=files.catalog) as database:
        quotes = [
            database.quote(chapter.query, epsilon=chapter.epsilon) if chapter.quoted else None for chapter in STORY
        ]
        answers = [database.sql(chapter.query, epsilon=chapter.epsilon) for chapter in STORY]
        refusal, budget = _refusal(database), database.budget
        left = str(budget)
    with duckdb.connect(str(files.database), read_only=True) as owner:
        owner.execute(RELATIVE_RISK)
        triples = zip(STORY, quotes, answers, strict=True)
        told = [Told(chapter, quote, answer, *exact_rows(owner, chapter, answer)) for chapter, quote, answer in triples]
    return Tale(told, refusal, budget, left)


def exact_rows(owner: duckdb.DuckDBPyConnection, chapter: Chapter, answer: Answer) -> tuple[Rows, Rows]:
    """The owner's view of the file itself: the exact answer, without and with the catalog's limits."""
    exact = owner.execute(chapter.query).fetchall()
    if chapter.bounded is None:
        return exact, exact
    return exact, owner.execute(chapter.bounded, {"shown": answer[answer.columns[0]]}).fetchall()


def _refusal(database: Database) -> HedgerowError:
    try:
        database.sql(REFUSED)
    except HedgerowError as error:
        return error
    raise InternalError("The demo's forbidden question was answered.")
