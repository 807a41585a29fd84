"""Intervals for quotients over any number of Laplace and normal noises, for all groups at once.

At the exact quotient r = N / D the pivot x n - y d, for x = 1 and y = r, is noise alone: sum (x a_i - y b_i) X_i. Let
h(x, y) be the distance from zero that it exceeds with probability beta. The quotients that are not rejected, those
with |x n - y d| <= h(x, y) for r = y / x, hold the exact one with probability 1 - beta.

h is a norm: the quantile of linear forms of symmetric log-concave noise is convex in the form (Meyer and Reisner 1991;
Bobkov 2010), and it grows in proportion. So between two directions u and v it is at most linear,
h(s u + t v) <= s h(u) + t h(v), and h is worked out in two dozen directions only, the same for all groups. They are
spread evenly where the pivot has variance 1, so that the chord is above h by 0.2 % or so. Between two directions
everything is linear, and the ends of the interval are roots in closed form.

Lattices add a norm of their own, sum |x a_i - y b_i| times the slack of the lattice.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals.bounds import Floats
from hedgerow.error_bars.intervals.inversion import Sums, half_widths
from hedgerow.error_bars.intervals.noise_sums import lattice_slack

DIRECTIONS = 24
RIDGE = 1e-9
"""Part of the variance that is added to separate numerator and denominator where they have the same noise."""

PRECISION = 1e-4

CountedTerms = tuple[tuple[float, float, Noise, int], ...]


def pivot_hull(
    numerator: Floats,
    denominator: Floats,
    terms: Sequence[tuple[float, float, Noise, int]],
    beta: float,
    support: tuple[float, float],
) -> tuple[Floats, Floats]:
    """The smallest and largest accepted quotient in `support`; nan for both where none is accepted.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        terms: For each kind of noise its coefficients in numerator and denominator, its law, and how many there are.
        beta: How often the exact quotient may be rejected.
        support: Where the quotient is known to lie.
    """
    x, y, reach = _norm(tuple(sorted(terms, key=repr)), beta, support)
    pivots = np.outer(numerator, x) - np.outer(denominator, y)
    lower = _first_accepted(pivots, x, y, reach)
    upper = -_first_accepted(pivots[:, ::-1], x[::-1], -y[::-1], reach[::-1])
    return lower, upper


def pivot_reach(x: Floats, y: Floats, terms: Sequence[tuple[float, float, Noise, int]], beta: float) -> Floats:
    """The distance h(x, y) that the noise in x n - y d exceeds with probability `beta`, or slightly more."""
    along, across, reach = _norm(tuple(sorted(terms, key=repr)), beta, (-math.inf, math.inf))
    turned = np.where((x < 0) | ((x == 0) & (y < 0)), -1.0, 1.0)
    x, y = turned * x, turned * y
    with np.errstate(divide="ignore", invalid="ignore"):
        sector = np.clip(np.searchsorted(across / along, np.where(x > 0, y / x, np.inf)) - 1, 0, len(reach) - 2)
    first, second = (along[sector], across[sector]), (along[sector + 1], across[sector + 1])
    area = first[0] * second[1] - first[1] * second[0]
    parts = (x * second[1] - y * second[0]) / area, (first[0] * y - first[1] * x) / area
    return np.asarray(np.abs(parts[0]) * reach[sector] + np.abs(parts[1]) * reach[sector + 1])


def _first_accepted(pivots: Floats, x: Floats, y: Floats, reach: Floats) -> Floats:
    """The smallest accepted quotient, with directions in order; nan where all are rejected.

    Directions rejected on one side form a sector. It ends between the last direction of it and the next, where
    side * pivot - h, which is linear in between, is zero.
    """
    excess = np.abs(pivots) - reach
    side = np.where(excess[:, 0] > 0, np.sign(pivots[:, 0]), 0.0)[:, None]
    signed = side * pivots - reach
    leaves = signed[:, 1:] <= 0
    last = np.argmax(leaves, axis=1)
    rows = np.arange(len(pivots))
    here, there = signed[rows, last], -signed[rows, last + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = (there * y[last] + here * y[last + 1]) / (there * x[last] + here * x[last + 1])
        start = y[0] / x[0] if x[0] > 0 else -math.inf
    return np.where(side[:, 0] == 0, start, np.where(leaves.any(axis=1), root, np.nan))


@lru_cache(maxsize=1024)
def _norm(terms: CountedTerms, beta: float, support: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Directions (x, y) with y / x increasing from one end of the support to the other, and h in each."""
    x, y = _directions(terms, support)
    forms = [(np.abs(a * x - b * y), noise, count) for a, b, noise, count in terms]
    normal = sum(
        (np.square(size * noise.sigma) * n for size, noise, n in forms if isinstance(noise, Gaussian)), 0.0 * x
    )
    laplaces = [(size, noise, count) for size, noise, count in forms if isinstance(noise, Laplace)]
    scales = np.column_stack([size * noise.scale for size, noise, _ in laplaces])
    counts = np.array([float(count) for _, _, count in laplaces])
    continuous = half_widths(Sums(np.sqrt(normal), scales, counts, np.zeros_like(scales)), beta, PRECISION)
    return x, y, continuous + sum(size * lattice_slack(noise) * count for size, noise, count in laplaces)


def _directions(terms: CountedTerms, support: tuple[float, float]) -> tuple[Floats, Floats]:
    """Directions inside the support and at its ends: for a normal pivot of variance 1, at equal angles."""
    variances = [(a, b, count * noise.variance_bound) for a, b, noise, count in terms]
    of_top = sum(a * a * v for a, _, v in variances) * (1 + RIDGE)
    of_bottom = sum(b * b * v for _, b, v in variances) * (1 + RIDGE)
    shared = sum(a * b * v for a, b, v in variances)
    angles = np.linspace(-math.pi / 2, math.pi / 2, DIRECTIONS + 1)[1:-1]
    # The variance of x n - y d is (x sd of n given d)^2 + (y - x cov / var d)^2 var d, here cos^2 + sin^2.
    alone = math.sqrt(max(of_top - shared**2 / of_bottom, RIDGE * of_top)) if of_bottom > 0 else math.sqrt(of_top)
    x = np.cos(angles) / alone if alone > 0 else np.cos(angles)
    y = x * shared / of_bottom + np.sin(angles) / math.sqrt(of_bottom) if of_bottom > 0 else np.tan(angles) * x
    inside = (y > support[0] * x) & (y < support[1] * x)
    ends = [(1.0, end) if math.isfinite(end) else (0.0, math.copysign(1.0, end)) for end in support]
    (first_x, first_y), (last_x, last_y) = ends
    return np.concatenate([[first_x], x[inside], [last_x]]), np.concatenate([[first_y], y[inside], [last_y]])
