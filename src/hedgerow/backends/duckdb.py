"""DuckDB: a file, or the owner's open connection."""

import threading
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pyarrow as pa

from hedgerow.backends.base import Snapshot, failure, repeated, sealed
from hedgerow.backends.facts import KeptFacts, file_state
from hedgerow.backends.results import ROWS_AT_ONCE, read_batches, stop_after
from hedgerow.compiled import Query
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


class DuckDB:
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
    ) -> None:
        self._connection = connection
        self._path = path
        self.facts = KeptFacts(None if path is None else path.with_name(f"{path.name}.facts"))
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

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows have the same values in `columns`."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def keeps_facts(self, tables: Collection[str]) -> bool:
        """Return whether it can be known that no row of these tables has changed.

        It is for tables stored in a file that we opened ourselves: while it is open read-only, DuckDB lets nobody write
        to it. A view or a computed column may depend on the time of day.
        """
        return self._path is not None and self._stored.issuperset(tables)

    def state(self, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the rows of these tables, the same while no row of them changes; None if unknown."""
        return file_state([self._path], locked=True) if self._path and self.keeps_facts(tables) else None

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time and, on connections of our own, memory and temporary files, before the settings are locked.

        If this process already has the same file open, the settings are locked and the first limit of memory applies.
        """
        self._limits = limits
        if self.handed_in:
            return
        with self._lock, sealed():
            (locked,) = self._connection.execute("SELECT current_setting('lock_configuration')").fetchone() or (True,)
            if not locked:
                self._connection.execute(f"SET memory_limit = '{limits.engine}B'")
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


class _DuckDBSnapshot:
    """One transaction."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, backend: DuckDB, max_bytes: int) -> None:
        self._cursor = cursor
        self._backend = backend
        self._max_bytes = max_bytes

    def table(self, name: str) -> SchemaTable | None:
        return _read_schema(self._cursor, self._backend.dialect.namespace).tables.get(name)

    def load(self, name: str, table: pa.Table) -> None:
        self._cursor.register(name, table)

    def run(self, query: Query) -> ExactTable:
        return ExactTable(_read(self._cursor, query, self._max_bytes), query.keys, query.integers)

    def state(self, tables: Collection[str]) -> Hashable | None:
        return self._backend.state(tables)

    def fact(self, name: str, query: Query, state: Hashable, *, at_once: bool) -> int | None:
        compute = partial(_read, self._cursor, query, self._max_bytes)
        fact = self._backend.facts.table((state, query.sql), compute, at_once=at_once)
        if fact is None:
            return None
        self._cursor.register(name, fact)
        return int(fact.num_rows)


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
    try:
        connection = duckdb.connect(str(path), config=LOCKED)
    except duckdb.Error as error:
        raise _cannot_open(path, error) from None
    return DuckDB(connection, handed_in=False, schema=schema, path=path.absolute())


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
            hint="Fetch all rows of the last statement first, or hand in a new connection of the same database.",
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
    """Return the tables whose rows are stored as they are: neither views nor tables with computed columns."""
    tables = cursor.execute(
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
        "WHERE NOT internal AND NOT temporary AND NOT contains(lower(sql), 'generated')"
    ).fetchall()
    return frozenset(short_name(full, namespace) for full in tables)
