"""The local sensitivity of X/Y, its maximum at each distance, and the smooth bound over all distances.

X lies in 1 to n_x and Y in 1 to n_y; one person moves one of them by one.
"""

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, Number, plain, positive, reals, whole
from hedgerow.errors import ParameterError


def smooth_sensitivity(x: ArrayLike, y: ArrayLike, *, n_x: int, n_y: int, smoothness: float) -> Number:
    """The smooth sensitivity of x/y: the largest local sensitivity at any distance m, times exp(-m smoothness).

    Claim C.6 of Shoham and Ligett (2025) with its third case corrected: at Y = 2 the local sensitivity is X/2
    already, one step earlier than printed, so the printed bound is up to exp(smoothness) too small to be private.

    Args:
        x: The numerator, from 1 to `n_x`.
        y: The denominator, from 1 to `n_y`.
        n_x: The most that x can be, publicly.
        n_y: The most that y can be, publicly.
        smoothness: How fast distant data loses weight, beta in Shoham and Ligett (2025).

    Example:
        >>> round(smooth_sensitivity(2, 2, n_x=30, n_y=30, smoothness=0.1), 4)
        2.2466
    """
    counts = within("x", x, whole("n_x", n_x)), within("y", y, whole("n_y", n_y))
    rate = positive("smoothness", smoothness)
    first, second = np.broadcast_arrays(*counts)
    sensitivities = [
        smooth_bound(float(a), float(b), n_x, rate) for a, b in zip(first.ravel(), second.ravel(), strict=True)
    ]
    return plain(np.array(sensitivities).reshape(first.shape))


def smooth_bound(x: float, y: float, n_x: int, smoothness: float) -> float:
    """The same for one pair that is known to lie in its domain.

    Beyond the distance at which X reaches `n_x` with Y = 2, nothing grows; before it, from Y = 2 on, the local
    sensitivity grows by 1/2 a step.
    """
    distance = np.arange(0.0, max(y - 2, 0) + max(n_x - x, 0) + 1)
    with np.errstate(under="ignore"):
        return float(np.max(largest_within(x, y, n_x, distance) * np.exp(-smoothness * distance)))


def largest_within(x: float, y: float, n_x: int, distance: Floats) -> Floats:
    """The largest local sensitivity among data at most `distance` people away; it never falls with distance.

    At Y = 1, where one more in X is 1 and one more in Y is X/2, nothing is nearer than at Y = 2.
    """
    left = np.maximum(y - distance, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.where(left > 1, x / (left * (left - 1)), 0.0)
    near = np.where(x < left, 1 / left, steep)
    half = np.minimum(n_x, x + distance - max(y - 2, 0)) / 2
    return np.where(y - distance < 2, np.maximum(half, 1.0) if y < 2 else half, near)


def distance_to(bound: float, x: float, y: float, n_x: int) -> int:
    """Distance, in people, to the nearest data whose local sensitivity is at least `bound`.

    Where there is none, one more than the farthest that is looked at: a larger distance only makes a test pass more
    often, and there is nothing to protect.
    """
    distance = np.arange(0.0, max(y - 2, 0) + max(n_x - x, 0) + 1)
    enough = largest_within(x, y, n_x, distance) >= bound
    return int(np.argmax(enough)) if enough.any() else len(distance)


def within(name: str, value: ArrayLike, maximum: int) -> Floats:
    """Counts from 1 to `maximum`."""
    counts = reals(name, value)
    if np.any((counts < 1) | (counts > maximum) | (counts != np.floor(counts))):
        raise ParameterError(
            f"{name} must be a whole number from 1 to the declared size of its group.", code="parameter-range"
        )
    return counts
