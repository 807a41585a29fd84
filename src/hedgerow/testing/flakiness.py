"""How seldom a test fails where nothing is wrong: 10^-k, of one part or of several together."""

import math

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, Number, plain, positives, probabilities
from hedgerow.errors import ConditionNotMet, ParameterError

LARGEST_K = 300.0
"""10^-300 is about the smallest number that floats hold with all their digits."""


def exponents(k: ArrayLike) -> Floats:
    """`k` as floats above 0 and up to `LARGEST_K`."""
    numbers = positives("k", k)
    if np.any(numbers > LARGEST_K):
        raise ConditionNotMet(
            f"k is above {LARGEST_K:g}: floats do not hold a probability that small.",
            condition=f"k up to {LARGEST_K:g}",
            hint="A test that fails once in 10^23 runs is seldom enough.",
        )
    return numbers


def k_of(flakiness: float) -> float:
    """The k of a flakiness.

    Example:
        >>> k_of(1e-9)
        9.0
    """
    return -math.log10(float(probabilities("flakiness", flakiness)))


def partitions(k: ArrayLike, n: int) -> Number:
    """The k that each of `n` comparisons needs, so that all of them together fail with 10^-k at most.

    It holds for noises that depend on each other, too (the union bound).

    Example:
        >>> partitions(23, 10)
        24.0
    """
    return plain(exponents(k) + math.log10(_several(n)))


def independent(k: ArrayLike, n: int) -> Number:
    """The k that each of `n` independent parts needs, exactly: (1 - 10^-l)^n = 1 - 10^-k.

    Example:
        >>> round(independent(3, 2), 12), round(independent(3, 3), 12)
        (3.300921381306, 3.476976433563)
    """
    all_hold = np.log1p(-(10.0 ** -exponents(k)))
    return plain(-np.log10(-np.expm1(all_hold / _several(n))))


def _several(n: object) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ParameterError("n must be a whole number of at least 1.", code="parameter-positive")
    return n
