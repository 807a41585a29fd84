"""Error bars for many groups at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.interval import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper ends, one per group, either of which may be infinite; and a note where there is one to make."""

    lower: Floats
    upper: Floats
    notes: list[str | None]

    @classmethod
    def of(cls, lower: Floats, upper: Floats, notes: Sequence[str | None] | None = None) -> "Bounds":
        """Bounds from two arrays that broadcast to one length."""
        lower, upper = np.broadcast_arrays(np.atleast_1d(lower), np.atleast_1d(upper))
        return cls(lower.astype(float), upper.astype(float), list(notes) if notes else [None] * len(lower))

    @classmethod
    def around(cls, values: Floats, half_width: float) -> "Bounds":
        """Values plus and minus one half width."""
        return cls.of(np.asarray(values) - half_width, np.asarray(values) + half_width)

    def intervals(self) -> list[Interval]:
        """One `Interval` per group."""
        ends = zip(self.lower.tolist(), self.upper.tolist(), self.notes, strict=True)
        return [Interval(lower, upper, note) for lower, upper, note in ends]

    def within(self, lowest: float, highest: float) -> "Bounds":
        """What is left inside a publicly known range; the nearer end, with a note, where nothing is left."""
        outside = (self.lower > highest) | (self.upper < lowest)
        return Bounds(
            np.clip(self.lower, lowest, highest),
            np.clip(self.upper, lowest, highest),
            noted(self.notes, outside, OUTSIDE),
        )


OUTSIDE = "the noisy value lies outside of what is possible, so the nearest possible value is shown"
ZERO_DENOMINATOR = "unbounded: at this confidence the denominator may be zero"


def noted(notes: list[str | None], where: NDArray[np.bool_], note: str) -> list[str | None]:
    """The notes with `note` put where it applies and nothing has been said yet."""
    changed = list(notes)
    for i in np.flatnonzero(where):
        changed[i] = changed[i] or note
    return changed
