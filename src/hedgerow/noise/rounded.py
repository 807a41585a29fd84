"""Rounded Gaussian noise on the integers: exact, and fast enough for millions of cells.

A normal quantile function for 64-bit tail probabilities, with a computed error bound.

The half line of z from 0 to 6 is cut into cells of width 1/128. In the cell around `centre`, with tail
Q(centre) and density phi(centre), the quantile of a tail p is expanded in u = (Q(centre) - p) / phi(centre):

    z = centre + sum over n of P_n(centre) u^n / n!,    P_1 = 1,  P_(n+1)(z) = P_n'(z) + n z P_n(z)

because dz/dp = -1/phi(z). The P_n have no negative coefficient, so the derivative that bounds the remainder
(Lagrange) is largest at the far end of the cell. All of this is evaluated in ball arithmetic.
"""

from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
from flint import arb, fmpz_poly
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.noise import source
from hedgerow.noise.ball_precision import ball_precision
from hedgerow.noise.discrete import check_draw

MORE_BITS = 64


class TailBits:
    """The leading bits of a uniform tail probability below 1/2, drawn as they are needed.

    The probability lies in [head, head + 1) / 2^length; the bits that follow are independent and fair.
    """

    def __init__(self, head: int, length: int = 64) -> None:
        self.head = head
        self.length = length

    def extend(self) -> None:
        """Draw more bits behind those that are known."""
        self.head = (self.head << MORE_BITS) | source.bits(MORE_BITS)
        self.length += MORE_BITS

    def reach(self, magnitude: int, scale: float) -> bool:
        """Return True if the draw rounds to `magnitude` or more: if it is below the tail beyond magnitude - 1/2.

        The tail is a ball that contains the exact value, so a comparison that succeeds is right whatever the precision;
        one that fails draws more bits.
        """
        while True:
            with ball_precision(self.length + MORE_BITS):
                boundary = arb(2 * magnitude - 1) / (arb(scale) * arb(8).sqrt())
                tail = (boundary.erfc() / 2) * arb(2) ** self.length
                if arb(self.head + 1) <= tail:
                    return True
                if tail <= arb(self.head):
                    return False
            self.extend()


def refine(tail_bits: TailBits, scale: float, low: int = 0, high: int | None = None) -> int:
    """Find the magnitude of round(N(0, scale^2)) whose tail probability starts with `tail_bits`.

    Args:
        tail_bits: What has been drawn of the probability of a larger magnitude.
        scale: The standard deviation, taken as its exact binary value.
        low: A magnitude that is certainly reached.
        high: One that certainly is not; searched for when not given.
    """
    step = max(1, int(scale))
    while high is None:
        if tail_bits.reach(low + step, scale):
            low += step
        else:
            high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if tail_bits.reach(middle, scale):
            low = middle
        else:
            high = middle
    return low


CELLS = 768
CELLS_PER_UNIT = 128
DEGREE = 6
PRECISION = 192
REACH = 2.0**-27
"""Margin beyond the far end of a cell, because cell borders are rounded to 64 bits."""


@dataclass(frozen=True, slots=True)
class TailTable:
    """One row per cell, from the centre outwards.

    Attributes:
        borders: Ascending 64-bit tails; the last is 2^63, the first belongs to z = 6.
        tails: Q(centre) in units of 2^-64, rounded down.
        unit: 2^-64 / phi(centre).
        centres: The middle of each cell.
        coefficients: P_n(centre) / n! for n = 1 to `DEGREE`, one row per n.
        errors: A bound on the distance between the computed and every possible exact quantile.
    """

    borders: NDArray[np.uint64]
    tails: NDArray[np.int64]
    unit: NDArray[np.float64]
    centres: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64]


@cache
def tail_table() -> TailTable:
    """Compute the table; some tens of milliseconds, once."""
    with ball_precision(PRECISION):
        borders = [_tail(i, 1) for i in range(CELLS + 1)]
        rows = [_cell(i, borders[i]) for i in range(CELLS)]
        whole_borders = [_whole(border) for border in reversed(borders)]
    tails, units, coefficients, errors = zip(*rows, strict=True)
    return TailTable(
        borders=np.array(whole_borders, dtype=np.uint64),
        tails=np.array(tails, dtype=np.int64),
        unit=np.array(units),
        centres=(2.0 * np.arange(CELLS) + 1.0) / (2 * CELLS_PER_UNIT),
        coefficients=np.ascontiguousarray(np.array(coefficients).T),
        errors=np.array(errors),
    )


def _cell(index: int, border: arb) -> tuple[int, float, list[float], float]:
    """The row of one cell, whose inner border has the tail `border`: tail, unit, coefficients, error bound."""
    centre = arb(2 * index + 1) / (2 * CELLS_PER_UNIT)
    far = arb(index + 1) / CELLS_PER_UNIT + arb(REACH)
    tail, unit = _tail(2 * index + 1, 2), 1 / (_density(centre) * arb(2) ** 64)
    reach = _upper((border - tail + 2) * unit)
    derivatives = _derivatives(centre)
    slope = sum((d * n * reach ** (n - 1) for n, d in enumerate(derivatives, start=1)), arb(0))
    remainder = _derivatives(far)[-1] * (_density(centre) / _density(far) * reach) ** (DEGREE + 1)
    bound = _upper(remainder + 2 * unit * slope + reach * slope * 2.0**-47 + far * 2.0**-51)
    return _whole(tail), float(unit), [float(d) for d in derivatives[:DEGREE]], 1.125 * float(bound)


def _derivatives(at: arb) -> list[arb]:
    """P_n(at) / n! for n = 1 to `DEGREE` + 1."""
    return [polynomial(at) / factorial(n) for n, polynomial in enumerate(_polynomials(), start=1)]


@cache
def _polynomials() -> list[fmpz_poly]:
    """P_n for n = 1 to `DEGREE` + 1."""
    polynomials = [fmpz_poly([1])]
    for n in range(1, DEGREE + 1):
        polynomials.append(polynomials[-1].derivative() + n * fmpz_poly([0, 1]) * polynomials[-1])
    return polynomials


def _tail(numerator: int, halves: int) -> arb:
    """The normal tail beyond numerator / (halves * 128), in units of 2^-64."""
    return (arb(numerator) / (halves * CELLS_PER_UNIT) / arb(2).sqrt()).erfc() * arb(2) ** 63


def _density(at: arb) -> arb:
    return (-at * at / 2).exp() / (2 * arb.pi()).sqrt()


def _upper(ball: arb) -> arb:
    return ball.upper()


def _whole(ball: arb) -> int:
    """The integer below a ball that holds none but its own (or is an integer itself)."""
    whole = ball.floor().unique_fmpz()
    if whole is None:
        raise InternalError("The precision of the noise table does not settle its whole numbers.")
    return int(whole)


BATCH = 1 << 18


def rounded_gaussian(scale: float, count: int) -> NDArray[np.int64]:
    """Draw `count` independent integers distributed exactly as round(N(0, scale^2)).

    `scale` stands for its exact binary value, up to 2^58. It is quick up to about 2^44; beyond that more and
    more draws need ball arithmetic, at some tens of microseconds each. 2^20 is plenty: the law is exactly
    Gaussian-DP on any grid.

    A draw is a sign and 63 bits of the tail probability p: p lies in [k, k + 1) / 2^64. The quantile of k is
    computed in floats and widened, on both sides, by a bound on everything that can differ from the exact
    quantile of *any* p in that interval: the width of the interval itself, the remainder of the series
    (computed in ball arithmetic, see `tail_table`), and the rounding of each operation. These are additions
    and products only, for which IEEE arithmetic promises half a unit in the last place; no promise about a
    library's logarithm or quantile is used. If both widened ends round to the same integer, so does the
    exact quantile, and that integer is the draw. Otherwise, and always beyond six standard deviations, `refine`
    compares p with exact tails in ball arithmetic and draws further bits of p until the comparison is certain.

    Privacy: added to integers that one unit moves by D, it is post-processing of the Gaussian mechanism
    with the real sensitivity D, hence exactly (D / scale)-GDP, without a surcharge for the grid.

    Example:
        >>> len(rounded_gaussian(scale=2.0**20, count=3))
        3
    """
    check_draw(scale, count)
    drawn = np.empty(count, dtype=np.int64)
    for start in range(0, count, BATCH):
        batch = drawn[start : start + BATCH]
        words = source.words(len(batch))
        batch[:] = np.where(words >> 63, -1, 1) * _magnitudes(words & np.uint64(2**63 - 1), float(scale))
    return drawn


def _magnitudes(heads: NDArray[np.uint64], scale: float) -> NDArray[np.int64]:
    """The rounded magnitudes whose tail probabilities start with the 64 bits of `heads`."""
    table = tail_table()
    cell = CELLS - np.searchsorted(table.borders, heads, side="right")
    low, high = _brackets(heads, np.minimum(cell, CELLS - 1), table, scale)
    beyond = cell >= CELLS
    for i in np.flatnonzero((low != high) | beyond):
        bits = TailBits(int(heads[i]))
        low[i] = refine(bits, scale) if beyond[i] else refine(bits, scale, int(low[i]), int(high[i]) + 1)
    return low


def _brackets(
    heads: NDArray[np.uint64], cell: NDArray[np.intp], table: TailTable, scale: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the smallest and largest magnitude that the widened quantile allows; both are certain inside the table."""
    offset = (table.tails[cell] - heads.astype(np.int64)) * table.unit[cell]
    series = table.coefficients[-1][cell]
    for coefficients in table.coefficients[-2::-1]:
        series = series * offset + coefficients[cell]
    shifted = scale * (table.centres[cell] + series * offset) + 0.5
    widening = scale * table.errors[cell] + 2.0**-50
    low = np.floor(np.maximum(shifted - widening, 0.0)).astype(np.int64)
    return low, np.floor(shifted + widening).astype(np.int64)
