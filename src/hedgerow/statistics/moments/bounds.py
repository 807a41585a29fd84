"""Error bars of variances, covariances, correlations and regression lines, in centred units."""

from collections.abc import Callable

import numpy as np

from hedgerow.error_bars.intervals import Bounds, arithmetic
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.error_bars.intervals.noise_sums import check_beta
from hedgerow.statistics.moments import scores
from hedgerow.statistics.moments.families import MOMENTS
from hedgerow.statistics.moments.noisy import FIRST, PRODUCT, Moments
from hedgerow.statistics.moments.scores import Range

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
    return _bounds(
        own, beta, lambda part: scores.variance_range(part, beta, sample=sample), (0.0, 2.0 if sample else 1.0)
    )


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
    return _bounds(own, beta, lambda part: scores.covariance_range(part, beta, sample=sample), (-size, size))


def correlation_bounds(moments: Moments, beta: float) -> Bounds:
    """Bounds of the exact correlation; the whole of [-1, 1] where a variance may be zero.

    Args:
        moments: All six.
        beta: How often the exact value may lie outside.
    """
    moments.require(MOMENTS)
    return _bounds(moments, beta, lambda part: scores.correlation_range(part, beta), (-1.0, 1.0))


def slope_bounds(moments: Moments, beta: float) -> Bounds:
    """Bounds of the exact slope of the second column on the first; infinite where the first may have no variance.

    Args:
        moments: All six, or all but the squares of the second column.
        beta: How often the exact value may lie outside.
    """
    own = moments.only((*FIRST, *PRODUCT))
    return _bounds(own, beta, lambda part: scores.slope_range(part, beta), ENDLESS)


def intercept_bounds(moments: Moments, beta: float, *, offset: float = 0.0) -> Bounds:
    """Bounds of the exact line at z = -offset; infinite where those of its slope are.

    Args:
        moments: As for `slope_bounds`.
        beta: How often the exact value may lie outside.
        offset: The middle of the first column's range in units of half its width.
    """
    own = moments.only((*FIRST, *PRODUCT))
    return _bounds(own, beta, lambda part: scores.intercept_range(part, beta, offset), ENDLESS)


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
