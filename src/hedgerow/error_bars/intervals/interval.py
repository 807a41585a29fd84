"""An error bar and its promise, for one number (`Interval`) and for many groups at once (`Bounds`)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Flags = NDArray[np.bool_]


class IntervalKind(StrEnum):
    """The promise of an interval, from the best to the worst."""

    EXACT = "exact"
    CONSERVATIVE = "conservative"
    APPROXIMATE = "approximate"
    NONE = "none"

    @property
    def rank(self) -> int:
        """Position in the order from the best to the worst."""
        return RANKS[self]


RANKS = {kind: rank for rank, kind in enumerate(IntervalKind)}


class Reason(StrEnum):
    """The reason why an interval is longer, open or missing."""

    HELD_BACK = "held-back"
    STANDS_IN = "stands-in"
    NO_ROW = "no-row"
    NULL = "null"
    HELD_BACK_OR_NULL = "held-back-or-null"
    SMALL_GROUP = "small-group"
    ZERO_DENOMINATOR = "zero-denominator"
    ZERO_SIZE = "zero-size"
    ZERO_VARIANCE = "zero-variance"
    UNDEFINED = "undefined"
    UNKNOWN_DENSITY = "unknown-density"
    CHOSEN_BY_NOISE = "chosen-by-noise"
    NO_RULE = "no-rule"
    OUTSIDE_RANGE = "outside-range"
    SELECTED = "selected"
    LOWER_ESTIMATE = "lower-estimate"
    PUBLIC_RANGE = "public-range"
    SIMULTANEOUS = "simultaneous"
    SIMULATED = "simulated"
    NOISE_BIAS = "noise-bias"
    ADJUSTED = "adjusted"


NO_NUMBER = frozenset({Reason.HELD_BACK, Reason.NO_ROW, Reason.NULL, Reason.HELD_BACK_OR_NULL})
"""Reasons that leave no number at all."""

MAKES_NULL = frozenset(
    {
        Reason.SMALL_GROUP,
        Reason.ZERO_DENOMINATOR,
        Reason.ZERO_SIZE,
        Reason.ZERO_VARIANCE,
        Reason.UNDEFINED,
        Reason.UNKNOWN_DENSITY,
        Reason.CHOSEN_BY_NOISE,
    }
)
"""Reasons of an interval that also explain why a number is NULL."""


@dataclass(frozen=True, slots=True)
class Status:
    """Kind and reason of an interval, and a note in words; `for_readers` as in `Interval`."""

    kind: IntervalKind = IntervalKind.EXACT
    reason: Reason | None = None
    note: str | None = None
    for_readers: str | None = None

    @property
    def has_number(self) -> bool:
        """False where the reason is that there is no number."""
        return self.reason not in NO_NUMBER

    def joined(self, other: "Status") -> "Status":
        """Return the weaker of both kinds, with the note of the first status that has a reason, or else any note.

        Example:
            >>> both = Status(reason=Reason.SELECTED, note="a remark").joined(CONSERVATIVE)
            >>> both.kind.value, both.note, EXACT.joined(CONSERVATIVE).note
            ('conservative', 'a remark', 'conservative')
        """
        first = self if self.reason is not None or (self.note is not None and other.reason is None) else other
        kind = max(self.kind, other.kind, key=lambda known: known.rank)
        return first if first.kind is kind else replace(first, kind=kind)


EXACT = Status()
CONSERVATIVE = Status(IntervalKind.CONSERVATIVE, None, "conservative")


@dataclass(frozen=True, slots=True)
class Interval:
    """The range in which the exact answer over the bounded data lies, at the stated confidence.

    Either end may be infinite. `kind` says what is promised: `exact` (holds as often as stated), `conservative` (at
    least as often), `approximate` or `none`. An interval with an open end is never `exact`. `reason` is a fixed word
    for programs and `note` the same for people. `missed` is the accuracy that was asked for and not reached.
    `for_readers` is the note without advice on how to ask, for people who only read; None if it has no advice.

    Statistics that compare groups of people also describe the population these were drawn from: `population` is the
    range of the statistic there (sampling and noise together), and `p_value` the chance of groups as different as
    these where there is no difference. `p_adjusted` is the same for several comparisons in one answer, by Holm: where
    none of them has a difference, any of these falls below 0.05 in at most one answer of twenty.

    Example:
        >>> Interval(0, 15).kind.value, Interval(0).kind.value, Interval().kind.value
        ('exact', 'conservative', 'none')
    """

    lower: float = -math.inf
    upper: float = math.inf
    note: str | None = None
    population: tuple[float, float] | None = None
    p_value: float | None = None
    kind: IntervalKind = IntervalKind.EXACT
    reason: Reason | None = None
    missed: str | None = None
    p_adjusted: float | None = None
    for_readers: str | None = None

    def __post_init__(self) -> None:
        open_ends = (not math.isfinite(self.lower)) + (not math.isfinite(self.upper))
        best = (IntervalKind.EXACT, IntervalKind.CONSERVATIVE, IntervalKind.NONE)[open_ends]
        kind = IntervalKind(self.kind)
        object.__setattr__(self, "kind", max(kind, best, key=lambda known: known.rank))
        object.__setattr__(self, "reason", None if self.reason is None else Reason(self.reason))

    @classmethod
    def of(cls, lower: float, upper: float, status: Status) -> "Interval":
        """Return an interval with this status."""
        return cls(lower, upper, status.note, kind=status.kind, reason=status.reason, for_readers=status.for_readers)

    @property
    def status(self) -> Status:
        """Kind, reason and note."""
        return Status(self.kind, self.reason, self.note, self.for_readers)

    def with_status(self, status: Status) -> "Interval":
        """Return the interval with another kind, reason and note."""
        return replace(self, kind=status.kind, reason=status.reason, note=status.note, for_readers=status.for_readers)

    def with_remark(self, remark: str) -> "Interval":
        """Return the interval with a remark at the end of its note.

        Example:
            >>> Interval(note="conservative").with_remark("misses 5 %").note
            'conservative; misses 5 %'
        """
        note = remark if self.note is None else f"{self.note}; {remark}"
        return replace(self, note=note, for_readers=self.for_readers and f"{self.for_readers}; {remark}")

    @property
    def has_number(self) -> bool:
        """False where the reason is that there is no number: held back, NULL, or no such row."""
        return self.reason not in NO_NUMBER


OUTSIDE = Status(
    reason=Reason.OUTSIDE_RANGE,
    note="the noisy value lies outside of what is possible, so the nearest possible value is shown",
)
ZERO_DENOMINATOR = Status(
    reason=Reason.ZERO_DENOMINATOR, note="unbounded: at this confidence the denominator may be zero"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper ends, one per group, either of which may be infinite; and the status of each interval.

    Ends that were asked for as a table have its shape; the statuses are then in the order of its rows.
    """

    lower: Floats
    upper: Floats
    statuses: list[Status]

    @classmethod
    def of(cls, lower: Floats, upper: Floats, status: Status | Sequence[Status] = EXACT) -> "Bounds":
        """Bounds from two arrays that broadcast to one length; one status for all, or one for each."""
        lower, upper = np.broadcast_arrays(np.atleast_1d(lower), np.atleast_1d(upper))
        statuses = [status] * len(lower) if isinstance(status, Status) else list(status)
        return cls(lower.astype(float), upper.astype(float), statuses)

    @classmethod
    def around(cls, values: Floats, half_width: float) -> "Bounds":
        """Values plus and minus one half width."""
        return cls.of(np.asarray(values) - half_width, np.asarray(values) + half_width)

    @property
    def notes(self) -> list[str | None]:
        """The note of each interval."""
        return [status.note for status in self.statuses]

    def intervals(self) -> list[Interval]:
        """Return an `Interval` for each group."""
        ends = zip(self.lower.tolist(), self.upper.tolist(), self.statuses, strict=True)
        return [Interval.of(lower, upper, status) for lower, upper, status in ends]

    def shaped(self, shape: tuple[int, ...]) -> "Bounds":
        """The same intervals as a table of `shape`."""
        return Bounds(self.lower.reshape(shape), self.upper.reshape(shape), self.statuses)

    def within(self, lowest: float, highest: float) -> "Bounds":
        """The part inside a publicly known range; the nearer end of the range, with a note, where the part is empty."""
        outside = (self.lower > highest) | (self.upper < lowest)
        ends = np.clip(self.lower, lowest, highest), np.clip(self.upper, lowest, highest)
        return Bounds(*ends, self.statuses).with_status(outside, OUTSIDE)

    def with_status(self, where: Flags, status: Status) -> "Bounds":
        """The same ends, with `status` combined with the previous one where the flag is set."""
        statuses = list(self.statuses)
        for index in np.flatnonzero(where):
            statuses[index] = statuses[index].joined(status)
        return Bounds(self.lower, self.upper, statuses)

    def weakened(self, status: Status) -> "Bounds":
        """The same ends, with `status` combined with the previous one everywhere."""
        return Bounds(self.lower, self.upper, [before.joined(status) for before in self.statuses])
