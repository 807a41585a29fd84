"""Schema of Spark's tables and views. It enforces neither keys nor NOT NULL, so none is reported."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hedgerow.dialects import Dialect
from hedgerow.expressions.table_names import full_name, short_name, table_name
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

TYPES: Mapping[str, Type] = {
    "boolean": Type.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Type.INTEGER),
    **dict.fromkeys(("float", "double"), Type.FLOAT),
    "string": Type.TEXT,
    "date": Type.DATE,
    "timestamp_ntz": Type.TIMESTAMP,
    "timestamp": Type.TIMESTAMP,
}
DECIMAL = re.compile(r"decimal\(\d+,\d+\)")
PADDED = "__CHAR_VARCHAR_TYPE_STRING"


def temporary_views(session: Any) -> frozenset[str]:  # noqa: ANN401 - a session of either kind
    """The names of the temporary views."""
    return frozenset(table_name(table.name) for table in session.catalog.listTables() if table.isTemporary)


def read_schema(session: Any, dialect: Dialect, declared: Iterable[str]) -> Schema:  # noqa: ANN401 - likewise
    """The tables of the current database, the temporary views, and tables elsewhere that are declared.

    Those that Spark cannot read are left out. What is elsewhere is not listed: a catalog may hold thousands of tables.
    """
    here = [table_name(table.name) for table in session.catalog.listTables()]
    elsewhere = [short_name(full_name(name, dialect.namespace), dialect.namespace) for name in declared]
    found = {name: read_table(session, name, dialect) for name in dict.fromkeys([*here, *elsewhere])}
    return Schema({name: table for name, table in found.items() if table is not None}, dialect.namespace)


def read_table(session: Any, name: str, dialect: Dialect) -> SchemaTable | None:  # noqa: ANN401 - likewise
    """One table, by its name; None if there is none that can be read."""
    try:
        fields = session.table(dialect.table(name)).schema.fields
    except Exception:  # noqa: BLE001 - a view over a table that is gone must not hide all others
        return None
    return SchemaTable(name, {field.name: _column(field) for field in fields})


def _column(field: Any) -> SchemaColumn:  # noqa: ANN401 - a field of PySpark
    """Text of the type CHAR is padded and compared by rules of its own, and so is text with a collation: hidden."""
    native = field.dataType.simpleString()
    kind = Type.DECIMAL if DECIMAL.fullmatch(native) else TYPES.get(native, Type.OTHER)
    if str((field.metadata or {}).get(PADDED, "")).startswith("char"):
        kind = Type.OTHER
    instant = native == "timestamp"
    shown = "TIMESTAMP_LTZ" if instant else native.upper()
    return SchemaColumn(field.name, kind, shown, collated=kind is not Type.TEXT, instant=instant)
