"""What the bounds of a second moment are, and which are used when."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.statistics.moments.family import Floats
from hedgerow.statistics.moments.noisy import Moments

Method = Literal["auto", "delta", "profile", "rigorous"]
"""`delta` and `profile` are approximate, `rigorous` is conservative; `auto` picks by the size of a group."""

FIRST_ORDER = Status(IntervalKind.APPROXIMATE, Reason.FIRST_ORDER, "approximate: to first order in the noise")
PROFILE = Status(IntervalKind.APPROXIMATE, Reason.PROFILE, "approximate: by the likeliest other moments")
ALL_MOMENTS = Status(
    IntervalKind.CONSERVATIVE, Reason.SIMULTANEOUS, "conservative: it allows for the noise of all moments at once"
)
NO_VARIANCE = Status(
    reason=Reason.ZERO_VARIANCE, note="unbounded: at this confidence the variance below the line may be zero"
)
LARGE = 30.0
"""From how many standard deviations of the noise on a group is large: below, curvature matters."""


def is_large(moments: Moments) -> NDArray[np.bool_]:
    """Whether a group is so much larger than the noise that first order is enough."""
    return np.asarray(moments.count > LARGE * moments.sigma)


def labelled(lower: Floats, upper: Floats, status: Status, support: tuple[float, float]) -> Bounds:
    """Bounds cut to a range; the nearer end of it where nothing is left, and all of it where nothing is known."""
    unknown = np.isnan(lower) | np.isnan(upper)
    least = np.where(unknown, support[0], np.clip(lower, *support))
    return Bounds.of(least, np.where(unknown, support[1], np.clip(upper, *support)), status)


def spliced(where: NDArray[np.bool_], first: Bounds, second: Bounds) -> Bounds:
    """The bounds of the groups so chosen and those of all others, each in its place."""
    lower, upper = np.empty(where.shape), np.empty(where.shape)
    lower[where], lower[~where] = first.lower, second.lower
    upper[where], upper[~where] = first.upper, second.upper
    statuses = [iter(second.statuses), iter(first.statuses)]
    return Bounds(lower, upper, [next(statuses[int(chosen)]) for chosen in where.tolist()])


def picked(bounds: Bounds, where: NDArray[np.bool_]) -> Bounds:
    """The bounds of some groups."""
    statuses = [status for status, chosen in zip(bounds.statuses, where.tolist(), strict=True) if chosen]
    return Bounds(bounds.lower[where], bounds.upper[where], statuses)


def without_variance(bounds: Bounds) -> Bounds:
    """The bounds with a note where an end is infinite."""
    endless = np.isinf(bounds.lower) | np.isinf(bounds.upper)
    pairs = zip(bounds.statuses, endless.tolist(), strict=True)
    return Bounds(bounds.lower, bounds.upper, [NO_VARIANCE.joined(s) if open_ else s for s, open_ in pairs])
