"""A joint release of moments: which combinations of sums are measured, in exact numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError

Floats = NDArray[np.float64]
Monomial = tuple[int, int]
Matrix = tuple[tuple[Fraction, ...], ...]

MOMENTS: tuple[Monomial, ...] = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
"""What estimates are made of: sums of z^i w^j up to the second order, in this order."""


@dataclass(frozen=True, slots=True)
class Family:
    """The coordinates rows / denominator times the sums of `monomials`, each measured with equal, independent noise.

    A row of the data has values z and w in [-1, 1] (w is missing for one column); the monomial (i, j) is z^i w^j. All
    coefficients are integers over one denominator, so a coordinate of integer sums is an exact rational.

    Privacy: one row moves the coordinates by `at(z, w)`. How large that can be is computed in exact arithmetic by
    `hedgerow.statistics.moments.norms`, not declared.
    """

    name: str
    monomials: tuple[Monomial, ...]
    rows: tuple[tuple[int, ...], ...]
    denominator: int

    @classmethod
    def of(cls, name: str, monomials: Sequence[Monomial], rows: Sequence[Sequence[Fraction | int]]) -> "Family":
        """A family from rational coefficients, over the least common denominator."""
        exact = [[Fraction(each) for each in row] for row in rows]
        denominator = lcm(*(each.denominator for row in exact for each in row))
        whole = tuple(tuple(int(each * denominator) for each in row) for row in exact)
        return cls(name, tuple(monomials), whole, denominator)

    @property
    def matrix(self) -> Matrix:
        """The coefficients as fractions."""
        return tuple(tuple(Fraction(each, self.denominator) for each in row) for row in self.rows)

    @property
    def moments(self) -> tuple[Monomial, ...]:
        """The monomials up to the second order, in the order of `MOMENTS`."""
        return tuple(each for each in MOMENTS if each in self.monomials)

    def at(self, z: Fraction, w: Fraction = Fraction(0)) -> tuple[Fraction, ...]:
        """What one row with these values adds to the coordinates.

        Example:
            >>> from hedgerow.statistics.moments.families import BERNSTEIN
            >>> [str(each) for each in BERNSTEIN.at(Fraction(0))]
            ['1/4', '1/2', '1/4']
        """
        powers = [z**i * w**j for i, j in self.monomials]
        return tuple(sum((c * x for c, x in zip(row, powers, strict=True)), Fraction(0)) for row in self.matrix)

    def scaled(self, factor: Fraction) -> "Family":
        """The same coordinates, all larger or smaller; with the same noise, one row then shows more or less."""
        return Family.of(self.name, self.monomials, [[each * factor for each in row] for row in self.matrix])


def inverse(family: Family) -> Matrix:
    """The matrix that turns noisy coordinates back into noisy sums of `family.moments`, exactly.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> [[str(each) for each in row] for row in inverse(BERNSTEIN)]
        [['1', '1', '1'], ['-1', '0', '1'], ['1', '-1', '1']]
    """
    solved = _inverted([list(row) for row in family.matrix])
    return tuple(tuple(solved[family.monomials.index(each)]) for each in family.moments)


def mixing(family: Family) -> Floats:
    """`inverse` in floats: how much of each coordinate's noise ends up in each moment."""
    return np.array([[float(each) for each in row] for row in inverse(family)])


def unit_covariance(family: Family) -> Floats:
    """The covariance of the noisy moments when each coordinate has noise of variance one.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> unit_covariance(BERNSTEIN).tolist()
        [[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]
    """
    matrix = mixing(family)
    return np.asarray(matrix @ matrix.T)


def _inverted(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    """Gauss and Jordan's elimination; exact, so any pivot but zero will do."""
    size = len(matrix)
    work = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if work[i][k]), None)
        if pivot is None:
            raise InternalError("A family of moments has dependent coordinates, so the moments cannot be told apart.")
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [each / work[k][k] for each in work[k]]
        for i in range(size):
            if i != k and work[i][k]:
                factor = work[i][k]
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return [row[size:] for row in work]
