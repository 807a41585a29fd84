"""Ibis backends of engines for which we have a dialect: MariaDB, and the experimental ones.

Ibis keeps the connection and reads the schema. Our statements go directly to its driver, because Ibis would parse and
rewrite them. A connection runs one statement at a time, so statements wait for each other. Types come from an
allow-list. Ibis does not report constraints, so every column may be NULL and no key is unique.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import Any, Protocol

import pyarrow as pa

from hedgerow.backends.base import Backend, Snapshot, failure, owners_log, sealed
from hedgerow.backends.results import exact_table, fetch_rows, stop_after, table_of, with_rows
from hedgerow.compiled import Query
from hedgerow.dialects import DIALECTS, Dialect
from hedgerow.dialects.base import INSTANT
from hedgerow.errors import BackendError
from hedgerow.exact import ExactTable
from hedgerow.expressions.table_names import full_name, parts_of, short_name, table_name
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

Rows = Sequence[Sequence[object]]


class Driver(Protocol):
    """A driver behind Ibis: one connection, one statement at a time."""

    def rows(self, sql: str, max_bytes: int) -> Rows:
        """Return all rows of a SELECT, if they take at most `max_bytes`."""

    def cancel(self) -> None:
        """Stop the running statement, from another thread."""

    def set_time_limit(self, seconds: float) -> None:
        """Let the engine itself stop statements after some time, if it can."""

    def code_of(self, error: BaseException) -> str | None:
        """Return the code of a known error, or None."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open one consistent state of the data for several statements, if the engine can."""


MYSQL_CODES = {
    1317: "cancelled",
    1969: "timed-out",
    3024: "timed-out",
    1114: "out-of-memory",
    1041: "out-of-memory",
    2006: "connection-lost",
    2013: "connection-lost",
    1142: "not-permitted",
    1143: "not-permitted",
    1054: "schema-changed",
    1146: "schema-changed",
}


class _Plain:
    """Defaults of a driver."""

    def set_time_limit(self, seconds: float) -> None:
        """Do nothing: statements are cancelled by us, if possible."""

    def code_of(self, error: BaseException) -> str | None:  # noqa: ARG002 - none is known
        """Return None: no error is known."""
        return None


class Cursors(_Plain):
    """A connection with cursors, as in Python's DB-API."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - a backend of Ibis
        self._connection = connection.con
        self._running: Any = None

    def rows(self, sql: str, max_bytes: int) -> Rows:
        """Return all rows, read by a cursor of its own."""
        with closing(self._connection.cursor()) as cursor:
            self._running = cursor
            try:
                cursor.execute(sql)
                return fetch_rows(cursor.fetchmany, max_bytes)
            finally:
                self._running = None

    def cancel(self) -> None:
        """Stop the running cursor, if the driver can."""
        stop = getattr(self._running, "cancel", None)
        if stop is not None:
            stop()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open nothing: the data may change between two statements."""
        yield


class MySQL(Cursors):
    """MySQL and MariaDB: InnoDB reads one consistent state within a transaction.

    It ends with COMMIT, so that nothing of the owner's is lost. If the owner has switched off autocommit, a transaction
    may already be open, and starting another would end it. MariaDB has a time limit for statements; MySQL has only a
    hint, which was never tested on a server.
    """

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - a backend of Ibis
        super().__init__(connection)
        self._is_mariadb = "MariaDB" in self._connection.get_server_info()
        self._limit = ""

    def set_time_limit(self, seconds: float) -> None:
        """Let MariaDB stop statements after some time."""
        if self._is_mariadb:
            self._limit = f"SET STATEMENT max_statement_time = {seconds:.6f} FOR "

    def code_of(self, error: BaseException) -> str | None:
        """Return the code of an error by its number, the driver's first argument."""
        number = error.args[0] if error.args else None
        return MYSQL_CODES.get(number) if isinstance(number, int) else None

    def rows(self, sql: str, max_bytes: int) -> Rows:
        """Return all rows, within the time limit."""
        return super().rows(self._limit + sql, max_bytes)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction, unless autocommit is off."""
        if not self._connection.get_autocommit():
            yield
            return
        self._execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        try:
            yield
        finally:
            self._execute("COMMIT")

    def _execute(self, sql: str) -> None:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(sql)


class IbisDuckDB(_Plain):
    """One DuckDB connection, for tests of this module; `backends.duckdb` is the backend for DuckDB."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - a backend of Ibis
        self._connection = connection.con

    def rows(self, sql: str, max_bytes: int) -> Rows:
        """Return all rows."""
        return fetch_rows(self._connection.execute(sql).fetchmany, max_bytes)

    def cancel(self) -> None:
        """Interrupt the connection."""
        self._connection.interrupt()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction, unless the owner has one open."""
        if self._is_within():
            yield
            return
        self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _is_within(self) -> bool:
        """Return True if a transaction is open: two statements then have the same transaction number."""
        numbers = [self._connection.execute("SELECT txid_current()").fetchall() for _ in range(2)]
        return bool(numbers[0] == numbers[1])


class BigQuery(_Plain):
    """A client that starts jobs."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - a backend of Ibis
        self._client = connection.client
        self._project = connection.billing_project
        self._job: Any = None

    def rows(self, sql: str, max_bytes: int) -> Rows:
        """Return the rows of one job."""
        self._job = self._client.query(sql, project=self._project)
        try:
            rows = (row.values() for row in self._job.result())
            return fetch_rows(lambda count: list(islice(rows, count)), max_bytes)
        finally:
            self._job = None

    def cancel(self) -> None:
        """Cancel the job."""
        if self._job is not None:
            self._job.cancel()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open nothing: the data may change between two jobs."""
        yield


DRIVERS: Mapping[str, Callable[[Any], Driver]] = {
    "bigquery": BigQuery,
    "duckdb": IbisDuckDB,
    "mssql": Cursors,
    "mysql": MySQL,
    "snowflake": Cursors,
    "trino": Cursors,
}
"""Drivers by Ibis's name of an engine."""


LONGEST = 38
"""Digits of a 128-bit decimal."""

TYPES: Mapping[str, Type] = {
    "Boolean": Type.BOOLEAN,
    **dict.fromkeys(("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32"), Type.INTEGER),
    **dict.fromkeys(("Float32", "Float64"), Type.FLOAT),
    **dict.fromkeys(("String", "UUID"), Type.TEXT),
    "Date": Type.DATE,
    "Time": Type.TIME,
}


def read_column(name: str, dtype: Any, engine: str) -> SchemaColumn:  # noqa: ANN401 - a type of Ibis
    """Return the schema of one column."""
    kind = type(dtype).__name__
    if kind == "Decimal":
        return _decimal(name, dtype.precision, dtype.scale)
    if kind == "UInt64":
        return _decimal(name, 20, 0)
    if kind == "Timestamp":
        return SchemaColumn(
            name,
            Type.TIMESTAMP,
            str(dtype) if dtype.timezone is None else INSTANT,
            loose=engine == "duckdb" and dtype.scale not in {None, 6} and dtype.timezone is None,
            instant=dtype.timezone is not None,
        )
    return SchemaColumn(name, TYPES.get(kind, Type.OTHER), str(dtype), loose=_is_loose(kind, engine))


def _decimal(name: str, precision: int | None, scale: int | None) -> SchemaColumn:
    """Return a decimal column; decimals of unknown or too large precision cannot be used."""
    if precision is None or scale is None or not 0 <= scale <= precision <= LONGEST:
        return SchemaColumn(name, Type.OTHER, "decimal")
    return SchemaColumn(name, Type.DECIMAL, f"DECIMAL({precision},{scale})")


def _is_loose(kind: str, engine: str) -> bool:
    """Return True if values must be cast to their type: UUIDs, and Snowflake's integers of 38 digits."""
    return kind == "UUID" or (kind == "Int64" and engine == "snowflake")


class Ibis(Backend):
    """A backend over an Ibis connection, which stays the owner's.

    Only SELECT statements are sent and, on engines that have them, a read transaction.
    """

    handed_in = True

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - a backend of Ibis
        self._connection = connection
        self.dialect: Dialect = dialect_of(connection)
        if self.dialect.experimental:
            owners_log.warning("%s is experimental: its SQL was never run on a server.", self.dialect.label)
        self._declared: tuple[str, ...] = ()
        self._driver: Driver = DRIVERS[connection.name](connection)
        self._turn = threading.RLock()
        self._stopped = False
        self._limits = UNDECLARED

    def schema(self) -> Schema:
        """Return the tables of the current database, and those elsewhere that the catalog declares.

        Tables that cannot be read are omitted.
        """
        namespace = self.dialect.namespace
        with sealed(), self._turn:
            here = [table_name(name) for name in self._connection.list_tables()]
            elsewhere = [short_name(full_name(name, namespace), namespace) for name in self._declared]
            tables = {name: self._read(name) for name in dict.fromkeys([*here, *elsewhere])}
        if tables and not any(tables.values()):
            raise failure(RuntimeError("No table could be read."))
        return Schema({name: table for name, table in tables.items() if table is not None}, namespace)

    def reach(self, names: Iterable[str]) -> None:
        """Store the tables that a catalog declares: those with a schema in their names are read as well."""
        self._declared = tuple(name for name in names if len(parts_of(name)) > 1)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open a transaction if the engine has consistent ones; otherwise statements run one after the other."""
        with self._cancellable(), self._driver.transaction():
            yield _IbisSnapshot(self)

    def public(self, query: Query) -> pa.Table:
        """Return the result of a query over public tables."""
        with self._cancellable():
            return table_of(self._rows(query.sql, query), query)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time, if the driver can stop a statement; the engine's memory is its owner's concern."""
        self._limits = limits
        self._driver.set_time_limit(limits.seconds)

    def cancel(self) -> None:
        """Stop the running statement, if the driver can."""
        self._stopped = True
        with suppress(Exception):
            self._driver.cancel()

    def close(self) -> None:
        """Do nothing: the connection is the owner's."""

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        """Wait for other statements, and report a cancelled statement as cancelled."""
        with sealed(lambda error: "cancelled" if self._stopped else self._driver.code_of(error)), self._turn:
            self._stopped = False
            with stop_after(self._limits.seconds, self._driver.cancel):
                yield

    def _read(self, name: str) -> SchemaTable | None:
        try:
            *around, table = parts_of(name)
            namespace = dict(zip(("database", "catalog"), reversed(around), strict=False))
            schema = self._connection.get_schema(table, **namespace)
        except Exception as error:  # noqa: BLE001 - each engine has errors of its own
            owners_log.warning("The table %s could not be read: %s: %s", name, type(error).__name__, error)
            return None
        columns = {column: read_column(column, dtype, self._connection.name) for column, dtype in schema.items()}
        return SchemaTable(name, columns)

    def _rows(self, sql: str, query: Query) -> list[list[object]]:
        kinds = [*query.types, *[pa.int64()] * len(query.integers)]
        rows = self._driver.rows(sql, self._limits.result)
        return [[_plain(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]


class _IbisSnapshot:
    """The statements of one query."""

    def __init__(self, backend: Ibis) -> None:
        self._backend = backend
        self._loaded: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        return self._backend._read(name)  # noqa: SLF001 - both are in this file

    def load(self, name: str, table: pa.Table) -> None:
        """Store values, which become part of the statements that name them."""
        self._loaded[name] = table

    def run(self, query: Query) -> ExactTable:
        sql = with_rows(query, self._loaded, self._backend.dialect)
        return exact_table(self._backend._rows(sql, query), query)  # noqa: SLF001 - likewise


def dialect_of(connection: Any) -> Dialect:  # noqa: ANN401 - a backend of Ibis
    """Return the dialect of an Ibis connection, by the name of its engine."""
    name = str(connection.name)
    if name not in DRIVERS:
        raise BackendError(
            f"hedgerow does not support {name} through Ibis.",
            code="unknown-engine",
            hint=f"Supported through Ibis: {', '.join(sorted(DRIVERS))}. See docs/how-to/add-an-engine.md.",
        )
    if name == "mysql" and "MariaDB" in connection.con.get_server_info():
        name = "mariadb"
    return DIALECTS[name]().at(*_namespace(connection))


def _namespace(connection: Any) -> tuple[str, ...]:  # noqa: ANN401 - likewise
    """Return the current catalog and database of Ibis; MySQL has only databases."""
    with sealed():
        levels = ("current_catalog", "current_database") if connection.name != "mysql" else ("current_database",)
        namespace = tuple(getattr(connection, level) for level in levels)
    if not all(namespace):
        raise BackendError(
            f"The connection to {connection.name} has no current database.",
            code="no-dataset",
            hint="Pass database to ibis.connect; on BigQuery, dataset_id to ibis.bigquery.connect.",
        )
    return namespace


def _plain(value: object, kind: pa.DataType) -> object:
    """Decode text, integers and booleans that the driver returned as bytes."""
    if not isinstance(value, bytes | bytearray):
        return value
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return int.from_bytes(value, "big")
    return value.decode("utf-8", "replace")
