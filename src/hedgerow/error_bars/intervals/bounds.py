"""Error bars for many groups at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.interval import EXACT, Interval, Reason, Status

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

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
