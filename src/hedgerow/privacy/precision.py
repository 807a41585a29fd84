"""Number of bits for values and weights, the grid on which a value becomes an integer, and the lattice of the noise.

A value x becomes k = floor((x - offset) / step + 1/2), clamped to [low, high] (`Grid`). The rounding is a public
function of one row, and the clamp comes after it, so a row moves the sum of k by at most `reach`, exactly. The step is
a power of two: multiplying by it is exact in floating point, and every engine computes the same integer.

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
from hedgerow.expressions.ranges import Range

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


@dataclass(frozen=True, slots=True)
class Grid:
    """`step` is 2^exponent; `offset` a multiple of it that a double holds exactly."""

    exponent: int
    offset: float
    low: int
    high: int

    @property
    def step(self) -> float:
        """Distance between two grid points."""
        return math.ldexp(1.0, self.exponent)

    @property
    def reach(self) -> int:
        """Largest change of the integer sum by one row."""
        return max(abs(self.low), abs(self.high))


def centred(values: Range, *, whole: bool, bits: int, centre: float | None = None) -> Grid:
    """Return a symmetric grid around the middle of the range, or a public centre: for sums released with a count."""
    middle = (Fraction(values.upper) + Fraction(values.lower)) / 2 if centre is None else Fraction(centre)
    half = max(Fraction(values.upper) - middle, middle - Fraction(values.lower))
    exponent = _exponent(half or abs(middle), whole=whole, bits=bits) - (1 if whole else 0)
    step = Fraction(2) ** exponent
    offset = float(math.floor(middle / step + Fraction(1, 2)) * step)
    reach = max(
        math.ceil((Fraction(values.upper) - Fraction(offset)) / step),
        math.ceil((Fraction(offset) - Fraction(values.lower)) / step),
        1,
    )
    return Grid(exponent, offset, -reach, reach)


def plain(values: Range, *, whole: bool, bits: int) -> Grid:
    """Return a grid that starts at zero: for sums that are released without a count."""
    size = max(abs(Fraction(values.lower)), abs(Fraction(values.upper)))
    exponent = _exponent(size, whole=whole, bits=bits)
    step = Fraction(2) ** exponent
    low, high = math.floor(Fraction(values.lower) / step), math.ceil(Fraction(values.upper) / step)
    return Grid(exponent, 0.0, low, high) if low or high else Grid(exponent, 0.0, low, 1)


def _exponent(size: Fraction, *, whole: bool, bits: int) -> int:
    """Return the step's exponent: a step of 1 for whole numbers that fit, otherwise about `size` / 2^bits."""
    if size == 0:
        return 0
    magnitude = math.floor(math.log2(size))
    finest = max(magnitude - bits, -1000)
    return max(0, finest + 1) if whole else finest
