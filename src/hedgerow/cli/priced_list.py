"""The price of a list of queries that is fixed in advance."""

import math
import sys
import textwrap
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from hedgerow.catalog import Catalog
from hedgerow.cli.budget_page import accountants_table, without_pld
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import printable, say, show_table
from hedgerow.errors import HedgerowError, Span
from hedgerow.figures import percent
from hedgerow.ledger import Ledger
from hedgerow.session.connection import connect
from hedgerow.session.database import Database
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import share_of
from hedgerow.sql.statements import Statement, split_statements

WHY_PLD = (
    "PLD is valid here, and only here: every question and every price is fixed before the first answer is "
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
        shown = self.forecast.to_dict()
        for row, share in zip(shown["queries"], self.shares, strict=True):
            row["share"] = share
        return {"dataset": self.dataset, **shown, "why_pld": WHY_PLD}


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
    """Price the statements in `file` together. No private row is read, and nothing is spent."""
    text = _read(file)
    statements = split_statements(text)
    if not statements:
        raise UsageError(
            f"There is no statement in {_named(file)}.", code="plan-empty", hint="Separate statements by semicolons."
        )
    opened = connect(source, catalog=catalog, ledger=book, analyst=analyst, dialect=dialect)
    with closing(opened) as database, pointing(query=text):
        forecast = _forecast(database, text, statements, options)
    shares = tuple(share_of(charge.cost, book.caps) for charge in forecast.charges)
    return PricedList(catalog.dataset, forecast, shares)


def _forecast(database: Database, text: str, statements: Sequence[Statement], options: dict[str, Any]) -> Forecast:
    """Return the forecast; an error points at its statement's position in the file."""
    try:
        return database.forecast([statement.text for statement in statements], **options)
    except HedgerowError:
        database.forecast([], **options)  # an option that cannot be is nobody's fault among the statements
        for statement in statements:
            _find_fault(database, text, statement, options)
        raise


def _find_fault(database: Database, text: str, statement: Statement, options: dict[str, Any]) -> None:
    """Raise the error of this statement on its own, if it has one."""
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


WIDTH = 79
LONGEST_QUESTION = 200
PRICED_ANEW = (
    "Each statement is priced as a new one; where the ledger has its answer already, it is free. Nothing was spent, "
    "and no private row was read."
)


def plan_page(plan: PricedList) -> None:
    """Print the page."""
    forecast = plan.forecast
    number = len(forecast.queries)
    say(f"{plan.dataset}: a plan of {number:,} {'query' if number == 1 else 'queries'}, fixed in advance")
    show_table(_prices(plan))
    name, epsilon = forecast.tightest
    say(f"\nAll of them together, at delta {forecast.delta:.3g}, by each accountant:")
    show_table(accountants_table(forecast.epsilons, tightest=name))
    if math.isfinite(epsilon):
        say(f"The tightest valid one is {name}: epsilon {epsilon:.4g}.")
    if forecast.epsilons.get("PLD") is None:
        say(without_pld())
    say(f"\n{_admitted(forecast.admitted, number)}\n")
    for text in (WHY_PLD, PRICED_ANEW):
        say(textwrap.fill(text, WIDTH))


def _prices(plan: PricedList) -> Table:
    table = Table("#")
    for name in ("epsilon", "delta", "of the budget"):
        table.add_column(name, justify="right")
    table.add_column("statement")
    rows = zip(plan.forecast.queries, plan.forecast.charges, plan.shares, strict=True)
    for number, (query, charge, share) in enumerate(rows, start=1):
        price = (f"{charge.epsilon:.4g}", f"{charge.delta:.3g}", percent(share)) if charge.events else ("free", "", "")
        table.add_row(str(number), *price, printable(query, LONGEST_QUESTION))
    return table


def _admitted(admitted: int | None, number: int) -> str:
    if admitted is None:
        return "The catalog sets the price of a statement, so the ledger decides about them one by one."
    if admitted == number:
        return f"The ledger's filter would admit all {number:,} of them now."
    if admitted == 0:
        return f"The ledger's filter would admit none of the {number:,} now."
    return f"The ledger's filter would admit the first {admitted:,} of {number:,} now, and then refuse."
