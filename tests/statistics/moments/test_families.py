"""One row never moves a joint release by more than one, exactly."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.statistics.moments import (
    BERNSTEIN,
    BILINEAR,
    CORNERS,
    CORRELATION,
    TENSOR,
    Family,
    inverse,
    lambda_family,
    largest_absolute_norm,
    largest_norm_squared,
    unit_covariance,
)
from hedgerow.statistics.moments.families import LAMBDAS

LAMBDA = [lambda_family(weight) for weight in LAMBDAS]
EUCLIDEAN = [*LAMBDA, BERNSTEIN, BILINEAR, CORRELATION]
ABSOLUTE = [BERNSTEIN, BILINEAR, CORNERS, TENSOR]
EVERY = [*LAMBDA, BERNSTEIN, BILINEAR, CORRELATION, CORNERS, TENSOR]
LARGER = Fraction(101, 100)
SMALLEST_LOSS = Fraction(1, 2**14)


def named(family):
    return family.name


def columns(family):
    return 2 if any(j for _, j in family.monomials) else 1


def grid(family, steps):
    points = [Fraction(2 * i, steps) - 1 for i in range(steps + 1)]
    return product(points, points if columns(family) == 2 else [Fraction(0)])


def norm_squared(family, z, w):
    return sum(coordinate**2 for coordinate in family.at(z, w))


def absolute_norm(family, z, w):
    return sum(abs(coordinate) for coordinate in family.at(z, w))


@pytest.mark.parametrize("family", EUCLIDEAN, ids=named)
def test_no_row_is_longer_than_one_in_the_euclidean_norm(family):
    assert largest_norm_squared(family) == 1
    steps = 400 if columns(family) == 1 else 24
    assert max(norm_squared(family, z, w) for z, w in grid(family, steps)) == 1


@pytest.mark.parametrize("family", ABSOLUTE, ids=named)
def test_every_row_is_exactly_one_in_absolute_values(family):
    assert largest_absolute_norm(family) == 1
    steps = 400 if columns(family) == 1 else 24
    assert {absolute_norm(family, z, w) for z, w in grid(family, steps)} == {Fraction(1)}


@pytest.mark.parametrize("family", EUCLIDEAN, ids=named)
def test_a_euclidean_family_one_percent_larger_fails_the_same_test(family):
    larger = family.scaled(LARGER)
    assert largest_norm_squared(larger) == LARGER**2
    assert max(norm_squared(larger, z, w) for z, w in grid(larger, 2)) > 1


@pytest.mark.parametrize("family", ABSOLUTE, ids=named)
def test_an_absolute_family_one_percent_larger_fails_the_same_test(family):
    larger = family.scaled(LARGER)
    assert largest_absolute_norm(larger) == LARGER
    assert max(absolute_norm(larger, z, w) for z, w in grid(larger, 2)) > 1


@pytest.mark.parametrize("family", [*LAMBDA, CORRELATION], ids=named)
def test_a_single_factor_that_is_rounded_up_fails_the_same_test(family):
    for k, row in enumerate(family.rows[1:], start=1):
        place = max(i for i, factor in enumerate(row) if factor)
        rows = [list(factors) for factors in family.rows]
        rows[k][place] += 8 * (family.denominator // 2**14) * (1 if row[place] > 0 else -1)
        changed = Family(family.name, family.monomials, tuple(map(tuple, rows)), family.denominator)
        assert largest_norm_squared(changed) > 1


@pytest.mark.parametrize("family", [*LAMBDA, CORRELATION], ids=named)
def test_rounding_wastes_almost_nothing(family):
    corners = [norm_squared(family, Fraction(z), Fraction(w)) for z, w in product((0, 1), (0, 1)[: columns(family)])]
    assert all(1 - 4 * SMALLEST_LOSS <= norm <= 1 for norm in corners)


value = st.fractions(-1, 1, max_denominator=10**6)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(EVERY), st.lists(st.tuples(value, value), min_size=1, max_size=4))
def test_several_rows_move_a_release_by_at_most_their_number(family, rows):
    moved = [sum(parts) for parts in zip(*(family.at(z, w) for z, w in rows), strict=True)]
    if family in EUCLIDEAN:
        assert sum(coordinate**2 for coordinate in moved) <= len(rows) ** 2
    if family in ABSOLUTE:
        assert sum(abs(coordinate) for coordinate in moved) <= len(rows)


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_the_bound_on_the_norm_holds_for_other_polynomials_too(family):
    bent = Family.of("bent", family.monomials, [[x * (-1) ** k for k, x in enumerate(row)] for row in family.matrix])
    assert max(norm_squared(bent, z, w) for z, w in grid(bent, 16)) <= largest_norm_squared(bent)
    assert max(absolute_norm(bent, z, w) for z, w in grid(bent, 16)) <= largest_absolute_norm(bent)


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_more_pieces_never_raise_the_bound(family):
    assert largest_absolute_norm(family, 4) <= largest_absolute_norm(family, 2)
    assert largest_norm_squared(family, 4) <= largest_norm_squared(family, 2)


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_the_inverse_gives_back_the_moments_exactly(family):
    back = inverse(family)
    for z, w in [(Fraction(1, 3), Fraction(-2, 7)), (Fraction(-1), Fraction(1)), (Fraction(0), Fraction(5, 9))]:
        seen = family.at(z, w)
        actual = [sum(a * b for a, b in zip(row, seen, strict=True)) for row in back]
        assert actual == [z**i * w**j for i, j in family.moments]


@pytest.mark.parametrize(("family", "weight"), list(zip(LAMBDA, LAMBDAS, strict=True)))
def test_the_noise_of_the_moments_is_that_of_the_design(family, weight):
    bend, limit = -(3 + float(weight)) / 4, 1 + float(weight) / 2
    left = limit - bend**2
    expected = [[limit / left, 0, -bend / left], [0, 2, 0], [-bend / left, 0, 1 / left]]
    assert unit_covariance(family) == pytest.approx(np.array(expected), rel=1e-3)


def test_the_correlation_release_has_the_precision_matrix_of_the_design():
    matrix = np.array(CORRELATION.matrix, dtype=float)
    expected = np.diag([1, 0.25, 0.25, 0.7, 0.2, 0.7])
    expected[0, 3] = expected[3, 0] = expected[0, 5] = expected[5, 0] = -0.475
    expected[3, 5] = expected[5, 3] = -0.1
    assert matrix.T @ matrix == pytest.approx(expected, abs=1e-4)
    assert np.linalg.eigvalsh(matrix.T @ matrix)[0] == pytest.approx(0.0991, abs=2e-4)


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_integers_are_small(family):
    assert family.denominator <= 2**16
    assert max(abs(factor) for row in family.rows for factor in row) <= 2**16
    assert math.gcd(family.denominator, *(factor for row in family.rows for factor in row)) == 1


def test_a_weight_without_a_proof_is_refused():
    with pytest.raises(InternalError):
        lambda_family(Fraction(2))


def test_dependent_coordinates_are_refused():
    with pytest.raises(InternalError):
        inverse(Family("twice", ((0, 0), (1, 0)), ((1, 1), (2, 2)), 1))
