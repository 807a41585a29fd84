"""Limits hold for every data set, at every level, and are as short as one test allows."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow.distributions import Gaussian
from hedgerow.errors import InternalError
from hedgerow.release.ranks import Cells, noisy_cell_sums
from hedgerow.statistics.quantiles import (
    DENOMINATOR,
    Buckets,
    QuantilePoints,
    Reach,
    Target,
    cell_edges,
    highest,
    lowest,
    rank_bound,
    rank_scores,
    strategy,
    value_bounds,
)

FALSE_ALARM = 1e-9
BETA = 0.1
REACH = Reach(rows=2, weight_bits=1)
EPSILON = Fraction(3, 2)
SHAPES = [
    [0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0],
    [0, 0, 7, 0, 0],
    [0, 0, 1000, 0, 0],
    [10, 10, 10, 10, 10],
    [3, 3, 3, 3, 3],
    [500, 1, 0, 1, 500],
    [0, 30, 0, 30, 0],
    [44, 0, 1, 0, 43],
]
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def chance(law, misses):
    return sum(math.exp(float(ball.mid())) for ball, miss in zip(law, misses, strict=True) if miss)


@pytest.fixture
def quantile_bins():
    """For one row of weights, the first and the last bucket that holds a quantile."""

    def find(weights, quantile):
        upto = np.cumsum(weights)
        rank = float(quantile) * upto[-1]
        holding = np.flatnonzero((upto - weights <= rank) & (rank <= upto))
        return holding.min(), holding.max()

    return find


@pytest.fixture
def limits_of(ranked):
    """Points of many groups alike, by the real release."""

    def measure(weights, quantile, mechanism, beta, groups, budget=1.0):
        return ranked([quantile], mechanism, beta, budget, Buckets(0, len(weights) - 1, 1)).measure(
            np.tile(weights, (groups, 1))
        )[0]

    return measure


@both
@pytest.mark.parametrize("beta", [0.5, 0.4, 0.05, 0.001])
def test_limits_miss_no_more_often_than_they_may(limits_of, quantile_bins, mechanism, beta):
    """Both ends of what is a median; shapes without rows, with ties, with heavy and with empty buckets."""
    groups = 1500
    for weights, quantile in product(SHAPES, (Fraction(1, 7), Fraction(1, 2))):
        seen = limits_of(weights, quantile, mechanism, beta, groups)
        assert np.all((seen.lower <= seen.points) & (seen.points <= seen.upper))
        for value in quantile_bins(np.array(weights), quantile):
            misses = int(np.sum((seen.lower > value) | (value > seen.upper)))
            assert stats.binom.sf(misses - 1, groups, beta) > FALSE_ALARM


@both
def test_a_limit_misses_as_often_as_it_may_where_the_quantile_is_at_an_edge(limits_of, mechanism):
    """Half of the rows in the first bucket: it holds a median, and only the lower limit can miss it."""
    groups, beta = 6000, 0.5
    seen = limits_of([500, 500], Fraction(1, 2), mechanism, beta, groups)
    misses = int(np.sum(seen.lower > 0))
    assert stats.binomtest(misses, groups, beta / 2).pvalue > FALSE_ALARM
    assert stats.binomtest(misses, groups, beta / 2 * 1.3).pvalue < FALSE_ALARM
    assert stats.binomtest(misses, groups, beta / 2 / 1.3).pvalue < FALSE_ALARM


@pytest.mark.parametrize("quantile", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("cells", [2, 7, 64, 128])
@both
def test_the_released_sums_give_the_cumulative_weights(mechanism, cells, quantile):
    released = strategy(cells, (quantile,), mechanism)
    weights = np.random.default_rng().integers(0, 1000, cells)
    below = np.cumsum(weights)[:-1] - float(quantile) * weights.sum()
    sums = weights @ released.coefficients.T / DENOMINATOR
    np.testing.assert_allclose(released.form(quantile) @ sums, below, atol=1e-7)


@pytest.mark.parametrize("cells", [2, 5, 64, 192, 256])
def test_a_row_has_length_one_at_most_in_the_released_sums(cells):
    quantiles = (Fraction(1, 4), Fraction(1, 2))
    squares = np.square(strategy(cells, quantiles, "gaussian").coefficients).sum(axis=0)
    assert 0.98 * DENOMINATOR**2 < squares.max() <= DENOMINATOR**2
    assert np.abs(strategy(cells, quantiles, "laplace").coefficients).sum(axis=0).max() == DENOMINATOR


def test_the_noise_of_a_median_is_that_of_the_best_factorisation():
    """1.81 counts for 64 cells; the weights of the cells themselves would give 4."""
    form = strategy(64, (Fraction(1, 2),), "gaussian").form(Fraction(1, 2))
    assert np.sqrt(np.square(form).sum(axis=1)).max() == pytest.approx(1.806, abs=0.002)


def test_one_cell_has_no_limits():
    with pytest.raises(InternalError, match="One cell"):
        strategy(1, (Fraction(1, 2),), "gaussian")


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=2, max_size=2), min_size=1, max_size=4),
    st.integers(100, 3000),
    st.integers(4, 90),
)
def test_cells_cover_all_buckets_and_are_narrow_at_what_was_drawn(drawn, buckets, cells):
    edges = cell_edges(np.array(drawn), buckets, cells)
    assert edges.shape == (len(drawn), min(cells, buckets) - 1)
    assert edges.min() >= 1
    assert edges.max() < buckets
    assert np.all(np.diff(edges, axis=1) >= 0)
    if cells > 8:
        for row, places in zip(edges.tolist(), drawn, strict=True):
            assert all(max(place, 1) in row and min(place + 1, buckets - 1) in row for place in places)


@given(st.lists(st.integers(0, 2**40), min_size=30, max_size=30), st.integers(0, 29), st.integers(4, 12))
def test_merged_cells_hold_the_weights_of_their_buckets(weights, drawn, count):
    buckets = Buckets(10, 69, 2)
    cells = Cells.merge(np.array([weights]), buckets, cell_edges(np.array([[drawn]]), 30, count))
    begins, ends = [0, *cells.edges[0].tolist()], [*cells.edges[0].tolist(), 30]
    assert cells.weights[0].tolist() == [sum(weights[b:e]) for b, e in zip(begins, ends, strict=True)]
    for cell, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin < end:
            assert cells.firsts(np.array([cell]))[0] == buckets.first(begin)
            assert cells.lasts(np.array([cell]))[0] == buckets.last(end - 1)


@both
def test_the_sums_over_cells_have_the_noise_that_was_paid_for(ranked, mechanism):
    column = ranked([Fraction(1, 2)], mechanism, 0.05, 0.5, Buckets(0, 99, 1))
    shared = column.column.cumulative
    table = np.zeros((400, 100), dtype=np.int64)
    cells = Cells.merge(table, Buckets(0, 99, 1), cell_edges(np.full((400, 1), 50), 100, shared.cells))
    released = strategy(shared.cells, shared.quantiles, mechanism)
    noisy = noisy_cell_sums(cells, released, shared.sum, mechanism=mechanism, weight_bits=0).reshape(-1)
    noise = shared.sum.noise
    law = stats.norm(scale=noise.sigma) if isinstance(noise, Gaussian) else stats.laplace(scale=noise.scale)
    assert stats.kstest(noisy, law.cdf).pvalue > FALSE_ALARM
    for wrong in (1.3, 1 / 1.3):
        assert stats.kstest(noisy * wrong, law.cdf).pvalue < FALSE_ALARM


@both
def test_weights_beyond_64_bits_are_added_up_exactly(ranked, mechanism):
    column = ranked([Fraction(1, 2)], mechanism, 1e-6, 1.0, Buckets(0, 4, 1), weight_bits=30)
    heavy = np.array([[2**62, 0, 2**62, 2**62, 0]], dtype=object)
    seen = column.measure(heavy)[0]
    assert (seen.points[0], seen.lower[0], seen.upper[0]) == (2, 2, 2)


@pytest.mark.parametrize("target", [Target(Fraction(1, 2)), Target(Fraction(1, 10)), Target(Fraction(1, 2), 9)])
def test_ranks_are_within_the_rank_bound_as_often_as_it_says(target, log_probabilities):
    weights = np.array(list(product((0, 1, 9, 60), repeat=4)))
    bound = rank_bound(target, EPSILON, REACH, weights.shape[1], BETA)
    far = rank_scores(weights, target) >= bound * 2**REACH.weight_bits * target.quantile.denominator
    laws = log_probabilities(weights, target, EPSILON, REACH)
    assert max(chance(law, misses) for law, misses in zip(laws, far, strict=True)) <= BETA


@both
def test_the_limits_of_large_groups_close_in_on_the_bucket_of_the_quantile(ranked, mechanism):
    column = ranked([Fraction(1, 2)], mechanism, 1e-9, 1.0, Buckets(low=-20, high=29, width=10))
    seen = column.measure(np.array([[0, 0, 10**6, 0, 0], [10**6, 0, 0, 0, 0], [0, 0, 0, 0, 10**6]]))[0]
    assert seen.lower.tolist() == [0, -20, 20]
    assert seen.upper.tolist() == [9, -11, 29]


@both
def test_the_limits_of_empty_and_tiny_groups_are_the_range(ranked, mechanism):
    column = ranked([Fraction(1, 2)], mechanism, 1e-9, 1.0, Buckets(low=-20, high=29, width=10))
    seen = column.measure(np.array([[0] * 5, [0, 0, 1, 0, 0]]))[0]
    assert seen.lower.tolist() == [-20, -20]
    assert seen.upper.tolist() == [29, 29]


@both
def test_a_column_of_one_bucket_has_the_limits_of_its_range_and_pays_for_none(ranked, mechanism):
    column = ranked([Fraction(1, 2)], mechanism, 0.05, 1.0, Buckets(low=3, high=9, width=10))
    assert (column.column.cumulative, len(column.column.events)) == (None, 1)
    seen = column.measure(np.array([[5]]))[0]
    assert (seen.lower[0], seen.upper[0]) == (3, 9)


@both
@pytest.mark.parametrize("largest", [True, False])
def test_an_extreme_is_limited_on_its_inner_side_and_by_the_range_on_the_other(ranked, mechanism, largest):
    column = ranked([], mechanism, 1e-9, 1.0, Buckets(low=-20, high=29, width=10), extremes=[Fraction(int(largest))])
    seen = column.measure(np.array([[0, 10**6, 10, 10**6, 0]]))[0]
    assert (seen.lower[0], seen.upper[0]) == ((10, 29) if largest else (-20, -1))
    assert seen.lower[0] <= seen.points[0] <= seen.upper[0]


@both
@pytest.mark.parametrize("largest", [True, False])
def test_the_limit_of_an_extreme_misses_as_often_as_it_may(ranked, mechanism, largest):
    """All rows in the end bucket but its neighbour's: the limit on the inner side may be one bucket off."""
    groups, beta = 4000, 0.4
    column = ranked([], mechanism, beta, 1.0, Buckets(0, 1, 1), extremes=[Fraction(int(largest))])
    seen = column.measure(np.tile([1000, 0] if largest else [0, 1000], (groups, 1)))[0]
    misses = int(np.sum(seen.lower > 0 if largest else seen.upper < 1))
    assert stats.binom.sf(misses - 1, groups, beta) > FALSE_ALARM


def test_a_quantile_lies_between_its_limits_wherever_it_was_drawn(ranked):
    """Half of the rows in one bucket carry nested quartiles away; the limits bring them back."""
    rng = np.random.default_rng()
    weights = np.array([rng.multinomial(20_000, [0.55 / 99] * 45 + [0.45] + [0.55 / 99] * 54) for _ in range(200)])
    quartiles = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    column = ranked(quartiles, "gaussian", 0.05, 1.0, Buckets(0, 99, 1))
    assert all(draw.nested for draw in column.column.draws)
    for quantile, seen in zip(quartiles, column.measure(weights), strict=True):
        upto = np.cumsum(weights, axis=1)
        exact = np.argmax(upto >= float(quantile) * upto[:, -1:], axis=1)
        assert np.mean(np.abs(seen.points - exact)) < 1


def test_extremes_aim_a_few_noise_units_inside():
    assert lowest(Fraction(1, 2), REACH, buckets=1024) == Target(Fraction(0), 19 * 8)
    assert highest(Fraction(1, 2), REACH, buckets=1024) == Target(Fraction(1), -19 * 8)


@pytest.mark.parametrize("buckets", [1, 2, 50, 1024, 16_384])
def test_all_empty_buckets_beyond_an_extreme_together_weigh_a_tenth_of_the_one_that_is_aimed_at(buckets):
    aim = lowest(EPSILON, REACH, buckets)
    beyond = (buckets - 1) * math.exp(-float(EPSILON) / (2 * REACH.weight) * aim.shift)
    assert beyond <= 0.1
    assert aim.shift <= 2 * REACH.weight / EPSILON * (math.log(10 * buckets) + 1) + 1, (
        "and no further inside than needed"
    )


def test_values_that_were_rounded_widen_the_limits_by_half_a_step_within_the_range():
    seen = QuantilePoints(np.array([5, 5]), np.array([2, 0]), np.array([9, 40]))
    rounded = value_bounds(seen, offset=1.0, step=0.25, on_grid=False, lowest=1.0, highest=11.0)
    whole = value_bounds(seen, offset=1.0, step=0.25, on_grid=True, lowest=1.0, highest=11.0)
    assert (rounded.lower.tolist(), rounded.upper.tolist()) == ([1.375, 1.0], [3.375, 11.0])
    assert (whole.lower.tolist(), whole.upper.tolist()) == ([1.5, 1.0], [3.25, 11.0])
    assert rounded.notes == ["conservative", "conservative"]
