"""Any Ibis backend that speaks a dialect of ours: MariaDB, and the experimental ones.

Ibis keeps the connection and reads the schema. Our statements go to its driver as they are: Ibis would parse a text and
write it anew. A connection has one statement at a time, so statements wait for their turn. Types come from an
allow-list. Ibis does not say what an engine enforces, so every column may be NULL and no key is unique.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from hedgerow.backends.base import Snapshot, failure, owners_log, repeated, sealed
from hedgerow.backends.ibis_drivers import DRIVERS, Driver
from hedgerow.backends.tables import exact_table, table_of, with_rows
from hedgerow.backends.time_limit import stop_after
from hedgerow.compiled import Query
from hedgerow.dialects import DIALECTS, Dialect
from hedgerow.dialects.base import INSTANT
from hedgerow.errors import BackendError
from hedgerow.exact import ExactTable
from hedgerow.expressions.table_names import full_name, parts_of, short_name, table_name
from hedgerow.expressions.types import Type
from hedgerow.limits import UNDECLARED, StatementLimits
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

LONGEST = 38
"""Digits of a decimal of 128 bits."""

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
    """Decimals whose digits are not known, or too many, cannot be used."""
    if precision is None or scale is None or not 0 <= scale <= precision <= LONGEST:
        return SchemaColumn(name, Type.OTHER, "decimal")
    return SchemaColumn(name, Type.DECIMAL, f"DECIMAL({precision},{scale})")


def _is_loose(kind: str, engine: str) -> bool:
    """Stored values that are not yet what we call them: identifiers, and Snowflake's whole numbers of 38 digits."""
    return kind == "UUID" or (kind == "Int64" and engine == "snowflake")


class Ibis:
    """A backend over an Ibis connection, which stays the owner's.

    Nothing but SELECT goes through it, and on engines that have one, a transaction that is read from and ended.
    """

    handed_in = True

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - whatever Ibis has made
        self._connection = connection
        self.dialect: Dialect = spoken(connection)
        if self.dialect.experimental:
            owners_log.warning("%s is experimental: no server of it has run our statements.", self.dialect.label)
        self._declared: tuple[str, ...] = ()
        self._driver: Driver = DRIVERS[connection.name](connection)
        self._turn = threading.RLock()
        self._stopped = False
        self._limits = UNDECLARED

    def schema(self) -> Schema:
        """Return the tables of the current database, and those elsewhere that the catalog declares.

        One that it cannot read is left out.
        """
        place = self.dialect.namespace
        with sealed(), self._turn:
            here = [table_name(name) for name in self._connection.list_tables()]
            elsewhere = [short_name(full_name(name, place), place) for name in self._declared]
            found = {name: self._read(name) for name in dict.fromkeys([*here, *elsewhere])}
        if found and not any(found.values()):
            raise failure(RuntimeError("No table could be read."))
        return Schema({name: table for name, table in found.items() if table is not None}, place)

    def reach(self, names: Iterable[str]) -> None:
        """Take note of the tables that a catalog declares: those with a schema in their names are read as well."""
        self._declared = tuple(name for name in names if len(parts_of(name)) > 1)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One transaction where the engine has one that holds still; elsewhere one statement after the other."""
        with self._cancellable(), self._driver.transaction():
            yield _Snapshot(self)

    def public(self, query: Query) -> pa.Table:
        """The result of a query over public tables."""
        with self._cancellable():
            return table_of(self._rows(query.sql, query), query)

    def is_unique(self, table: str, columns: tuple[str, ...]) -> bool:
        """Return True if no two rows agree on `columns` now."""
        return bool(self.public(repeated(self.dialect, table, columns)).num_rows == 0)

    def set_limits(self, limits: StatementLimits) -> None:
        """Limit time, where the driver can stop a statement; the memory of the engine is its owner's."""
        self._limits = limits
        self._driver.set_time_limit(limits.seconds)

    def cancel(self) -> None:
        """Stop the statement that runs, where the driver can."""
        self._stopped = True
        with suppress(Exception):
            self._driver.cancel()

    def close(self) -> None:
        """Nothing: the connection is the owner's."""

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        """Wait for the turn, and tell a statement that was cancelled from one that failed."""
        with sealed(lambda error: "cancelled" if self._stopped else self._driver.code_of(error)), self._turn:
            self._stopped = False
            with stop_after(self._limits.seconds, self._driver.cancel):
                yield

    def _read(self, name: str) -> SchemaTable | None:
        try:
            *around, table = parts_of(name)
            place = dict(zip(("database", "catalog"), reversed(around), strict=False))
            found = self._connection.get_schema(table, **place)
        except Exception as error:  # noqa: BLE001 - each engine has errors of its own
            owners_log.warning("The table %s could not be read: %s: %s", name, type(error).__name__, error)
            return None
        columns = {column: read_column(column, dtype, self._connection.name) for column, dtype in found.items()}
        return SchemaTable(name, columns)

    def _rows(self, sql: str, query: Query) -> list[list[object]]:
        kinds = [*query.types, *[pa.int64()] * len(query.integers)]
        found = self._driver.rows(sql, self._limits.result)
        return [[_plain(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in found]


class _Snapshot:
    """Statements of one question."""

    def __init__(self, backend: Ibis) -> None:
        self._backend = backend
        self._loaded: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        return self._backend._read(name)  # noqa: SLF001 - both stand in this file

    def load(self, name: str, table: pa.Table) -> None:
        """Released values, which become part of the next statement."""
        self._loaded[name] = table

    def run(self, query: Query) -> ExactTable:
        sql = query.sql
        for name, table in self._loaded.items():
            sql = with_rows(sql, name, table, self._backend.dialect) if name in sql else sql
        return exact_table(self._backend._rows(sql, query), query)  # noqa: SLF001 - likewise


def spoken(connection: Any) -> Dialect:  # noqa: ANN401 - whatever Ibis has made
    """Return the dialect of an Ibis connection, by the name of its engine."""
    name = str(connection.name)
    if name not in DRIVERS:
        raise BackendError(
            f"Ibis reaches {name}, but hedgerow has no dialect for it there.",
            code="unknown-engine",
            hint=f"Through Ibis there are {', '.join(sorted(DRIVERS))}; docs/how-to/add-an-engine.md adds one.",
        )
    if name == "mysql" and "MariaDB" in connection.con.get_server_info():
        name = "mariadb"
    return DIALECTS[name]().at(*_place(connection))


def _place(connection: Any) -> tuple[str, ...]:  # noqa: ANN401 - likewise
    """Return the catalog and the database in which Ibis looks for tables; MySQL has databases alone."""
    with sealed():
        levels = ("current_catalog", "current_database") if connection.name != "mysql" else ("current_database",)
        place = tuple(getattr(connection, level) for level in levels)
    if not all(place):
        raise BackendError(
            f"The connection to {connection.name} names no database.",
            code="no-dataset",
            hint="Pass database to ibis.connect; on BigQuery, dataset_id to ibis.bigquery.connect.",
        )
    return place


def _plain(value: object, kind: pa.DataType) -> object:
    """Text that came as bytes, and bits that did."""
    if not isinstance(value, bytes | bytearray):
        return value
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return int.from_bytes(value, "big")
    return value.decode("utf-8", "replace")
