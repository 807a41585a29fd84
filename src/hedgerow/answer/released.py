"""Released values with their intervals, the summary of how they were made, and notes on the whole.

Nothing in a summary or a note depends on private data: they follow from the plan alone.
"""

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self, overload

import pyarrow as pa

from hedgerow.accounting.budget import Spending
from hedgerow.error_bars.intervals.interval import Interval

FREE = Spending(0.0, 0.0)

Intervals = Sequence[Mapping[str, Interval]]


class NoteKind(Enum):
    """Subject of a note."""

    EMPTY = "empty"
    MISSING_GROUPS = "missing-groups"
    PARTIAL_TOTALS = "partial-totals"
    ROW_LIMIT = "row-limit"
    JOIN_LIMIT = "join-limit"
    VALUE_BOUNDS = "value-bounds"
    FOUND_BOUNDS = "found-bounds"
    QUANTILE_WEIGHTS = "quantile-weights"
    MEASURED_TOGETHER = "measured-together"
    SUMS_TOGETHER = "sums-together"
    NONNEGATIVE = "nonnegative"


@dataclass(frozen=True, slots=True)
class Note:
    """One note on an answer as a whole; `str(note)` is its text.

    Attributes:
        kind: The subject.
        text: The whole note, in sentences.
        short: The note on one line, as shown below a table; None if it is shown on request only. The note on an empty
            answer is shown only below one.
        of: The value in words, for a note on the bounds of one.
        people: Number of people from which a group is usually shown, for a note on groups.
        for_readers: The short note without advice on how to ask, for people who only read; None if it has no advice.
    """

    kind: NoteKind
    text: str
    short: str | None = None
    of: str | None = None
    people: float | None = None
    for_readers: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One noisy measure: its label, its noise, and its sensitivity.

    `threshold` belongs to the count that selected the groups: a group is shown from that noisy count on.
    """

    measure: str
    kind: str
    scale: float
    sensitivity: float
    threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        shown: dict[str, Any] = {
            "measure": self.measure,
            "kind": self.kind,
            "scale": self.scale,
            "sensitivity": self.sensitivity,
        }
        return shown if self.threshold is None else {**shown, "threshold": self.threshold}


@dataclass(frozen=True, slots=True)
class Payment:
    """One of several charges of an answer: its purpose, its entry in the ledger, and its amount."""

    purpose: str
    id: str
    charge: Spending
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        paid = {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share}
        return {"for": self.purpose, "id": self.id, **paid}


class BoundsWarning(Enum):
    """Reason why an answer may be farther off than its intervals say, because bounds cut off values."""

    MANY_BEYOND = "many-beyond"
    HIDDEN_TAIL = "hidden-tail"


@dataclass(frozen=True, slots=True)
class FoundBounds:
    """Bounds that were not declared: found privately, with a charge of their own, or by an earlier answer.

    Attributes:
        of: The expression in words.
        lower: The lower bound.
        upper: The upper bound.
        basis: "bought" or "earlier answer".
        beyond: An upper limit, at 95 % confidence, of the share of people with values beyond the bounds.
        warning: Reason to doubt that intervals hold for values as they are; None where there is none.
        clipped: An upper limit of what the bounds cut off of the sum of all values, at 95 % confidence if the numbers
            of people keep falling as they do in the last visible orders of magnitude; None if people have several rows.
    """

    of: str
    lower: float
    upper: float
    basis: str
    beyond: float
    warning: BoundsWarning | None = None
    clipped: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "of": self.of,
            "lower": self.lower,
            "upper": self.upper,
            "basis": self.basis,
            "beyond": self.beyond,
            "warning": None if self.warning is None else self.warning.value,
            "clipped": self.clipped,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """The receipt that comes with an answer.

    Attributes:
        id: The entry in the ledger; None if nothing was charged.
        query: The text of the question.
        mechanisms: Every noisy measure.
        min_frequency: Minimum number of people in a group; 1 means no rule.
        charge: The statement's own guarantee.
        share: The largest of the fractions it took of the three caps.
        remaining: What is left afterwards; None for public data.
        reused: True if the answer came from the ledger, free of charge.
        payments: If a size estimate or bounds were bought first: all charges. `charge` is what they cost together, and
            `share` their sum.
        bounds: With `bounds="auto"`, the bounds that were found.
        max_rows: With `bounds="auto"`, the maximum number of rows of one person, if it was not declared.
        together: Number of answers that the charge covers: more than one in a batch.
        alone: In a batch, what this answer with its errors would have cost by itself.
    """

    id: str | None
    query: str
    mechanisms: tuple[Mechanism, ...] = ()
    min_frequency: int = 1
    charge: Spending = field(default=FREE)
    share: float = 0.0
    remaining: Spending | None = None
    reused: bool = False
    payments: tuple[Payment, ...] = ()
    bounds: tuple[FoundBounds, ...] = ()
    max_rows: int | None = None
    together: int = 1
    alone: Spending | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part of the command line's JSON that is about cost."""
        left = self.remaining
        several: dict[str, Any] = {}
        if self.payments:
            several["payments"] = [payment.to_dict() for payment in self.payments]
        if self.bounds:
            several["bounds"] = [bounds.to_dict() for bounds in self.bounds]
        if self.max_rows is not None:
            several["max_rows"] = self.max_rows
        if self.together > 1:
            several["together"] = self.together
        if self.alone is not None:
            several["alone"] = {"epsilon": self.alone.epsilon, "delta": self.alone.delta}
        return {
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share},
            "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
            "mechanisms": [mechanism.to_dict() for mechanism in self.mechanisms],
            "reused": self.reused,
            **several,
        }


class ReleasedTable:
    """A released table with error bars: its values, and what is known about them.

    Iterating gives rows as named tuples of plain values; `answer["column"]` is a list;
    `answer.intervals[i]["column"]` is the `Interval` of row i.

    Attributes:
        columns: The names, in SELECT order.
        confidence: Coverage of an interval.
        receipt: What was paid, and for what; its `id` is None for public data.
        notes: Notes on the answer as a whole: the limits that shaped it, and the groups that may be missing.
    """

    def __init__(
        self,
        table: pa.Table,
        intervals: Intervals | Callable[[], Intervals],
        confidence: float,
        receipt: Summary,
        noisy: Sequence[str] | None = None,
        notes: Sequence[Note] = (),
    ) -> None:
        """Keep a released table.

        Args:
            table: The released values.
            intervals: The error bars, row by row; or a function that computes them on first access.
            confidence: Coverage of each interval.
            receipt: What was paid.
            noisy: The columns with error bars; by default those that have one in any row.
            notes: Notes on the answer as a whole.
        """
        self._table = table
        self._intervals = intervals
        self._noisy = None if noisy is None else tuple(noisy)
        self._computed: dict[str, list[Mapping[str, Interval]]] = {}
        self.columns = list(table.column_names)
        self.confidence = confidence
        self.receipt = receipt
        self.notes = tuple(notes)

    @property
    def intervals(self) -> list[Mapping[str, Interval]]:
        """The interval of each noisy column, for every row. Computed once, whatever the number of threads."""
        if "all" not in self._computed:
            intervals = self._intervals() if callable(self._intervals) else self._intervals
            self._computed.setdefault("all", list(intervals))
        return self._computed["all"]

    @property
    def noisy(self) -> tuple[str, ...]:
        """The noisy columns, which have error bars."""
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

    @overload
    def __getitem__(self, key: str | slice) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> tuple[Any, ...]: ...
    def __getitem__(self, key: str | int | slice) -> list[Any] | tuple[Any, ...]:
        """A column by its name, a row by its number, or a list of rows by a slice."""
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(key)
            return list(self._table.column(key).to_pylist())
        return list(self)[key]

    def __copy__(self) -> Self:
        """Return the same answer as an object of its own, whose error bars are computed once for both."""

        def intervals() -> Intervals:
            return [dict(row) for row in self.intervals]

        return type(self)(self._table, intervals, self.confidence, self.receipt, self._noisy, self.notes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle values, error bars and receipt; what is asked of a database stays behind."""
        return type(self), (self._table, self.intervals, self.confidence, self.receipt, self.noisy, self.notes)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The values, for any library that reads Arrow's C streams."""
        return self._table.__arrow_c_stream__(requested_schema)
