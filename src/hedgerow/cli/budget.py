"""hedgerow budget."""

from typing import Annotated, Any

import typer

from hedgerow.catalog import Catalog, load_catalog
from hedgerow.cli import options
from hedgerow.cli.asking import stated
from hedgerow.cli.budget_page import budget_page
from hedgerow.cli.budget_report import report
from hedgerow.cli.faults import UsageError, pointing
from hedgerow.cli.output import tell, write_json
from hedgerow.cli.plan import price_plan
from hedgerow.cli.plan_page import plan_page
from hedgerow.cli.trail_file import print_trail, write_trail
from hedgerow.errors import LedgerError
from hedgerow.ledger import Ledger, open_ledger, raise_budget
from hedgerow.session import ledger_path


def budget(
    *,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    db: options.OptionalDb = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show spending over time, every charge, and the owner's own acts.")
    ] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes from the beginning.")] = False,
    export: Annotated[
        str | None,
        typer.Option("--export", metavar="FILE", help="Write the whole trail as JSON Lines instead; - prints it."),
    ] = None,
    widen: Annotated[
        bool, typer.Option("--raise", help="Widen the ledger to the catalog's larger budget, and note it for good.")
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

    What is spent is never given back. A budget larger than the ledger's takes effect only with --raise, which widens
    the guarantee for everything that was ever answered: decide it by the purpose, never by what answers said.

    With --plan (statements separated by semicolons; --epsilon and the like hold for each of them) nothing is spent
    and no private row is read.

    Example: hedgerow budget --catalog demo/hospital.yaml --history
    """
    asked = stated(
        epsilon=epsilon,
        delta=delta,
        min_frequency=min_frequency,
        mechanism=mechanism,
        max_rows=max_rows,
        max_groups=max_groups,
    )
    who = stated(analyst=analyst, dialect=dialect)
    _check_together(plan, db, with_plan=asked | who, without=history or verify or widen or export is not None)
    with pointing(catalog=catalog):
        declared = load_catalog(catalog)
        if widen:
            _raise(declared, ledger)
        with _open(declared, ledger) as book:
            if plan is not None and db is not None:
                _plan(plan, db, declared, book, analyst, dialect, asked, as_json=as_json)
            elif export is not None:
                _export(book, export, as_json=as_json)
            else:
                _print(book, declared, history=history, verify=verify, as_json=as_json)


def _check_together(plan: str | None, db: str | None, *, with_plan: dict[str, Any], without: bool) -> None:
    """Refuse options that mean nothing together."""
    if plan is None and with_plan:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in with_plan)
        raise UsageError(f"Only a plan can be asked for with {named}.", hint="Name a file of statements with --plan.")
    if plan is not None and without:
        raise UsageError("--plan is about the future: it stands without --history, --verify, --export and --raise.")
    if plan is not None and db is None:
        raise UsageError("A plan is priced for a database.", hint="Name it with --db. No private row will be read.")


def _open(catalog: Catalog, ledger: str | None) -> Ledger:
    place = ledger_path(catalog, ledger)
    return open_ledger(place, dataset=catalog.dataset, policy=catalog.budget, notice=_notice)


def _notice(text: str) -> None:
    tell(f"hedgerow: {text}")


def _raise(catalog: Catalog, ledger: str | None) -> None:
    """Widen the ledger, unless the catalog asks for no more than it has."""
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


def _plan(
    file: str,
    db: str,
    catalog: Catalog,
    book: Ledger,
    analyst: str | None,
    dialect: str | None,
    asked: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    found = price_plan(file, db, catalog, book, analyst=analyst, dialect=dialect, options=asked)
    if as_json:
        write_json(found.to_dict())
    else:
        plan_page(found)


def _export(book: Ledger, file: str, *, as_json: bool) -> None:
    if file == "-":
        print_trail(book.export())
        return
    entries = write_trail(book.export(), file)
    if as_json:
        write_json({"export": {"file": file, "entries": entries}})
    else:
        tell(f"Wrote {entries:,} entries to {file}")


def _print(book: Ledger, catalog: Catalog, *, history: bool, verify: bool, as_json: bool) -> None:
    found = report(book, catalog.budget, verify=verify)
    if as_json:
        write_json(found.to_dict(history=history))
    else:
        budget_page(found, history=history)
