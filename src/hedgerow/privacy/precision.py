"""How many bits values and weights get, so that noise on their lattice fits 64-bit integers.

The noise lives on the lattice of the exact sums (or on a refinement of it), so sums are never rounded:
no term is owed for it (mechanisms.md 11, step 4). The sampler draws 64-bit integers, which leaves a
fixed number of bits to share between the size of the noise, the values and the weights.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import ParameterError

NOISE_BITS = 56
LEAST_ROOM = 20
WEIGHT_BITS = 30
VALUE_BITS = 20
SURCHARGE = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Precision:
    """Bits of a value (`whole` ones may have more) and of a weight."""

    value: int
    whole: int
    weight: int


def precision(noise: float, *, weighted: bool) -> Precision:
    """The bits there is room for next to noise of this size (in units of one row)."""
    room = NOISE_BITS - max(0, math.ceil(math.log2(noise)))
    if room < LEAST_ROOM:
        raise ParameterError(
            "The noise would drown any answer: epsilon is too small for how much one person may count.",
            code="too-noisy",
            hint="Raise epsilon, or lower max_rows.",
        )
    value = min(VALUE_BITS, room * 2 // 5)
    weight = min(WEIGHT_BITS, room - value) if weighted else 0
    return Precision(value, room - weight, weight)


def least_scale(moved: int) -> float:
    """The sampler's scale from which discreteness costs less than 1e-12 of pure epsilon (mechanisms.md 1.4)."""
    return max(2.0**24, math.sqrt(float(37 * moved / SURCHARGE)))


def up(value: float) -> float:
    """A little more, so that what follows from it is on the safe side of a rounded computation."""
    return value * (1.0 + 2.0**-40)
