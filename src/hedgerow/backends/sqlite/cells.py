"""Cells of fixed types, from and to SQLite.

Whatever is not of its type is NULL, as everywhere.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

from hedgerow.backends.sqlite.functions.values import NAN, Stored, fitting
from hedgerow.compiled import Query
from hedgerow.dialects import Dialect
from hedgerow.dialects.sqlite import PREFIX

Cell = Callable[[object], object]
GIVEN = f"{PREFIX}given"
"""The function that hands out cells of tables that were given to a snapshot: by table, column and row."""

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a time zone
MICROSECOND = timedelta(microseconds=1)


def cells(rows: Sequence[Sequence[object]], query: Query) -> Iterator[Sequence[object]]:
    """The rows of a query, as `hedgerow.backends.tables` takes them. Integers may be digits: they have 128 bits."""
    if not rows:
        return iter(())
    kinds = [*map(_reader, query.types), *[_as_it_is] * len(query.integers)]
    columns = zip(zip(*rows, strict=True), kinds, strict=True)
    return zip(*([read(cell) for cell in column] for column, read in columns), strict=True)


def _as_it_is(cell: object) -> object:
    return cell


def _reader(kind: pa.DataType) -> Cell:
    """How a cell of an Arrow type is read."""
    if pa.types.is_floating(kind):
        return _double
    if pa.types.is_decimal(kind):
        return lambda cell: _decimal(cell, kind.scale)
    if pa.types.is_string(kind):
        return lambda cell: cell if isinstance(cell, str) else None
    return _date if pa.types.is_date(kind) else _whole


def _double(cell: object) -> object:
    """NaN is the empty text."""
    if isinstance(cell, str):
        return math.nan
    return cell if isinstance(cell, int | float) else None


def _decimal(cell: object, scale: int) -> object:
    if isinstance(cell, float):
        return f"{cell:.{scale}f}" if abs(cell) < 10.0 ** (38 - scale) else None
    return cell if isinstance(cell, int) else None


def _date(cell: object) -> object:
    try:
        return date.fromisoformat(cell) if isinstance(cell, str) else None
    except ValueError:
        return None


def _whole(cell: object) -> object:
    """Integers, and booleans, times and timestamps, which are integers here."""
    return cell if isinstance(cell, int) else None


def stored(cell: object) -> Stored:
    """A Python value as SQLite holds it."""
    if isinstance(cell, datetime):
        return (cell - EPOCH) // MICROSECOND
    if isinstance(cell, time):
        return (datetime.combine(EPOCH, cell) - EPOCH) // MICROSECOND
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return int(cell) if cell == int(cell) and fitting(int(cell)) is not None else float(cell)
    if isinstance(cell, float):
        return NAN if math.isnan(cell) else cell
    return int(cell) if isinstance(cell, bool) else cell if isinstance(cell, int | str) else None


def with_given(sql: str, name: str, table: pa.Table, place: int, dialect: Dialect) -> str:
    """A query that starts with WITH, and before its steps two more: the rows of `table` under `name`.

    The cells come from the function `GIVEN`, so that the text stays short however many rows there are.
    """
    source, count = f"given{place}", len(table)
    numbers = f"{source}(i) AS (SELECT 0 WHERE {count} UNION ALL SELECT i + 1 FROM {source} WHERE i < {count - 1})"
    columns = ", ".join(f"{GIVEN}({place}, {at}, i) AS {column}" for at, column in enumerate(table.column_names))
    rows = dialect.step(name, f"SELECT {columns} FROM {source}", once=True)
    return f"WITH {numbers}, {rows}, {sql.removeprefix('WITH ')}"
