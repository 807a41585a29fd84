"""Declared keys: listed in the statement where they are few, loaded as a table before it where they are many.

Engines take seconds to read a statement with a hundred thousand constants, and milliseconds to read a table.
"""

import pyarrow as pa

from hedgerow.compile.scalars import key
from hedgerow.compiled import DECLARED, KEY_INDEX, VALUE
from hedgerow.dialects import Dialect
from hedgerow.expressions.facts import declared_values
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Named, Release

MAX_LISTED = 200
"""Maximum number of declared values of a column that are written into the statement."""

LOADED = {Type.TEXT: pa.string(), Type.INTEGER: pa.int64(), Type.FLOAT: pa.float64(), Type.DECIMAL: pa.float64()}
"""Arrow types of loaded values, by the type of the key. Decimals are compared with declared numbers as doubles."""


def declared_tables(release: Release) -> tuple[tuple[str, pa.Table], ...]:
    """Return the tables to load before a statement of this release, by name: values and their indices."""
    tables = []
    for named in release.keys:
        values = _loaded_values(named)
        if values is not None:
            column = pa.array(values, type=LOADED[named.expr.type])
            index = pa.array(range(len(values)), type=pa.int64())
            tables.append((_table_name(named), pa.table({VALUE: column, KEY_INDEX: index})))
    return tuple(tables)


def among_declared(release: Release, dialect: Dialect) -> list[str]:
    """Return the conditions that keys are among the declared values. NULL is never among them."""
    conditions = []
    for named in release.keys:
        values, text = declared_values(named.expr), key(named.expr, dialect)
        if _loaded_values(named) is not None:
            compared = dialect.as_double(text, named.expr) if named.expr.type is Type.DECIMAL else text
            table = _table_name(named)
            conditions.append(f"{compared} IN (SELECT {table}.{VALUE} FROM {table})")
        elif values is not None:
            conditions.append(f"{text} IN ({', '.join(dialect.constant(value) for value in values)})")
    return conditions


def _loaded_values(named: Named) -> tuple[str | int | float | bool, ...] | None:
    """Return the values of a key that are loaded as a table; None if they are listed, or not declared."""
    values = declared_values(named.expr)
    return values if values is not None and len(values) > MAX_LISTED and named.expr.type in LOADED else None


def _table_name(named: Named) -> str:
    return f"{DECLARED}{named.name}"
