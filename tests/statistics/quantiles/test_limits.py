"""Limits hold for every data set: the chance of a miss is computed from the exact law, not simulated."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hedgerow.release.quantiles import measure_extreme, measure_quantile
from hedgerow.statistics.quantiles import (
    Buckets,
    QuantilePoints,
    Reach,
    Target,
    highest,
    limit_shift,
    lower_target,
    lowest,
    rank_bound,
    rank_scores,
    upper_target,
    value_bounds,
)

BETA = 0.1
REACH = Reach(rows=2, weight_bits=1)
EPSILON = Fraction(3, 2)
QUANTILES = [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
SHAPES = [
    [0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0],
    [0, 0, 7, 0, 0],
    [1000, 0, 0, 0, 0],
    [0, 0, 1000, 0, 0],
    [10, 10, 10, 10, 10],
    [500, 1, 0, 1, 500],
    [0, 30, 0, 31, 0],
    [44, 0, 1, 0, 43],
]


def chance(law, misses):
    return sum(math.exp(float(ball.mid())) for ball, miss in zip(law, misses, strict=True) if miss)


def tables():
    tiny = list(product((0, 1, 9, 60), repeat=4))
    return np.array(tiny), np.array(SHAPES)


@pytest.mark.parametrize("quantile", QUANTILES)
@pytest.mark.parametrize("weights", tables(), ids=["tiny", "shapes"])
def test_a_limit_misses_with_at_most_its_chance_on_every_data_set(weights, quantile, log_probabilities):
    target = Target(quantile)
    shift = limit_shift(target, EPSILON, REACH, weights.shape[1], BETA)
    upto = np.cumsum(weights, axis=1)
    rank = np.array([quantile * int(total) for total in upto[:, -1]], dtype=object)[:, None]
    too_high = (upto - weights >= rank) & (np.arange(weights.shape[1]) > 0)
    too_low = (upto <= rank) & (np.arange(weights.shape[1]) < weights.shape[1] - 1)
    lower = log_probabilities(weights, lower_target(target, shift), EPSILON, REACH)
    upper = log_probabilities(weights, upper_target(target, shift), EPSILON, REACH)
    assert max(chance(law, misses) for law, misses in zip(lower, too_high, strict=True)) <= BETA
    assert max(chance(law, misses) for law, misses in zip(upper, too_low, strict=True)) <= BETA


def test_the_chance_of_a_miss_comes_close_to_what_is_allowed(log_probabilities):
    target, weights = Target(Fraction(0)), np.array([[0] * 49 + [10_000]])
    fine = Reach(rows=2, weight_bits=5)
    shift = limit_shift(target, EPSILON, fine, 50, BETA)
    law = log_probabilities(weights, upper_target(target, shift), EPSILON, fine)[0]
    assert 0.97 * BETA < chance(law, [True] * 49 + [False]) <= BETA


def test_a_smaller_shift_would_miss_too_often(log_probabilities):
    target, weights = Target(Fraction(0)), np.array([[0] * 49 + [10_000]])
    shift = limit_shift(target, EPSILON, REACH, 50, BETA) * 7 // 10
    law = log_probabilities(weights, upper_target(target, shift), EPSILON, REACH)[0]
    assert chance(law, [True] * 49 + [False]) > BETA


@pytest.mark.parametrize("target", [Target(Fraction(1, 2)), Target(Fraction(1, 10)), Target(Fraction(1, 2), 9)])
def test_ranks_are_within_the_rank_bound_as_often_as_it_says(target, log_probabilities):
    weights = tables()[0]
    bound = rank_bound(target, EPSILON, REACH, weights.shape[1], BETA)
    far = rank_scores(weights, target) >= bound * 2**REACH.weight_bits * target.quantile.denominator
    laws = log_probabilities(weights, target, EPSILON, REACH)
    assert max(chance(law, misses) for law, misses in zip(laws, far, strict=True)) <= BETA


def ask(weights, quantile=Fraction(1, 2), limit_epsilon=EPSILON):
    buckets = Buckets(low=-20, high=29, width=10)
    return measure_quantile(
        np.array(weights), buckets, quantile, epsilon=EPSILON, limit_epsilon=limit_epsilon, reach=REACH, beta=1e-12
    )


def test_the_limits_of_large_groups_close_in_on_the_bucket_of_the_quantile():
    seen = ask([[0, 0, 10**6, 0, 0], [10**6, 0, 0, 0, 0], [0, 0, 0, 0, 10**6]])
    assert seen.lower.tolist() == [0, -20, 20]
    assert seen.upper.tolist() == [9, -11, 29]
    assert np.all((seen.lower <= seen.points) & (seen.points <= seen.upper))


def test_the_limits_of_empty_and_tiny_groups_are_the_range():
    seen = ask([[0] * 5, [0, 0, 1, 0, 0]])
    assert seen.lower.tolist() == [-20, -20]
    assert seen.upper.tolist() == [29, 29]


def test_without_a_budget_for_limits_they_are_the_range():
    seen = ask([[0, 0, 10**6, 0, 0]], limit_epsilon=None)
    assert (seen.lower.tolist(), seen.upper.tolist()) == ([-20], [29])
    assert 0 <= seen.points[0] <= 9


@pytest.mark.parametrize("largest", [True, False])
def test_an_extreme_is_limited_on_its_inner_side_and_by_the_range_on_the_other(largest):
    buckets, weights = Buckets(low=-20, high=29, width=10), np.array([[0, 10**6, 10, 10**6, 0]])
    seen = measure_extreme(
        weights, buckets, largest=largest, epsilon=EPSILON, limit_epsilon=EPSILON, reach=REACH, beta=1e-12
    )
    assert (seen.lower[0], seen.upper[0]) == ((10, 29) if largest else (-20, -1))
    assert seen.lower[0] <= seen.points[0] <= seen.upper[0]


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
