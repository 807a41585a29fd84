"""SQLite: a file, or the owner's open connection."""

import sqlite3
import threading
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, failure, sealed
from hedgerow.backends.facts import KeptFacts, ReadsFacts, file_state
from hedgerow.backends.results import fetch_rows, stop_after, table_of_columns, with_first_steps
from hedgerow.backends.sqlite.connect import (
    GIVEN,
    check_version,
    connect_file,
    equip,
    given_steps,
    is_sqlite_file,
    stored,
    typed_columns,
)
from hedgerow.backends.sqlite.functions.values import Stored
from hedgerow.backends.sqlite.schema import databases, quoted, read_schema, stored_tables
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.sqlite import SQLiteDialect
from hedgerow.errors import BackendError
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaTable

URL = "sqlite:///"
SAVEPOINT = "hedgerow_snapshot"


class SQLite(Backend):
    """A backend over a SQLite file, or over the owner's connection.

    Every statement over a file has its own read-only connection. On the owner's connection, statements wait for each
    other, and our functions are registered; nothing else changes.
    """

    dialect: Dialect

    def __init__(self, source: Path | sqlite3.Connection) -> None:
        check_version()
        self._source = source
        self.handed_in = isinstance(source, sqlite3.Connection)
        self._turn, self._lock = threading.RLock(), threading.Lock()
        self._running: list[sqlite3.Connection] = []
        self._equipped = False
        self._limits = UNDECLARED
        self.facts = KeptFacts(source.with_name(f"{source.name}.facts") if isinstance(source, Path) else None)
        with sealed(), self._cursor() as cursor:
            self._schema, readings = _described(cursor)
            self._stored = stored_tables(cursor)
            self._version = _version(cursor)
        self.dialect = SQLiteDialect(readings)

    def schema(self) -> Schema:
        """Return the schema at the time of connecting; a snapshot refuses to read a changed one."""
        return self._schema

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a transaction, over a file on a connection of its own."""
        with sealed(_code_of), self._cursor() as cursor, _transaction(cursor):
            self._check_unchanged(cursor)
            yield _SQLiteSnapshot(cursor, self, self._limits.result)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables."""
        with sealed(_code_of), self._cursor() as cursor, _transaction(cursor):
            self._check_unchanged(cursor)
            return _read(cursor, query.sql, query, self._limits.result)

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return True if these are tables (not views) of a file that we open ourselves."""
        return isinstance(self._source, Path) and self._stored.issuperset(tables)

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the contents of the file, inside a transaction; None if it is not known.

        All of the database is in its file if there is no write-ahead log, or an empty one. A transaction that reads
        the file alone keeps SQLite from writing to it: without a log by its lock, and with one because what others
        commit stays in the log until the transaction ends. Programs other than SQLite change the times of the file.
        """
        if not isinstance(self._source, Path) or not self.keeps_facts(tables):
            return None
        path = self._source.resolve()
        log = path.with_name(f"{path.name}-wal")
        return None if log.exists() and log.stat().st_size else file_state([path], locked=False)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time, and the memory of our own connections, which sort in temporary files."""
        self._limits = limits

    def cancel(self) -> None:
        """Interrupt all running statements."""
        with self._lock:
            for connection in self._running:
                connection.interrupt()

    def close(self) -> None:
        """Interrupt all running statements; no connection of ours is open between statements."""
        self.cancel()

    def _check_unchanged(self, cursor: sqlite3.Cursor) -> None:
        """Refuse tables that have changed since they were bound.

        Privacy: others may change a file that we only read, and a proof may rest on a constraint that was dropped.
        Names, types and constraints are compared, never rows.
        """
        version = _version(cursor)
        if version == self._version:
            return
        tables = _described(cursor)[0].tables
        if any(tables.get(name) != table for name, table in self._schema.tables.items()):
            raise BackendError(
                "A table was changed since the connection was made.", code="schema-changed", hint="Connect again."
            )
        self._version = version

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        """Open a cursor that can be interrupted."""
        if isinstance(self._source, Path):
            connection = connect_file(self._source, self._limits)
            try:
                with self._interruptible(connection):
                    yield connection.cursor()
            finally:
                connection.close()
        else:
            with self._turn, self._interruptible(self._source):
                yield self._borrowed(self._source)

    def _borrowed(self, connection: sqlite3.Connection) -> sqlite3.Cursor:
        """Return a cursor of the owner's connection."""
        try:
            cursor = connection.cursor(sqlite3.Cursor)
            cursor.row_factory = _plain
            if not self._equipped:
                equip(connection)
                self._equipped = True
        except sqlite3.ProgrammingError as error:
            raise _cannot_borrow(error) from None
        return cursor

    @contextmanager
    def _interruptible(self, connection: sqlite3.Connection) -> Iterator[None]:
        with self._lock:
            self._running.append(connection)
        try:
            with stop_after(self._limits.seconds, connection.interrupt):
                yield
        finally:
            with self._lock:
                self._running.remove(connection)


class _SQLiteSnapshot(ReadsFacts):
    """One transaction, and the tables loaded into it."""

    def __init__(self, cursor: sqlite3.Cursor, backend: SQLite, max_bytes: int) -> None:
        self._cursor = cursor
        self._backend = backend
        self.facts = backend.facts
        self._max_bytes = max_bytes
        self._given: dict[str, pa.Table] = {}
        self._cells: dict[str, list[list[Stored]]] = {}

    def state(self, tables: Collection[str]) -> Hashable | None:
        return self._backend.state(tables)

    def table(self, name: str) -> SchemaTable | None:
        return _described(self._cursor)[0].tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        self._given[name] = table
        self._cells[name] = [_stored(column) for column in table.columns]
        held = [self._cells[name] for name in self._given]

        def given(table_index: int, column: int, row: int) -> Stored:
            return held[table_index][column][row]

        self._cursor.connection.create_function(GIVEN, 3, given, deterministic=True)

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:  # noqa: ARG002 - the transaction has one
        given = [(index, name, table) for index, (name, table) in enumerate(self._given.items()) if name in query.sql]
        steps = [step for index, name, table in given for step in given_steps(name, table, index, query)]
        sql = with_first_steps(steps, query, self._backend.dialect)
        return _read(self._cursor, sql, query, self._max_bytes)


def _stored(column: pa.ChunkedArray) -> list[Stored]:
    """Return a column as SQLite stores it: text and whole numbers as they are."""
    cells = column.to_pylist()
    unchanged = pa.types.is_string(column.type) or pa.types.is_integer(column.type)
    return cells if unchanged else [stored(cell) for cell in cells]


def _read(cursor: sqlite3.Cursor, sql: str, query: Query, max_bytes: int) -> pa.Table:
    rows = fetch_rows(cursor.execute(sql).fetchmany, max_bytes)
    return table_of_columns(typed_columns(rows, query), query)


@contextmanager
def _transaction(cursor: sqlite3.Cursor) -> Iterator[None]:
    """Read one consistent state of the database. A savepoint also works inside a transaction of the owner."""
    cursor.execute(f"SAVEPOINT {SAVEPOINT}")
    try:
        yield
    finally:
        cursor.execute(f"RELEASE {SAVEPOINT}")


def _code_of(error: BaseException) -> str | None:
    """Return the code of a known error, by SQLite's result code."""
    full = dict.fromkeys((sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL), "out-of-memory")
    codes = {sqlite3.SQLITE_INTERRUPT: "cancelled", **full}
    return codes.get(getattr(error, "sqlite_errorcode", 0))


def _plain(_cursor: sqlite3.Cursor, row: tuple[object, ...]) -> tuple[object, ...]:
    """Return a row with decoded text, whatever the owner's text factory."""
    return tuple(cell.decode(errors="replace") if isinstance(cell, bytes) else cell for cell in row)


def _version(cursor: sqlite3.Cursor) -> tuple[tuple[str, int], ...]:
    """Return a number for each database that changes with every definition."""
    numbers = [(name, cursor.execute(f"PRAGMA {quoted(name)}.schema_version").fetchone()) for name in databases(cursor)]
    return tuple((name, int(number)) for name, (number,) in numbers)


def _described(cursor: sqlite3.Cursor) -> tuple[Schema, dict[str, str]]:
    (encoding,) = cursor.execute("PRAGMA encoding").fetchone()
    if encoding != "UTF-8":
        raise BackendError(
            f"The database stores text in {encoding}, whose sort order differs from UTF-8.",
            code="database-encoding",
            hint="Copy it to a database with PRAGMA encoding = 'UTF-8'.",
        )
    return read_schema(cursor)


def open_sqlite(source: str | Path) -> SQLite:
    """Open a SQLite file read-only, by its path or as `sqlite:///path`."""
    path = Path(str(source).removeprefix(URL))
    if not path.is_file():
        raise BackendError(f"There is no database at {path}.", code="no-database", hint="Check the path.")
    if not is_sqlite_file(path):
        raise BackendError(
            f"{path} is not a SQLite database.", code="not-a-database", hint="Check that it is a SQLite file."
        )
    return SQLite(path)


def _cannot_borrow(error: sqlite3.ProgrammingError) -> BackendError:
    reason = failure(error)
    if "thread" in str(error):
        message, hint = (
            "The SQLite connection can be used only in the thread that created it.",
            "Create it with sqlite3.connect(…, check_same_thread=False), or pass the path of the file.",
        )
        return BackendError(message, code="wrong-thread", hint=hint, incident=reason.incident)
    return BackendError(
        "The SQLite connection is closed.",
        code="closed",
        hint="Pass an open connection, or the path of the file.",
        incident=reason.incident,
    )
