"""Half widths of weighted sums of equal noises, for many weightings at once.

A weighted sum of Laplace noises with different scales b_i lies farther than t from zero with probability
sum w_i exp(-t / b_i), where w_i is the product of b_i^2 / (b_i^2 - b_j^2) over all other j. Equal scales are pushed
apart by a few per cent, always upwards: larger scales can only make the tail larger, so the result is never too short.
"""

import math

import numpy as np
from scipy.special import ndtri

from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals.noise_sums import lattice_slack
from hedgerow.statistics.moments.families import Floats

GAP = 0.02
"""Minimum relative distance between two scales: the weights stay small enough that nothing cancels."""
SMALLEST = 1e-3
"""Scales are at least this share of the largest."""
FIRST_STEPS, LATER_STEPS = 6, 2


def half_widths(weights: Floats, noise: Noise, beta: float, *, start: Floats | None = None) -> Floats:
    """The distance that sum weights_i X_i exceeds with probability at most `beta`, over the last axis of `weights`.

    Exact for Gaussian noise; for Laplace noise at most a few per cent too long.

    Args:
        weights: The coefficients of independent noises in the last axis.
        noise: The law of each of them.
        beta: How often the sum may stray farther.
        start: A distance that is known to be long enough, if there is one, which saves time.

    Example:
        >>> from hedgerow.distributions import Laplace
        >>> half_widths(np.array([[1.0, 0.0], [1.0, 1.0]]), Gaussian(10.0), 0.05).round(2).tolist()
        [19.6, 27.72]
        >>> half_widths(np.array([[1.0, 0.0], [1.0, 0.5]]), Laplace(1.0), 0.05).round(2).tolist()
        [3.0, 3.27]
    """
    sizes = np.abs(weights)
    if isinstance(noise, Gaussian):
        return np.asarray(-ndtri(beta / 2) * noise.sigma * np.sqrt(np.square(sizes).sum(axis=-1)))
    scales = _apart(np.ascontiguousarray(np.moveaxis(sizes, -1, 0)) * noise.scale)
    squares, shares = np.square(scales), np.ones_like(scales)
    for i in range(len(scales)):
        for j in range(i + 1, len(scales)):
            difference = squares[i] - squares[j]
            shares[i] *= squares[i] / difference
            shares[j] *= squares[j] / -difference
    largest = scales[0]
    distance = -largest * math.log(beta) if start is None else start
    slower = 1.0 / largest - 1.0 / scales
    # The logarithm of the tail is concave in the distance, so every step of Newton's method ends beyond the root.
    for _ in range(FIRST_STEPS if start is None else LATER_STEPS):
        terms = shares * np.exp(distance * slower)
        tail, density = terms.sum(axis=0), (terms / scales).sum(axis=0)
        excess = np.log(tail) - distance / largest - math.log(beta)
        distance = distance + excess * tail / density
    return np.asarray(distance + lattice_slack(noise) * sizes.sum(axis=-1))


def _apart(scales: Floats) -> Floats:
    """The scales, along the first axis, from the largest to the smallest, each as large as given or larger.

    None is closer to the next than the gap.
    """
    rising = np.sort(scales, axis=0)
    rising = np.maximum(rising, SMALLEST * np.maximum(rising[-1:], 1e-300))
    for i in range(1, len(rising)):
        rising[i] = np.maximum(rising[i], rising[i - 1] * (1 + GAP))
    return rising[::-1]
