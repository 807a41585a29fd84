"""The answer: a small table in which every number says how wrong it may be; and its clipping report (`Diagnostics`)."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from hedgerow.accounting.budget import Spending
from hedgerow.answer.frames import arrow_table
from hedgerow.answer.plain import plain, rounded_outwards
from hedgerow.answer.plot import AnyChart, plot_answer
from hedgerow.answer.released import FREE, NoteKind, Payment, ReleasedTable
from hedgerow.answer.render import html_table, text_table
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ConditionNotMet, ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Clipped:
    """Share of values, or of people, that one limit cut.

    Attributes:
        of: What is limited: a value in words, "rows of one person" or "groups of one person".
        limit: The limit in words.
        share: The share of values, or of people, beyond it; None if there are too few people.
        interval: The interval of the share, at the confidence of the report.
    """

    of: str
    limit: str
    share: float | None
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        ends = {"lower": self.interval.lower, "upper": self.interval.upper, "note": self.interval.note}
        return {"of": self.of, "limit": self.limit, "share": self.share, "interval": ends}


@dataclass(frozen=True)
class Diagnostics:
    """Shares cut by the limits of an answer; iterating gives one `Clipped` for each limit.

    Attributes:
        clipped: One entry for each limit that could take effect.
        confidence: Coverage of an interval.
        charge: The total cost of the report.
        payments: Its charges, one for each question that had to be asked.
    """

    clipped: tuple[Clipped, ...]
    confidence: float
    charge: Spending = field(default=FREE)
    payments: tuple[Payment, ...] = ()

    def __iter__(self) -> Iterator[Clipped]:
        return iter(self.clipped)

    def __len__(self) -> int:
        return len(self.clipped)

    def __repr__(self) -> str:
        lines = [f"{entry.of} beyond {entry.limit}: {_percent(entry)}" for entry in self.clipped]
        return "\n".join(lines or ["nothing was limited"])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "clipped": [entry.to_dict() for entry in self.clipped],
            "confidence": self.confidence,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta},
            "payments": [payment.to_dict() for payment in self.payments],
        }

    def rich_table(self) -> "Table":
        """The report for people."""
        from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

        table = Table("what", "limit", "beyond it")
        for entry in self.clipped:
            table.add_row(entry.of, entry.limit, _percent(entry))
        return table


def _percent(entry: Clipped) -> str:
    if entry.share is None:
        return "held back"
    lower, upper = max(entry.interval.lower, 0.0), min(entry.interval.upper, 1.0)
    return f"{entry.share:.1%} ({lower:.1%} to {upper:.1%})"


class Diagnose(Protocol):
    """Measures how much the limits of one answer cut off."""

    def __call__(self, *, epsilon: float | None, delta: float | None) -> Diagnostics:
        """Return the report, and charge for it."""


class Answer(ReleasedTable):
    """A released table with error bars.

    Iterating gives rows as named tuples of plain values; `answer["column"]` is a list;
    `answer.intervals[i]["column"]` is the `Interval` of row i.

    Attributes:
        columns: The names, in SELECT order.
        confidence: Coverage of an interval.
        receipt: What was paid, and for what; its `id` is None for public data.
        notes: Notes on the answer as a whole: the limits that shaped it, and the groups that may be missing. `print`
            shows their short forms.
    """

    _diagnose: Diagnose | None = None

    def __repr__(self) -> str:
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)

    def plot(
        self, x: str | None = None, y: str | Sequence[str] | None = None, *, colour: str | None = None
    ) -> AnyChart:
        """Return an Altair chart with error bars: bars, lines with bands or points, by the type of the key.

        Args:
            x: The column along the axis; by default a date, else a number, else the first key.
            y: The column or columns to draw, one panel each; by default all noisy ones.
            colour: The column for colours; by default the other keys together.
        """
        return plot_answer(self, self._table.schema, (x, y, colour))

    def diagnostics(self, *, epsilon: float | None = None, delta: float | None = None) -> Diagnostics:
        """Measure how much the limits of this answer cut off.

        The report has the share of values outside of the bounds, and the share of people with more rows, or in more
        groups, than the limits allow.

        It is asked of the database, which must still be open, and charged like any question: `epsilon` and `delta` are
        the most that the whole report may cost, by default the catalog's. Public data has no limits, and costs nothing.
        """
        if self._diagnose is not None:
            return self._diagnose(epsilon=epsilon, delta=delta)
        if self.receipt.id is None and not self.receipt.reused:
            return Diagnostics((), self.confidence)
        raise ConditionNotMet(
            "Diagnostics require an answer that came from a database.", condition="answered by a database"
        )

    def arrow(self, *, intervals: bool = False) -> pa.Table:
        """Return the values as an Arrow table; the metadata of a noisy column gives confidence and kind of interval.

        Args:
            intervals: Add `<name>_lower`, `<name>_upper` and `<name>_note` after each noisy column, and after one that
                compares people `<name>_population_lower`, `<name>_population_upper` and `<name>_p_value`,
                and `<name>_p_adjusted` where there are several comparisons.
        """
        return arrow_table(self, self._table, intervals=intervals)

    def df(self, *, intervals: bool = False) -> "pd.DataFrame":
        """Return the values as a pandas data frame; `intervals` as for `arrow`."""
        with _required("pandas"):
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.arrow(intervals=intervals).to_pandas())

    def pl(self, *, intervals: bool = False) -> "pl.DataFrame":
        """Return the values as a polars data frame; `intervals` as for `arrow`."""
        with _required("polars"):
            import polars as pl  # noqa: PLC0415 - optional

        return pl.DataFrame(pl.from_arrow(self.arrow(intervals=intervals)))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line, with the notes that are shown below a table, in full.

        Intervals of whole numbers have whole ends, rounded outwards.
        """
        whole = {field.name for field in self._table.schema if pa.types.is_integer(field.type)}
        notes = [note.text for note in self.notes if note.short and (note.kind is not NoteKind.EMPTY or not len(self))]
        return {
            "id": self.receipt.id,
            "columns": self.columns,
            "rows": [[plain(value) for value in row] for row in self],
            "intervals": [
                {name: _ends(rounded_outwards(bar) if name in whole else bar) for name, bar in row.items()}
                for row in self.intervals
            ],
            "confidence": self.confidence,
            **self.receipt.to_dict(),
            **({"notes": notes} if notes else {}),
        }


@contextmanager
def _required(library: str) -> Iterator[None]:
    """Say how to install an optional library that is missing."""
    try:
        yield
    except ImportError:
        raise ParameterError(
            f"Data frames are made with {library}, which is not installed.",
            code="no-frames",
            hint='Install the extra frames: pip install "hedgerow[frames]"; or use answer.arrow().',
        ) from None


def diagnosable(answer: Answer, diagnose: Diagnose) -> Answer:
    """Return the answer, with the function for its clipping report."""
    answer._diagnose = diagnose  # noqa: SLF001 - the same module; an answer is made without a database
    return answer


def _ends(interval: Interval) -> dict[str, Any]:
    """Return the ends of an interval; JSON has no infinity, so an open end is null."""
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
    """Interval and p-value about a population, where there are any."""
    if interval.population is None:
        return {}
    lower, upper = (end if math.isfinite(end) else None for end in interval.population)
    p_value = interval.p_value if interval.p_value is None or math.isfinite(interval.p_value) else None
    adjusted = {} if interval.p_adjusted is None else {"p_adjusted": interval.p_adjusted}
    return {"population": {"lower": lower, "upper": upper}, "p_value": p_value, **adjusted}
