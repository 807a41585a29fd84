"""Planning an experiment, lifts, splits and parts of a width."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from hedgerow import Gaussian, Laplace
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio import (
    count_noise,
    detectable_ratio,
    epsilon_needed,
    lift,
    people_needed,
    plan_experiment,
    power,
    relative_risk,
    sample_accuracy,
    split_epsilon,
    width_parts,
)
from hedgerow.statistics.two_by_two.arms import Arm, public_size
from hedgerow.statistics.two_by_two.curves import RISK_DIFFERENCE
from hedgerow.statistics.two_by_two.score import Score


def test_power_without_noise_is_the_textbook_formula():
    pooled, gap = 0.11, 0.02
    null = math.sqrt(2 * pooled * (1 - pooled) / 4000)
    real = math.sqrt((0.12 * 0.88 + 0.10 * 0.90) / 4000)
    z = -ndtri(0.025) * null
    assert math.isclose(power(0.12, 0.10, 4000, 4000), ndtr((gap - z) / real) + ndtr((-gap - z) / real), rel_tol=1e-9)


@pytest.mark.parametrize("noise", [Laplace(6.0), Gaussian(9.0)])
@pytest.mark.parametrize("rates", [(0.2, 0.1), (0.1, 0.1)])
def test_power_is_how_often_a_difference_is_found(noisy_groups, false_alarm, noise, rates):
    draws = 20_000
    arms = [Arm(noisy_groups(rate, 300, noise, draws), np.full(draws, 300.0), public_size(noise)) for rate in rates]
    actual = Score(arms[0], arms[1], RISK_DIFFERENCE).p_value(np.zeros(draws))
    chance = power(*rates, 300, 300, noise=noise)
    seen = np.sum(actual < 0.05)
    assert binom.ppf(false_alarm, draws, chance - 0.015) <= seen <= binom.isf(false_alarm, draws, chance + 0.015)


def test_the_detectable_ratio_is_detected_just_often_enough():
    noise = count_noise(0.5)
    ratio = detectable_ratio(0.1, 4000, 4000, noise=noise)
    assert math.isclose(power(0.1 * ratio, 0.1, 4000, 4000, noise=noise), 0.8, rel_tol=1e-6)


def test_more_people_and_more_epsilon_see_smaller_effects():
    ratios = [detectable_ratio(0.1, n, n, noise=count_noise(e)) for n, e in ((500, 0.2), (2000, 0.2), (2000, 2.0))]
    assert ratios == sorted(ratios, reverse=True)


def test_too_few_people_see_nothing():
    with pytest.raises(ConditionNotMet, match="No difference"):
        detectable_ratio(0.1, 5, 5, noise=Laplace(20.0))
    with pytest.raises(ConditionNotMet, match="even without noise"):
        epsilon_needed(1.2, rate=0.1, n_x=100, n_y=100)


@pytest.mark.parametrize("balance", [1.0, 0.25])
def test_one_person_less_is_not_enough(balance):
    n_x, n_y = people_needed(1.2, rate=0.1, noise=count_noise(0.5), balance=balance)
    assert power(0.12, 0.1, n_y * balance, n_y, noise=count_noise(0.5)) >= 0.8
    assert power(0.12, 0.1, (n_y - 1) * balance, n_y - 1, noise=count_noise(0.5)) < 0.8
    assert n_x == math.ceil(n_y * balance)


def test_a_smaller_risk_can_be_planned_for_too():
    assert people_needed(0.8, rate=0.1)[0] > 1000


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_the_epsilon_needed_is_enough_and_little_less_is_not(delta):
    epsilon = epsilon_needed(1.2, rate=0.1, n_x=4000, n_y=4000, delta=delta)
    assert power(0.12, 0.1, 4000, 4000, noise=count_noise(epsilon, delta=delta)) >= 0.8
    assert power(0.12, 0.1, 4000, 4000, noise=count_noise(0.98 * epsilon, delta=delta)) < 0.8


def test_a_plan_says_what_privacy_costs_in_people():
    plan = plan_experiment(1.2, [0.05, 0.5, 5.0], rate=0.1).to_pydict()
    assert plan["n_y"] == sorted(plan["n_y"], reverse=True)
    assert plan["price"][0] > 1.5
    assert 1.0 <= plan["price"][2] < 1.01
    assert plan["n_y_exact"][0] == people_needed(1.2, rate=0.1)[1]


@pytest.mark.parametrize("ratio", [1.0, 10.0])
def test_an_effect_that_cannot_be_is_refused(ratio):
    with pytest.raises(ParameterError):
        people_needed(ratio, rate=0.1)


def test_a_lift_is_a_relative_risk_less_one():
    actual = lift((540, 4000), (460, 4000), noise=Laplace(2.0))
    ratio = relative_risk(540, 460, 4000, 4000, noise=Laplace(2.0))
    assert actual.value == ratio.value - 1
    assert actual.interval.lower == ratio.interval.lower - 1
    assert actual.p_value == ratio.p_value
    assert actual.rates == (0.135, 0.115)
    assert math.isclose(actual.difference.value, 0.02)
    assert lift((540, 4000), (460, 4000), method="log").difference.method == "auto"


@pytest.mark.parametrize("treatment", [540, (540,), ([540, 541], 4000)])
def test_a_group_is_a_pair(treatment):
    with pytest.raises(ParameterError) as caught:
        lift(treatment, (460, 4000))
    assert caught.value.code == "parameter-pair"


def test_the_best_split_beats_the_even_one_and_its_neighbours():
    even = sample_accuracy(200, 30, epsilon=2.0, alpha=0.7)
    best = split_epsilon(200, 30, epsilon=2.0, alpha=0.7)
    assert best.failure < even
    for share in (best.share - 0.02, best.share + 0.02):
        scale = 1 / (2 * share), 1 / (2 * (1 - share))
        assert sample_accuracy(200, 30, epsilon=2.0, alpha=0.7, scale=scale) > best.failure


def test_to_first_order_the_denominator_gets_the_ratio_to_the_power_of_two_thirds():
    actual = split_epsilon(80, 10, epsilon=1.0)
    assert math.isclose(actual.epsilon_y / actual.epsilon_x, 4.0)
    assert math.isclose(actual.epsilon_x + actual.epsilon_y, 1.0)
    assert split_epsilon(50, 50, epsilon=1.0).share == 0.5


def test_the_parts_of_a_width_add_up_in_squares():
    actual = width_parts(100, 50, 150, 150, noise=Laplace(2.0))
    assert math.isclose(actual.sampling**2 + actual.privacy**2, actual.total**2)
    assert math.isclose(actual.privacy**2, 8 * (1 / 100**2 + 1 / 50**2))
    assert math.isclose(actual.sampling**2, 1 / 100 - 1 / 150 + 1 / 50 - 1 / 150)
    log = relative_risk(100, 50, 150, 150, noise=Laplace(2.0), method="log").interval
    assert math.isclose(math.log(log.upper / log.lower), 2 * 1.959963984540054 * actual.total)


def test_noise_is_a_problem_only_where_sampling_is():
    widening = width_parts(
        np.array([10, 100, 1000]), np.array([10, 100, 1000]), 20_000, 20_000, noise=Laplace(4.0)
    ).widening
    assert np.all(np.diff(widening) < 0)
    assert widening[0] > 2
    assert widening[2] < 1.02


@pytest.mark.parametrize(("statistic", "stretch"), [("risk_difference", 1.0), ("odds_ratio", 16.0)])
def test_parts_are_there_for_the_other_statistics(statistic, stretch):
    actual = width_parts(50, 50, 100, 100, noise=Gaussian(5.0), statistic=statistic)
    assert math.isclose(actual.privacy**2, stretch * 2 * 25 / 100**2)
