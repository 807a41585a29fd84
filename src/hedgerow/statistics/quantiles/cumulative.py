"""Limits of quantiles from noisy cumulative weights: where the cells are cut, and which sums are released.

The buckets of a group are merged into a few cells, narrow around the released quantiles and wider further away. A few
sums over the cells are released with equal noise; the weight below every edge between two cells, less q times the
weight of the group, is a linear form of them. A limit is the first edge that the test at this edge cannot exclude: one
test decides about the true quantile, however many cells there are (docs/proofs/quantiles.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

LIMIT_CELLS = {"gaussian": 64, "laplace": 32}
"""Cells in which the limits of one quantile are looked for, by noise."""
MAX_LIMIT_CELLS = 256
DENOMINATOR = 1 << 12
"""The coefficients of the released sums are multiples of 1 / DENOMINATOR."""
TOTAL_SHARES = tuple(k / 25 for k in range(11))
"""Shares of a row's norm that are tried for the weight of the whole group."""


def cells_for(quantiles: int, buckets: int, mechanism: str) -> int:
    """Return how many cells serve the limits of so many quantiles of one column.

    Example:
        >>> cells_for(1, 1024, "gaussian"), cells_for(3, 1024, "gaussian"), cells_for(1, 7, "laplace")
        (64, 128, 7)
    """
    return min(buckets, LIMIT_CELLS[mechanism] // 2 * (quantiles + 1), MAX_LIMIT_CELLS)


def cell_edges(drawn: Numbers, buckets: int, cells: int) -> Numbers:
    """Return, for each group, the buckets at which its cells begin; the first cell begins at bucket 0.

    A drawn bucket is a cell of its own, and the cells on both sides of it grow geometrically. Some cells may be empty,
    never the first or the last. The edges follow from released numbers and public ones.

    Args:
        drawn: The released buckets, one row per group, one column per quantile.
        buckets: How many buckets there are.
        cells: How many cells there are to be.

    Example:
        >>> cell_edges(np.array([[50]]), 100, 9).tolist()
        [[1, 40, 49, 50, 51, 52, 61, 99]]
    """
    if cells >= buckets:
        return np.tile(np.arange(1, buckets, dtype=np.int64), (len(drawn), 1))
    steps = max((cells - 1) // (2 * drawn.shape[1]) - 1, 0)
    ladder = np.unique(np.rint(np.geomspace(1, buckets - 1, steps))).astype(np.int64)
    offsets = np.concatenate([-ladder, [0, 1], 1 + ladder])
    edges = (drawn[:, :, None] + offsets).reshape(len(drawn), -1)[:, : cells - 1]
    padding = np.repeat(drawn[:, :1], cells - 1 - edges.shape[1], axis=1)
    return np.sort(np.clip(np.concatenate([edges, padding], axis=1), 1, buckets - 1), axis=1)


@dataclass(frozen=True)
class Strategy:
    """The sums over cells that are released: whole `coefficients` out of `DENOMINATOR`, one row per sum.

    Privacy: no column is longer than DENOMINATOR, in the norm that belongs to the noise, so an owner of weight a moves
    the vector of sums by at most a, however it is spread over the cells.
    """

    coefficients: Numbers

    def form(self, quantile: Fraction) -> Floats:
        """The weight below each edge, less q times the weight of the group, as a combination of the released sums.

        One row per edge.
        """
        rows = self.coefficients / DENOMINATOR
        return np.asarray(np.linalg.solve(rows.T, _wanted(len(rows), quantile).T).T, dtype=np.float64)


@lru_cache(maxsize=64)
def strategy(cells: int, quantiles: tuple[Fraction, ...], mechanism: str) -> Strategy:
    """Return the sums whose forms for `quantiles` have the least noise, over a family of strategies.

    Laplace noise: the weights of the cells themselves, which is best for a few dozen cells.

    Gaussian noise: for a median the wanted matrix is +-1/2, part of a circulant one (a square wave on 2 `cells`
    points), which is factored best by its square root: the noise is 1.81 times that of one count for 64 cells. For
    other quantiles the weight of the group is released next to it; which share of the norm it gets is tried.

    Example:
        >>> form = strategy(64, (Fraction(1, 2),), "gaussian").form(Fraction(1, 2))
        >>> round(float(np.sqrt(np.square(form).sum(axis=1)).max()), 2)
        1.81
    """
    if cells < 2:
        raise InternalError("One cell has no limits.")
    if mechanism == "laplace":
        return Strategy(DENOMINATOR * np.eye(cells, dtype=np.int64))
    wave = _wave(cells)
    _, share = min((_noise(wave, share, quantiles), share) for share in TOTAL_SHARES)
    values, vectors = np.linalg.eigh(_mixed(wave, share))
    root = (vectors * np.sqrt(values)) @ vectors.T
    coefficients = np.trunc(root * DENOMINATOR).astype(np.int64)
    if int(np.square(coefficients).sum(axis=0).max()) > DENOMINATOR**2:
        raise InternalError("A row counts for more than one in the sums that give limits.")
    return Strategy(coefficients)


def _wanted(cells: int, quantile: Fraction) -> Floats:
    """Return what a row of each cell adds to the weight below each edge, less q."""
    edges, places = np.arange(1, cells), np.arange(cells)
    return np.asarray((places[None, :] < edges[:, None]) - float(quantile), dtype=np.float64)


def _wave(cells: int) -> Floats:
    """Return the square root of M^T M for the square wave M on a circle of 2 `cells` points, its diagonal set to 1."""
    order = np.arange(2 * cells)
    odd = order % 2 == 1
    sizes = np.zeros(2 * cells)
    sizes[odd] = 1 / np.abs(np.sin(np.pi * order[odd] / (2 * cells)))
    line = np.fft.ifft(sizes).real
    places = np.arange(cells)
    return np.asarray(line[(places[:, None] - places[None, :]) % (2 * cells)] / line[0])


def _mixed(wave: Floats, share: float) -> Floats:
    return (1 - share) * wave + share


def _noise(wave: Floats, share: float, quantiles: Sequence[Fraction]) -> float:
    """Return the largest noise of any edge for any of the quantiles."""
    inverse = np.linalg.inv(_mixed(wave, share))
    wanted = [_wanted(len(wave), quantile) for quantile in quantiles]
    return max(float(((one @ inverse) * one).sum(axis=1).max()) for one in wanted)
