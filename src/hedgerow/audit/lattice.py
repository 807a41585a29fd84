"""Whether released numbers are where integer noise puts them.

Every released sum is a whole number divided by a public step. A number that is none was not made of integers: its
last digits then tell what the noise was added to (Mironov 2012), however large the noise is.
"""

import numpy as np
from numpy.typing import NDArray

DECIDABLE = 2.0**51
"""Beyond so many steps a double is too coarse to tell."""


def off_lattice(values: NDArray[np.float64], step: float) -> tuple[int, int]:
    """How many of `values` are no whole number divided by `step`, and of how many that can be said.

    Example:
        >>> off_lattice(np.array([1.5, 2.25, 2.3, np.nan]), 4.0)
        (1, 3)
    """
    there = values[np.isfinite(values)]
    whole = np.rint(there * step)
    decidable = np.abs(whole) < DECIDABLE
    return int(np.sum(decidable & (whole / step != there))), int(decidable.sum())


def lowest_bits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponent of the lowest bit that is set in each number: large for round ones, infinite for zero.

    Example:
        >>> lowest_bits(np.array([1.0, 0.5, 6.0, 0.0, np.nan])).tolist()
        [0.0, -1.0, 1.0, inf, nan]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    bits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    lowest = np.log2(np.where(bits == 0, 1, bits & -bits).astype(float))
    found = np.where(bits == 0, np.inf, exponent - 53.0 + lowest)
    return np.where(np.isfinite(values), found, np.nan)
