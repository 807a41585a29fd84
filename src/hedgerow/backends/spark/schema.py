"""What Spark says of its tables and views. It enforces neither keys nor NOT NULL, so none is reported."""

import re
from collections.abc import Mapping
from typing import Any

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


def read_schema(session: Any) -> Schema:  # noqa: ANN401 - a session of either kind
    """The tables of the current database and the temporary views, but for those that Spark cannot read."""
    names = dict.fromkeys(table.name for table in session.catalog.listTables())
    found = {name: read_table(session, name) for name in names}
    return Schema({name: table for name, table in found.items() if table is not None})


def read_table(session: Any, name: str) -> SchemaTable | None:  # noqa: ANN401 - a session of either kind
    """One table, by its name; None if there is none that can be read."""
    try:
        fields = session.table(f"`{name.replace('`', '``')}`").schema.fields
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
