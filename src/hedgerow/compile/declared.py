"""Declared keys: listed in the statement where they are few, loaded as a table before it where they are many.

An engine takes seconds to read a statement of a hundred thousand constants, and milliseconds to read a table.
"""

from functools import lru_cache
from hashlib import sha256

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

Values = tuple[str | int | float | bool, ...]


def declared_tables(release: Release) -> tuple[tuple[str, pa.Table], ...]:
    """Return the tables to load before the statements of this release, by name: values and their indices."""
    tables = []
    for named in release.keys:
        values = _loaded_values(named)
        if values is not None:
            column = pa.array(values, type=LOADED[named.expr.type])
            index = pa.array(range(len(values)), type=pa.int64())
            tables.append((_table_name(named.expr.type, values), pa.table({VALUE: column, KEY_INDEX: index})))
    return tuple(tables)


def among_declared(release: Release, dialect: Dialect) -> list[str]:
    """Return the conditions that keys are among the declared values. NULL is never among them."""
    conditions = []
    for named in release.keys:
        values, text = _loaded_values(named), key(named.expr, dialect)
        if values is not None:
            compared = dialect.as_double(text, named.expr) if named.expr.type is Type.DECIMAL else text
            table = _table_name(named.expr.type, values)
            conditions.append(f"{compared} IN (SELECT {table}.{VALUE} FROM {table})")
        elif (listed := declared_values(named.expr)) is not None:
            conditions.append(f"{text} IN ({', '.join(dialect.constant(value) for value in listed)})")
    return conditions


def _loaded_values(named: Named) -> Values | None:
    """Return the values of a key that are loaded as a table; None if they are listed, or not declared."""
    values = declared_values(named.expr)
    return values if values is not None and len(values) > MAX_LISTED and named.expr.type in LOADED else None


@lru_cache(maxsize=16)
def _table_name(kind: Type, values: Values) -> str:
    """Return a name that depends on the values: the releases of one statement may have keys of the same name."""
    return f"{DECLARED}{kind.value}_{sha256(repr(values).encode()).hexdigest()[:16]}"
