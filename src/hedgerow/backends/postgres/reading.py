"""From PostgreSQL to Arrow and back.

Results come by COPY as CSV, which Arrow reads in columns. Small tables go there as arrays.

Privacy: types come from the plan, never from what is in the rows; numbers of 128 bits pass as text.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv

from hedgerow.backends.results import WIDE, within
from hedgerow.compiled import Query
from hedgerow.dialects.postgres.naming import array
from hedgerow.dialects.statement import Step

if TYPE_CHECKING:
    from psycopg import Cursor

ARRAYS = {
    pa.bool_(): "BOOLEAN",
    pa.int64(): "BIGINT",
    pa.float64(): "FLOAT8",
    pa.string(): "TEXT",
    pa.date32(): "DATE",
    pa.time64("us"): "TIME",
    pa.timestamp("us"): "TIMESTAMP",
}


def table_of(cursor: "Cursor", query: Query, max_bytes: int) -> pa.Table:
    """Return keys in the types of the plan and integers as 128-bit decimals, from at most `max_bytes` of CSV."""
    names = [*query.keys, *query.integers]
    kinds = [*query.types, *[WIDE] * len(query.integers)]
    with cursor.copy(f"COPY ({query.sql}) TO STDOUT (FORMAT csv)") as copied:
        return _read(within(max_bytes, copied, len), [f"c{i}" for i in range(len(names))], kinds).rename_columns(names)


def _read(blocks: Iterable[bytes | bytearray | memoryview], names: list[str], kinds: list[pa.DataType]) -> pa.Table:
    sink = pa.BufferOutputStream()
    for block in blocks:
        sink.write(block)
    data = sink.getvalue()
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    if data.size == 0:
        return schema.empty_table()
    return csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )


def rows_step(name: str, table: pa.Table) -> Step:
    """Return a step with the rows of `table` under `name`."""
    arrays = [f"{array(column.to_pylist())}::{_native(column.type)}[]" for column in table.columns]
    aliases = [f"a{i}" for i in range(len(arrays))]
    named = ", ".join(f"{alias} AS {column}" for alias, column in zip(aliases, table.column_names, strict=True))
    body = f"SELECT {named} FROM unnest({', '.join(arrays)}) AS given({', '.join(aliases)})"
    return Step(name, body)


def _native(kind: pa.DataType) -> str:
    return "NUMERIC" if pa.types.is_decimal(kind) else ARRAYS[kind]
