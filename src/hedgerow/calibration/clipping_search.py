"""Race to the top: the best lower limit of a sum of which nobody knows how much one person adds to it.

A sum capped at 2^j for each person needs noise in proportion to 2^j. A small cap cuts off too much, a large one drowns
the sum in noise. All caps are released together, and the one with the largest lower limit wins.
"""

import math
from collections.abc import Sequence

from scipy import special

from hedgerow.errors import ParameterError


def race_to_the_top(noisy_sums: Sequence[float], sigmas: Sequence[float], beta: float) -> float:
    """Return a lower confidence limit, at 1 - `beta`, of a sum of non-negative contributions.

    Args:
        noisy_sums: The sum at each cap, with Gaussian noise.
        sigmas: The standard deviation of each noise.
        beta: How often the limit may lie above the uncapped sum.

    The limit is the largest of the limits at the single caps, each of which may fail with probability beta / J. Every
    capped sum is at most the uncapped one, so it is a limit of that one, too. It has no counterpart above.

    Example:
        >>> round(race_to_the_top([900.0, 1700.0, 2000.0], [10.0, 20.0, 200.0], 0.05), 1)
        1657.4
    """
    winner = leader(noisy_sums, margins(sigmas, beta))
    return max(0.0, noisy_sums[winner] - margins(sigmas, beta)[winner])


def margins(sigmas: Sequence[float], beta: float) -> list[float]:
    """Return by how much each of several Gaussian noises is exceeded with probability beta / J."""
    if not sigmas or not all(math.isfinite(sigma) and sigma >= 0 for sigma in sigmas) or not 0 < beta < 1:
        raise ParameterError("A race needs noise of at least one sum, and a beta between 0 and 1.", code="bad-race")
    quantile = -float(special.ndtri(beta / len(sigmas)))
    return [sigma * quantile for sigma in sigmas]


def leader(noisy_sums: Sequence[float], margin: Sequence[float]) -> int:
    """Return the index of the sum with the largest lower limit; of equals the first, which is the smallest cap."""
    if len(noisy_sums) != len(margin) or not noisy_sums:
        raise ParameterError("A race needs as many sums as noises, and at least one.", code="bad-race")
    limits = [value - less for value, less in zip(noisy_sums, margin, strict=True)]
    return limits.index(max(limits))
