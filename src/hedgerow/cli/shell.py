"""hedgerow shell."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from hedgerow import __version__
from hedgerow.cli import options
from hedgerow.cli.errors import UsageError, pointing
from hedgerow.cli.output import tell
from hedgerow.cli.prompt import PromptTerminal, history_file, open_history
from hedgerow.cli.shell_session import ShellSession, run_input, run_lines
from hedgerow.owners_log import keep
from hedgerow.session.connection import connect
from hedgerow.session.project import find_project


def shell(
    *,
    db: options.Db,
    catalog: options.CatalogFile,
    ledger: options.LedgerFile = None,
    analyst: options.Analyst = None,
    dialect: options.Dialect = None,
    command: Annotated[
        str | None, typer.Option("-c", "--command", metavar="TEXT", help="Run statements and commands, and exit.")
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Ask question after question, with history, completion and commands such as .tables, .quote and .budget.

    A statement ends with a semicolon, or with Enter on an empty line. Ctrl-C stops the running statement and keeps the
    shell. Without a terminal, statements and commands are read from standard input.

    Example: hedgerow shell --db demo/hospital.duckdb --catalog demo/hospital.yaml --command .tables
    """
    with (
        pointing(catalog=catalog),
        connect(db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database,
    ):
        keep(database.owners_log)
        session = ShellSession(database, catalog, ledger, mode="json" if as_json else "table")
        project = find_project()
        if project is not None:
            session.values.update({**project.defaults, "confirm": project.confirm})
        if command is None and sys.stdin.isatty() and sys.stdout.isatty():
            budget = database.budget
            left = f"epsilon {budget.remaining.epsilon:.4g} of {budget.limit.epsilon:g} left"
            tell(f"hedgerow {__version__} · {budget.dataset} · {left} · .help")
            converse(session, PromptTerminal(database.tables, open_history(history_file())))
        else:
            run_lines(session, _standard_input() if command is None else command.splitlines(keepends=True))
            return session.status
    return 0


def _standard_input() -> Iterator[str]:
    try:
        yield from sys.stdin
    except UnicodeDecodeError:
        raise UsageError("Standard input is not text in this terminal's encoding.", hint="Pass it as UTF-8.") from None


def converse(session: ShellSession, terminal: PromptTerminal) -> None:
    """Read from the terminal until .quit or Ctrl-D."""
    session.confirm = terminal.confirm
    while not session.finished:
        try:
            text = terminal.read()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        run_input(session, text)
