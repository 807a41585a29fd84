"""Rows of an engine as Arrow tables of fixed types, and small tables as SQL.

Privacy: types come from the plan, never from what is in the rows; integers of 128 bits pass as they are, as text or as
decimals, and never as floating-point numbers.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

from hedgerow.compiled import Query
from hedgerow.dialects import FIRST, Dialect
from hedgerow.exact import ExactTable
from hedgerow.expressions.nodes import Constant

WIDE = pa.decimal128(38, 0)
EPOCH = date(1970, 1, 1)


def exact_table(rows: Iterable[Sequence[object]], query: Query) -> ExactTable:
    """Return the rows of `query` from a cursor: its keys, then its integers, in the order they are named.

    The columns must come in the order of the SELECT; `query.keys` come first in it, then `query.integers`.
    """
    return ExactTable(table_of(rows, query), query.keys, query.integers)


def table_of(rows: Iterable[Sequence[object]], query: Query) -> pa.Table:
    """Keys in the types of the plan, integers as 128-bit decimals."""
    names = [*query.keys, *query.integers]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    kinds = [*query.types, *[WIDE] * len(query.integers)]
    made = [_column(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays(made, names=names)


def _column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else _value(value, kind) for value in values], type=kind)


def _value(value: object, kind: pa.DataType) -> object:
    """A value as Arrow wants it. Engines without a type send text or numbers for it."""
    if pa.types.is_decimal(kind):
        return _decimal(value, kind.scale)
    if pa.types.is_boolean(kind):
        return bool(value)
    if pa.types.is_integer(kind):
        return int(value)  # type: ignore[call-overload]
    if pa.types.is_floating(kind):
        return float(value)  # type: ignore[arg-type]
    if pa.types.is_string(kind):
        return str(value)
    if isinstance(value, str):
        return _read_time(value, kind)
    if pa.types.is_date(kind) and isinstance(value, datetime):
        return value.date()
    if pa.types.is_timestamp(kind) and isinstance(value, datetime):
        return value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    if pa.types.is_time(kind) and isinstance(value, timedelta):
        return int(value / timedelta(microseconds=1))
    return value


def _decimal(value: object, scale: int) -> Decimal:
    """Exactly; a double, which an engine without decimals has, to the digits of the type."""
    if isinstance(value, float):
        return Decimal(repr(round(value, scale))).quantize(Decimal(1).scaleb(-scale))
    return Decimal(str(value))


def _read_time(text: str, kind: pa.DataType) -> object:
    if pa.types.is_date(kind):
        return date.fromisoformat(text[:10])
    return datetime.fromisoformat(text) if pa.types.is_timestamp(kind) else time.fromisoformat(text)


def with_rows(sql: str, name: str, table: pa.Table, dialect: Dialect) -> str:
    """A query that starts with WITH, and before its steps one more: the rows of `table` under `name`.

    For engines in which a read-only session has no place for a table of its own. The last column is a place, from 0.
    A first row gives every column its type, and is left out again.
    """
    columns = [column.to_pylist() for column in table.columns]
    rows = [[*(_sample(kind) for kind in table.schema.types[:-1]), -1], *zip(*columns, strict=True)]
    texts = [[dialect.constant(value) for value in row] for row in rows]
    named = ", ".join(f"c{i} AS {column}" for i, column in enumerate(table.column_names))
    body = f"SELECT {named} FROM {dialect.values(texts, 'given')} WHERE c{len(columns) - 1} >= 0"
    return f"WITH {dialect.step(name, body, once=True)}, {sql.removeprefix('WITH ')}"


def _sample(kind: pa.DataType) -> Constant:
    """Some value of a type."""
    if pa.types.is_decimal(kind):
        return Decimal(0).scaleb(-kind.scale)
    if pa.types.is_timestamp(kind):
        return FIRST
    samples: dict[pa.DataType, Constant] = {pa.bool_(): False, pa.float64(): 0.0, pa.string(): "", pa.date32(): EPOCH}
    return samples.get(kind, 0)
