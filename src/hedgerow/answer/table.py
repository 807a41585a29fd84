"""The answer: a small table in which every number says how wrong it may be."""

import math
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hedgerow.answer.diagnostics import Diagnose, Diagnostics
from hedgerow.answer.frames import arrow_table, noisy_names
from hedgerow.answer.page import html_table
from hedgerow.answer.plain import plain
from hedgerow.answer.plot import AnyChart, plot_answer
from hedgerow.answer.show import text_table
from hedgerow.answer.summary import Summary
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ConditionNotMet

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Intervals = Sequence[Mapping[str, Interval]]


class Answer:
    """A released table with error bars.

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
        """Make an answer.

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
        self._diagnose: Diagnose | None = None
        self.columns = list(table.column_names)
        self.confidence = confidence
        self.receipt = receipt
        self.notes = tuple(notes)

    @property
    def intervals(self) -> list[Mapping[str, Interval]]:
        """For every row, the interval of each column that rests on noise. Made once, however many threads ask."""
        if "all" not in self._made:
            made = self._intervals() if callable(self._intervals) else self._intervals
            self._made.setdefault("all", list(made))
        return self._made["all"]

    @property
    def noisy(self) -> tuple[str, ...]:
        """The columns that rest on noise, and so have error bars."""
        if self._noisy is None:
            self._noisy = noisy_names(self.columns, self.intervals)
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

    def __repr__(self) -> str:
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)

    def plot(
        self, x: str | None = None, y: str | Sequence[str] | None = None, *, colour: str | None = None
    ) -> AnyChart:
        """An Altair chart with error bars: bars, lines with bands or points, by the type of the key.

        Args:
            x: The column along the axis; by default a date, else a number, else the first key.
            y: The column or columns to draw, one panel each; by default all that rest on noise.
            colour: The column to tell apart by colour; by default the other keys together.
        """
        return plot_answer(self, x, y, colour)

    def diagnostics(self, *, epsilon: float | None = None, delta: float | None = None) -> Diagnostics:
        """How much the limits of this answer touched.

        Which share of values lay outside of the bounds, and which share of people had more rows, or were in more
        groups, than count.

        It is asked of the database, which must still be open, and charged like any question: `epsilon` and `delta` are
        the most that the whole report may cost, by default the catalog's. Public data has no limits, and costs nothing.
        """
        if self._diagnose is not None:
            return self._diagnose(epsilon=epsilon, delta=delta)
        if self.receipt.id is None and not self.receipt.reused:
            return Diagnostics((), self.confidence)
        raise ConditionNotMet("Only an answer of a database can be looked into.", condition="answered by a database")

    def arrow(self, *, intervals: bool = False) -> pa.Table:
        """The values as an Arrow table; the metadata of a noisy column says confidence and kind of interval.

        Args:
            intervals: Whether each noisy column is followed by `<name>_lower`, `<name>_upper` and `<name>_note`; one
                that compares people also by `<name>_population_lower`, `<name>_population_upper` and `<name>_p_value`.
        """
        return arrow_table(self, self._table, intervals=intervals)

    def df(self, *, intervals: bool = False) -> "pd.DataFrame":
        """The values as a pandas data frame; `intervals` as for `arrow`."""
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.arrow(intervals=intervals).to_pandas())

    def pl(self, *, intervals: bool = False) -> "pl.DataFrame":
        """The values as a polars data frame; `intervals` as for `arrow`."""
        import polars as pl  # noqa: PLC0415 - optional

        return pl.DataFrame(pl.from_arrow(self.arrow(intervals=intervals)))

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "id": self.receipt.id,
            "columns": self.columns,
            "rows": [[plain(value) for value in row] for row in self],
            "intervals": [{name: _ends(interval) for name, interval in row.items()} for row in self.intervals],
            "confidence": self.confidence,
            **({"notes": list(self.notes)} if self.notes else {}),
            **self.receipt.to_dict(),
        }


def _ends(interval: Interval) -> dict[str, Any]:
    """JSON has no infinity: an open end is null."""
    return {
        "lower": interval.lower if math.isfinite(interval.lower) else None,
        "upper": interval.upper if math.isfinite(interval.upper) else None,
        "note": interval.note,
        "kind": interval.kind.value,
        "reason": None if interval.reason is None else interval.reason.value,
        **({} if interval.missed is None else {"missed": interval.missed}),
        **_population(interval),
    }


def _population(interval: Interval) -> dict[str, Any]:
    """What is said about a population, where anything is."""
    if interval.population is None:
        return {}
    lower, upper = (end if math.isfinite(end) else None for end in interval.population)
    p_value = interval.p_value if interval.p_value is None or math.isfinite(interval.p_value) else None
    return {"population": {"lower": lower, "upper": upper}, "p_value": p_value}
