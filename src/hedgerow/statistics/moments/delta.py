"""Error bars to first order in the noise, and the rule which bounds are used when."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds, normal_quotient_bounds
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.statistics.moments.estimates import corrected
from hedgerow.statistics.moments.families import Floats
from hedgerow.statistics.moments.noisy import COVARIANCE, VAR_FIRST, VAR_SECOND, Form, Moments, gradient

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
    """True if a group is so much larger than the noise that first order is enough."""
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


Tangent = tuple[Floats, Floats]
"""A value per group, and a gradient with a row per moment and a column per group."""


def variance(moments: Moments, *, sample: bool = False) -> Tangent:
    """Of the first column."""
    value = corrected(moments, VAR_FIRST)
    found = value, gradient(moments, VAR_FIRST, np.clip(value, 0.0, 1.0))
    return _sampled(moments, found) if sample else found


def covariance(moments: Moments, *, sample: bool = False) -> Tangent:
    """Of both columns."""
    value = corrected(moments, COVARIANCE)
    found = value, gradient(moments, COVARIANCE, np.clip(value, -1.0, 1.0))
    return _sampled(moments, found) if sample else found


def correlation(moments: Moments) -> Tangent:
    """Of both columns; nan where a variance is not positive."""
    (first, by_first), (second, by_second) = (_positive(moments, form) for form in (VAR_FIRST, VAR_SECOND))
    cross, by_cross = covariance(moments)
    root = np.sqrt(first * second)
    value = np.clip(cross / root, -1.0, 1.0)
    return value, by_cross / root - value / 2 * (by_first / first + by_second / second)


def intercept_above(moments: Moments, offset: float) -> Tangent:
    """Where the line meets z = -offset, times the variance of z: mean w Var z - (mean z + offset) Cov."""
    (spread, by_spread), (cross, by_cross) = variance(moments), covariance(moments)
    first, second = moments.means
    along = first + offset
    steep = second * by_spread - along * by_cross
    steep[0] += (cross * first - spread * second) / moments.rows
    steep[1] -= cross / moments.rows
    steep[2] += spread / moments.rows
    return np.asarray(second * spread - along * cross), np.asarray(steep)


def _positive(moments: Moments, form: Form) -> Tangent:
    value = corrected(moments, form)
    value = np.where(value > 0, np.minimum(value, 1.0), np.nan)
    return value, gradient(moments, form, value)


def _sampled(moments: Moments, found: Tangent) -> Tangent:
    """The same times n / (n - 1), which itself moves with the noisy count."""
    value, steep = found
    rows = np.maximum(moments.rows, 2.0)
    factor = rows / (rows - 1.0)
    steeper = steep * factor
    steeper[0] -= value / (rows - 1.0) ** 2
    return value * factor, steeper


def quantile(noise: Noise, beta: float) -> float:
    """How many standard deviations a linear form in the noise stays within, but for a share `beta`.

    Exact for Gaussian noise. A sum of Laplace noises has a tail between that of one of them and that of a
    Gaussian, so the larger of both quantiles is taken.

    Example:
        >>> from hedgerow.distributions import Laplace
        >>> round(quantile(Gaussian(3.0), 0.05), 3), round(quantile(Laplace(3.0), 0.05), 3)
        (1.96, 2.118)
    """
    normal = -float(ndtri(beta / 2))
    return normal if isinstance(noise, Gaussian) else max(normal, -math.log(beta) / math.sqrt(2))


def delta_bounds(tangent: Tangent, moments: Moments, beta: float, support: tuple[float, float]) -> Bounds:
    """The delta method: a value plus and minus a quantile of its noise, cut to its range."""
    value, gradient = tangent
    half = quantile(moments.noise, beta) * moments.spread(gradient)
    return labelled(value - half, value + half, FIRST_ORDER, support)


def quotient_delta_bounds(numerator: Tangent, denominator: Tangent, moments: Moments, beta: float) -> Bounds:
    """A quotient whose parts are taken to first order, but not the quotient itself: Fieller's inequality.

    So it stays right where the denominator is small against its noise, and is unbounded where it may be zero.
    """
    (top, by_top), (bottom, by_bottom) = numerator, denominator
    shared = np.einsum("ig,ij,jg->g", by_top, moments.covariance, by_bottom)
    variances = moments.spread(by_top) ** 2, moments.spread(by_bottom) ** 2, shared
    share = max(2 * float(ndtr(-quantile(moments.noise, beta))), 1e-300)
    found = normal_quotient_bounds(top, bottom, variances, share, (-np.inf, np.inf))
    return without_variance(labelled(found.lower, found.upper, FIRST_ORDER, (-np.inf, np.inf)))
