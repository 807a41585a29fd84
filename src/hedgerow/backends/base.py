"""Protocol of an engine: a schema, and a snapshot in which compiled queries run.

A backend runs the SQL of `compile` and returns keys and integers. It does not bound, clip, threshold, order or draw
noise. A new engine is one file here and one in `dialects`: docs/how-to/add-an-engine.md.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import pyarrow as pa

from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.errors import BackendError, HedgerowError
from hedgerow.exact import ExactTable
from hedgerow.limits import StatementLimits
from hedgerow.owners_log import log, record
from hedgerow.schema import Schema, SchemaTable

owners_log = log
"""The log of failures for the owner; their causes may quote private values."""


class Snapshot(Protocol):
    """One consistent state of the data, from which all statements of a query read."""

    def table(self, name: str) -> SchemaTable | None:
        """Return the current declaration of one table."""

    def load(self, name: str, table: pa.Table) -> None:
        """Pass a table of released or declared values to the engine, under `name`."""

    def run(self, query: Query) -> ExactTable:
        """Return keys and integers, sealed."""


class Backend(Protocol):
    """A connection to an engine that holds the rows."""

    dialect: Dialect
    handed_in: bool

    def schema(self) -> Schema:
        """Return tables, columns, types and constraints; never values."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a consistent state to read from."""

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables, in the query's types."""

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows have the same values in `columns`. For the owner only: it reads the data."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def set_limits(self, limits: StatementLimits) -> None:
        """Apply the owner's limits of time and memory to every statement from now on."""

    def cancel(self) -> None:
        """Stop the running statements, from another thread. Their charges stay."""

    def close(self) -> None:
        """Release the engine."""


FEWER = "Ask for less at once: fewer joins, or fewer rows before they are joined. "
REASONS = {
    "engine-failed": ("The database could not run the query", ""),
    "timed-out": ("The statement was stopped: it exceeded its time limit", FEWER),
    "out-of-memory": ("The statement was stopped: it exceeded its limit of memory or temporary space", FEWER),
    "cancelled": ("The statement was cancelled", ""),
    "connection-lost": ("The connection to the database was lost", "Ask again when the database is back. "),
    "not-permitted": ("The database does not allow this user to read a table or column of the query", ""),
    "schema-changed": ("A table of the query was changed since the connection was made", "Connect again. "),
}
"""Messages of failures and optional hints, by code. None depends on a value."""


@contextmanager
def sealed(code_of: Callable[[BaseException], str | None] = lambda _: None) -> Iterator[None]:
    """Replace every error raised inside by one of the messages of `REASONS`.

    Args:
        code_of: Returns the code of an engine's error (a timeout, a lost connection), or None if it is unknown.

    Privacy: an error of the engine, of the conversion to Arrow or of our own arithmetic may quote an exact value.
    """
    try:
        yield
    except HedgerowError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        raise failure(error, code_of(error) or "engine-failed") from None


def repeated(dialect: Dialect, table: str, columns: Sequence[str]) -> Query:
    """Return a query for a value of `columns` that occurs in two rows, if there is one."""
    names = [dialect.identifier(name) for name in columns]
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    grouped = f"SELECT {', '.join(names)} FROM {dialect.table(table)} WHERE {present} GROUP BY {', '.join(names)}"
    sql = f"SELECT 1 AS found FROM ({grouped} HAVING {dialect.count()} > 1) AS repeated{dialect.tail([], 1, 0)}"
    return Query(sql, ("found",), (), (pa.int64(),))


def failure(error: BaseException, code: str = "engine-failed") -> BackendError:
    """Return the error that an analyst sees when the engine fails, with an incident number for the owner.

    Privacy: an engine's message can quote values. It goes only to the owner's log, and the exception must be raised
    `from None`.
    """
    incident = secrets.token_hex(4)
    logged = record(incident, text=f": {type(error).__name__}: {error}")
    sentence, hint = REASONS[code]
    return BackendError(
        f"{sentence} (incident {incident}).",
        code=code,
        hint=f"{hint}{logged}",
        incident=incident,
    )
