"""Data files of a release: each number with the ends of its interval, its margin of error, its kind and a note.

An empty end means that nothing is known on that side. The files hold released values and nothing else.
"""

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from hedgerow.answer import Answer
from hedgerow.answer.frames import unique_name
from hedgerow.answer.plain import number, rounded_outwards
from hedgerow.error_bars.intervals.interval import Interval

FORMULA = re.compile(r"[\s\x00-\x1f\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n']")
"""Beginning of a text that a spreadsheet may read as a formula, also in full-width letters and after white space; or an
apostrophe, so that the text stays unique."""


class ColumnRole(StrEnum):
    """Meaning of a column."""

    KEY = "key"
    NUMBER = "number"
    LOWER = "lower"
    UPPER = "upper"
    MARGIN = "margin"
    KIND = "kind"
    NOTE = "note"
    POPULATION_LOWER = "population_lower"
    POPULATION_UPPER = "population_upper"
    P_VALUE = "p_value"
    P_ADJUSTED = "p_adjusted"


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column of a data file: its name, its meaning, and the number that it is about."""

    name: str
    role: ColumnRole
    of: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table with margins of error, and the meaning of its columns."""

    columns: tuple[DataColumn, ...]
    values: pa.Table

    @property
    def csv_names(self) -> list[str]:
        """The names of the columns as the CSV file has them."""
        return [harmless(column.name) for column in self.columns]

    def csv(self) -> bytes:
        """Return comma-separated values. A text that would be a formula in a spreadsheet begins with an apostrophe."""
        from pyarrow import csv  # noqa: PLC0415 - no question needs it

        columns = [_for_csv(column) for column in self.values.columns]
        stream = io.BytesIO()
        csv.write_csv(pa.Table.from_arrays(columns, names=self.csv_names), stream)
        return stream.getvalue()

    def parquet(self) -> bytes:
        """Return a Parquet file."""
        from pyarrow import parquet  # noqa: PLC0415 - no question needs it

        stream = io.BytesIO()
        parquet.write_table(self.values, stream)
        return stream.getvalue()


def data_table(answer: Answer) -> DataTable:
    """Return the values of an answer, each number followed by the columns of its interval."""
    table, taken = answer.arrow(), set(answer.columns)
    columns: list[DataColumn] = []
    arrays: list[pa.ChunkedArray | pa.Array] = []
    for field, values in zip(table.schema, table.columns, strict=True):
        is_noisy = field.name in answer.noisy
        columns.append(
            DataColumn(field.name, ColumnRole.NUMBER if is_noisy else ColumnRole.KEY, field.name, field.type)
        )
        arrays.append(values)
        if not is_noisy:
            continue
        bars = [row.get(field.name) for row in answer.intervals]
        if pa.types.is_integer(field.type):
            bars = [None if bar is None else rounded_outwards(bar) for bar in bars]
        for role, array in _parts(answer[field.name], bars).items():
            columns.append(DataColumn(unique_name(f"{field.name}_{role}", taken), role, field.name, array.type))
            arrays.append(array)
    named = pa.Table.from_arrays(arrays, names=[column.name for column in columns])
    return DataTable(tuple(columns), named)


def _parts(values: Sequence[object], bars: Sequence[Interval | None]) -> dict[ColumnRole, pa.Array]:
    """Return the columns about one number."""
    margins = [margin_of(value, bar) for value, bar in zip(values, bars, strict=True)]
    parts = {
        ColumnRole.LOWER: _numbers(None if bar is None else bar.lower for bar in bars),
        ColumnRole.UPPER: _numbers(None if bar is None else bar.upper for bar in bars),
        ColumnRole.MARGIN: _numbers(margins),
        ColumnRole.KIND: pa.array((None if bar is None else bar.kind.value for bar in bars), pa.string()),
        ColumnRole.NOTE: pa.array((bar and (bar.for_readers or bar.note) for bar in bars), pa.string()),
    }
    if any(bar is not None and bar.population is not None for bar in bars):
        ends = [(None, None) if bar is None or bar.population is None else bar.population for bar in bars]
        parts[ColumnRole.POPULATION_LOWER] = _numbers(lower for lower, _ in ends)
        parts[ColumnRole.POPULATION_UPPER] = _numbers(upper for _, upper in ends)
        parts[ColumnRole.P_VALUE] = _numbers(None if bar is None else bar.p_value for bar in bars)
    if any(bar is not None and bar.p_adjusted is not None for bar in bars):
        parts[ColumnRole.P_ADJUSTED] = _numbers(None if bar is None else bar.p_adjusted for bar in bars)
    return parts


def margin_of(value: object, bar: Interval | None) -> float | None:
    """Return the margin of error: the longer of the two distances to the ends; None where it is not finite.

    Example:
        >>> margin_of(10, Interval(7, 12)), margin_of(10, Interval(7)), margin_of(None, Interval(7, 12))
        (3.0, None, None)
    """
    centre = number(value)
    if centre is None or bar is None:
        return None
    margin = max(centre - bar.lower, bar.upper - centre)
    return margin if math.isfinite(margin) else None


def _numbers(values: Iterable[float | None]) -> pa.Array:
    """Return a column of numbers, empty where a number is not finite."""
    return pa.array((None if value is None or not math.isfinite(value) else value for value in values), pa.float64())


def harmless(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula. Without its first apostrophe it is the text again.

    Example:
        >>> harmless("north"), harmless("=1+1"), harmless("'quoted'")
        ('north', "'=1+1", "''quoted'")
    """
    return f"'{text}" if FORMULA.match(text) else text


def _for_csv(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.array((None if text is None else harmless(text) for text in column.to_pylist()), pa.string())
    if pa.types.is_floating(kind):
        return _numbers(column.to_pylist())
    plain = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_temporal)
    if any(is_kind(kind) for is_kind in plain) and not pa.types.is_duration(kind):
        return column
    return pa.array((None if value is None else harmless(str(value)) for value in column.to_pylist()), pa.string())
