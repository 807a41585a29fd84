"""Error bars of covariances, correlations and regression lines, in centred units.

Error bars of covariances, correlations and regression lines, in centred units.

For large groups they are of first order. Otherwise they are what is possible in a region that holds all exact moments
at once. There a quotient is written as the estimate plus a quotient with a small numerator, which loses little to the
uncertainty of its denominator; and nothing is said while the denominator may be zero.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds, arithmetic
from hedgerow.error_bars.intervals.arithmetic import add, divide, multiply, subtract
from hedgerow.error_bars.intervals.noise_sums import check_beta
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import delta
from hedgerow.statistics.moments.delta import (
    ALL_MOMENTS,
    Method,
    delta_bounds,
    is_large,
    labelled,
    picked,
    quotient_delta_bounds,
    spliced,
    without_variance,
)
from hedgerow.statistics.moments.estimates import corr, is_clear, regr_slope, var_pop
from hedgerow.statistics.moments.families import MOMENTS, Floats
from hedgerow.statistics.moments.noisy import COVARIANCE, FIRST, PRODUCT, VAR_FIRST, VAR_SECOND, Moments
from hedgerow.statistics.moments.regions import Range, Region, central_range, mean_range, region_of
from hedgerow.statistics.moments.variances import largest_sample_factor


def slope_range(region: Region) -> Range:
    """The extremes of Cov / Var z.

    With the estimate r it is r + Cov(z, w - r z) / Var z, whose numerator is about zero.
    """
    found = _slope(region)
    return found.lower, found.upper


def intercept_range(region: Region, offset: float) -> Range:
    """The extremes of mean w - slope (mean z + offset): of mean (w - r z) - r offset - (slope - r)(mean z + offset)."""
    guess = _guess(regr_slope(region.moments))
    level = _region_bounds(mean_range(region, -guess, 1.0))
    along = _region_bounds(mean_range(region, 1.0, 0.0))
    rest = multiply(_residual(region, guess), _shifted(along, np.full_like(guess, offset)))
    found = _shifted(subtract(level, rest), -guess * offset)
    return found.lower, found.upper


def correlation_range(region: Region) -> Range:
    """The extremes of Cov / sqrt(Var z Var w).

    With the estimate r, and units in which both variances are about one, Cov - r (Var z + Var w) / 2 is about zero,
    and the mean of both variances is at least their geometric mean and hardly more.
    """
    variances = [_region_bounds(central_range(region, form)).within(0.0, 1.0) for form in (VAR_FIRST, VAR_SECOND)]
    root = Bounds.of(*(np.sqrt(a * b) for a, b in zip(*((v.lower, v.upper) for v in variances), strict=True)))
    plain = divide(_region_bounds(central_range(region, COVARIANCE)), root).within(-1.0, 1.0)
    guess = _guess(corr(region.moments))
    scale = _ratio_of_deviations(region)
    rest = divide(_region_bounds(central_range(region, (-guess / 2 * scale, 1.0, -guess / 2 / scale))), root)
    excess = _excess(variances, scale)
    stretched = guess * np.where(np.isfinite(excess), excess, 1.0)
    close = add(Bounds.of(np.minimum(guess, stretched), np.maximum(guess, stretched)), rest)
    return _cut(plain, close, known=np.isfinite(excess))


def _cut(wide: Bounds, close: Bounds, *, known: NDArray[np.bool_]) -> Range:
    """Return the intersection of both, where the second is known."""
    return (
        np.where(known, np.maximum(wide.lower, close.lower), wide.lower),
        np.where(known, np.minimum(wide.upper, close.upper), wide.upper),
    )


def _slope(region: Region) -> Bounds:
    guess = _guess(regr_slope(region.moments))
    return _shifted(_residual(region, guess), guess)


def _residual(region: Region, guess: Floats) -> Bounds:
    """Cov(z, w - guess z) / Var z."""
    below = _region_bounds(central_range(region, VAR_FIRST)).within(0.0, 1.0)
    return divide(_region_bounds(central_range(region, (-guess, 1.0, 0.0))), below)


def _excess(variances: list[Bounds], scale: Floats) -> Floats:
    """How many times the geometric mean of both variances their mean can be, in units where they are alike."""
    first, second = variances
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.sqrt(a / b) * scale for a, b in ((first.lower, second.upper), (first.upper, second.lower))]
        worst = np.maximum.reduce([(end + 1 / end) / 2 for end in ends])
    return np.where(np.isnan(worst), np.inf, worst)


def _ratio_of_deviations(region: Region) -> Floats:
    """The standard deviation of the second column over that of the first, where both can be estimated."""
    first, second = (var_pop(each) for each in (region.moments, region.moments.exchanged()))
    known = (first > 0) & (second > 0)
    return np.sqrt(np.where(known, second, 1.0) / np.where(known, first, 1.0))


def _guess(estimate: Floats) -> Floats:
    return np.where(np.isnan(estimate), 0.0, estimate)


def _region_bounds(ends: Range) -> Bounds:
    return Bounds.of(*ends)


def _shifted(bounds: Bounds, by: Floats) -> Bounds:
    return Bounds(bounds.lower + by, bounds.upper + by, bounds.statuses)


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
    approximate = delta_bounds(delta.covariance(own, sample=sample), own, beta, support)
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
    approximate = delta_bounds(delta.correlation(moments), moments, beta, (-1.0, 1.0))
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
    approximate = quotient_delta_bounds(delta.covariance(own), delta.variance(own), own, beta)
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
    approximate = quotient_delta_bounds(delta.intercept_above(own, offset), delta.variance(own), own, beta)
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
    """Bounds that `method` asks for; `unclear` says where first order will not do though the group is large."""
    if method == "profile":
        raise InternalError("There is no profile interval for two columns. Ask for the rigorous one.")
    if method == "delta":
        return approximate
    large = is_large(moments) & (method == "auto")
    large = large if unclear is None else large & ~unclear
    region = region_of(moments.groups(~large), beta)
    conservative = without_variance(labelled(*rigorous(region), ALL_MOMENTS, support))
    return spliced(large, picked(approximate, large), conservative)
