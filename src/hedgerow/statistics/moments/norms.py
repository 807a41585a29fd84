"""How far one row can move the coordinates of a family, proved in exact arithmetic.

A polynomial on a box is a weighted mean of its Bernstein coefficients there: the weights are non-negative and add
up to one. So it is nowhere larger than the largest coefficient, and at the corners of the box it equals one of
them. The square of values is cut into boxes, and all of it is computed in fractions: what comes out is a bound
without rounding, and the maximum itself where the largest coefficient belongs to a corner.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import comb

from hedgerow.statistics.moments.family import Family, Monomial

Polynomial = dict[Monomial, Fraction]
Box = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def largest_norm_squared(family: Family, pieces: int = 2) -> Fraction:
    """No row moves the coordinates by more than the square root of this, in the Euclidean norm.

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
    squares = _sum([_times(each, each) for each in _coordinates(family)])
    return max(each for box in _boxes(family, pieces) for each in _bernstein(squares, box).values())


def largest_absolute_norm(family: Family, pieces: int = 8) -> Fraction:
    """No row moves the coordinates by more than this in all, each without its sign.

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
    found = Fraction(0)
    for box in _boxes(family, pieces):
        parts = [_bernstein(each, box, _degrees(family)) for each in _coordinates(family)]
        found = max(found, *(sum((abs(part[k]) for part in parts), Fraction(0)) for k in parts[0]))
    return found


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


def _bernstein(polynomial: Polynomial, box: Box, degrees: Monomial | None = None) -> Polynomial:
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
