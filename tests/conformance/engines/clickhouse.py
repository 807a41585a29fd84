"""ClickHouse in this process, by chdb."""

import datetime as dt
import math
import uuid
from contextlib import contextmanager

from hedgerow.backends.clickhouse import over_chdb
from hedgerow.dialects.clickhouse import CLICKHOUSE

NATIVE = {
    "BIGINT": "Int64",
    "INTEGER": "Int32",
    "DOUBLE": "Float64",
    "VARCHAR": "String",
    "DATE": "Date32",
    "TIMESTAMP": "DateTime64(6, 'UTC')",
    "TIME": "Time64(6)",
    "TIMESTAMP WITH TIME ZONE": "DateTime64(6, 'America/New_York')",
    "UUID": "UUID",
    "BOOLEAN": "Bool",
}
ROWS_AT_ONCE = 500


def why_not():
    try:
        import chdb  # noqa: F401, PLC0415 - it may be missing
    except ImportError:
        return "chdb is not installed"
    return None


@contextmanager
def opened(tables):
    from chdb import session  # noqa: PLC0415 - likewise

    with session.Session() as built:
        for name, table in tables.items():
            create(built, name, table)
        yield over_chdb(built)
        for name in tables:
            built.query(f"DROP TABLE {CLICKHOUSE.identifier(name)}")


def create(built, name, table):
    shape = [f"{CLICKHOUSE.identifier(column)} {native(table, column)}" for column in table.columns]
    built.query(f"CREATE TABLE {CLICKHOUSE.identifier(name)} ({', '.join(shape)}) ENGINE = MergeTree ORDER BY tuple()")
    for start in range(0, len(table.rows), ROWS_AT_ONCE):
        rows = [f"({', '.join(map(cell, row))})" for row in table.rows[start : start + ROWS_AT_ONCE]]
        built.query(f"INSERT INTO {CLICKHOUSE.identifier(name)} VALUES {', '.join(rows)}")


def native(table, column):
    kind = table.columns[column]
    built = NATIVE.get(kind) or kind.replace("DECIMAL", "Decimal")
    return built if column in table.primary else f"Nullable({built})"


def cell(value):
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return CLICKHOUSE.constant(value.astimezone(dt.UTC).replace(tzinfo=None))
    if isinstance(value, dt.time):
        return f"toTime64('{value.isoformat()}', 6)"
    if isinstance(value, uuid.UUID):
        return f"toUUID('{value}')"
    return str(value) if isinstance(value, float) and not math.isfinite(value) else CLICKHOUSE.constant(value)
