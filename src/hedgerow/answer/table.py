"""The answer: a small table in which every number says how wrong it may be."""

import math
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hedgerow.answer.plain import plain
from hedgerow.answer.show import html_table, text_table
from hedgerow.answer.summary import Summary
from hedgerow.interval import Interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Answer:
    """A released table with error bars.

    Iterating gives rows as named tuples of plain values; `answer["column"]` is a list;
    `answer.intervals[i]["column"]` is the `Interval` of row i.

    Attributes:
        columns: The names, in SELECT order.
        intervals: For every row, the interval of each column that rests on noise.
        confidence: How often an interval holds.
        receipt: What was paid, and for what; None for public data.
    """

    def __init__(
        self,
        table: pa.Table,
        intervals: Sequence[Mapping[str, Interval]],
        confidence: float,
        receipt: Summary,
    ) -> None:
        self._table = table
        self.columns = list(table.column_names)
        self.intervals = list(intervals)
        self.confidence = confidence
        self.receipt = receipt

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

    def __repr__(self) -> str:
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)

    def arrow(self) -> pa.Table:
        """The values as an Arrow table, without error bars."""
        return self._table

    def df(self) -> "pd.DataFrame":
        """The values as a pandas data frame."""
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self._table.to_pandas())

    def pl(self) -> "pl.DataFrame":
        """The values as a polars data frame."""
        import polars as pl  # noqa: PLC0415 - optional

        return pl.DataFrame(pl.from_arrow(self._table))

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "id": self.receipt.id,
            "columns": self.columns,
            "rows": [[plain(value) for value in row] for row in self],
            "intervals": [{name: _ends(interval) for name, interval in row.items()} for row in self.intervals],
            "confidence": self.confidence,
            **self.receipt.to_dict(),
        }


def _ends(interval: Interval) -> dict[str, Any]:
    """JSON has no infinity: an open end is null."""
    return {
        "lower": interval.lower if math.isfinite(interval.lower) else None,
        "upper": interval.upper if math.isfinite(interval.upper) else None,
        "note": interval.note,
    }
