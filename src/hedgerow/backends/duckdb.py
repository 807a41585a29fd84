"""DuckDB: a file, or the owner's open connection."""

import threading
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote
from weakref import WeakSet

import duckdb
import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, failure, sealed
from hedgerow.backends.facts import KeptFacts, OwnerColumns, ReadsFacts, file_state
from hedgerow.backends.results import ROWS_AT_ONCE, read_batches, stop_after
from hedgerow.compiled import OWNERS, OwnerColumn, Query
from hedgerow.dialects import DUCKDB, Dialect
from hedgerow.dialects.base import INSTANT
from hedgerow.errors import BackendError
from hedgerow.exact import ExactTable
from hedgerow.expressions.table_names import parts_of, short_name
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "access_mode": "read_only",
    "enable_external_access": "false",
    "perfect_ht_threshold": "18",
}
"""The last is for speed: owners whose numbers are within 2^18 of each other are counted in an array."""

OWNERS_SHARE = 16
"""Owner columns may take this part of the memory for statements; DuckDB gets as much less."""

TYPES: Mapping[str, Type] = {
    "BOOLEAN": Type.BOOLEAN,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), Type.INTEGER),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "DECIMAL"), Type.DECIMAL),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Type.FLOAT),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Type.TEXT),
    "DATE": Type.DATE,
    "TIME": Type.TIME,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", INSTANT), Type.TIMESTAMP),
}

LOOSE = ("ENUM", "UUID", "TIMESTAMP_")
"""Types that are read through a cast: variants of text, and timestamps with other units."""


class DuckDB(Backend):
    """A backend over one DuckDB connection.

    A connection that we open is read-only, without access to files and extensions, and with locked settings. The
    owner's own connection is the owner's to lock.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        handed_in: bool,
        schema: str | None = None,
        path: Path | None = None,
        contents: Hashable | None = None,
    ) -> None:
        self._connection = connection
        self._path = path
        self._contents = contents
        self.facts = KeptFacts(None if path is None else path.with_name(f"{path.name}.facts"))
        self.owners = OwnerColumns()
        self._stored: frozenset[str] = frozenset()
        database, current = _current_namespace(connection)
        self.dialect: Dialect = DUCKDB.at(database, schema or current)
        self._named = schema
        self._lock = threading.Lock()
        self._cursors: list[duckdb.DuckDBPyConnection] = []
        self._limits = UNDECLARED
        self.handed_in = handed_in

    def schema(self) -> Schema:
        """Return the tables and views of all schemas, from `duckdb_columns` and `duckdb_constraints`."""
        cursor = self._cursor()
        try:
            schema = _read_schema(cursor, self.dialect.namespace)
            self._stored = _stored_tables(cursor, self.dialect.namespace)
        except duckdb.Error as error:
            raise failure(error) from None
        finally:
            cursor.close()
        if self._named and all(len(parts_of(name)) > 1 for name in schema.tables):
            raise BackendError(
                f"The schema {self._named!r} has no tables.", code="no-tables", hint="Check ?schema= in the URL."
            )
        return schema

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a transaction on a cursor of its own."""
        with sealed(_code_of), self._running() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            yield _DuckDBSnapshot(cursor, self, self._limits.result)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables, in DuckDB's own types."""
        with sealed(_code_of), self._running() as cursor:
            return _read(cursor, query, self._limits.result)

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return True if it can be known that no row of these tables has changed.

        It is for tables stored in a file that we opened ourselves: while it is open read-only, DuckDB lets nobody write
        to it. A view or a computed column may depend on the time of day.
        """
        return self._path is not None and self._stored.issuperset(tables)

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the rows of these tables, the same while no row of them changes; None if unknown.

        It is that of the file that was opened. If another one has its path now, this connection still reads the old
        rows, and facts about them must not be taken for facts about the new ones.
        """
        if self._path is None or self._contents is None or not self.keeps_facts(tables):
            return None
        return self._contents if _contents(self._path) == self._contents else None

    def has_contents(self, contents: Hashable | None) -> bool:
        """Return True if the file that was opened is known to have these contents."""
        return contents is not None and self._contents == contents

    def is_at(self, path: Path) -> bool:
        """Return True if this may be the file at a path."""
        return self._path is not None and (self._path == path.absolute() or self._path.resolve() == path.resolve())

    def stores(self, tables: Collection[str]) -> bool:
        """Return True if DuckDB itself stores the rows of these tables, so that a transaction always reads the same."""
        return self._stored.issuperset(tables)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time and, on connections of our own, memory and temporary files, before the settings are locked.

        If this process already has the same file open, the settings are locked and the first limit of memory applies.
        """
        self._limits = limits
        if self.handed_in:
            return
        self.owners.max_bytes = limits.memory // OWNERS_SHARE
        with self._lock, sealed():
            (locked,) = self._connection.execute("SELECT current_setting('lock_configuration')").fetchone() or (True,)
            if not locked:
                self._connection.execute(f"SET memory_limit = '{limits.engine - self.owners.max_bytes}B'")
                self._connection.execute(f"SET threads = least(current_setting('threads'), {limits.threads})")
                self._connection.execute(f"SET allocator_flush_threshold = '{limits.memory // 16}B'")
                self._connection.execute(f"SET max_temp_directory_size = '{limits.temporary}B'")
                self._connection.execute("SET lock_configuration = true")

    def cancel(self) -> None:
        """Interrupt all running cursors."""
        with self._lock:
            for cursor in self._cursors:
                cursor.interrupt()

    def close(self) -> None:
        """Close the connection if we opened it."""
        if not self.handed_in:
            self._connection.close()
            if not self._cursors:
                _OPENED.discard(self)

    @contextmanager
    def _running(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a cursor that can be interrupted, and is when its time is over."""
        cursor = self._cursor()
        try:
            with self._lock:
                self._cursors.append(cursor)
            with stop_after(self._limits.seconds, cursor.interrupt):
                yield cursor
        finally:
            with self._lock:
                self._cursors.remove(cursor)
            cursor.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            try:
                return self._connection.cursor()
            except duckdb.Error as error:
                raise failure(error) from None


class _DuckDBSnapshot(ReadsFacts):
    """One transaction."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, backend: DuckDB, max_bytes: int) -> None:
        self._cursor = cursor
        self._backend = backend
        self.facts = backend.facts
        self._max_bytes = max_bytes
        self._loaded: dict[str, pa.Table] = {}
        self._registered: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        return _read_schema(self._cursor, self._backend.dialect.namespace).tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        """Pass a table to the statements that name it: registering one takes DuckDB about as long as a small query."""
        self._loaded[name] = table

    def read(self, query: Query, state: Hashable | None = None) -> pa.Table:  # noqa: ARG002 - the transaction has one
        for name, table in self._loaded.items():
            if name in query.sql and self._registered.get(name) is not table:
                self._cursor.register(name, table)
                self._registered[name] = table
        return _read(self._cursor, query, self._max_bytes)

    def state(self, tables: Collection[str]) -> Hashable | None:
        return self._backend.state(tables)

    def is_fixed(self, tables: Collection[str]) -> bool:
        """Return True if all statements of this transaction read the same rows of these tables.

        In a connection that was passed in, a view may have replaced a table of the same name.
        """
        if not self._backend.handed_in:
            return self._backend.stores(tables)
        return _stored_tables(self._cursor, self._backend.dialect.namespace).issuperset(tables)

    def load_owners(self, column: OwnerColumn, state: Hashable) -> bool:
        """Make an owner column available to statements; False if it cannot be used."""

        def count() -> int:
            return int(self.read(column.rows).column(0)[0].as_py())

        try:
            table = self._backend.owners.table(column, state, count, lambda: self.read(column.column))
        except (duckdb.Error, pa.ArrowException, BackendError) as error:
            self._start_again(error)
            return False
        if table is not None:
            self.load(OWNERS, table)
        return table is not None

    def run_beside(self, query: Query, column: OwnerColumn, state: Hashable) -> ExactTable | None:
        """Return keys and integers of a statement that reads an owner column, sealed; None if it failed."""
        try:
            return self.run(query)
        except (duckdb.Error, pa.ArrowException, BackendError) as error:
            self.forget_owners(column, state)
            self._start_again(error)
            return None

    def forget_owners(self, column: OwnerColumn, state: Hashable) -> None:
        """Do without an owner column, as long as the state lasts."""
        self._backend.owners.forget(column, state)

    def _start_again(self, error: Exception) -> None:
        """Begin another transaction after a failure, unless the statement was cancelled.

        Only for rows that cannot change, so that it reads the same.
        """
        if _code_of(error) == "cancelled":
            raise error
        self._cursor.execute("ROLLBACK")
        self._cursor.execute("BEGIN TRANSACTION")
        self._registered.clear()


def _read(cursor: duckdb.DuckDBPyConnection, query: Query, max_bytes: int) -> pa.Table:
    """Read a result in batches: DuckDB does not count its bytes towards its memory limit."""
    return read_batches(cursor.sql(query.sql).to_arrow_reader(ROWS_AT_ONCE), max_bytes)


def _code_of(error: BaseException) -> str | None:
    """Return the code of a known error: by its class or, in a stream, by the start of its message.

    Privacy: the start of a message contains nothing of a row.
    """
    if isinstance(error, duckdb.InterruptException) or str(error).startswith("INTERRUPT Error:"):
        return "cancelled"
    ran_out = isinstance(error, duckdb.OutOfMemoryException) or str(error).startswith("Out of Memory Error:")
    return "out-of-memory" if ran_out else None


def open_url(url: str) -> DuckDB:
    """Open `duckdb:///path`; with `?schema=sales`, tables of that schema have plain names."""
    path, _, schema = url.partition(":///")[2].partition("?schema=")
    return open_file(Path(path), unquote(schema) or None)


def open_file(path: Path, schema: str | None = None) -> DuckDB:
    """Open a DuckDB file, read-only and locked."""
    if not path.is_file():
        raise BackendError(f"There is no database at {path}.", code="no-database", hint="Check the path.")
    with _OPENING:
        before = _contents(path)
        try:
            connection = duckdb.connect(str(path), config=LOCKED)
        except duckdb.Error as error:
            raise _cannot_open(path, error) from None
        shared = all(other.has_contents(before) for other in _OPENED if other.is_at(path))
        contents = before if shared and _contents(path) == before else None
        opened = DuckDB(connection, handed_in=False, schema=schema, path=path.absolute(), contents=contents)
        _OPENED.add(opened)
    return opened


_OPENING = threading.Lock()
_OPENED: WeakSet[DuckDB] = WeakSet()
"""The files that are open in this process. DuckDB opens a path once: later connections read what the first one opened,
even if another file has this path by then."""


def _contents(path: Path) -> Hashable | None:
    """Return an identity of the contents of a file; None if some rows are not in it, but in its write-ahead log.

    DuckDB reads the log when it opens the file, without writing to the file.
    """
    log = path.resolve()
    log = log.with_name(f"{log.name}.wal")
    return None if log.exists() and log.stat().st_size else file_state([path.absolute()], locked=True)


def _cannot_open(path: Path, error: duckdb.Error) -> BackendError:
    """Return the reason of a failure, without the engine's own message, although no rows have been read."""
    reason = failure(error)
    text = str(error)
    if "different configuration" in text:
        message, code = f"{path} is already open in this process with other settings.", "open-here"
    elif "set lock on file" in text.lower():
        message, code = f"{path} is open for writing in another process.", "open-elsewhere"
    else:
        return BackendError(
            f"{path} cannot be opened as a DuckDB database (incident {reason.incident}).",
            code="not-a-database",
            hint="Check that it is a DuckDB file.",
            incident=reason.incident,
        )
    return BackendError(
        message, code=code, hint="Hand in the open connection itself, or a copy of the file.", incident=reason.incident
    )


def _current_namespace(connection: duckdb.DuckDBPyConnection) -> tuple[str, str]:
    """Return the current database and schema of a connection: `USE` does not apply to its cursors."""
    try:
        [(database, schema)] = connection.sql("SELECT current_database(), current_schema()").fetchall()
    except duckdb.Error as error:
        if "unfinished result" not in str(error):
            raise failure(error) from None
        raise BackendError(
            "The DuckDB connection has a pending result, so its current schema cannot be read.",
            code="connection-in-use",
            hint="Fetch all rows of the last statement first, or pass a new connection to the same database.",
        ) from None
    return database, schema


def _read_schema(cursor: duckdb.DuckDBPyConnection, namespace: tuple[str, ...]) -> Schema:
    """Read the tables and views of every schema and attached database, except temporary ones."""
    columns = cursor.execute(
        "SELECT [database_name, schema_name, table_name], column_name, data_type, is_nullable FROM duckdb_columns() "
        "WHERE NOT internal AND database_name NOT IN ('system', 'temp') "
        "ORDER BY database_name, schema_name, table_name, column_index"
    ).fetchall()
    keys = cursor.execute(
        "SELECT [database_name, schema_name, table_name], constraint_column_names FROM duckdb_constraints() "
        "WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE')"
    ).fetchall()
    plain = _compared_by_bytes(cursor)
    tables: dict[tuple[str, ...], dict[str, SchemaColumn]] = {}
    for table, name, native, nullable in columns:
        kind = TYPES.get(native.split("(", 1)[0].strip().upper(), Type.OTHER)
        if native.endswith("]"):
            kind = Type.OTHER
        loose = native.upper().startswith(LOOSE)
        tables.setdefault(tuple(table), {})[name] = SchemaColumn(
            name, kind, native, nullable, collated=tuple(table) not in plain, loose=loose, instant=native == INSTANT
        )
    unique: dict[tuple[str, ...], set[frozenset[str]]] = {}
    for table, names in keys:
        unique.setdefault(tuple(table), set()).add(frozenset(names))
    listed = [
        SchemaTable(short_name(full, namespace), described, frozenset(unique.get(full, set())))
        for full, described in tables.items()
    ]
    return Schema({table.name: table for table in listed}, namespace)


def _compared_by_bytes(cursor: duckdb.DuckDBPyConnection) -> frozenset[tuple[str, ...]]:
    """Return the tables without a collation, neither in their definition nor by default. Views are excluded."""
    tables = cursor.execute(
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
        "WHERE NOT contains(lower(sql), 'collate') AND current_setting('default_collation') = ''"
    ).fetchall()
    return frozenset(tables)


def _stored_tables(cursor: duckdb.DuckDBPyConnection, namespace: tuple[str, ...]) -> frozenset[str]:
    """Return the tables whose rows DuckDB stores as they are: neither views nor tables with computed columns."""
    tables = cursor.execute(
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
        "WHERE NOT internal AND NOT temporary AND NOT contains(lower(sql), 'generated') "
        "AND database_oid IN (SELECT database_oid FROM duckdb_databases() WHERE type = 'duckdb')"
    ).fetchall()
    return frozenset(short_name(full, namespace) for full in tables)
