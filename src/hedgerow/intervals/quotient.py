"""Error bars of quotients: averages, shares, proportions, rates."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.intervals.arithmetic import divide
from hedgerow.intervals.bounds import OUTSIDE, ZERO_DENOMINATOR, Bounds, Floats
from hedgerow.intervals.fieller import Directions, fieller_hull
from hedgerow.intervals.laplace_quotient import LaplaceQuotient
from hedgerow.intervals.linear import check_beta, half_width

QuotientTerms = Sequence[tuple[float, float, Noise]]


def quotient_bounds(
    numerator: Floats, denominator: Floats, terms: QuotientTerms, beta: float, support: tuple[float, float]
) -> Bounds:
    """Where the quotient of two exact quantities lies, given their noisy values, for all groups at once.

    The numerator is seen with noise sum a_i X_i and the denominator with sum b_i X_i; a noise that enters both
    stands once, with both coefficients. Exact for normal noises (Fieller) and for one or two Laplace
    noises; on a lattice, and for any other mixture, longer but never short. What is said is about the quotient if it
    exists: an exact denominator of zero has none.

    Args:
        numerator: Noisy values, one per group, neither clipped nor corrected.
        denominator: Likewise.
        terms: For each independent noise, its coefficient above, its coefficient below, and its law.
        beta: How often the exact quotient may lie outside.
        support: Where the quotient is publicly known to lie; either end may be infinite.

    Example:
        >>> noise = Gaussian(20.0)
        >>> seen = quotient_bounds(np.array([300.0]), np.array([1000.0]), [(1, 0, noise), (0, 1, noise)], 0.05, (0, 1))
        >>> round(float(seen.lower[0]), 4), round(float(seen.upper[0]), 4)
        (0.2595, 0.3414)
    """
    check_beta(beta)
    above, below = np.broadcast_arrays(np.atleast_1d(np.asarray(numerator, float)), np.asarray(denominator, float))
    active = [(float(a), float(b), noise) for a, b, noise in terms if (a or b) and _size(noise) > 0]
    laplaces = [(a, b, noise) for a, b, noise in active if isinstance(noise, Laplace)]
    if not laplaces:
        hull = fieller_hull(above, below, _directions(active), beta, support)
    elif len(active) == len(laplaces) <= 2:
        hull = LaplaceQuotient(above, below, laplaces, beta).hull(support)
    else:
        return _box(above, below, active, beta, support)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _reported(*hull, above / below, support)


def normal_quotient_bounds(
    numerator: Floats,
    denominator: Floats,
    variances: tuple[Floats, Floats, Floats],
    beta: float,
    support: tuple[float, float],
) -> Bounds:
    """Like `quotient_bounds` under normal noise that differs from group to group.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        variances: Of the numerator, of the denominator, and their covariance, one of each per group.
        beta: How often the exact quotient may lie outside.
        support: Where the quotient is publicly known to lie.
    """
    check_beta(beta)
    above, below, shared = variances
    root = np.sqrt(above)
    slope = np.divide(shared, root, out=np.zeros_like(root), where=root > 0)
    own = np.sqrt(np.maximum(below - slope**2, 0.0))
    hull = fieller_hull(numerator, denominator, [(root, slope, 1.0), (np.zeros_like(own), own, 1.0)], beta, support)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _reported(*hull, numerator / denominator, support)


def _box(above: Floats, below: Floats, terms: QuotientTerms, beta: float, support: tuple[float, float]) -> Bounds:
    """Divide the intervals of numerator and denominator, each of which fails half as often."""
    top = Bounds.around(above, half_width([(a, noise) for a, _, noise in terms], beta / 2))
    bottom = Bounds.around(below, half_width([(b, noise) for _, b, noise in terms], beta / 2))
    whole = divide(top, bottom)
    cut = Bounds.of(whole.lower, whole.upper).within(*support)
    return cut.marked(_unbounded(cut.lower, cut.upper), ZERO_DENOMINATOR)


def _reported(lower: Floats, upper: Floats, estimate: Floats, support: tuple[float, float]) -> Bounds:
    """Where nothing in the support is accepted, the end on the side of the point estimate, which always is."""
    empty = np.isnan(lower)
    nearest = np.where(estimate > support[1], support[1], support[0])
    lower, upper = np.where(empty, nearest, lower), np.where(empty, nearest, upper)
    return Bounds.of(lower, upper).marked(empty, OUTSIDE).marked(_unbounded(lower, upper), ZERO_DENOMINATOR)


def _directions(terms: QuotientTerms) -> Directions:
    """Normal noises as at most two independent directions, which is all that a numerator and a denominator can see."""
    directions = [(a, b, noise.sigma) for a, b, noise in terms if isinstance(noise, Gaussian)]
    if len(directions) <= 2:
        return directions
    above = math.fsum((a * sigma) ** 2 for a, _, sigma in directions)
    below = math.fsum((b * sigma) ** 2 for _, b, sigma in directions)
    shared = math.fsum(a * b * sigma**2 for a, b, sigma in directions)
    if above == 0:
        return [(0.0, 1.0, math.sqrt(below))]
    own = max(below - shared**2 / above, 0.0)
    return [(math.sqrt(above), shared / math.sqrt(above), 1.0), (0.0, math.sqrt(own), 1.0)]


def _size(noise: Noise) -> float:
    return noise.sigma if isinstance(noise, Gaussian) else noise.scale


def _unbounded(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    return np.isinf(lower) | np.isinf(upper)
