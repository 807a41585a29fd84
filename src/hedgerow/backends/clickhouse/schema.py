"""Schema of a ClickHouse database.

Types without Nullable are enforced; a primary key only orders the rows and makes nothing unique.
"""

import re
from collections.abc import Iterable

from hedgerow.expressions.table_names import short_name
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

COLUMNS = (
    "SELECT database, table, name, type FROM system.columns "
    "WHERE lower(database) NOT IN ('system', 'information_schema') AND default_kind <> 'EPHEMERAL' "
    "ORDER BY database, table, position"
)
WHOLE = frozenset({"Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32"})
NAMED = {
    "Bool": (Type.BOOLEAN, "BOOLEAN"),
    "Float32": (Type.FLOAT, "FLOAT"),
    "Float64": (Type.FLOAT, "DOUBLE"),
    "UInt64": (Type.DECIMAL, "UBIGINT"),
    "Int128": (Type.DECIMAL, "HUGEINT"),
    "String": (Type.TEXT, "VARCHAR"),
    "UUID": (Type.TEXT, "UUID"),
    "Date": (Type.DATE, "Date"),
    "Date32": (Type.DATE, "DATE"),
    "DateTime": (Type.TIMESTAMP, "DateTime"),
    "Time": (Type.TIME, "TIME"),
}
LOOSE = ("Enum", "UUID", "FixedString")
"""Types that must be cast to text: enums, UUIDs, and text padded with zeros."""

WRAPPER = re.compile(r"(Nullable|LowCardinality)\((.*)\)", re.DOTALL)
FORM = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)
MAX_DIGITS = 38
MICROSECONDS = 6


def schema_of(rows: Iterable[tuple[str, str, str, str]], namespace: tuple[str, ...]) -> Schema:
    """Return tables and views from rows of `COLUMNS`; those of the current database have plain names."""
    tables: dict[str, dict[str, SchemaColumn]] = {}
    for database, table, name, native in rows:
        tables.setdefault(short_name((database, table), namespace), {})[name] = column_of(name, native)
    return Schema({name: SchemaTable(name, columns) for name, columns in tables.items()}, namespace)


def column_of(name: str, native: str) -> SchemaColumn:
    """Return one column. Text is compared byte by byte; enums and UUIDs are cast to text first."""
    inner, nullable = native.strip(), False
    while (wrapper := WRAPPER.fullmatch(inner)) is not None:
        nullable, inner = nullable or wrapper[1] == "Nullable", wrapper[2]
    kind, spelled = kind_of(inner)
    loose = inner.startswith(LOOSE) or spelled == "TIMESTAMP_NS"
    instant = kind is Type.TIMESTAMP
    return SchemaColumn(name, kind, spelled, nullable, collated=inner != "String", loose=loose, instant=instant)


def kind_of(native: str) -> tuple[Type, str]:
    """Return our type and its name; types not on the list are hidden."""
    form = FORM.fullmatch(native)
    head, inside = (form[1], form[2] or "") if form else ("", "")
    if native in WHOLE:
        return Type.INTEGER, native
    if head == "Decimal":
        precision, scale = (int(part) for part in inside.split(","))
        return (Type.DECIMAL if precision <= MAX_DIGITS else Type.OTHER), f"DECIMAL({precision},{scale})"
    if head in {"Enum8", "Enum16", "FixedString"}:
        return Type.TEXT, head
    if head in {"DateTime64", "Time64"}:
        # Type of a time or timestamp; finer timestamps are truncated to microseconds.
        digits = int(inside.split(",", maxsplit=1)[0])
        if head == "DateTime64":
            return Type.TIMESTAMP, "TIMESTAMP" if digits <= MICROSECONDS else "TIMESTAMP_NS"
        return (Type.TIME if digits <= MICROSECONDS else Type.OTHER), "TIME"
    if head == "DateTime":
        return NAMED[head]
    return NAMED.get(native, (Type.OTHER, native))
