"""Fieller's exact interval for a quotient of two noisy quantities under normal noise, for all groups at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hedgerow.intervals.bounds import Floats

Directions = Sequence[tuple[float | Floats, float | Floats, float]]


def fieller_hull(
    numerator: Floats, denominator: Floats, directions: Directions, beta: float, support: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The least and greatest accepted quotient in `support`; nan for both where none is accepted there.

    At the exact quotient r, numerator - r denominator is normal with mean zero. So r is accepted while
    a r^2 - 2 b r + c <= 0, and the accepted set is an interval, the outside of one, or everything.

    Args:
        numerator: Noisy values.
        denominator: Noisy values.
        directions: For each noise its coefficient above, its coefficient below (for all groups, or for each), and its
            standard deviation.
        beta: How often the exact quotient may be rejected.
        support: Where the quotient is known to lie.
    """
    lowest, highest = support
    a, low, high, all_accepted = _roots(numerator, denominator, directions, -float(ndtri(beta / 2)))
    inside = (low <= highest) & (high >= lowest)
    left, right = low >= lowest, high <= highest
    between = np.where(inside, np.maximum(low, lowest), np.nan), np.where(inside, np.minimum(high, highest), np.nan)
    neither = ~(left | right)
    around = (
        np.where(left, lowest, np.where(neither, np.nan, np.maximum(high, lowest))),
        np.where(right, highest, np.where(neither, np.nan, np.minimum(low, highest))),
    )
    lower = np.where(all_accepted, lowest, np.where(a >= 0, between[0], around[0]))
    upper = np.where(all_accepted, highest, np.where(a >= 0, between[1], around[1]))
    return lower, upper


def _roots(
    numerator: Floats, denominator: Floats, directions: Directions, z: float
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """The leading coefficient, both roots in order, and where every quotient is accepted."""
    above = z * np.sqrt(sum((a * sigma) ** 2 for a, _, sigma in directions))
    below = z * np.sqrt(sum((b * sigma) ** 2 for _, b, sigma in directions))
    shared = z * z * sum(a * b * sigma * sigma for a, b, sigma in directions)
    a = (denominator - below) * (denominator + below) + 0.0  # no negative zero: its sign would turn infinite roots
    b = numerator * denominator - shared
    c = (numerator - above) * (numerator + above)
    discriminant = _discriminant(numerator, denominator, directions, z)
    far = b + np.where(b < 0, -1.0, 1.0) * np.sqrt(np.maximum(discriminant, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = far / a, c / far
    # Where far is zero so are b and the discriminant: a double root at zero.
    first, second = np.where(np.isnan(first), 0.0, first), np.where(np.isnan(second), 0.0, second)
    everything = ((a < 0) & (discriminant <= 0)) | ((a == 0) & (b == 0))
    return a, np.minimum(first, second), np.maximum(first, second), everything


def _discriminant(numerator: Floats, denominator: Floats, directions: Directions, z: float) -> Floats:
    """b^2 - a c, as a sum of squares less a constant, so that little cancels."""
    squares = sum((sigma * (b * numerator - a * denominator)) ** 2 for a, b, sigma in directions)
    crossed = sum(
        ((a * d - b * c) * sigma * tau) ** 2
        for i, (a, b, sigma) in enumerate(directions)
        for c, d, tau in directions[:i]
    )
    return np.asarray(z * z * (squares - z * z * crossed), dtype=float)
