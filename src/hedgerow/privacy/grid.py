"""Conversion of a bounded value to an integer, by a public power-of-two step.

A value x becomes k = floor((x - offset) / step + 1/2), clamped to [low, high]. The rounding is a public
function of one row, and the clamp comes after it, so a row moves the sum of k by at most `reach`, exactly.
The step is a power of two: multiplying by it is exact in floating point, and every engine computes the
same integer.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.expressions.ranges import Range


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
