"""Limits of time and memory; results as Arrow tables of fixed types; and small tables as SQL.

Privacy: types come from the plan, never from the rows; 128-bit integers are passed as integers, text or decimals, and
never as floating-point numbers.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from sys import getsizeof
from typing import TypeVar

import pyarrow as pa

from hedgerow.backends.base import failure
from hedgerow.backends.time_limits import time_limits
from hedgerow.cancellation import active_cancellation
from hedgerow.compiled import Query
from hedgerow.dialects import FIRST, Dialect
from hedgerow.dialects.statement import Computed, StatementParts, Step
from hedgerow.errors import HedgerowError
from hedgerow.exact import ExactTable
from hedgerow.expressions.nodes import Constant

SECONDS_BETWEEN_STOPS = 0.5
"""Stopping is repeated, because the engine may not have been running the statement at the first attempt."""

STOPPED = frozenset({"cancelled", "engine-failed"})
"""Codes of errors of a stopped statement."""


@contextmanager
def stop_after(seconds: float, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` from another thread when the time is over or the statement is cancelled, until the body has ended.

    `stop` is never called after the end, so it cannot stop the next statement on the same connection.

    Privacy: whether a statement is stopped may depend on the data, as every duration does. The message does not.
    """
    ended, expired, turn = threading.Event(), threading.Event(), threading.Lock()
    cancellation = active_cancellation()

    def stop_repeatedly() -> None:
        while not ended.is_set():
            with turn, suppress(Exception):
                if not ended.is_set():
                    stop()
            ended.wait(SECONDS_BETWEEN_STOPS)

    def expire() -> None:
        with turn:
            if ended.is_set():
                return
            expired.set()
        stop_repeatedly()

    def cancel() -> None:
        threading.Thread(target=stop_repeatedly, name="hedgerow-cancel", daemon=True).start()

    with cancellation.calling(cancel):
        limit = time_limits.start(seconds, expire)
        try:
            yield
        except Exception as error:
            code = "timed-out" if expired.is_set() else "cancelled" if cancellation.requested else None
            if code is not None and (not isinstance(error, HedgerowError) or error.code in STOPPED):
                raise failure(error, code) from None
            raise
        finally:
            with turn:
                ended.set()
            time_limits.end(limit)


Piece = TypeVar("Piece")
Row = Sequence[object]
ROWS_AT_ONCE = 2048
"""Rows of one piece. Text has at most about ten thousand characters, so a piece has at most about 20 MB."""


def within(max_bytes: int, pieces: Iterable[Piece], size: Callable[[Piece], int]) -> Iterator[Piece]:
    """Yield the pieces of a result; raise an `out-of-memory` error when they exceed `max_bytes`.

    Privacy: whether a statement is stopped may depend on the data, as with every limit of memory. The message does not.
    """
    used = 0
    for piece in pieces:
        used += size(piece)
        if used > max_bytes:
            raise failure(MemoryError(f"The result takes more than {max_bytes} bytes."), "out-of-memory")
        yield piece


def read_batches(reader: pa.RecordBatchReader, max_bytes: int) -> pa.Table:
    """Return the table of an Arrow stream, if it takes at most `max_bytes`.

    The stream is closed in any case. One that is left open keeps its database open for as long as the error with its
    traceback is kept, and DuckDB then waits for ever if the same file is opened again.
    """
    with reader:
        return pa.Table.from_batches(within(max_bytes, reader, pa.RecordBatch.get_total_buffer_size), reader.schema)


def fetch_rows(fetch: Callable[[int], Sequence[Row]], max_bytes: int) -> list[Row]:
    """Return the rows of a cursor, by its `fetchmany`, if they take at most `max_bytes` as Python objects."""
    return [row for piece in within(max_bytes, _fetched(fetch), _bytes_of_rows) for row in piece]


def _fetched(fetch: Callable[[int], Sequence[Row]]) -> Iterator[Sequence[Row]]:
    while rows := fetch(ROWS_AT_ONCE):
        yield rows


def _bytes_of_rows(rows: Sequence[Row]) -> int:
    return sum(getsizeof(row) + sum(map(getsizeof, row)) for row in rows)


WIDE = pa.decimal128(38, 0)
EPOCH = date(1970, 1, 1)


def exact_table(rows: Iterable[Sequence[object]], query: Query) -> ExactTable:
    """Return the rows of `query` from a cursor.

    Columns must be in the order of the SELECT: first `query.keys`, then `query.integers`.
    """
    return ExactTable(table_of(rows, query), query.keys, query.integers)


def table_of(rows: Iterable[Sequence[object]], query: Query) -> pa.Table:
    """Return keys in the types of the plan, and integers as 128-bit decimals."""
    return table_of_columns(list(zip(*rows, strict=True)), query)


def table_of_columns(columns: Sequence[Sequence[object]], query: Query) -> pa.Table:
    """Return the same from the columns of a result; none if it has no rows."""
    names = [*query.keys, *query.integers]
    columns = columns or [()] * len(names)
    kinds = [*query.types, *[WIDE] * len(query.integers)]
    arrays = [_array(values, kind) for values, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _array(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """Return a column. Arrow itself converts text and whole numbers, also those beyond 64 bits, which are digits."""
    types = set(map(type, values)) - {type(None)}
    if pa.types.is_string(kind) and types <= {str}:
        return pa.array(values, kind)
    if kind == WIDE and types <= {int}:
        try:
            return pa.array(values, pa.int64()).cast(WIDE)
        except OverflowError:  # beyond 64 bits
            types.add(str)
    if kind == WIDE and types <= {int, str}:
        return pa.array([None if value is None else str(value) for value in values], pa.string()).cast(WIDE)
    return pa.array([None if value is None else _value(value, kind) for value in values], type=kind)


def _value(value: object, kind: pa.DataType) -> object:
    """Convert a value for Arrow. Engines that lack a type return text or numbers instead."""
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
    """Convert to a decimal, exactly; a double (on engines without decimals) is rounded to the scale."""
    if isinstance(value, float):
        return Decimal(repr(round(value, scale))).quantize(Decimal(1).scaleb(-scale))
    return Decimal(str(value))


def _read_time(text: str, kind: pa.DataType) -> object:
    if pa.types.is_date(kind):
        return date.fromisoformat(text[:10])
    return datetime.fromisoformat(text) if pa.types.is_timestamp(kind) else time.fromisoformat(text)


def with_rows(query: Query, tables: Mapping[str, pa.Table], dialect: Dialect) -> str:
    """Return the text of a query in which the tables that it names are first steps, written as constants.

    For engines whose read-only sessions cannot have temporary tables.
    """
    steps = [_rows_step(name, table, dialect) for name, table in tables.items() if name in query.sql]
    return with_first_steps(steps, query, dialect)


def _rows_step(name: str, table: pa.Table, dialect: Dialect) -> Step:
    """Return a step with the rows of `table` under `name`.

    The last column is an index, from 0. An extra first row gives every column its type and is filtered out again.
    """
    columns = [column.to_pylist() for column in table.columns]
    rows = [[*(_sample(kind) for kind in table.schema.types[:-1]), -1], *zip(*columns, strict=True)]
    texts = [[dialect.constant(value) for value in row] for row in rows]
    named = ", ".join(f"c{i} AS {column}" for i, column in enumerate(table.column_names))
    body = f"SELECT {named} FROM {dialect.values(texts, 'given')} WHERE c{len(columns) - 1} >= 0"
    return Step(name, body, Computed.ONCE)


def named_columns(table: pa.Table, query: Query) -> pa.Table:
    """Return the columns of a loaded table that a query names: the others need not be written into its text."""
    return table.select([name for name in table.column_names if name in query.sql])


def with_first_steps(steps: Sequence[Step], query: Query, dialect: Dialect) -> str:
    """Return the text of a query with steps in front of its own."""
    own = query.parts
    return dialect.statement_text(StatementParts((*steps, *own.steps), own.query)) if steps else query.sql


def _sample(kind: pa.DataType) -> Constant:
    """Return an arbitrary value of a type."""
    if pa.types.is_decimal(kind):
        return Decimal(0).scaleb(-kind.scale)
    if pa.types.is_timestamp(kind):
        return FIRST
    samples: dict[pa.DataType, Constant] = {pa.bool_(): False, pa.float64(): 0.0, pa.string(): "", pa.date32(): EPOCH}
    return samples.get(kind, 0)
