"""Rounded Gaussian noise on the integers: exact, and quick enough for millions of cells."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.noise import source
from hedgerow.noise.refine import TailBits, refine
from hedgerow.noise.scales import check_draw
from hedgerow.noise.tail_table import CELLS, TailTable, tail_table

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
    place = CELLS - np.searchsorted(table.borders, heads, side="right")
    low, high = _brackets(heads, np.minimum(place, CELLS - 1), table, scale)
    beyond = place >= CELLS
    for i in np.flatnonzero((low != high) | beyond):
        bits = TailBits(int(heads[i]))
        low[i] = refine(bits, scale) if beyond[i] else refine(bits, scale, int(low[i]), int(high[i]) + 1)
    return low


def _brackets(
    heads: NDArray[np.uint64], cell: NDArray[np.intp], table: TailTable, scale: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and greatest magnitude that the widened quantile allows; both certain inside the table."""
    offset = (table.tails[cell] - heads.astype(np.int64)) * table.unit[cell]
    series = table.coefficients[-1][cell]
    for coefficients in table.coefficients[-2::-1]:
        series = series * offset + coefficients[cell]
    shifted = scale * (table.centres[cell] + series * offset) + 0.5
    widening = scale * table.errors[cell] + 2.0**-50
    low = np.floor(np.maximum(shifted - widening, 0.0)).astype(np.int64)
    return low, np.floor(shifted + widening).astype(np.int64)
