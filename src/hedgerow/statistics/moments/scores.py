"""Intervals of statistics of second moments, from scores that are linear in the noisy sums.

A statistic t of the exact sums is the root of a score: a linear form of the sums, a - t b, that is zero at the exact
sums. Its coefficients depend on a few side values v, such as the means: for a variance t it is the sum of
(z - m)^2 - t with the mean m. At the exact side values the noise of the score has a known law, so that
|a - t b| <= h(t, v) holds with probability 1 - beta, h its half width. Nobody knows the side values, but each has an
interval of its own. The interval of t is the union over all side values in their intervals; it fails if the score
does (`MAIN` of the failure probability) or if one of the side intervals does (the rest of it).

Scores are chosen so that a small error of a side value changes them to second order only. So in large groups the
interval is as long as the first-order one, and in small groups it still holds.

The union is taken over a grid. Between its points the ends are at most as far from the nearest ones as their second
differences say, and twice that is added.
"""

from collections.abc import Callable, Sequence

import numpy as np

from hedgerow.statistics.moments.families import MOMENTS, Floats
from hedgerow.statistics.moments.half_widths import half_widths
from hedgerow.statistics.moments.noisy import COVARIANCE, VAR_FIRST, VAR_SECOND, Moments, around

Range = tuple[Floats, Floats]
Coefficients = Floats
"""Of the six moments: first axis the moments, last axis the groups, grid axes between."""

MAIN = 0.95
"""Share of the failure probability for the score itself."""
POINTS = {1: 9, 2: 5, 3: 3}
"""Number of grid points along each axis, by the number of side values."""
CHORDS = 3


def variance_range(moments: Moments, beta: float, *, sample: bool = False) -> Range:
    """The interval of the variance of the first column; with n - 1 in the denominator for a `sample`."""
    mean = mean_range(moments, (1 - MAIN) * beta, 0)

    def score(m: Floats) -> Range:
        return root_range(moments, around(VAR_FIRST, m, 0 * m), _count(m), MAIN * beta, less=float(sample))

    def largest(m: Floats) -> Floats:
        return np.full_like(m, 2.0) if sample else 1 - m**2

    return _union([mean], score, largest)


def covariance_range(moments: Moments, beta: float, *, sample: bool = False) -> Range:
    """The interval of the covariance; with n - 1 in the denominator for a `sample`."""
    means = _means(moments, (1 - MAIN) * beta / 2)

    def score(m: Floats, k: Floats) -> Range:
        return root_range(moments, around(COVARIANCE, m, k), _count(m), MAIN * beta, less=float(sample))

    return _union(means, score)


def slope_range(moments: Moments, beta: float) -> Range:
    """The interval of Cov / Var z."""
    return _slope(moments, _means(moments, (1 - MAIN) * beta / 2), MAIN * beta)


def intercept_range(moments: Moments, beta: float, offset: float) -> Range:
    """The interval of mean w - slope (mean z + offset).

    The score is the sum of w - t - slope (z + offset). An error of the slope changes it to first order, so slope and
    score fail equally often.
    """

    def score(slope: Floats) -> Range:
        one = np.ones_like(slope)
        numerator = np.stack([-slope * offset, -slope, one, 0 * slope, 0 * slope, 0 * slope])
        return root_range(moments, numerator, _count(slope), beta / 2)

    lowest, highest = slope_range(moments, beta / 2)
    known = np.isfinite(lowest) & np.isfinite(highest)
    lower, upper = _union([(np.where(known, lowest, 0.0), np.where(known, highest, 0.0))], score)
    return np.where(known, lower, -np.inf), np.where(known, upper, np.inf)


def correlation_range(moments: Moments, beta: float) -> Range:
    """The interval of Cov / sqrt(Var z Var w).

    With s the root of Var z / Var w, the score is Cov - t (Var z / s + Var w s) / 2.
    """
    part = (1 - MAIN) * beta / 3
    means = _means(moments, part)

    def ratio_score(m: Floats, k: Floats) -> Range:
        return root_range(moments, around(VAR_FIRST, m, k), around(VAR_SECOND, m, k), part)

    smallest, largest = _union(means, ratio_score)
    known = (smallest > 0) & np.isfinite(largest)
    ratio = (np.log(np.where(known, end, 1.0)) / 2 for end in (smallest, largest))

    def score(m: Floats, k: Floats, logarithm: Floats) -> Range:
        s = np.exp(logarithm)
        form = (1 / s / 2, 0.0, s / 2)
        return root_range(moments, around(COVARIANCE, m, k), around(form, m, k), MAIN * beta)

    lower, upper = _union([*means, (next(ratio), next(ratio))], score)
    return np.where(known, np.clip(lower, -1.0, 1.0), -1.0), np.where(known, np.clip(upper, -1.0, 1.0), 1.0)


def mean_range(moments: Moments, beta: float, column: int) -> Range:
    """The interval of the mean of a column."""
    numerator = np.zeros((len(MOMENTS), len(moments.count)))
    numerator[1 + column] = 1.0
    lower, upper = root_range(moments, numerator, _count(moments.count), beta)
    return np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0)


def root_range(
    moments: Moments, numerator: Coefficients, denominator: Coefficients, beta: float, *, less: float = 0.0
) -> Range:
    """All t for which numerator - t denominator is within its noise; unbounded where the denominator may be zero.

    Args:
        moments: The noisy moments.
        numerator: Coefficients of the six moments, a column per group; axes between are a grid.
        denominator: Likewise.
        beta: How often the exact quotient may lie outside.
        less: A constant that the denominator is less than its linear form.

    The half width h(t) of the noise is a norm of the coefficients, so it is convex in t. At the estimate t0 it is h0,
    and |t - t0| <= h0 / (denominator - half width of the denominator). From there chords lead closer to the end, and
    never past it, because denominator (t - t0) - h(t) is concave.
    """
    top = np.einsum("i...g,ig->...g", numerator, moments.sums)
    bottom = np.einsum("i...g,ig->...g", denominator, moments.sums) - less
    above, below = (np.moveaxis(np.tensordot(moments.mixing.T, c, 1), 0, -1) for c in (numerator, denominator))

    def half(t: Floats, start: Floats | None = None) -> Floats:
        return half_widths(above - t[..., None] * below, moments.noise, beta, start=start)

    reach = np.broadcast_to(half_widths(below, moments.noise, beta), bottom.shape)
    clear = bottom > reach
    safe, reach = np.where(clear, bottom, 1.0), np.where(clear, reach, 0.0)
    middle = np.where(clear, top / safe, 0.0)
    first = half(middle)
    ends = []
    for sign in (-1.0, 1.0):
        distance = first / (safe - reach)
        for _ in range(CHORDS):
            beyond = distance * safe - half(middle + sign * distance, first + distance * reach)
            distance = distance * first / (first + np.maximum(beyond, 0.0))
        ends.append(np.where(clear, middle + sign * distance, sign * np.inf))
    return ends[0], ends[1]


def _slope(moments: Moments, means: Sequence[Range], beta: float) -> Range:
    def score(m: Floats, k: Floats) -> Range:
        return root_range(moments, around(COVARIANCE, m, k), around(VAR_FIRST, m, k), beta)

    return _union(means, score)


def _means(moments: Moments, beta: float) -> list[Range]:
    return [mean_range(moments, beta, column) for column in (0, 1)]


def _count(like: Floats) -> Coefficients:
    """The number of rows, as coefficients."""
    ones = np.ones((1,) * (like.ndim))
    return np.stack([ones, *[np.zeros_like(ones)] * (len(MOMENTS) - 1)])


def _union(sides: Sequence[Range], score: Callable[..., Range], largest: Callable[..., Floats] | None = None) -> Range:
    """The union of the ranges that `score` gives for all side values in their ranges.

    Args:
        sides: The range of each side value.
        score: Takes a grid of each side value and returns the range at every point of it.
        largest: The greatest possible value of the statistic at every point, if that is known. Parts of the grid where
            all of the range lies beyond it are left out.
    """
    grids = _grids(sides)
    axes = tuple(range(len(sides)))
    lower, upper = score(*grids)
    low, high = -_highest(-lower, axes), _highest(upper, axes)
    if largest is not None:
        limit = _highest(largest(*grids), axes)
        possible = low <= limit
        possible = possible | ~possible.any(axis=axes)
        low, high = np.where(possible, low, np.inf), np.where(possible, np.minimum(high, limit), -np.inf)
    highest = high.max(axis=axes)
    return np.minimum(low.min(axis=axes), highest), highest


def _highest(values: Floats, axes: tuple[int, ...]) -> Floats:
    """The greatest value of a smooth function in each cell of a grid: that of its corners, and what it may rise above.

    A function rises above its values at both ends of a step by at most an eighth of its second difference.
    """
    finite = np.where(np.isfinite(values), values, 0.0)
    bends = [np.abs(np.diff(finite, 2, axis=axis)).max(axis=axes) for axis in axes]
    for axis in axes:
        points = values.shape[axis]
        starts, ends = (values.take(range(first, first + points - 1), axis) for first in (0, 1))
        values = np.maximum(starts, ends)
    return np.asarray(values + np.sum(bends, axis=0) / 4)


def _grids(sides: Sequence[Range]) -> list[Floats]:
    points = np.linspace(0.0, 1.0, POINTS[len(sides)])
    grids = []
    for axis, (lower, upper) in enumerate(sides):
        along = points.reshape(*(-1 if axis == k else 1 for k in range(len(sides))), 1)
        grids.append(lower + (upper - lower) * along)
    return [np.ascontiguousarray(grid) for grid in np.broadcast_arrays(*grids)]
