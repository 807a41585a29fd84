"""Error bars to first order in the noise."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds, normal_quotient_bounds
from hedgerow.statistics.moments.labels import FIRST_ORDER, labelled, without_variance
from hedgerow.statistics.moments.noisy import Moments
from hedgerow.statistics.moments.tangents import Tangent


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


def quotient_delta_bounds(above: Tangent, below: Tangent, moments: Moments, beta: float) -> Bounds:
    """A quotient whose parts are taken to first order, but not the quotient itself: Fieller's inequality.

    So it stays right where the denominator is small against its noise, and is unbounded where it may be zero.
    """
    (top, by_top), (bottom, by_bottom) = above, below
    shared = np.einsum("ig,ij,jg->g", by_top, moments.covariance, by_bottom)
    variances = moments.spread(by_top) ** 2, moments.spread(by_bottom) ** 2, shared
    share = max(2 * float(ndtr(-quantile(moments.noise, beta))), 1e-300)
    found = normal_quotient_bounds(top, bottom, variances, share, (-np.inf, np.inf))
    return without_variance(labelled(found.lower, found.upper, FIRST_ORDER, (-np.inf, np.inf)))
