"""hedgerow budget."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from hedgerow.catalog import Catalog, load_catalog
from hedgerow.cli import options
from hedgerow.cli.budget_page import budget_page
from hedgerow.cli.budget_report import report
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import say, tell, write_json
from hedgerow.cli.priced_list import plan_page, price_plan
from hedgerow.cli.statements import given_options
from hedgerow.errors import LedgerError
from hedgerow.ledger import Ledger, open_ledger, raise_budget
from hedgerow.session.connection import ledger_path

CHARTS = frozenset({".svg", ".png", ".html", ".json"})


def print_trail(lines: Iterable[str]) -> None:
    """Print the trail."""
    for line in lines:
        say(line)


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
            return _write(lines, stream)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(file) from None
        raise


def _write(lines: Iterable[str], stream: TextIO) -> int:
    number = 0
    for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one is how many there are
        stream.write(f"{line}\n")
    stream.flush()
    os.fsync(stream.fileno())
    return number


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
        print_trail(book.export())
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
