from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow.errors import InternalError
from hedgerow.release.ranks import _cut, _Part, draw_buckets, draw_nested, draw_points
from hedgerow.statistics.quantiles import BUCKETS, Buckets, Reach, Target, bucket_grid, extreme_is_safe, rank_scores

FALSE_ALARM = 1e-9
QUARTILES = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]


def fit(weights, target, epsilon, reach, assumed, log_probabilities):
    """The chi-square p-value of drawn buckets against the law of an assumed epsilon."""
    drawn = draw_buckets(np.tile(weights, (60_000, 1)), target, epsilon, reach)
    law = log_probabilities(np.array([weights]), target, assumed, reach)[0]
    expected = np.array([float(ball.exp().mid()) for ball in law]) * len(drawn)
    return stats.chisquare(np.bincount(drawn, minlength=len(weights)), expected, sum_check=False).pvalue


@pytest.mark.parametrize("target", [Target(Fraction(1, 2)), Target(Fraction(1, 10), 3), Target(Fraction(1), -9)])
def test_buckets_are_drawn_by_the_law_of_their_scores(target, log_probabilities):
    weights, epsilon, reach = [3, 0, 5, 1, 1, 6], Fraction(3, 2), Reach(rows=2, weight_bits=1)
    assert fit(weights, target, epsilon, reach, epsilon, log_probabilities) > FALSE_ALARM
    assert fit(weights, target, epsilon * Fraction(13, 10), reach, epsilon, log_probabilities) < FALSE_ALARM
    assert fit(weights, target, epsilon / Fraction(13, 10), reach, epsilon, log_probabilities) < FALSE_ALARM


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**5), st.integers(1, 5000))
def test_a_grid_covers_its_range_with_no_more_buckets_than_allowed(low, span, at_most):
    buckets = bucket_grid(low, low + span, at_most)
    assert buckets.count <= at_most
    assert buckets.first(0) == low
    assert buckets.last(buckets.count - 1) == low + span
    assert buckets.width == 1 or Buckets(low, low + span, buckets.width - 1).count > at_most


@given(st.integers(-50, 50), st.integers(0, 60), st.integers(1, 20), st.integers(-200, 200))
def test_every_point_lies_in_the_one_bucket_that_its_number_says(low, span, width, point):
    buckets = Buckets(low, low + span, width)
    clamped = min(max(point, low), low + span)
    holding = [j for j in range(buckets.count) if buckets.first(j) <= clamped <= buckets.last(j)]
    assert holding == [buckets.number(point)]
    assert sum(buckets.size(j) for j in range(buckets.count)) == span + 1


def test_a_point_is_uniform_in_its_bucket_and_never_leaves_the_range():
    buckets = Buckets(low=-3, high=13, width=7)
    points = draw_points(buckets, np.full(20_000, 1))
    counts = np.bincount(points - 4)
    assert len(counts) == 7
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    assert set(draw_points(buckets, np.full(200, 2)).tolist()) <= {11, 12, 13}


def test_columns_with_few_whole_values_keep_each_of_them():
    assert bucket_grid(0, BUCKETS - 1).width == 1
    assert bucket_grid(0, BUCKETS).width == 2


@pytest.mark.parametrize("wrong", [(1, 0, 1), (0, 5, 0)])
def test_a_grid_that_cannot_be_is_refused(wrong):
    with pytest.raises(InternalError, match="grid"):
        Buckets(*wrong)


def test_nested_quantiles_find_the_quantiles_of_large_groups():
    weights = np.full((3, 100), 10**6)
    drawn = draw_nested(weights, [Fraction(k, 10) for k in range(1, 10)], Fraction(1), Reach(1))
    assert np.all(np.abs(drawn - 10 * np.arange(1, 10)) <= 1)


def test_nested_quantiles_of_a_group_in_one_bucket_are_all_that_bucket():
    drawn = draw_nested(np.array([[0, 0, 10**9, 0, 0]]), QUARTILES, Fraction(1), Reach(1))
    assert drawn.tolist() == [[2, 2, 2]]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.integers(1, 9))
def test_nested_quantiles_ascend_and_stay_in_the_grid(weights, count):
    quantiles = [Fraction(k, count + 1) for k in range(1, count + 1)]
    drawn = draw_nested(np.array([weights, weights]), quantiles, Fraction(1), Reach(1))
    assert np.all(np.diff(drawn, axis=1) >= 0)
    assert drawn.min() >= 0
    assert drawn.max() < len(weights)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=7),
    st.lists(st.integers(0, 4), min_size=7, max_size=7),
    st.integers(0, 6),
)
def test_an_owner_adds_to_the_parts_of_a_level_no_more_than_it_adds_to_the_group(weights, owner, place):
    cut = np.array([min(place, len(weights) - 1)])
    ends = np.array([0]), np.array([len(weights) - 1])
    with_owner = [w + a for w, a in zip(weights, owner, strict=False)]
    parts = [
        _cut(_Part(np.array([table]), *ends, 0, 2, Fraction(0), Fraction(1)), 1, Fraction(1, 2), cut)
        for table in (weights, with_owner)
    ]
    added = [other.weights - one.weights for one, other in zip(*parts, strict=True)]
    assert len(added) == 2
    assert all(np.all(part >= 0) for part in added)
    assert sum(int(part.sum()) for part in added) == sum(owner[: len(weights)])


def test_the_parts_of_a_cut_hold_nothing_from_outside_their_range():
    whole = _Part(np.array([[5, 6, 7, 8]]), np.array([0]), np.array([3]), 0, 2, Fraction(0), Fraction(1))
    below, above = _cut(whole, 1, Fraction(1, 2), np.array([2]))
    assert below.weights.tolist() == [[5, 6, 3, 0]]
    assert above.weights.tolist() == [[0, 0, 4, 8]]
    assert (below.begin[0], below.end[0], above.begin[0], above.end[0]) == (0, 2, 2, 3)


def test_a_part_never_draws_outside_of_its_range():
    weights = np.zeros((500, 40), dtype=int)
    weights[:, 20] = 10**9
    drawn = draw_nested(weights, [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)], Fraction(1, 100), Reach(1))
    assert np.all(drawn[:, 0] <= drawn[:, 1])
    assert np.all(drawn[:, 1] <= drawn[:, 2])


@pytest.mark.parametrize(
    "quantiles", [[], [Fraction(1, 2)] * 2, [Fraction(3, 4), Fraction(1, 4)], [Fraction(0)], [Fraction(1)]]
)
def test_quantiles_that_cannot_be_nested_are_refused(quantiles):
    with pytest.raises(InternalError, match="Nested"):
        draw_nested(np.array([[1, 2]]), quantiles, Fraction(1), Reach(1))


@pytest.mark.parametrize(
    ("rows", "safe"), [(-5.0, False), (0.0, False), (151.9, False), (152.0, True), (Fraction(10**9), True)]
)
def test_an_extreme_is_shown_only_where_its_rank_is_in_the_outer_quarter_of_a_released_count(rows, safe):
    assert extreme_is_safe(rows, Fraction(1), Reach(rows=2), buckets=1024) is safe


def test_values_on_an_edge_and_beyond_the_range_count_in_one_bucket_each():
    buckets = Buckets(low=0, high=29, width=10)
    counts = np.bincount([buckets.number(point) for point in (-99, 0, 9, 10, 19, 20, 99)], minlength=3)
    assert counts.tolist() == [3, 2, 2]
    assert rank_scores(counts[None, :], Target(Fraction(1, 2))).tolist() == [[1, 0, 3]]
