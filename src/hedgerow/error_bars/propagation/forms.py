"""Linear forms in all released cells at once: which noise is in each number, with which coefficient.

A cell is one coordinate of one group of one release; its noise is independent of that of every other cell. A form
has a value for each row that is shown, and a sparse row of coefficients over the cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hedgerow.aggregates import Form
from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals import Bounds, half_width
from hedgerow.release.estimate import Estimator

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """All cells of a statement, in one long line: release by release, coordinate by coordinate, group by group."""

    estimators: Sequence[Estimator]

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(e.plan.coordinates) * len(e.noisy.shown) for e in self.estimators)

    def place(self, release: int, coordinate: int) -> int:
        """Where the groups of a coordinate begin."""
        before = sum(len(e.plan.coordinates) * len(e.noisy.shown) for e in self.estimators[:release])
        return before + coordinate * len(self.estimators[release].noisy.shown)

    def noises(self) -> list[Noise]:
        """The noise of each cell."""
        return [c.noise for e in self.estimators for c in e.plan.coordinates for _ in range(len(e.noisy.shown))]

    @property
    def groups(self) -> int:
        """How many groups were released, of all releases together."""
        return sum(len(e.noisy.shown) for e in self.estimators)

    def variances(self) -> Floats | None:
        """The variance of each cell, where all noise is normal."""
        found = [noise.sigma**2 for noise in self.noises() if isinstance(noise, Gaussian)]
        return np.array(found) if len(found) == self.count else None

    def form(self, release: int, form: Form, rows: NDArray[np.int64], there: NDArray[np.bool_]) -> "Sparse":
        """A form of single groups, read at the groups `rows`; nothing where a row is not `there`."""
        if not len(form.values):
            return known(np.full(len(rows), np.nan), self)
        values = np.where(there, form.values[rows], np.nan)
        at = np.flatnonzero(there)
        entries = [(at, self.place(release, c) + rows[at], np.full(len(at), k)) for c, k, _ in form.terms]
        if not entries:
            return known(values, self)
        at_rows, at_cells, numbers = (np.concatenate(part) for part in zip(*entries, strict=True))
        return Sparse(values, csr_array((numbers, (at_rows, at_cells)), shape=(len(rows), self.count)))


@dataclass(frozen=True)
class Sparse:
    """A linear form in cells, one for each row."""

    values: Floats
    matrix: Any

    @property
    def is_known(self) -> bool:
        """Whether no noise is in it."""
        return bool(self.matrix.nnz == 0)

    def plus(self, other: "Sparse") -> "Sparse":
        """The sum of both, row by row."""
        return Sparse(self.values + other.values, (self.matrix + other.matrix).tocsr())

    def times(self, factors: Floats) -> "Sparse":
        """Each row times its own factor."""
        clean = np.where(np.isfinite(factors), factors, 0.0)
        return Sparse(self.values * factors, self.matrix.multiply(clean[:, None]).tocsr())

    def bounds(self, cells: Cells, beta: float) -> Bounds:
        """Values plus and minus the quantile of their noise."""
        return Bounds.of(self.values - (width := self.widths(cells, beta)), self.values + width)

    def widths(self, cells: Cells, beta: float) -> Floats:
        """How far the noise of each row strays, but for a probability of `beta`."""
        variances = cells.variances()
        if variances is not None:
            return half_width([(1.0, Gaussian(1.0))], beta) * np.sqrt(self.covariance(self, variances))
        noises, known = cells.noises(), dict[tuple[Any, ...], float]()
        return np.array([_width(self.matrix, row, noises, beta, known) for row in range(self.matrix.shape[0])])

    def covariance(self, other: "Sparse", variances: Floats) -> Floats:
        """The covariance of the noise of both, row by row."""
        return np.asarray(self.matrix.multiply(other.matrix) @ variances, dtype=float)

    def same(self, other: "Sparse") -> bool:
        """Whether both are the same in every row."""
        return np.array_equal(self.values, other.values, equal_nan=True) and (self.matrix != other.matrix).nnz == 0


def known(values: Floats, cells: Cells) -> Sparse:
    """Numbers without noise."""
    return Sparse(values, csr_array((len(values), cells.count)))


def _width(matrix: Any, row: int, noises: list[Noise], beta: float, done: dict[tuple[Any, ...], float]) -> float:  # noqa: ANN401
    """The width of one row; equal sets of coefficients are worked out once."""
    places = slice(matrix.indptr[row], matrix.indptr[row + 1])
    terms = [(float(c), noises[i]) for c, i in zip(matrix.data[places], matrix.indices[places], strict=True)]
    signature = tuple(sorted((abs(c), repr(noise)) for c, noise in terms))
    if signature not in done:
        done[signature] = half_width(terms, beta) if terms else 0.0
    return done[signature]
