"""Error bars of variances, covariances, correlations and regression lines, in centred units.

They follow from scores that are linear in the noisy sums.

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

The half widths are those of weighted sums of equal noises, for many weightings at once. A weighted sum of Laplace
noises with different scales b_i lies farther than t from zero with probability sum w_i exp(-t / b_i), where w_i is the
product of b_i^2 / (b_i^2 - b_j^2) over all other j. Equal scales are pushed apart by a few per cent, always upwards:
larger scales can only make the tail larger, so the result is never too short.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds, arithmetic
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.error_bars.intervals.noise_sums import check_beta, lattice_slack
from hedgerow.special import ndtri
from hedgerow.statistics.moments.families import MOMENTS, Floats
from hedgerow.statistics.moments.noisy import COVARIANCE, FIRST, PRODUCT, VAR_FIRST, VAR_SECOND, Moments, around

Range = tuple[Floats, Floats]
Coefficients = Floats
"""Of the six moments: first axis the moments, last axis the groups, grid axes between."""

MAIN = 0.95
"""Share of the failure probability for the score itself."""
POINTS = {1: 9, 2: 5, 3: 3}
"""Number of grid points along each axis, by the number of side values."""
CHORDS = 3


GAP = 0.02
"""Minimum relative distance between two scales: the weights stay small enough that nothing cancels."""

SMALLEST = 1e-3
"""Scales are at least this share of the largest."""

FIRST_STEPS, LATER_STEPS = 6, 2

ALL_MOMENTS = Status(
    IntervalKind.CONSERVATIVE, Reason.SIMULTANEOUS, "conservative: it allows for the noise of all moments at once"
)

NO_VARIANCE = Status(
    IntervalKind.CONSERVATIVE,
    Reason.ZERO_VARIANCE,
    "unbounded: at this confidence the variance in the denominator may be zero",
)

ENDLESS = (-np.inf, np.inf)

AT_ONCE = 2048
"""Number of groups that are computed together, which bounds the memory."""


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

    def score(m: Floats, k: Floats) -> Range:
        return root_range(moments, around(COVARIANCE, m, k), around(VAR_FIRST, m, k), MAIN * beta)

    return _union(_means(moments, (1 - MAIN) * beta / 2), score)


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
    """Return all t with numerator - t denominator within its noise; unbounded where the denominator may be zero.

    Args:
        moments: The noisy moments.
        numerator: Coefficients of the six moments, a column per group; axes between are a grid.
        denominator: Likewise.
        beta: How often the exact quotient may lie outside.
        less: A constant that is subtracted from the linear form of the denominator.

    The half width h(t) of the noise is a norm of the coefficients, so it is convex in t. At the estimate t0 it is h0,
    and |t - t0| <= h0 / (denominator - half width of the denominator). From there chords lead closer to the end, and
    never past it, because denominator (t - t0) - h(t) is concave.
    """
    top = np.einsum("i...g,ig->...g", numerator, moments.sums)
    bottom = np.einsum("i...g,ig->...g", denominator, moments.sums) - less
    mixed_numerator, mixed_denominator = (
        np.moveaxis(np.tensordot(moments.mixing.T, c, 1), 0, -1) for c in (numerator, denominator)
    )

    def half(t: Floats, start: Floats | None = None) -> Floats:
        return half_widths(mixed_numerator - t[..., None] * mixed_denominator, moments.noise, beta, start=start)

    reach = np.broadcast_to(half_widths(mixed_denominator, moments.noise, beta), bottom.shape)
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


def half_widths(weights: Floats, noise: Noise, beta: float, *, start: Floats | None = None) -> Floats:
    """The distance that sum weights_i X_i exceeds with probability at most `beta`, over the last axis of `weights`.

    Exact for Gaussian noise; for Laplace noise at most a few per cent too long.

    Args:
        weights: The coefficients of independent noises in the last axis.
        noise: The law of each of them.
        beta: How often the sum may stray farther.
        start: A distance that is known to be long enough, if there is one, which saves time.

    Example:
        >>> from hedgerow.distributions import Laplace
        >>> half_widths(np.array([[1.0, 0.0], [1.0, 1.0]]), Gaussian(10.0), 0.05).round(2).tolist()
        [19.6, 27.72]
        >>> half_widths(np.array([[1.0, 0.0], [1.0, 0.5]]), Laplace(1.0), 0.05).round(2).tolist()
        [3.0, 3.27]
    """
    sizes = np.abs(weights)
    if isinstance(noise, Gaussian):
        return np.asarray(-ndtri(beta / 2) * noise.sigma * np.sqrt(np.square(sizes).sum(axis=-1)))
    scales = _apart(np.ascontiguousarray(np.moveaxis(sizes, -1, 0)) * noise.scale)
    squares, shares = np.square(scales), np.ones_like(scales)
    for i in range(len(scales)):
        for j in range(i + 1, len(scales)):
            difference = squares[i] - squares[j]
            shares[i] *= squares[i] / difference
            shares[j] *= squares[j] / -difference
    largest = scales[0]
    distance = -largest * math.log(beta) if start is None else start
    slower = 1.0 / largest - 1.0 / scales
    # The logarithm of the tail is concave in the distance, so every step of Newton's method ends beyond the root.
    for _ in range(FIRST_STEPS if start is None else LATER_STEPS):
        terms = shares * np.exp(distance * slower)
        tail, density = terms.sum(axis=0), (terms / scales).sum(axis=0)
        excess = np.log(tail) - distance / largest - math.log(beta)
        distance = distance + excess * tail / density
    return np.asarray(distance + lattice_slack(noise) * sizes.sum(axis=-1))


def _apart(scales: Floats) -> Floats:
    """The scales, along the first axis, from the largest to the smallest, each as large as given or larger.

    None is closer to the next than the gap.
    """
    rising = np.sort(scales, axis=0)
    rising = np.maximum(rising, SMALLEST * np.maximum(rising[-1:], 1e-300))
    for i in range(1, len(rising)):
        rising[i] = np.maximum(rising[i], rising[i - 1] * (1 + GAP))
    return rising[::-1]


def variance_bounds(moments: Moments, beta: float, *, sample: bool = False) -> Bounds:
    """Bounds of the exact variance of the first column, for all groups at once.

    Args:
        moments: With the count, the sum and the sum of squares of the first column.
        beta: How often the exact variance may lie outside.
        sample: True for the variance with n - 1 in the denominator, which is at most two (two rows, one at each end).

    Example:
        >>> from hedgerow.distributions import Gaussian
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> seen = Moments.of(BERNSTEIN, np.array([[350.0, 20], [300.0, 30], [350.0, 30]]), Gaussian(5.0))
        >>> bounds = variance_bounds(seen, beta=0.05)
        >>> bounds.lower.round(2).tolist(), bounds.upper.round(2).tolist()
        ([0.38, 0.01], [0.42, 0.58])
        >>> bounds.statuses[0].kind.value
        'conservative'
    """
    own = moments.only(FIRST)
    return _bounds(own, beta, lambda part: variance_range(part, beta, sample=sample), (0.0, 2.0 if sample else 1.0))


def stddev_bounds(moments: Moments, beta: float, *, sample: bool = False) -> Bounds:
    """Bounds of the exact standard deviation: the roots of the ends of `variance_bounds`."""
    of_variance = variance_bounds(moments, beta, sample=sample)
    return Bounds(np.sqrt(of_variance.lower), np.sqrt(of_variance.upper), of_variance.statuses)


def covariance_bounds(moments: Moments, beta: float, *, sample: bool = False) -> Bounds:
    """Bounds of the exact covariance, for all groups at once.

    Args:
        moments: With the count, both sums and the sum of products.
        beta: How often the exact value may lie outside.
        sample: True for the covariance with n - 1 in the denominator.
    """
    own = moments.only(PRODUCT)
    size = 2.0 if sample else 1.0
    return _bounds(own, beta, lambda part: covariance_range(part, beta, sample=sample), (-size, size))


def correlation_bounds(moments: Moments, beta: float) -> Bounds:
    """Bounds of the exact correlation; the whole of [-1, 1] where a variance may be zero.

    Args:
        moments: All six.
        beta: How often the exact value may lie outside.
    """
    moments.require(MOMENTS)
    return _bounds(moments, beta, lambda part: correlation_range(part, beta), (-1.0, 1.0))


def slope_bounds(moments: Moments, beta: float) -> Bounds:
    """Bounds of the exact slope of the second column on the first; infinite where the first may have no variance.

    Args:
        moments: All six, or all but the squares of the second column.
        beta: How often the exact value may lie outside.
    """
    own = moments.only((*FIRST, *PRODUCT))
    return _bounds(own, beta, lambda part: slope_range(part, beta), ENDLESS)


def intercept_bounds(moments: Moments, beta: float, *, offset: float = 0.0) -> Bounds:
    """Bounds of the exact line at z = -offset; infinite where those of its slope are.

    Args:
        moments: As for `slope_bounds`.
        beta: How often the exact value may lie outside.
        offset: The middle of the first column's range in units of half its width.
    """
    own = moments.only((*FIRST, *PRODUCT))
    return _bounds(own, beta, lambda part: intercept_range(part, beta, offset), ENDLESS)


def r2_bounds(moments: Moments, beta: float) -> Bounds:
    """Bounds of the square of the exact correlation: the squares of `correlation_bounds`."""
    return arithmetic.power(correlation_bounds(moments, beta), 2)


def _bounds(moments: Moments, beta: float, find: Callable[[Moments], Range], support: tuple[float, float]) -> Bounds:
    """Return the range of each group, clipped to the support; groups are computed in batches."""
    check_beta(beta)
    groups = len(moments.count)
    if not groups:
        return Bounds.of(np.zeros(0), np.zeros(0), ALL_MOMENTS)
    parts = [find(moments.groups(slice(start, start + AT_ONCE))) for start in range(0, groups, AT_ONCE)]
    lower, upper = (np.clip(np.concatenate(ends), *support) for ends in zip(*parts, strict=True))
    endless = np.isinf(lower) | np.isinf(upper)
    return Bounds.of(lower, upper, [NO_VARIANCE if open_ else ALL_MOMENTS for open_ in endless.tolist()])
