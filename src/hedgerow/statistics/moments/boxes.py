"""Which variances fit noisy moments under Laplace noise: the extremes over a box.

The three Bernstein sums b of one column are non-negative, and with shares p = b / (b0 + b1 + b2) the variance in
units of the range is p2 - (p1 / 2 + p2)^2. It is concave in p, and a box of b becomes a polytope of p whose corners
come from corners of the box. So its least value is at a corner. The greatest is, for every m, at most the greatest
mean square distance from m, which is a linear form in p and again largest at a corner; the best m is searched for, and
any m is sound.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import half_width
from hedgerow.statistics.moments.families import BERNSTEIN
from hedgerow.statistics.moments.family import MOMENTS, Floats
from hedgerow.statistics.moments.noisy import FIRST, Moments

NARROWINGS = 60


def box_bounds(moments: Moments, beta: float) -> tuple[Floats, Floats]:
    """The least and greatest variance of the first column over a box that holds the exact sums all at once.

    Args:
        moments: With the count, the sum and the sum of squares of the first column.
        beta: How often the box may miss; each of its three sides misses a third as often.
    """
    corners = _corners(*_sides(moments, beta))
    total = corners.sum(axis=1)
    some = total > 0
    shares = corners / np.where(some, total, 1.0)[:, None, :]
    values = shares[:, 2] - (shares[:, 1] / 2 + shares[:, 2]) ** 2
    least = np.min(np.where(some, values, np.inf), axis=0)
    greatest = _greatest(shares, some)
    known = some.any(axis=0)
    return (
        np.where(known, np.clip(4 * least, 0.0, 1.0), 0.0),
        np.where(known, np.clip(4 * greatest, 0.0, 1.0), 1.0),
    )


def _sides(moments: Moments, beta: float) -> tuple[Floats, Floats]:
    """Where the three Bernstein sums lie, none of which is negative."""
    places = [MOMENTS.index(each) for each in FIRST]
    to_bernstein = np.array([[float(each) for each in row] for row in BERNSTEIN.matrix])
    seen = to_bernstein @ moments.sums[places]
    coefficients = to_bernstein @ moments.mixing[places]
    half = [half_width([(c, moments.noise) for c in row.tolist() if abs(c) > 1e-12], beta / 3) for row in coefficients]
    reach = np.array(half)[:, None]
    return np.maximum(seen - reach, 0.0), np.maximum(seen + reach, 0.0)


def _corners(lower: Floats, upper: Floats) -> Floats:
    """The eight corners: corner, coordinate, group."""
    return np.stack(
        [np.stack([(lower, upper)[side][k] for k, side in enumerate(corner)]) for corner in product((0, 1), repeat=3)]
    )


def _greatest(shares: Floats, some: NDArray[np.bool_]) -> Floats:
    """The least over m of the greatest mean square distance from m, which is convex in m."""

    def distance(m: Floats) -> Floats:
        spread = shares[:, 0] * m**2 - shares[:, 1] * m * (1 - m) + shares[:, 2] * (1 - m) ** 2
        return np.asarray(np.max(np.where(some, spread, -np.inf), axis=0))

    low, high = np.zeros(shares.shape[2]), np.ones(shares.shape[2])
    for _ in range(NARROWINGS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        falling = distance(first) > distance(second)
        low, high = np.where(falling, first, low), np.where(falling, high, second)
    return distance((low + high) / 2)
