"""Arrow from ClickHouse, and small Arrow tables as SQL.

Privacy: types come from the plan. 128-bit integers arrive as sixteen bytes each, the layout of an Arrow decimal; they
never become floating-point numbers.
"""

from datetime import datetime

import pyarrow as pa

from hedgerow.backends.results import WIDE
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Step

SIXTEEN = pa.binary(16)


def read(data: bytes) -> pa.Table:
    """Read an Arrow file."""
    return pa.ipc.open_file(pa.BufferReader(data)).read_all()


def table_of(result: pa.Table, query: Query) -> pa.Table:
    """Return the columns of a result in the types of the query."""
    keys = [_key(column, kind) for column, kind in zip(result.columns, query.types, strict=False)]
    integers = [_integers(column) for column in result.columns[len(keys) :]]
    return pa.Table.from_arrays([*keys, *integers], names=[*query.keys, *query.integers])


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type != SIXTEEN:
        return column
    return pa.chunked_array([_decimals(chunk) for chunk in column.chunks], type=WIDE)


def _decimals(chunk: pa.Array) -> pa.Array:
    """Reinterpret sixteen bytes as a decimal."""
    return pa.Array.from_buffers(WIDE, len(chunk), chunk.buffers(), chunk.null_count, chunk.offset)


def _key(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    if pa.types.is_decimal(kind):
        return _integers(column).cast(kind)
    if pa.types.is_timestamp(kind):
        # Timestamps at UTC; a DateTime arrives as seconds.
        if pa.types.is_integer(column.type):
            return column.cast(pa.int64()).cast(pa.timestamp("s")).cast(kind)
        return column.cast(pa.timestamp(kind.unit, "UTC") if column.type.tz else kind).cast(kind)
    if pa.types.is_string(kind):
        return _texts(column)
    return column.cast(kind)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text; invalid UTF-8, which ClickHouse allows, is replaced (only in public rows: keys are valid)."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        listed = [None if v is None else v.decode("utf-8", "replace") for v in column.cast(pa.binary()).to_pylist()]
        return pa.chunked_array([pa.array(listed, type=pa.string())])
    return column.cast(pa.string())


def rows_step(name: str, table: pa.Table, dialect: Dialect) -> Step:
    """Return a step of WITH that holds the rows of `table`: an array for each column, cast to its type."""
    lists = [f"{_listed(column, dialect)} AS c{i}" for i, column in enumerate(table.columns)]
    kinds = map(_native, table.schema.types)
    read_back = [
        f"CAST(c{i} AS {kind}) AS {dialect.identifier(column)}"
        for i, (kind, column) in enumerate(zip(kinds, table.column_names, strict=True))
    ]
    body = f"SELECT {', '.join(read_back)} FROM (SELECT 1) AS once ARRAY JOIN {', '.join(lists)}"
    return Step(dialect.identifier(name), body)


def _listed(column: pa.ChunkedArray, dialect: Dialect) -> str:
    if column.type == pa.int64() and column.null_count == 0:
        return f"[{','.join(map(str, column.to_pylist()))}]"
    values = column.to_pylist()
    texts = values if pa.types.is_string(column.type) else [None if v is None else _text(v) for v in values]
    return "[" + ",".join(["NULL" if text is None else dialect.string(text) for text in texts]) + "]"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return repr(value) if isinstance(value, float) else str(value)


def _native(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"Nullable(Decimal(38, {kind.scale}))"
    names = {
        pa.bool_(): "Bool",
        pa.int64(): "Int64",
        pa.float64(): "Float64",
        pa.string(): "String",
        pa.date32(): "Date32",
        pa.time64("us"): "Time64(6)",
        pa.timestamp("us"): "DateTime64(6, 'UTC')",
    }
    return f"Nullable({names[kind]})"
