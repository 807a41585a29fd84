"""hedgerow budget."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.faults import pointing
from hedgerow.cli.output import say, tell, write_json

if TYPE_CHECKING:
    from hedgerow.catalog import Catalog
    from hedgerow.ledger import Ledger


def budget(
    *,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    db: options.OptionalDb = None,  # noqa: ARG001 - accepted, so that one set of options serves every command
    history: Annotated[bool, typer.Option("--history", help="Show every charge, and the owner's own acts.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes from the beginning.")] = False,
    export: Annotated[bool, typer.Option("--export", help="Print the whole trail as lines of JSON instead.")] = False,
    widen: Annotated[
        bool, typer.Option("--raise", help="Widen the ledger to the catalog's larger budget, and note it for good.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show what is spent and what remains.

    What is spent is never given back. A budget larger than the ledger's takes effect only with --raise, which widens
    the guarantee for everything that was ever answered: decide it by the purpose, never by what answers said.

    Example: hedgerow budget --catalog demo/hospital.yaml --history
    """
    from hedgerow.catalog import load_catalog  # noqa: PLC0415 - keeps --help quick

    with pointing(catalog=catalog):
        declared = load_catalog(catalog)
        if widen:
            _raise(declared, ledger)
        with _open(declared, ledger) as book:
            if export:
                for line in book.export():
                    say(line)
                return
            _print(book, declared, history=history, verify=verify, as_json=as_json)


def _open(catalog: "Catalog", ledger: str | None) -> "Ledger":
    from hedgerow.engine import ledger_path  # noqa: PLC0415 - keeps --help quick
    from hedgerow.ledger import open_ledger  # noqa: PLC0415 - likewise

    place = ledger_path(catalog, ledger)
    return open_ledger(place, dataset=catalog.dataset, policy=catalog.budget, notice=_notice)


def _notice(text: str) -> None:
    tell(f"hedgerow: {text}")


def _raise(catalog: "Catalog", ledger: str | None) -> None:
    """Widen the ledger, unless the catalog asks for no more than it has."""
    from hedgerow.engine import ledger_path  # noqa: PLC0415 - keeps --help quick
    from hedgerow.errors import LedgerError  # noqa: PLC0415 - likewise
    from hedgerow.ledger import raise_budget  # noqa: PLC0415 - likewise

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


def _print(book: "Ledger", catalog: "Catalog", *, history: bool, verify: bool, as_json: bool) -> None:
    view = book.budget()
    checked = book.verify() if verify else None
    if not as_json:
        from hedgerow.cli.budget_page import budget_page  # noqa: PLC0415 - keeps --help quick

        budget_page(view, catalog.budget.pure_epsilon, history=history, checked=checked)
        return
    found: dict[str, Any] = view.to_dict()
    if history:
        found["history"] = [asdict(entry) for entry in view.history]
    if checked is not None:
        found["verified"] = asdict(checked)
    write_json(found)
