"""Quotients of central moments over a region that holds all exact moments at once."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.arithmetic import add, divide, multiply, subtract
from hedgerow.statistics.moments.central import COVARIANCE, VAR_FIRST, VAR_SECOND
from hedgerow.statistics.moments.estimates import corr, regr_slope, var_pop
from hedgerow.statistics.moments.family import Floats
from hedgerow.statistics.moments.regions import Range, Region, central_range, mean_range


def slope_range(region: Region) -> Range:
    """The extremes of Cov / Var z.

    With the estimate r it is r + Cov(z, w - r z) / Var z, whose numerator is about zero.
    """
    found = _slope(region)
    return found.lower, found.upper


def intercept_range(region: Region, offset: float) -> Range:
    """The extremes of mean w - slope (mean z + offset): of mean (w - r z) - r offset - (slope - r)(mean z + offset)."""
    guess = _guess(regr_slope(region.moments))
    level = _bounds(mean_range(region, -guess, 1.0))
    along = _bounds(mean_range(region, 1.0, 0.0))
    rest = multiply(_residual(region, guess), _shifted(along, np.full_like(guess, offset)))
    found = _shifted(subtract(level, rest), -guess * offset)
    return found.lower, found.upper


def correlation_range(region: Region) -> Range:
    """The extremes of Cov / sqrt(Var z Var w).

    With the estimate r, and units in which both variances are about one, Cov - r (Var z + Var w) / 2 is about zero,
    and the mean of both variances is at least their geometric mean and hardly more.
    """
    variances = [_bounds(central_range(region, form)).within(0.0, 1.0) for form in (VAR_FIRST, VAR_SECOND)]
    root = Bounds.of(*(np.sqrt(a * b) for a, b in zip(*((v.lower, v.upper) for v in variances), strict=True)))
    plain = divide(_bounds(central_range(region, COVARIANCE)), root).within(-1.0, 1.0)
    guess = _guess(corr(region.moments))
    scale = _ratio_of_deviations(region)
    rest = divide(_bounds(central_range(region, (-guess / 2 * scale, 1.0, -guess / 2 / scale))), root)
    excess = _excess(variances, scale)
    stretched = guess * np.where(np.isfinite(excess), excess, 1.0)
    close = add(Bounds.of(np.minimum(guess, stretched), np.maximum(guess, stretched)), rest)
    return _cut(plain, close, known=np.isfinite(excess))


def _cut(wide: Bounds, close: Bounds, *, known: NDArray[np.bool_]) -> Range:
    """What both allow, where the second is known."""
    return (
        np.where(known, np.maximum(wide.lower, close.lower), wide.lower),
        np.where(known, np.minimum(wide.upper, close.upper), wide.upper),
    )


def _slope(region: Region) -> Bounds:
    guess = _guess(regr_slope(region.moments))
    return _shifted(_residual(region, guess), guess)


def _residual(region: Region, guess: Floats) -> Bounds:
    """Cov(z, w - guess z) / Var z."""
    below = _bounds(central_range(region, VAR_FIRST)).within(0.0, 1.0)
    return divide(_bounds(central_range(region, (-guess, 1.0, 0.0))), below)


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


def _bounds(ends: Range) -> Bounds:
    return Bounds.of(*ends)


def _shifted(bounds: Bounds, by: Floats) -> Bounds:
    return Bounds(bounds.lower + by, bounds.upper + by, bounds.statuses)
