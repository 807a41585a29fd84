"""ClickHouse in this process. There is one for all sessions of a process, so tables are put into a database of their own."""

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
    "BOOLEAN": "Bool",
}
ROWS_AT_ONCE = 500


def why_not():
    try:
        import chdb  # noqa: F401, PLC0415 - it may be missing
    except ImportError:
        return "chdb is not installed"
    return None


def native(kind):
    return NATIVE.get(kind) or kind.replace("DECIMAL", "Decimal")


@contextmanager
def opened(tables):
    from chdb import session  # noqa: PLC0415 - likewise

    with session.Session() as made:
        for name, table in tables.items():
            create(made, name, table)
        yield over_chdb(made)


def create(made, name, table):
    shape = ", ".join(
        f"{CLICKHOUSE.identifier(column)} {shown(native(kind), column in table.primary)}"
        for column, kind in table.columns.items()
    )
    made.query(f"CREATE TABLE {name} ({shape}) ENGINE = MergeTree ORDER BY tuple()")
    for start in range(0, len(table.rows), ROWS_AT_ONCE):
        rows = [f"({', '.join(map(cell, row))})" for row in table.rows[start : start + ROWS_AT_ONCE]]
        made.query(f"INSERT INTO {name} SELECT * FROM values({', '.join(rows)})" if False else f"INSERT INTO {name} VALUES {', '.join(rows)}")


def shown(kind, always):
    return kind if always else f"Nullable({kind})"


def cell(value):
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN
        return "nan"
    if value in (float("inf"), float("-inf")):
        return str(value)
    return CLICKHOUSE.constant(value)
