"""Joint releases of moments, in exact numbers: of one column and of two, with a proof of how far one row moves them.

The joint releases of moments: of one column, and of two.

Values are centred: z = (x - middle) / half lies in [-1, 1], likewise w. Every family is made so that one
row has norm at most one: in the Euclidean norm for Gaussian noise, in the sum of absolute values for Laplace
noise. Irrational factors are rounded down to multiples of 2^-16, which makes a row shorter, never longer.

How far one row can move the coordinates of a family, proved in exact arithmetic.

A polynomial on a box is a weighted mean of its Bernstein coefficients there: the weights are non-negative and add
up to one. So it is nowhere larger than the largest coefficient, and at the corners of the box it equals one of
them. The square of values is cut into boxes, and all of it is computed in fractions: the result is a bound without
rounding, and the maximum itself where the largest coefficient belongs to a corner.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import comb, isqrt, lcm

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError

Floats = NDArray[np.float64]
Monomial = tuple[int, int]
Matrix = tuple[tuple[Fraction, ...], ...]

MOMENTS: tuple[Monomial, ...] = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
"""Moments that estimates are made of: sums of z^i w^j up to the second order, in this order."""


@dataclass(frozen=True, slots=True)
class Family:
    """The coordinates rows / denominator times the sums of `monomials`, each measured with equal, independent noise.

    A row of the data has values z and w in [-1, 1] (w is missing for one column); the monomial (i, j) is z^i w^j. All
    coefficients are integers over one denominator, so a coordinate of integer sums is an exact rational.

    Privacy: one row moves the coordinates by `at(z, w)`. How large that can be is computed in exact arithmetic by
    `hedgerow.statistics.moments.families`, not declared.
    """

    name: str
    monomials: tuple[Monomial, ...]
    rows: tuple[tuple[int, ...], ...]
    denominator: int

    @classmethod
    def of(cls, name: str, monomials: Sequence[Monomial], rows: Sequence[Sequence[Fraction | int]]) -> "Family":
        """A family from rational coefficients, over the least common denominator."""
        exact = [[Fraction(entry) for entry in row] for row in rows]
        denominator = lcm(*(entry.denominator for row in exact for entry in row))
        whole = tuple(tuple(int(entry * denominator) for entry in row) for row in exact)
        return cls(name, tuple(monomials), whole, denominator)

    @property
    def matrix(self) -> Matrix:
        """The coefficients as fractions."""
        return tuple(tuple(Fraction(entry, self.denominator) for entry in row) for row in self.rows)

    @property
    def moments(self) -> tuple[Monomial, ...]:
        """The monomials up to the second order, in the order of `MOMENTS`."""
        return tuple(moment for moment in MOMENTS if moment in self.monomials)

    def at(self, z: Fraction, w: Fraction = Fraction(0)) -> tuple[Fraction, ...]:
        """Return what one row with these values adds to the coordinates.

        Example:
            >>> from hedgerow.statistics.moments.families import BERNSTEIN
            >>> [str(each) for each in BERNSTEIN.at(Fraction(0))]
            ['1/4', '1/2', '1/4']
        """
        powers = [z**i * w**j for i, j in self.monomials]
        return tuple(sum((c * x for c, x in zip(row, powers, strict=True)), Fraction(0)) for row in self.matrix)

    def scaled(self, factor: Fraction) -> "Family":
        """The same coordinates times a factor; with the same noise, the effect of one row grows by that factor."""
        return Family.of(self.name, self.monomials, [[entry * factor for entry in row] for row in self.matrix])


def inverse(family: Family) -> Matrix:
    """The matrix that turns noisy coordinates back into noisy sums of `family.moments`, exactly.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> [[str(each) for each in row] for row in inverse(BERNSTEIN)]
        [['1', '1', '1'], ['-1', '0', '1'], ['1', '-1', '1']]
    """
    solved = _inverted([list(row) for row in family.matrix])
    return tuple(tuple(solved[family.monomials.index(moment)]) for moment in family.moments)


def mixing(family: Family) -> Floats:
    """`inverse` in floats: the weight of each coordinate's noise in each moment."""
    return np.array([[float(entry) for entry in row] for row in inverse(family)])


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
    """Gauss-Jordan elimination; it is exact, so any nonzero pivot is sufficient."""
    size = len(matrix)
    work = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if work[i][k]), None)
        if pivot is None:
            raise InternalError("A family of moments has dependent coordinates, so the moments cannot be told apart.")
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [entry / work[k][k] for entry in work[k]]
        for i in range(size):
            if i != k and work[i][k]:
                factor = work[i][k]
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return [row[size:] for row in work]


Rows = list[list[Fraction | int]]

BITS = 16
HALF = Fraction(1, 2)
ONE_COLUMN: tuple[Monomial, ...] = ((0, 0), (1, 0), (2, 0))
TWO_MEANS: tuple[Monomial, ...] = ((0, 0), (1, 0), (0, 1), (1, 1))
LAMBDAS = (Fraction(0), HALF, Fraction(1))
SIGNS = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def lambda_family(weight: Fraction = HALF) -> Family:
    """Count, sum and sum of squares of one column for Gaussian noise.

    With B = -(3 + weight) / 4 and E = 1 + weight / 2 the coordinates are the sums of 1 + B z^2, a z^2 and c z, where
    a is sqrt(E - B^2) and c is sqrt(1/2), both rounded down. Weight 0 is Bezier with the middle coordinate at its
    largest, never worse than equal noise; 1 is interpolation in the ends and the middle; 1/2 errs least on average.

    Privacy: (1 + B z^2)^2 + a^2 z^4 + c^2 z^2 <= 1 + (2 B + 1/2) z^2 + E z^4 = 1 - E z^2 (1 - z^2) <= 1 on [-1, 1].

    Args:
        weight: 0, 1/2 or 1.
    """
    if weight not in LAMBDAS:
        raise InternalError("The weight of a family of moments must be 0, 1/2 or 1.")
    bend, limit = -(3 + weight) / 4, 1 + weight / 2
    rows: Rows = [[1, 0, bend], [0, 0, _root_below(limit - bend**2)], [0, _root_below(HALF), 0]]
    return Family.of(f"lambda {weight}", ONE_COLUMN, rows)


def _root_below(square: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-BITS."""
    return Fraction(isqrt(int(square * 4**BITS)), 2**BITS)


def _bernstein() -> Family:
    """(1 - z)^2 / 4, (1 - z^2) / 2 and (1 + z)^2 / 4."""
    quarter = Fraction(1, 4)
    rows: Rows = [[quarter, -HALF, quarter], [HALF, 0, -HALF], [quarter, HALF, quarter]]
    return Family.of("Bernstein", ONE_COLUMN, rows)


def _correlation() -> Family:
    """The factor of the matrix K of the design, each entry chosen after those above it so that the norm holds."""
    bend = Fraction(round(Fraction(-19, 40) * 2**BITS), 2**BITS)
    room = Fraction(3, 4) - (1 + bend) ** 2
    first = _root_below(room)
    both = Fraction(round((Fraction(-1, 10) - bend**2) / first * 2**BITS), 2**BITS)
    second = _root_below(room - both**2)
    mixed = _root_below(HALF - (1 + 2 * bend) ** 2 - (first + both) ** 2 - second**2)
    rows: Rows = [
        [1, 0, 0, bend, 0, bend],
        [0, HALF, 0, 0, 0, 0],
        [0, 0, HALF, 0, 0, 0],
        [0, 0, 0, first, 0, both],
        [0, 0, 0, 0, mixed, 0],
        [0, 0, 0, 0, 0, second],
    ]
    return Family.of("correlation", MOMENTS, rows)


def _corners() -> Family:
    """Four coordinates that are large in one corner each, and a (1 - z^2), a (1 - w^2) with a = 19/64."""
    bulge = Fraction(19, 64)
    mean, mixed = Fraction(11, 64), Fraction(13, 64)
    quarter = bulge / 4
    corners = [[(1 - 2 * bulge) / 4, a * mean, b * mean, quarter, a * b * mixed, quarter] for a, b in SIGNS]
    return Family.of("corners", MOMENTS, [*corners, [bulge, 0, 0, -bulge, 0, 0], [bulge, 0, 0, 0, 0, -bulge]])


def _tensor() -> Family:
    """Return all products of a Bernstein coordinate of one column and one of the other."""
    single = _bernstein().matrix
    monomials = list(product(range(3), range(3)))
    return Family.of("tensor", monomials, [[a[i] * b[j] for i, j in monomials] for a, b in product(single, single)])


BERNSTEIN = _bernstein()
"""Count, sum and sum of squares of one column: Bezier coordinates.

Privacy: on [-1, 1] they are non-negative and add up to one, so their absolute values do too, and no sum of squares
exceeds one. For Laplace noise there is no slack to reweight; for Gaussian noise `lambda_family` is better.
"""

BILINEAR = Family.of("bilinear", TWO_MEANS, [[Fraction(s, 4) for s in (1, a, b, a * b)] for a, b in SIGNS])
"""(1 ± z)(1 ± w) / 4: count, both sums and the sum of products of two columns, for either noise.

Privacy: non-negative on the square, with sum one. A bilinear function that is zero in the four corners is zero, so
there is no slack for Gaussian noise either.
"""

CORRELATION = _correlation()
"""All six moments of two columns, for Gaussian noise.

Privacy: in s = z^2 and t = w^2 the squared norm is
(1 + B (s + t))^2 + (p s + q t)^2 + r^2 t^2 + (s + t) / 4 + g^2 s t. It is convex in s and in t, so it is largest in a
corner of [0, 1]^2. There it is 1, (1 + B)^2 + p^2 + 1/4, (1 + B)^2 + q^2 + r^2 + 1/4 and
(1 + 2 B)^2 + (p + q)^2 + r^2 + 1/2 + g^2, and p, r and g were rounded down so that none exceeds one.
"""

CORNERS = _corners()
"""All six moments of two columns, for Laplace noise, from sums of at most second order.

Privacy: the coordinates add up to one, and none is negative on the square: not a (1 - z^2) and a (1 - w^2), nor the
others. They are (1 - 2 a + a (z^2 + w^2)) / 4 + k (z + w) + m z w, with a = 19/64, k = 11/64, m = 13/64, and its
mirror images. As m > a / 2 it is a saddle, so it is least on an edge; on z = -1 it is (1 - 8 w + 19 w^2) / 256, and on
z = 1 it is (89 + 96 w + 19 w^2) / 256, both positive for w in [-1, 1].
"""

TENSOR = _tensor()
"""All six moments of two columns, for Laplace noise, from nine coordinates.

Less noise than `CORNERS`, but it needs the sums of z^2 w, z w^2 and z^2 w^2 too, whose integers are twice as long.

Privacy: non-negative, with sum one, as products of such.
"""


Polynomial = dict[Monomial, Fraction]
Box = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def largest_norm_squared(family: Family, pieces: int = 2) -> Fraction:
    """Square of the largest Euclidean norm by which one row moves the coordinates.

    Privacy: rows add up, so by the triangle inequality r rows of one unit in each of C groups move the release
    by at most r sqrt(C) times that norm. Gaussian noise is calibrated to it.

    Args:
        family: What is released.
        pieces: Into how many parts [-1, 1] is cut for each column; more parts can only lower the bound.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> print(largest_norm_squared(BERNSTEIN))
        1
    """
    squares = _sum([_times(polynomial, polynomial) for polynomial in _coordinates(family)])
    return max(value for box in _boxes(family, pieces) for value in _bernstein_coefficients(squares, box).values())


def largest_absolute_norm(family: Family, pieces: int = 8) -> Fraction:
    """Largest sum of absolute values by which one row moves the coordinates.

    At every point the sum of |p_i| is at most the weighted mean of the sums of |coefficient|.

    Privacy: as for `largest_norm_squared`, with r C in place of r sqrt(C). Laplace noise is calibrated to it.

    Args:
        family: What is released.
        pieces: Into how many parts [-1, 1] is cut for each column.

    Example:
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> print(largest_absolute_norm(BERNSTEIN))
        1
    """
    largest = Fraction(0)
    for box in _boxes(family, pieces):
        parts = [_bernstein_coefficients(polynomial, box, _degrees(family)) for polynomial in _coordinates(family)]
        largest = max(largest, *(sum((abs(part[k]) for part in parts), Fraction(0)) for k in parts[0]))
    return largest


def _coordinates(family: Family) -> list[Polynomial]:
    return [dict(zip(family.monomials, row, strict=True)) for row in family.matrix]


def _degrees(family: Family) -> Monomial:
    return max(i for i, _ in family.monomials), max(j for _, j in family.monomials)


def _boxes(family: Family, pieces: int) -> Iterator[Box]:
    """A column that is missing needs no cutting."""
    cuts = [Fraction(2 * i, pieces) - 1 for i in range(pieces + 1)]
    parts = list(pairwise(cuts))
    yield from product(parts, parts if _degrees(family)[1] else [(Fraction(0), Fraction(1))])


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    return _sum([{(i + k, j + m): a * b} for (i, j), a in left.items() for (k, m), b in right.items()])


def _sum(polynomials: list[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for polynomial in polynomials:
        for monomial, coefficient in polynomial.items():
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    return total


def _bernstein_coefficients(polynomial: Polynomial, box: Box, degrees: Monomial | None = None) -> Polynomial:
    """The Bernstein coefficients of a polynomial on a box, numbered by place."""
    high = degrees or (max(i for i, _ in polynomial), max(j for _, j in polynomial))
    (left, right), (bottom, top) = box
    moved = _sum(
        [
            {(k, m): c * _shifted(i, k, left, right) * _shifted(j, m, bottom, top)}
            for (i, j), c in polynomial.items()
            for k in range(i + 1)
            for m in range(j + 1)
        ]
    )
    return {
        (p, q): sum(
            (c * _share(k, p, high[0]) * _share(m, q, high[1]) for (k, m), c in moved.items() if k <= p and m <= q),
            Fraction(0),
        )
        for p in range(high[0] + 1)
        for q in range(high[1] + 1)
    }


def _shifted(power: int, term: int, start: Fraction, end: Fraction) -> Fraction:
    """The coefficient of u^term in (start + (end - start) u)^power."""
    return comb(power, term) * start ** (power - term) * (end - start) ** term


def _share(power: int, place: int, degree: int) -> Fraction:
    """The Bernstein coefficient of u^power at `place`."""
    return Fraction(comb(place, power), comb(degree, power))
