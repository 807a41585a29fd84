"""PostgreSQL as a backend."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hedgerow.backends.base import Snapshot, repeated, sealed
from hedgerow.backends.postgres import errors, reading
from hedgerow.backends.postgres.pool import BorrowedConnection, ConnectionSource, driver
from hedgerow.backends.postgres.schema import read_schema
from hedgerow.backends.postgres.settings import PATIENCE, opening
from hedgerow.backends.time_limit import stop_after
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.postgres import POSTGRES
from hedgerow.exact import ExactTable
from hedgerow.expressions.table_names import parts_of
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

SECONDS_TO_CANCEL = 5.0
WATCHING = "SET LOCAL client_connection_check_interval = '2s'"


class Postgres:
    """A backend over a PostgreSQL server.

    Everything runs in read-only transactions of one snapshot each, which are rolled back at the end; nothing is
    written, not even a temporary table.

    Args:
        connection: A `psycopg.Connection` outside of any transaction, or somebody who lends such.
        handed_in: Whether it stays the owner's: then statements wait for each other, and it is never closed.
        schema: The schema whose tables have plain names; by default the first one of the connection's search path.
        patience: Seconds that one statement may take.
    """

    def __init__(
        self,
        connection: "Connection | ConnectionSource",
        *,
        handed_in: bool = True,
        schema: str | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._connections: ConnectionSource = (
            connection if hasattr(connection, "acquire") else BorrowedConnection(connection)
        )
        self.handed_in = handed_in
        self._lock = threading.Lock()
        self._running: list[Connection] = []
        self._patience = patience
        self._watching = self._watch()
        self._limits = replace(UNDECLARED, seconds=patience)
        self._named = schema is not None
        self._schema = self._first_schema() if schema is None else schema
        self.dialect: Dialect = POSTGRES.at(self._schema)

    def schema(self) -> Schema:
        """Return the tables and views of all schemas that may be read, from the catalog of the server."""
        with sealed(errors.code_of), self._transaction() as cursor:
            found = read_schema(cursor, self._schema)
        if not any(len(parts_of(name)) == 1 for name in found.tables) and (self._named or not found.tables):
            raise errors.no_schema(self._schema)
        return found

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One transaction on a connection of its own."""
        with sealed(errors.code_of), self._transaction() as cursor:
            yield _Snapshot(cursor, self._schema, self.dialect, self._limits.result)

    def public(self, query: Query) -> pa.Table:
        """The result of a query over public tables, in the types that it names."""
        with sealed(errors.code_of), self._transaction() as cursor:
            return reading.table_of(cursor, query, self._limits.result)

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows agree on `columns` now."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time; and temporary files on the server, where this user may. What the server limits more stays so."""
        self._limits = replace(limits, seconds=min(limits.seconds, self._patience))

    def cancel(self) -> None:
        """Ask the server to stop every statement that runs."""
        with self._lock:
            running = list(self._running)
        for connection in running:
            with suppress(driver().Error):
                connection.cancel_safe(timeout=SECONDS_TO_CANCEL)

    def close(self) -> None:
        """Close what we opened; what was handed in stays open."""
        self._connections.close()

    def _first_schema(self) -> str:
        with (
            sealed(errors.code_of),
            self._connections.acquire() as connection,
            connection.transaction(force_rollback=True),
        ):
            row = connection.execute("SELECT current_schema()").fetchone()
        found = row[0] if isinstance(row, tuple) else next(iter(row.values())) if row else None
        if found is None:
            raise errors.no_schema("")
        return str(found)

    def _watch(self) -> str:
        """Return the setting by which the server stops the statement of a client that is gone, if it has it.

        Servers on Windows refuse it. Without it, a statement whose client was killed runs to its end.
        """
        with sealed(errors.code_of), self._connections.acquire() as connection:
            try:
                with connection.transaction(force_rollback=True):
                    connection.execute(WATCHING)
            except driver().errors.InvalidParameterValue:
                return ""
        return WATCHING

    @contextmanager
    def _transaction(self) -> Iterator["Cursor[tuple[Any, ...]]"]:
        """A transaction of ours, that is rolled back whatever happens."""
        with self._connections.acquire() as connection:

            def stop() -> None:
                connection.cancel_safe(timeout=SECONDS_TO_CANCEL)

            with self._lock:
                self._running.append(connection)
            try:
                with stop_after(self._limits.seconds, stop), connection.transaction(force_rollback=True):
                    cursor = connection.cursor(row_factory=driver().rows.tuple_row)
                    settings = opening(self._schema, self._limits, connection.info.server_version)
                    cursor.execute(f"{settings}; {self._watching}")
                    yield cursor
            finally:
                with self._lock:
                    self._running.remove(connection)


class _Snapshot:
    """One transaction."""

    def __init__(self, cursor: "Cursor[tuple[Any, ...]]", schema: str, dialect: Dialect, most_bytes: int) -> None:
        self._cursor = cursor
        self._most_bytes = most_bytes
        self._schema = schema
        self._dialect = dialect
        self._given: list[tuple[str, pa.Table]] = []

    def table(self, name: str) -> SchemaTable | None:
        return read_schema(self._cursor, self._schema, name).tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        """A read-only transaction has no place for a table: its rows are written into the queries that name it."""
        self._given = [(other, rows) for other, rows in self._given if other != name] + [(name, table)]

    def run(self, query: Query) -> ExactTable:
        sql = query.sql
        for name, table in self._given:
            if name in sql:
                sql = reading.with_rows(sql, name, table, self._dialect)
        return reading.exact_table(self._cursor, Query(sql, query.keys, query.integers, query.types), self._most_bytes)
