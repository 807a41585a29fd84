"""Released values with their intervals, as every way of showing them reads them."""

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hedgerow.answer.summary import Summary
from hedgerow.error_bars.intervals.interval import Interval

Intervals = Sequence[Mapping[str, Interval]]


class ReleasedTable:
    """A released table with error bars: its values, and what is known about them.

    Iterating gives rows as named tuples of plain values; `answer["column"]` is a list;
    `answer.intervals[i]["column"]` is the `Interval` of row i.

    Attributes:
        columns: The names, in SELECT order.
        confidence: How often an interval holds.
        receipt: What was paid, and for what; its `id` is None for public data.
        notes: What is to be said about the answer as a whole, such as which groups its totals leave out.
    """

    def __init__(
        self,
        table: pa.Table,
        intervals: Intervals | Callable[[], Intervals],
        confidence: float,
        receipt: Summary,
        noisy: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Keep a released table.

        Args:
            table: The released values.
            intervals: The error bars, row by row; or a function that makes them when they are first looked at.
            confidence: How often one of them holds.
            receipt: What was paid.
            noisy: The columns that have error bars; where it is not given, those that have one in any row.
            notes: What is to be said about the answer as a whole.
        """
        self._table = table
        self._intervals = intervals
        self._noisy = None if noisy is None else tuple(noisy)
        self._made: dict[str, list[Mapping[str, Interval]]] = {}
        self.columns = list(table.column_names)
        self.confidence = confidence
        self.receipt = receipt
        self.notes = tuple(notes)

    @property
    def intervals(self) -> list[Mapping[str, Interval]]:
        """For every row, the interval of each column that rests on noise. Made once, however many threads ask."""
        if "all" not in self._made:
            intervals = self._intervals() if callable(self._intervals) else self._intervals
            self._made.setdefault("all", list(intervals))
        return self._made["all"]

    @property
    def noisy(self) -> tuple[str, ...]:
        """The columns that rest on noise, and so have error bars."""
        if self._noisy is None:
            with_interval = {name for row in self.intervals for name in row}
            self._noisy = tuple(name for name in self.columns if name in with_interval)
        return self._noisy

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        row = namedtuple("Row", self.columns, rename=True)  # type: ignore[misc]  # noqa: PYI024 - names are known at run time only
        columns = [self[name] for name in self.columns]
        return (row(*values) for values in zip(*columns, strict=True)) if columns else iter(())

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self.columns:
            raise KeyError(column)
        return list(self._table.column(column).to_pylist())
