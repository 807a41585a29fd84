"""Pricing a list of queries that is fixed before any answer is seen."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.catalog import Catalog
from hedgerow.cli.faults import UsageError, pointing
from hedgerow.cli.statements import Statement, split_statements
from hedgerow.errors import HedgerowError, Span
from hedgerow.ledger import Ledger
from hedgerow.session import Database, connect
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import share_of

WHY_PLD = (
    "PLD may be believed here, and only here: every question and every price is fixed before the first answer is "
    "seen. In a conversation the next question can depend on earlier answers, and there the ledger's filter decides."
)


@dataclass(frozen=True)
class PricedList:
    """A list of queries with its price; `shares` are the parts of the budget that each would take."""

    dataset: str
    forecast: Forecast
    shares: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        found = self.forecast.to_dict()
        for row, share in zip(found["queries"], self.shares, strict=True):
            row["share"] = share
        return {"dataset": self.dataset, **found, "why_pld": WHY_PLD}


def price_plan(
    file: str,
    source: str,
    catalog: Catalog,
    book: Ledger,
    *,
    analyst: str | None,
    dialect: str | None,
    options: dict[str, Any],
) -> PricedList:
    """What the statements in `file` would cost together. No private row is read, and nothing is spent."""
    text = _read(file)
    statements = split_statements(text)
    if not statements:
        raise UsageError(
            f"There is no statement in {_named(file)}.", code="plan-empty", hint="Separate statements by semicolons."
        )
    opened = connect(source, catalog=catalog, ledger=book, analyst=analyst, dialect=dialect)
    with closing(opened) as database, pointing(query=text):
        found = _forecast(database, text, statements, options)
    shares = tuple(share_of(charge.cost, book.caps) for charge in found.charges)
    return PricedList(catalog.dataset, found, shares)


def _forecast(database: Database, text: str, statements: Sequence[Statement], options: dict[str, Any]) -> Forecast:
    """The forecast; an error points at its statement's place in the file."""
    try:
        return database.forecast([statement.text for statement in statements], **options)
    except HedgerowError:
        database.forecast([], **options)  # an option that cannot be is nobody's fault among the statements
        for statement in statements:
            _find_fault(database, text, statement, options)
        raise


def _find_fault(database: Database, text: str, statement: Statement, options: dict[str, Any]) -> None:
    """Raise the error that this statement makes on its own, if it does."""
    try:
        database.forecast([statement.text], **options)
    except HedgerowError as error:
        start = statement.start
        span = error.span or Span(0, 1, 1)
        error.span = Span(span.start + start, span.end + start, span.line + text.count("\n", 0, start))
        raise


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"The plan {_named(file)} cannot be read.", code="plan-unreadable", hint="It is a text file, in UTF-8."
        ) from None


def _named(file: str) -> str:
    return "standard input" if file == "-" else file
