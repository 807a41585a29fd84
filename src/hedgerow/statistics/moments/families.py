"""The joint releases of moments: of one column, and of two.

Values are centred: z = (x - middle) / half lies in [-1, 1], likewise w. Every family is made so that one
row has norm at most one: in the Euclidean norm for Gaussian noise, in the sum of absolute values for Laplace
noise. Irrational factors are rounded down to multiples of 2^-16, which makes a row shorter, never longer.
"""

from fractions import Fraction
from itertools import product
from math import isqrt

from hedgerow.errors import InternalError
from hedgerow.statistics.moments.family import MOMENTS, Family, Monomial

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


def _bilinear() -> Family:
    """(1 ± z)(1 ± w) / 4."""
    return Family.of("bilinear", TWO_MEANS, [[Fraction(s, 4) for s in (1, a, b, a * b)] for a, b in SIGNS])


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
    """All products of a Bernstein coordinate of the one column and one of the other."""
    single = _bernstein().matrix
    monomials = list(product(range(3), range(3)))
    return Family.of("tensor", monomials, [[a[i] * b[j] for i, j in monomials] for a, b in product(single, single)])


BERNSTEIN = _bernstein()
"""Count, sum and sum of squares of one column: Bezier coordinates.

Privacy: on [-1, 1] they are non-negative and add up to one, so their absolute values do too, and no sum of squares
exceeds one. For Laplace noise there is no slack to reweight; for Gaussian noise `lambda_family` is better.
"""

BILINEAR = _bilinear()
"""Count, both sums and the sum of products of two columns, for either noise.

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
