"""Number of bits for values and weights, and the lattice on which noise is drawn.

Exact sums are integers: multiples of 1 / (denominator 2^b). The sampler draws 64-bit integers, so the noise
is drawn on that lattice where it fits, on a finer one where that lattice is too coarse, and on a coarser one
where it is too fine.

Privacy: on a coarser lattice the exact sum is rounded once, to the nearest point. That moves each coordinate by at
most half a step on either neighbour, so a unit that touches m coordinates moves the rounded vector by at most
sqrt(m) steps (l2), or m steps (l1), more than the exact one (docs/proofs/noise.md). The term is part of the charge.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import ParameterError

WEIGHT_BITS = 30
VALUE_BITS = 40
SUM_BITS = 124
"""Bits that an engine's 128-bit integers (38 decimal digits) hold with one to spare."""

COARSE_SCALE = 2.0**55
"""A coarser lattice is used if noise on the lattice of the exact sums would be wider than twice this."""

SAMPLER_SCALE = 2.0**58
SURCHARGE = Fraction(1, 10**12)


PRODUCT_BITS = 30
"""Bits of each factor, so that the product of two grid integers fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Bits of a value, of a factor in a product of two values, and of a weight."""

    value: int
    factor: int
    weight: int


def precision(size: int, *, weighted: bool) -> Precision:
    """Return as many bits as sums over `size` rows have room for: rounding errors of rows may all add up."""
    weight = WEIGHT_BITS if weighted else 0
    room = SUM_BITS - size.bit_length() - weight
    return Precision(min(VALUE_BITS, room - 2), min(PRODUCT_BITS, room // 2 - 2), weight)


def shift_for(native: float, minimum: float, coarse: float = COARSE_SCALE) -> int:
    """Return the power of two that refines (or, below zero, coarsens) the lattice for noise of scale `native` on it.

    The resulting scale is at least `minimum`; where it exceeded twice `coarse`, it ends between `coarse` and twice
    that.
    """
    if native < minimum:
        return math.ceil(math.log2(minimum / native))
    return -math.floor(math.log2(native / coarse)) if native > 2 * coarse else 0


def check_scale(scale: float) -> float:
    """Return the scale if the sampler can draw it, and refuse it here, before anything is charged, if not."""
    if scale > SAMPLER_SCALE:
        raise ParameterError(
            "The noise would exceed any answer: epsilon is too small for the number of rows that one person may have.",
            code="too-noisy",
            hint="Raise epsilon, or lower max_rows.",
        )
    return scale


def least_scale(moved: int) -> float:
    """Return the scale from which discreteness costs less than 1e-12 of pure epsilon (docs/proofs/noise.md)."""
    return max(2.0**24, math.sqrt(float(37 * moved / SURCHARGE)))


def up(value: float) -> float:
    """Return a slightly larger value, to stay on the safe side of floating-point rounding."""
    return value * (1.0 + 2.0**-40)


def root_up(value: int) -> Fraction:
    """Return a fraction that is at least the square root, and within 2^-40 of it."""
    return Fraction(math.isqrt(value << 80) + 1, 1 << 40)
