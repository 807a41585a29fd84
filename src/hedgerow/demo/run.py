"""Telling the story: each question asked privately, beside the exact answer that only the owner can see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from hedgerow.answer import Answer
from hedgerow.demo.hospital import Files
from hedgerow.demo.story import REFUSED, STORY, Chapter
from hedgerow.engine import Database, Quote, connect
from hedgerow.errors import HedgerowError, InternalError
from hedgerow.ledger import BudgetView

RELATIVE_RISK = """
CREATE TEMP MACRO relative_risk(outcome, exposed) AS
    AVG(CAST(outcome AS INT)) FILTER (exposed) / AVG(CAST(outcome AS INT)) FILTER (NOT exposed)
"""
"""What DuckDB has no name for."""


@dataclass(frozen=True)
class Told:
    """A chapter with its answers. `exact` comes from plain DuckDB, past hedgerow."""

    chapter: Chapter
    quote: Quote | None
    answer: Answer
    exact: list[tuple[Any, ...]]

    @property
    def beside(self) -> list[tuple[int | None, tuple[Any, ...] | None]]:
        """The place of each row in the answer, with its exact row: those of the answer first, then those withheld."""
        if not self.chapter.keys:
            return [(0, self.exact[0])]
        count = self.chapter.keys
        exact = {row[:count]: row for row in self.exact}
        shown = [tuple(row)[:count] for row in self.answer]
        withheld = [row for key, row in exact.items() if key not in set(shown)]
        return [*((place, exact.get(key)) for place, key in enumerate(shown)), *((None, row) for row in withheld)]

    @property
    def held(self) -> tuple[int, int]:
        """How many error bars there are around numbers, and how many of them hold the exact answer."""
        held = [
            bar.lower <= float(exact[self.answer.columns.index(name)]) <= bar.upper
            for place, exact in self.beside
            if place is not None and exact is not None
            for name, bar in self.answer.intervals[place].items()
            if self.answer[name][place] is not None
        ]
        return len(held), sum(held)


@dataclass(frozen=True)
class Tale:
    """The whole story."""

    told: list[Told]
    refusal: HedgerowError
    budget: BudgetView

    @property
    def held(self) -> tuple[int, int]:
        """Over all chapters: how many error bars there are, and how many of them hold."""
        pairs = [told.held for told in self.told]
        return sum(bars for bars, _ in pairs), sum(held for _, held in pairs)


def tell_story(files: Files) -> Tale:
    """Ask all questions of the hospital in `files`."""
    exact = _exact_answers(files, [chapter.query for chapter in STORY])
    with connect(files.database, catalog=files.catalog) as database:
        told = [_tell(database, chapter, rows) for chapter, rows in zip(STORY, exact, strict=True)]
        return Tale(told, _refusal(database), database.budget)


def _exact_answers(files: Files, queries: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    """What the owner sees who opens the file itself."""
    with duckdb.connect(str(files.database), read_only=True) as connection:
        connection.execute(RELATIVE_RISK)
        return [connection.execute(query).fetchall() for query in queries]


def _tell(database: Database, chapter: Chapter, exact: list[tuple[Any, ...]]) -> Told:
    quote = database.quote(chapter.query, epsilon=chapter.epsilon) if chapter.quoted else None
    return Told(chapter, quote, database.sql(chapter.query, epsilon=chapter.epsilon), exact)


def _refusal(database: Database) -> HedgerowError:
    try:
        database.sql(REFUSED)
    except HedgerowError as error:
        return error
    raise InternalError("The demo's forbidden question was answered.")
