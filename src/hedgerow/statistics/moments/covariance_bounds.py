"""Error bars of covariances, correlations and regression lines, in centred units.

For large groups they are of first order. Otherwise they are what is possible in a region that holds all exact moments
at once. There a quotient is written as the estimate plus a quotient with a small numerator, which loses little to the
uncertainty of its denominator; and nothing is said while the denominator may be zero.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds, arithmetic
from hedgerow.error_bars.intervals.noise_sums import check_beta
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import tangents
from hedgerow.statistics.moments.central import COVARIANCE, VAR_FIRST, VAR_SECOND
from hedgerow.statistics.moments.correlations import correlation_range, intercept_range, slope_range
from hedgerow.statistics.moments.delta import delta_bounds, quotient_delta_bounds
from hedgerow.statistics.moments.estimates import is_clear
from hedgerow.statistics.moments.family import MOMENTS
from hedgerow.statistics.moments.labels import (
    ALL_MOMENTS,
    Method,
    is_large,
    labelled,
    picked,
    spliced,
    without_variance,
)
from hedgerow.statistics.moments.noisy import FIRST, PRODUCT, Moments
from hedgerow.statistics.moments.regions import Range, Region, central_range, region_of
from hedgerow.statistics.moments.variance_bounds import largest_sample_factor

Support = tuple[float, float]
ENDLESS: Support = (-np.inf, np.inf)
CLEAR = 5.0
"""From how many standard deviations of its own noise on a variance may stand below the line to first order."""


def covariance_bounds(moments: Moments, beta: float, *, sample: bool = False, method: Method = "auto") -> Bounds:
    """Where the exact covariance lies, for all groups at once.

    Args:
        moments: With the count, both sums and the sum of products.
        beta: How often the exact value may lie outside.
        sample: Whether it is the covariance with n - 1 below the line.
        method: `delta`, `rigorous` or `auto`, as for a variance.
    """

    def rigorous(region: Region) -> Range:
        lower, upper = (np.clip(end, -1.0, 1.0) for end in central_range(region, COVARIANCE))
        factor = largest_sample_factor(region.least_count()) if sample else 1.0
        return np.minimum(lower, lower * factor), np.maximum(upper, upper * factor)

    check_beta(beta)
    own = moments.only(PRODUCT)
    size = 2.0 if sample else 1.0
    support = (-size, size)
    approximate = delta_bounds(tangents.covariance(own, sample=sample), own, beta, support)
    return _bounds(own, beta, method, approximate, rigorous, support)


def correlation_bounds(moments: Moments, beta: float, *, method: Method = "auto") -> Bounds:
    """Where the exact correlation lies; the whole of [-1, 1] where a variance may be zero.

    Args:
        moments: All six.
        beta: How often the exact value may lie outside.
        method: `delta`, `rigorous` or `auto`, which takes `delta` only where both variances are clear of their noise.
    """
    check_beta(beta)
    moments.require(MOMENTS)
    clear = is_clear(moments, VAR_FIRST, CLEAR) & is_clear(moments, VAR_SECOND, CLEAR)
    approximate = delta_bounds(tangents.correlation(moments), moments, beta, (-1.0, 1.0))
    return _bounds(moments, beta, method, approximate, correlation_range, (-1.0, 1.0), unclear=~clear)


def slope_bounds(moments: Moments, beta: float, *, method: Method = "auto") -> Bounds:
    """Where the exact slope of the second column on the first lies; unbounded where the first may have no variance.

    Args:
        moments: All six, or all but the squares of the second column.
        beta: How often the exact value may lie outside.
        method: `delta`, `rigorous` or `auto`, as for a variance; `delta` takes covariance and variance to first order.
    """
    check_beta(beta)
    own = moments.only((*FIRST, *PRODUCT))
    approximate = quotient_delta_bounds(tangents.covariance(own), tangents.variance(own), own, beta)
    return _bounds(own, beta, method, approximate, slope_range, ENDLESS)


def intercept_bounds(moments: Moments, beta: float, *, offset: float = 0.0, method: Method = "auto") -> Bounds:
    """Where the exact line meets z = -offset; unbounded where its slope is.

    Args:
        moments: As for `slope_bounds`.
        beta: How often the exact value may lie outside.
        offset: The middle of the first column's range in units of half its width.
        method: As for `slope_bounds`.
    """

    def rigorous(region: Region) -> Range:
        return intercept_range(region, offset)

    check_beta(beta)
    own = moments.only((*FIRST, *PRODUCT))
    approximate = quotient_delta_bounds(tangents.intercept_above(own, offset), tangents.variance(own), own, beta)
    return _bounds(own, beta, method, approximate, rigorous, ENDLESS)


def r2_bounds(moments: Moments, beta: float, *, method: Method = "auto") -> Bounds:
    """Where the square of the exact correlation lies: the squares of `correlation_bounds`."""
    return arithmetic.power(correlation_bounds(moments, beta, method=method), 2)


def _bounds(
    moments: Moments,
    beta: float,
    method: Method,
    approximate: Bounds,
    rigorous: Callable[[Region], Range],
    support: Support,
    *,
    unclear: NDArray[np.bool_] | None = None,
) -> Bounds:
    """What `method` asks for; `unclear` says where first order will not do though the group is large."""
    if method == "profile":
        raise InternalError("There is no profile interval for two columns. Ask for the rigorous one.")
    if method == "delta":
        return approximate
    large = is_large(moments) & (method == "auto")
    large = large if unclear is None else large & ~unclear
    region = region_of(moments.groups(~large), beta)
    conservative = without_variance(labelled(*rigorous(region), ALL_MOMENTS, support))
    return spliced(large, picked(approximate, large), conservative)
