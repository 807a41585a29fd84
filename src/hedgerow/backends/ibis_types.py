"""From types of Ibis to ours, by an allow-list. Whatever is not on it cannot be used.

Ibis does not say what an engine enforces, so every column may be NULL and no key is unique.
"""

from collections.abc import Mapping
from typing import Any

from hedgerow.dialects.base import INSTANT
from hedgerow.expressions.types import Type
from hedgerow.schema import SchemaColumn

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
