"""hedgerow prepare."""

from typing import Annotated

import typer

from hedgerow.cli import options
from hedgerow.cli.output import say, write_json
from hedgerow.cli.statements import asking
from hedgerow.execution.prepare import prepare as prepare_facts
from hedgerow.execution.prepare import usual_statements


def prepare(
    statements: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SQL]…", help="Statements to prepare, besides counts of each private table."),
    ] = None,
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    as_json: options.Json = False,
) -> None:
    """Compute facts about the rows before anybody asks, for fast first answers. The owner's command.

    The facts (such as the people beyond a limit of the catalog) are kept in a file beside the data, which is not for
    analysts. They change how long an answer takes, and nothing else. Repeat the command when the data has changed: old
    facts are ignored.

    Example: hedgerow prepare --db demo/hospital.duckdb --catalog demo/hospital.yaml
    """
    with asking("prepare", db=db, catalog=catalog, ledger=ledger, analyst=None, dialect=None) as database:
        session = database._session  # noqa: SLF001 - the command of the owner, whom analysts do not call
        done = prepare_facts(session, [*usual_statements(session), *(statements or [])])
    if as_json:
        write_json({"prepared": done.statements, "without_facts": done.without})
    else:
        kept = f"Statements whose facts are kept beside the data: {done.statements}."
        say(f"{kept} Statements that need none: {done.without}.")
