"""hedgerow budget: what is spent and what remains; and the price of a list of queries that is fixed in advance."""

import math
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from hedgerow.catalog import Catalog, load_catalog
from hedgerow.cli import options
from hedgerow.cli.budget_page import WIDTH, accountants_table, budget_page, report, without_pld
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import printable, say, show_table, tell, write_json
from hedgerow.cli.statements import given_options
from hedgerow.errors import HedgerowError, LedgerError, Span
from hedgerow.figures import percent
from hedgerow.ledger import Ledger, open_ledger, raise_budget
from hedgerow.session.connection import connect, ledger_path
from hedgerow.session.database import Database
from hedgerow.session.forecast import Forecast
from hedgerow.session.quote import share_of
from hedgerow.sql.statements import Statement, split_statements

CHARTS = frozenset({".svg", ".png", ".html", ".json"})


def write_trail(lines: Iterable[str], file: str) -> int:
    """Write the trail to a new file, completely or not at all, and return its number of entries. Overwrite nothing."""
    path = Path(file)
    try:
        stream = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        raise UsageError(
            f"There is already a file {file}.", code="export-exists", hint="Name another, or - for standard output."
        ) from None
    except OSError:
        raise _unwritable(file) from None
    try:
        with stream:
            number = 0
            for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one is how many there are
                stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())
            return number
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(file) from None
        raise


def _unwritable(file: str) -> UsageError:
    return UsageError(
        f"The trail cannot be written to {file}.", code="export-unwritable", hint="Check the folder and the disk."
    )


def budget(
    *,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    db: options.OptionalDb = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show spending over time, every charge, and the owner's own actions.")
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Show the three caps, and the epsilon that each accountant would prove.")
    ] = False,
    draw: Annotated[
        str | None,
        typer.Option(
            "--chart", metavar="FILE", help="Draw spending over time and by analyst: .svg, .png, .html, .json."
        ),
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes from the beginning.")] = False,
    export: Annotated[
        str | None,
        typer.Option("--export", metavar="FILE", help="Write the whole history as JSON Lines instead; - prints it."),
    ] = None,
    widen: Annotated[
        bool,
        typer.Option(
            "--raise", help="Raise the ledger's budget to the catalog's larger one, and record it permanently."
        ),
    ] = False,
    plan: Annotated[
        str | None,
        typer.Option("--plan", metavar="FILE", help="Price the statements of a file together; needs --db."),
    ] = None,
    analyst: options.Analyst = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    min_frequency: options.MinFrequency = None,
    mechanism: options.OptionalMechanism = None,
    max_rows: options.MaxRows = None,
    max_groups: options.MaxGroups = None,
    dialect: options.Dialect = None,
    as_json: options.Json = False,
) -> None:
    """Show what is spent and what remains, or price a list of queries that is fixed in advance.

    A charge is never refunded. A budget larger than the ledger's takes effect only with --raise. From then on the
    weaker guarantee applies to everything that was ever answered: decide about it without looking at answers.

    With --plan (statements separated by semicolons; --epsilon and similar options apply to each of them) nothing is
    spent and no private row is read.

    Example: hedgerow budget --catalog demo/hospital.yaml --history
    """
    query_options = given_options(
        epsilon=epsilon,
        delta=delta,
        min_frequency=min_frequency,
        mechanism=mechanism,
        max_rows=max_rows,
        max_groups=max_groups,
    )
    who = given_options(analyst=analyst, dialect=dialect)
    other = history or details or verify or widen or draw is not None or export is not None
    _check_together(plan, db, with_plan=query_options | who, without=other)
    with pointing(catalog=catalog):
        declared = load_catalog(catalog)
        if widen:
            _raise(declared, ledger)
        with _open(declared, ledger) as book:
            if plan is not None and db is not None:
                priced = price_plan(plan, db, declared, book, analyst=analyst, dialect=dialect, options=query_options)
                if as_json:
                    write_json(priced.to_dict())
                else:
                    plan_page(priced)
            elif export is not None:
                _export(book, export, as_json=as_json)
            elif draw is not None:
                _draw(book, draw, as_json=as_json)
            else:
                gathered = report(book, declared.budget, verify=verify)
                if as_json:
                    write_json(gathered.to_dict(history=history))
                else:
                    budget_page(gathered, history=history, details=details)


def _check_together(plan: str | None, db: str | None, *, with_plan: dict[str, Any], without: bool) -> None:
    """Refuse options that cannot be combined."""
    if plan is None and with_plan:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in with_plan)
        verb = "requires" if len(with_plan) == 1 else "require"
        raise UsageError(f"{named} {verb} --plan.", hint="Name a file of statements with --plan.")
    if plan is not None and without:
        raise UsageError("--plan cannot be combined with --history, --details, --chart, --verify, --export or --raise.")
    if plan is not None and db is None:
        raise UsageError("--plan requires --db.", hint="Name the database with --db. No private row will be read.")


def _open(catalog: Catalog, ledger: str | None) -> Ledger:
    location = ledger_path(catalog, ledger)
    return open_ledger(
        location, dataset=catalog.dataset, policy=catalog.budget, notice=lambda text: tell(f"hedgerow: {text}")
    )


def _raise(catalog: Catalog, ledger: str | None) -> None:
    """Raise the budget of the ledger, unless the catalog asks for no more than it has."""
    try:
        _open(catalog, ledger).close()
    except LedgerError as error:
        if error.code != "ledger-budget-larger":
            raise
    else:
        tell("There is nothing to raise: the catalog asks for no more than the ledger allows.")
        return
    raise_budget(ledger_path(catalog, ledger), dataset=catalog.dataset, policy=catalog.budget)
    tell("The budget is raised, and the history says so. The wider guarantee holds for every earlier answer too.")


def _export(book: Ledger, file: str, *, as_json: bool) -> None:
    if file == "-":
        for line in book.export():
            say(line)
        return
    entries = write_trail(book.export(), file)
    if as_json:
        write_json({"export": {"file": file, "entries": entries}})
    else:
        tell(f"Wrote {entries:,} entries to {file}")


def _draw(book: Ledger, file: str, *, as_json: bool) -> None:
    """Write the chart, in the format of the file's ending; a page works without a network."""
    ending = Path(file).suffix.lower()
    if ending not in CHARTS:
        raise UsageError(
            f"The extension of {file} is not a chart format.", hint=f"There are: {', '.join(sorted(CHARTS))}."
        )
    chart = book.budget().plot()
    try:
        chart.save(file, **({"inline": True} if ending == ".html" else {}))
    except OSError:
        raise UsageError(
            f"{file} cannot be written.", code="output-unwritable", hint="Check the folder and the disk."
        ) from None
    if as_json:
        write_json({"chart": {"file": file}})
    else:
        tell(f"Wrote {file}")


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
    named = "standard input" if file == "-" else file
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"The plan {named} cannot be read.", code="plan-unreadable", hint="It is a text file, in UTF-8."
        ) from None
    statements = split_statements(text)
    if not statements:
        raise UsageError(
            f"There is no statement in {named}.", code="plan-empty", hint="Separate statements by semicolons."
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
