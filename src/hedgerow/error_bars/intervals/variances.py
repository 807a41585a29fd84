"""Error bars of the variance of several noisy numbers.

With the noisy numbers y_i, their mean and equal normal noise, sum (y_i - mean)^2 / sigma^2 is noncentral chi-square
with one degree of freedom less than there are numbers. Its parameter is the same sum over the exact numbers, so the
interval is exact: all parameters for which what is seen is not too large and not too small.

Where only intervals of the numbers are known, that hold at once, the exact numbers lie in a box. The root of the sum of
squared distances from the mean is a norm, so inside the box it changes by at most the length of half a diagonal.
"""

import numpy as np
from scipy.special import chdtri, chndtr, ndtri

from hedgerow.error_bars.intervals.bounds import Floats

HALVINGS = 50
LARGEST, RAREST = 1e5, 1e-9
"""Beyond this sum, or for smaller failure probabilities, the law is bounded instead of computed."""


def squares_range(squares: Floats, count: int, sigma: float, beta: float) -> tuple[Floats, Floats]:
    """The interval of sum (x_i - mean)^2 over exact numbers, from the same sum over noisy ones.

    Args:
        squares: Sums over the noisy numbers.
        count: How many numbers are in each sum.
        sigma: Standard deviation of the normal noise in each of them.
        beta: How often the exact sum may lie outside.

    Example:
        >>> [end.round(1).tolist() for end in squares_range(np.array([39.0, 390.0]), 40, 1.0, 0.05)]
        [[0.0, 280.4], [23.1, 431.4]]
    """
    squares = np.asarray(squares, dtype=float)
    if count < 2:
        return np.zeros_like(squares), np.zeros_like(squares)
    degrees, seen = count - 1, squares / sigma**2
    nearest, farthest = _bounded(seen, degrees, beta)
    computed = (seen < LARGEST) & (beta > RAREST)
    small = np.where(computed, seen, 0.0)
    ends = []
    for tail in (1 - beta / 2, beta / 2):
        low, high = np.zeros_like(small), np.sqrt(small) + np.sqrt(chdtri(degrees, beta / 2))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = chndtr(small, degrees, middle**2) > tail
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        ends.append(low if tail > beta / 2 else high)
    lower, upper = np.where(computed, ends[0], nearest), np.where(computed, ends[1], farthest)
    return np.square(lower * sigma), np.square(upper * sigma)


def _bounded(seen: Floats, degrees: int, beta: float) -> tuple[Floats, Floats]:
    """Bounds of the root r of the parameter: what is seen is (r + X)^2 + W, X normal and W chi-square.

    W has one degree of freedom less and fails twenty times less often than X.
    """
    reach = -ndtri(0.95 * beta / 2)
    rest = [float(chdtri(degrees - 1, share)) if degrees > 1 else 0.0 for share in (1 - beta / 40, beta / 40)]
    lower = np.sqrt(np.maximum(seen - rest[1], 0.0)) - reach
    return np.maximum(lower, 0.0), np.sqrt(np.maximum(seen - rest[0], 0.0)) + reach


def box_squares_range(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Bounds from simultaneous intervals of the numbers; infinite where one of them is infinite."""
    if not (np.isfinite(lower) & np.isfinite(upper)).all():
        return np.zeros(()), np.full((), np.inf)
    middle, halves = (lower + upper) / 2, (upper - lower) / 2
    root, reach = np.linalg.norm(middle - middle.mean()), np.linalg.norm(halves)
    return np.square(np.maximum(root - reach, 0.0)), np.square(root + reach)
