"""PostgreSQL as a backend, and the settings of our transactions, which end with them.

Privacy: a transaction is read-only and sees one state of the data. The text of a value and the function that a name
refers to do not depend on the configuration of the server or the connection.
"""

import threading
from collections.abc import Collection, Hashable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, sealed
from hedgerow.backends.facts import KeptFacts, ReadsFacts
from hedgerow.backends.postgres import errors, reading
from hedgerow.backends.postgres.held import HeldSnapshot
from hedgerow.backends.postgres.pool import BorrowedConnection, ConnectionPool, ConnectionSource, driver
from hedgerow.backends.postgres.schema import read_schema
from hedgerow.backends.results import named_columns, stop_after, with_first_steps
from hedgerow.compiled import Query
from hedgerow.dialects.postgres import POSTGRES
from hedgerow.expressions.table_names import parts_of
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
PINNED = {
    "client_encoding": "'UTF8'",
    "standard_conforming_strings": "on",
    "array_nulls": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "TimeZone": "'UTC'",
    "xmloption": "'content'",
}
"""Settings that affect how values are written and parsed."""

PLANNED = {"jit": "off"}
"""JIT compilation of statements with several steps costs more than it saves."""

MAX_WORK_MEM = 64 << 20
"""Maximum bytes of one sort or hash table; a hash table of people is large."""

TIMEOUT = 900.0
"""Maximum seconds of one statement, unless the URL sets another."""

IDLE = 600
"""Seconds after which the server ends a transaction that we left open."""

LARGEST_SETTING = 2**31 - 1
"""Maximum of PostgreSQL's settings, which have 32 bits."""

PARAMETERS_ARE_GRANTED = 150_000
"""Version from which a user can be granted the right to set a parameter."""


def opening(schema: str, limits: StatementLimits, version: int, exported: str | None = None) -> str:
    """Return the first statements of a transaction, on a server of a version such as 150004.

    `exported` is the name of a snapshot that another transaction holds, to be read instead of one of its own.
    """
    quoted = '"' + schema.replace('"', '""') + '"'
    local = {
        "search_path": f"pg_catalog, {quoted}, pg_temp",
        "work_mem": f"'{min(MAX_WORK_MEM, limits.memory // 16) >> 10}kB'",
        **PINNED,
        **PLANNED,
    }
    allowed = "current_setting('is_superuser') = 'on'"
    if version >= PARAMETERS_ARE_GRANTED:
        allowed = "has_parameter_privilege('temp_file_limit', 'SET')"
    return "; ".join(
        [
            READ_ONLY,
            *([] if exported is None else [f"SET TRANSACTION SNAPSHOT '{exported}'"]),
            *(f"SET LOCAL {name} = {value}" for name, value in local.items()),
            _tightened("statement_timeout", min(max(1, round(limits.seconds * 1000)), LARGEST_SETTING), "TRUE"),
            _tightened("idle_in_transaction_session_timeout", IDLE * 1000, "TRUE"),
            _tightened("temp_file_limit", min(limits.temporary >> 10, LARGEST_SETTING), allowed),
        ]
    )


def _tightened(name: str, limit: int, condition: str) -> str:
    """Return a statement that sets a limit, unless a tighter one is already set (0 and -1 mean none)."""
    value = f"CASE WHEN setting::bigint BETWEEN 1 AND {limit} THEN setting ELSE '{limit}' END"
    return f"SELECT set_config(name, {value}, TRUE) FROM pg_settings WHERE name = '{name}' AND {condition}"


SECONDS_TO_CANCEL = 5.0
WATCHING = "SET LOCAL client_connection_check_interval = '2s'"


class Postgres(Backend):
    """A backend over a PostgreSQL server.

    Everything runs in read-only transactions with one snapshot each, which are rolled back at the end; nothing is
    written, not even a temporary table.

    Args:
        connection: A `psycopg.Connection` outside any transaction, or a source of such connections.
        handed_in: True if it is the owner's connection: then statements wait for each other, and it is never closed.
        schema: The schema whose tables have plain names; by default the first one of the connection's search path.
        timeout: Maximum seconds of one statement.
        held: Seconds for which all statements read the same snapshot, which makes facts about rows possible; 0 if each
            statement reads one of its own. Only for a pool.
    """

    def __init__(
        self,
        connection: "Connection | ConnectionSource",
        *,
        handed_in: bool = True,
        schema: str | None = None,
        timeout: float = TIMEOUT,
        held: float = 0.0,
    ) -> None:
        self._connections: ConnectionSource = (
            connection if hasattr(connection, "acquire") else BorrowedConnection(connection)
        )
        self.handed_in = handed_in
        self._lock = threading.Lock()
        self._running: list[Connection] = []
        self._timeout = timeout
        self._watching = self._watch()
        self._limits = replace(UNDECLARED, seconds=timeout)
        self._named = schema is not None
        self._schema = self._first_schema() if schema is None else schema
        self.dialect = POSTGRES.at(self._schema)
        self.facts = KeptFacts()
        self._held: HeldSnapshot | None = None
        if held and isinstance(self._connections, ConnectionPool):
            self._held = HeldSnapshot(self._connections.connected, self._schema, held)

    def schema(self) -> Schema:
        """Return the tables and views of all schemas that this user may read, from the server's catalog."""
        with sealed(errors.code_of), self._transaction() as (cursor, _):
            schema = read_schema(cursor, self._schema)
        if not any(len(parts_of(name)) == 1 for name in schema.tables) and (self._named or not schema.tables):
            raise errors.no_schema(self._schema)
        return schema

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a transaction on a connection of its own."""
        with sealed(errors.code_of), self._transaction(held=self._held) as (cursor, token):
            yield _PostgresSnapshot(cursor, self, token, self._limits.result)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables, in the query's types."""
        with sealed(errors.code_of), self._transaction(held=self._held) as (cursor, _):
            return reading.table_of(cursor, query, self._limits.result)

    def keeps_facts(self, tables: Collection[str]) -> bool:  # noqa: ARG002 - the state of a table may be unknown
        """Return True if statements read a snapshot that is held."""
        return self._held is not None

    def state(self, token: str | None, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the rows of tables in a snapshot that is held; None if they may change."""
        return None if self._held is None or token is None else self._held.state(token, tables)

    def table(self, name: str, cursor: "Cursor[tuple[Any, ...]]") -> SchemaTable | None:
        """Return the definition of a table as it is now: a snapshot that is held has an older one."""
        with ExitStack() as stack:
            now = cursor if self._held is None else stack.enter_context(self._held.definitions())
            return read_schema(now, self._schema, name).tables.get(name)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time and, if this user may, temporary files on the server. Tighter limits of the server stay."""
        self._limits = replace(limits, seconds=min(limits.seconds, self._timeout))

    def cancel(self) -> None:
        """Ask the server to stop all running statements."""
        with self._lock:
            running = list(self._running)
        for connection in running:
            with suppress(driver().Error):
                connection.cancel_safe(timeout=SECONDS_TO_CANCEL)

    def close(self) -> None:
        """Close the connections that we opened."""
        if self._held is not None:
            self._held.close()
        self._connections.close()

    def _first_schema(self) -> str:
        with (
            sealed(errors.code_of),
            self._connections.acquire() as connection,
            connection.transaction(force_rollback=True),
        ):
            row = connection.execute("SELECT current_schema()").fetchone()
        schema = row[0] if isinstance(row, tuple) else next(iter(row.values())) if row else None
        if schema is None:
            raise errors.no_schema("")
        return str(schema)

    def _watch(self) -> str:
        """Return the statement that makes the server stop statements of clients that are gone, if it is supported.

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
    def _transaction(self, held: HeldSnapshot | None = None) -> Iterator[tuple["Cursor[tuple[Any, ...]]", str | None]]:
        """Open a transaction that is always rolled back; yield it with the name of the snapshot that it shares."""
        with self._connections.acquire() as connection:

            def stop() -> None:
                connection.cancel_safe(timeout=SECONDS_TO_CANCEL)

            with self._lock:
                self._running.append(connection)
            try:
                with stop_after(self._limits.seconds, stop), connection.transaction(force_rollback=True):
                    cursor = connection.cursor(row_factory=driver().rows.tuple_row)
                    with ExitStack() as stack:
                        exported, token = (None, None) if held is None else stack.enter_context(held.used())
                        version = connection.info.server_version
                        settings = opening(self._schema, self._limits, version, exported)
                        cursor.execute(f"{settings}; {self._watching}")
                    yield cursor, token
            finally:
                with self._lock:
                    self._running.remove(connection)


class _PostgresSnapshot(ReadsFacts):
    """One transaction."""

    def __init__(self, cursor: "Cursor[tuple[Any, ...]]", backend: Postgres, token: str | None, max_bytes: int) -> None:
        self._cursor = cursor
        self._backend = backend
        self._token = token
        self.facts = backend.facts
        self._max_bytes = max_bytes
        self._given: list[tuple[str, pa.Table]] = []

    def table(self, name: str) -> SchemaTable | None:
        return self._backend.table(name, self._cursor)

    def state(self, tables: Collection[str]) -> Hashable | None:
        return self._backend.state(self._token, tables)

    def load(self, name: str, table: pa.Table) -> None:
        """Store a table whose rows are written into the queries that use it: read-only transactions have no tables."""
        self._given = [(other, rows) for other, rows in self._given if other != name] + [(name, table)]

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:  # noqa: ARG002 - the transaction has one
        named = [(name, named_columns(table, query)) for name, table in self._given if name in query.sql]
        steps = [reading.rows_step(name, table) for name, table in named]
        sql = with_first_steps(steps, query, self._backend.dialect)
        return reading.table_of(self._cursor, Query(sql, query.keys, query.integers, query.types), self._max_bytes)
