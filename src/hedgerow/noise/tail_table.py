"""A normal quantile function for 64-bit tail probabilities, with an error bound that is computed, not believed.

The half line of z from 0 to 6 is cut into cells of width 1/128. In the cell around `centre`, with tail
Q(centre) and density phi(centre), the quantile of a tail p is expanded in u = (Q(centre) - p) / phi(centre):

    z = centre + sum over n of P_n(centre) u^n / n!,    P_1 = 1,  P_(n+1)(z) = P_n'(z) + n z P_n(z)

because dz/dp = -1/phi(z). The P_n have no negative coefficient, so the derivative that bounds the remainder
(Lagrange) is largest at the far end of the cell. All of this is evaluated in ball arithmetic.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from hedgerow.errors import InternalError

CELLS = 768
CELLS_PER_UNIT = 128
DEGREE = 6
PRECISION = 192
REACH = 2.0**-27
"""How far beyond its far end a cell must serve, because cell borders are rounded to 64 bits."""


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
    with ctx.workprec(PRECISION):
        borders = [_whole(_tail(i, 1)) for i in range(CELLS, -1, -1)]
        rows = [_cell(i) for i in range(CELLS)]
    tails, units, coefficients, errors = zip(*rows, strict=True)
    return TailTable(
        borders=np.array(borders, dtype=np.uint64),
        tails=np.array(tails, dtype=np.int64),
        unit=np.array(units),
        centres=(2.0 * np.arange(CELLS) + 1.0) / (2 * CELLS_PER_UNIT),
        coefficients=np.ascontiguousarray(np.array(coefficients).T),
        errors=np.array(errors),
    )


def _cell(index: int) -> tuple[int, float, list[float], float]:
    """The row of one cell: tail, unit, coefficients, error bound."""
    centre = arb(2 * index + 1) / (2 * CELLS_PER_UNIT)
    far = arb(index + 1) / CELLS_PER_UNIT + arb(REACH)
    tail, unit = _tail(2 * index + 1, 2), 1 / (_density(centre) * arb(2) ** 64)
    reach = _upper((_tail(index, 1) - tail + 2) * unit)
    derivatives = _derivatives(centre)
    slope = sum((d * n * reach ** (n - 1) for n, d in enumerate(derivatives, start=1)), arb(0))
    remainder = _derivatives(far)[-1] * (_density(centre) / _density(far) * reach) ** (DEGREE + 1)
    bound = _upper(remainder + 2 * unit * slope + reach * slope * 2.0**-47 + far * 2.0**-51)
    return _whole(tail), float(unit), [float(d) for d in derivatives[:DEGREE]], 1.125 * float(bound)


def _derivatives(at: arb) -> list[arb]:
    """P_n(at) / n! for n = 1 to `DEGREE` + 1."""
    polynomial, factorial, values = [1], 1, []
    for n in range(1, DEGREE + 2):
        factorial *= n
        values.append(sum((c * at**i for i, c in enumerate(polynomial)), arb(0)) / factorial)
        shifted = [0] + [n * c for c in polynomial]
        slope = [i * c for i, c in enumerate(polynomial)][1:]
        polynomial = [c + (slope[i] if i < len(slope) else 0) for i, c in enumerate(shifted)]
    return values


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
