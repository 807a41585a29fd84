"""What `query` and `quote` have in common: a statement, the database it is asked of, and what was stated with it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hedgerow.cli.faults import UsageError, pointing
from hedgerow.owners_log import keep
from hedgerow.session import Database, connect


def read_statement(stated: str) -> str:
    """The statement itself, or for `-` what stands on standard input."""
    if stated != "-":
        return stated
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise UsageError("Standard input is not text in this terminal's encoding.", hint="Pass it as UTF-8.") from None


@contextmanager
def asking(
    statement: str, *, db: str, catalog: str, ledger: str | None, analyst: str | None, dialect: str | None
) -> Iterator[Database]:
    """The open database; errors inside point at the statement, or at the catalog."""
    with (
        pointing(catalog=catalog, query=statement),
        connect(db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database,
    ):
        keep(database.owners_log)  # as long as the program runs: what fails last is logged last
        yield database


def stated(**options: object) -> dict[str, Any]:
    """The options that were given; the engine knows what the others mean."""
    return {name: value for name, value in options.items() if value is not None}
