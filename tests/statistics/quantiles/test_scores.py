"""One owner moves every score by at most max(q, 1 - q) times its weight, and some bucket always scores 0."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.statistics.quantiles import Reach, Target, rank_scores, score_rate

QUANTILES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(19, 20), Fraction(1)]
SHIFTS = [-5, -1, 0, 2, 9]


def exact_scores(weights, target):
    """The definition, one bucket at a time."""
    wanted = target.quantile * sum(weights) + target.shift
    last = len(weights) - 1
    return [
        max(
            Fraction(0),
            sum(weights[:j]) - wanted if j > 0 else Fraction(0),
            wanted - sum(weights[: j + 1]) if j < last else Fraction(0),
        )
        for j in range(len(weights))
    ]


def tiny(most, buckets=3):
    return np.array(list(product(range(most + 1), repeat=buckets)))


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_scores_are_the_distance_of_the_rank_from_what_a_bucket_covers(quantile, shift):
    target, tables = Target(quantile, shift), tiny(3)
    scores = rank_scores(tables, target)
    for row, table in zip(scores.tolist(), tables.tolist(), strict=True):
        assert [Fraction(score, quantile.denominator) for score in row] == exact_scores(table, target)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_an_owner_moves_no_score_by_more_than_its_weight_times_the_larger_share(quantile, shift):
    target, tables = Target(quantile, shift), tiny(3)
    before = rank_scores(tables, target)
    for owner in tiny(2):
        moved = np.abs(rank_scores(tables + owner, target) - before)
        assert np.max(moved) <= target.larger_share * int(owner.sum()) * quantile.denominator


@pytest.mark.parametrize("quantile", QUANTILES)
def test_the_bound_on_scores_is_reached(quantile):
    target, tables = Target(quantile), tiny(3)
    moved = max(
        np.max(np.abs(rank_scores(tables + owner, target) - rank_scores(tables, target)))
        for owner in np.eye(3, dtype=int)
    )
    assert moved == target.larger_share * quantile.denominator


@given(
    st.lists(st.integers(0, 2**90), min_size=1, max_size=8),
    st.data(),
    st.fractions(0, 1, max_denominator=1000),
    st.integers(-(2**90), 2**90),
)
def test_scores_of_any_size_stay_exact_and_within_the_bound(weights, data, quantile, shift):
    target = Target(quantile, shift)
    owner = data.draw(st.lists(st.integers(0, 2**31), min_size=len(weights), max_size=len(weights)))
    table = np.array([weights, [w + a for w, a in zip(weights, owner, strict=True)]], dtype=object)
    without, with_owner = rank_scores(table, target).tolist()
    assert [Fraction(score, quantile.denominator) for score in without] == exact_scores(weights, target)
    for one, other in zip(without, with_owner, strict=True):
        assert abs(one - other) <= target.larger_share * sum(owner) * quantile.denominator


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=8), st.fractions(0, 1, max_denominator=50), st.integers(-50, 50)
)
def test_some_bucket_always_scores_zero(weights, quantile, shift):
    assert np.min(rank_scores(np.array([weights]), Target(quantile, shift))) == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.fractions(0, 1, max_denominator=50))
def test_the_buckets_that_score_zero_are_those_that_hold_a_quantile(weights, quantile):
    wanted = quantile * sum(weights)
    holding = [sum(weights[:j]) <= wanted <= sum(weights[: j + 1]) for j in range(len(weights))]
    assert (rank_scores(np.array([weights]), Target(quantile))[0] == 0).tolist() == holding


def test_numbers_too_large_for_64_bits_give_the_same_scores():
    small, target = np.array([[3, 1, 2, 9]]), Target(Fraction(3, 7))
    large = rank_scores(small * 2**58, target)
    assert large.dtype == object
    assert (large == rank_scores(small, target).astype(object) * 2**58).all()


def test_the_rate_turns_the_largest_move_of_a_full_owner_into_half_of_epsilon():
    target, reach, epsilon = Target(Fraction(19, 20)), Reach(rows=3, weight_bits=4), Fraction(7, 5)
    largest_move = target.larger_share * reach.weight * target.quantile.denominator
    assert score_rate(target, epsilon, reach) * largest_move == epsilon / 2


@pytest.mark.parametrize("quantile", [Fraction(-1, 2), Fraction(3, 2), Fraction(1, 2**65)])
def test_a_quantile_that_cannot_be_is_refused(quantile):
    with pytest.raises(InternalError, match="quantile"):
        Target(quantile)


@pytest.mark.parametrize("weights", [np.array([1, 2]), np.array([[0.5]]), np.empty((1, 0), dtype=int)])
def test_weights_that_are_no_table_of_whole_numbers_are_refused(weights):
    with pytest.raises(InternalError, match="whole numbers"):
        rank_scores(weights, Target(Fraction(1, 2)))
