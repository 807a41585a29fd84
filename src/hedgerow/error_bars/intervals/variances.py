"""Error bars of the variance of several noisy numbers.

With the noisy numbers y_i, their mean and equal normal noise, sum (y_i - mean)^2 / sigma^2 is noncentral chi-square
with one degree of freedom less than there are numbers. Its parameter is the same sum over the exact numbers, so the
interval is exact: all parameters for which what is seen is not too large and not too small.

Where only intervals of the numbers are known, that hold at once, the exact numbers lie in a box. The root of the sum of
squared distances from the mean is a norm, so inside the box it changes by at most the length of half a diagonal.
"""

import numpy as np

from hedgerow.error_bars.intervals.interval import Floats
from hedgerow.special import chdtri, chndtr, ndtri

SECANTS, TOLERANCE = 4, 1e-9
"""Number of steps of the secant method, and half the width of the bracket that is checked, over 1 + root."""

HALVINGS = 50
"""Number of halvings where a root is not confirmed."""

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
    shape = np.shape(squares)
    if count < 2:
        return np.zeros(shape), np.zeros(shape)
    degrees, seen = count - 1, np.ravel(np.asarray(squares, dtype=float)) / sigma**2
    nearest, farthest = _bounded(seen, degrees, beta)
    computed = (seen < LARGEST) & (beta > RAREST)
    small = np.where(computed, seen, 0.0)
    farther = np.sqrt(small) + np.sqrt(chdtri(degrees, beta / 2))
    inner, _ = _bracket(small, degrees, 1 - beta / 2, farther)
    _, outer = _bracket(small, degrees, beta / 2, farther)
    lower, upper = np.where(computed, inner, nearest), np.where(computed, outer, farthest)
    return np.square(lower * sigma).reshape(shape), np.square(upper * sigma).reshape(shape)


def _bracket(seen: Floats, degrees: int, tail: float, highest: Floats) -> tuple[Floats, Floats]:
    """Bracket the root r of the parameter for which at most `seen` has probability `tail`; zeros where none has.

    On the normal scale the probability falls nearly linearly in r, with slope -1, so the secant method needs few steps.
    A bracket around its result is checked on both sides, and found by halving where the check fails.
    """

    def excess(root: Floats, at: Floats = seen) -> Floats:
        return np.asarray(np.clip(ndtri(chndtr(at, degrees, root**2)), -30.0, 30.0) - ndtri(tail))

    root = np.clip(np.sqrt(np.maximum(seen - degrees, 0.0)) - ndtri(tail), 0.0, highest)
    excesses, slope = excess(root), np.full_like(seen, -1.0)
    for _ in range(SECANTS):
        following = np.clip(root - excesses / slope, 0.0, highest)
        then, moved = excess(following), following != root
        slope = np.minimum((then - excesses) / np.where(moved, following - root, 1.0), -0.1)
        root, excesses = following, then
    low, high = np.maximum(root - TOLERANCE * (1 + root), 0.0), root + TOLERANCE * (1 + root)
    exists = excess(np.zeros_like(seen)) > 0
    low, high = np.where(exists, low, 0.0), np.where(exists, high, 0.0)
    doubtful = np.flatnonzero(exists & ~((excess(low) > 0) & (excess(high) <= 0)))
    low[doubtful], high[doubtful] = 0.0, highest[doubtful]
    for _ in range(HALVINGS if len(doubtful) else 0):
        middle = (low[doubtful] + high[doubtful]) / 2
        above = excess(middle, seen[doubtful]) > 0
        low[doubtful], high[doubtful] = np.where(above, middle, low[doubtful]), np.where(above, high[doubtful], middle)
    return low, high


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
