"""What comes out of SQLite, as cells of fixed types. Whatever is not of its type is NULL, as everywhere."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pyarrow as pa

from hedgerow.compiled import Query

Cell = Callable[[object], object]


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
