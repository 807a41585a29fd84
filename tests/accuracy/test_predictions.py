"""Errors predicted from a noisy count: what they rest on, and that they hold whenever they are called valid."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accuracy import (
    average_error,
    balanced_budget,
    enough_rows,
    gaussian_error,
    gaussian_sigma,
    laplace_error,
    quotient_error,
    steady_sum,
    sum_uncertainty,
)
from hedgerow.arguments import MECHANISMS
from hedgerow.errors import ParameterError

FALSE_ALARM = 1e-9
TRIALS = 40_000
AGES = {"lower": 18, "upper": 65, "epsilon_count": 0.1, "epsilon_sum": 1.0, "beta": 0.05}
budget = st.floats(0.001, 0.9)
values = st.floats(0.01, 1000.0)
sizes = st.floats(1.0, 1e8)
gammas = st.floats(0.001, 0.99)


def noise(mechanism, epsilon, size):
    generator = np.random.default_rng()
    if mechanism == "laplace":
        return generator.laplace(0, size / epsilon, TRIALS)
    method = "classic" if mechanism == "gaussian" else "analytic"
    return generator.normal(0, gaussian_sigma(epsilon, 1e-6, size, method), TRIALS)


def delta(mechanism):
    return 0.0 if mechanism == "laplace" else 1e-6


def test_every_precondition_is_named_with_both_sides():
    actual = {condition.name: condition for condition in average_error(998, **AGES).conditions}
    assert set(actual) == {"range", "count", "budget", "sum"}
    assert actual["count"].left == pytest.approx(math.log(40) / 0.1 / 998)
    assert actual["count"].right == 0.1
    assert actual["budget"].left == pytest.approx(65)
    assert actual["budget"].right == pytest.approx(18 / 0.1 * 0.9 / 1.1)
    assert all(condition.holds is True for condition in actual.values())
    assert "fails" in str(average_error(10, **AGES).conditions[1])


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({"noisy_count": 300}, {"count"}),
        ({"noisy_count": -5000}, {"count", "sum"}),
        ({"epsilon_sum": 0.2}, {"budget"}),
        ({"lower": 0, "method": "published"}, {"range", "budget", "sum"}),
    ],
)
def test_the_conditions_that_fail_are_told(change, failing):
    actual = average_error(**{"noisy_count": 998, **AGES, **change})
    assert {condition.name for condition in actual.conditions if not condition.holds} == failing
    assert not actual.valid


def test_a_quotient_of_sums_asks_the_same_of_both_sums():
    options = {"epsilon_count": 0.05, "epsilon_sums": (1.0, 1.0), "beta": 0.05}
    actual = quotient_error(5000, lowers=(1, 2), uppers=(10, 5), **options)
    names = [condition.name for condition in actual.conditions]
    assert names[0] == "count"
    assert {"budget of the numerator", "budget of the denominator", "numerator", "denominator"} <= set(names)
    assert actual.valid
    wide = quotient_error(5000, lowers=(1, 2), uppers=(100, 5), **options)
    assert [condition.name for condition in wide.conditions if not condition.holds] == ["budget of the numerator"]


def test_the_formula_of_proposition_3_7_is_that_of_the_document():
    actual = quotient_error(5000, lowers=(1, 2), uppers=(10, 5), epsilon_count=0.05, epsilon_sums=(1.0, 0.5), beta=0.06)
    count, first, second = (laplace_error(s, e, 0.02) for s, e in ((1, 0.05), (10, 1.0), (5, 0.5)))
    left, right = 1 * (5000 - count) - first, 2 * (5000 - count) - second
    expected = (10 * (5000 + count) + first) / right * (first / left + second / right)
    assert actual.error == pytest.approx(expected)


@settings(deadline=None)
@given(count=sizes, low=values, ratio=st.floats(1, 100), epsilons=st.tuples(budget, budget), gamma=gammas)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_direct_error_is_never_above_the_published_one(mechanism, count, low, ratio, epsilons, gamma):
    options = {
        "lower": low,
        "upper": low * ratio,
        "epsilon_count": epsilons[0],
        "epsilon_sum": epsilons[1],
        "beta": 0.05,
        "gamma": gamma,
        "delta": delta(mechanism),
        "mechanism": mechanism,
    }
    direct, published = (average_error(count, method=method, **options) for method in ("direct", "published"))
    assert direct.valid
    assert direct.error <= published.error * (1 + 1e-9)


@settings(deadline=None)
@given(count=sizes, low=values, ratios=st.tuples(st.floats(1, 100), st.floats(1, 100)), epsilon=budget)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_direct_error_of_a_quotient_is_never_above_the_published_one(mechanism, count, low, ratios, epsilon):
    options = {
        "lowers": (low, 1.0),
        "uppers": (low * ratios[0], ratios[1]),
        "epsilon_count": epsilon,
        "epsilon_sums": (0.9, 0.7),
        "beta": 0.05,
        "delta": delta(mechanism),
        "mechanism": mechanism,
    }
    direct, published = (quotient_error(count, method=method, **options) for method in ("direct", "published"))
    assert direct.valid or not published.valid
    assert direct.error <= published.error * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("beta", [0.05, 0.005])
def test_proposition_3_6_holds_for_every_gamma_in_its_least_favourable_case(gamma, beta):
    """All values equal, hardly any noise in the sum, at the edge of the condition and around it.

    On the event that neither noise exceeds its bound, alpha* is at least (alpha_sum + upper alpha_count) / noisy count,
    which bounds |noise of the sum - average * noise of the count| / noisy count, the error itself.
    """
    bound = laplace_error(1.0, 1.0, beta / 2)
    for size in bound / gamma * np.array([0.5, 0.9, 1.0, 1.1, 2.0]):
        count = size + noise("laplace", 1.0, 1.0)
        actual = average_error(
            count, lower=1, upper=1, epsilon_count=1.0, epsilon_sum=1e6, beta=beta, gamma=gamma, method="published"
        )
        wrong = actual.valid & (np.abs(size / count - 1) > actual.error)
        assert wrong.sum() <= binom.isf(FALSE_ALARM, TRIALS, beta)


def test_without_the_last_factor_first_order_propagation_fails_more_often_than_promised():
    """Definition 2.8 as printed, at gamma = 0.5 and beta = 0.0025: about 2.5 beta, where 2 beta were promised."""
    beta, trials = 0.0025, 4_000_000
    bound = laplace_error(1.0, 1.0, beta)
    size = bound / 0.5
    count = size + np.random.default_rng().laplace(0, 1, trials)
    printed = np.abs(size / count) * bound / np.abs(count)
    wrong = np.sum(np.abs(size / count - 1) > printed)
    assert wrong > binom.isf(FALSE_ALARM, trials, 2 * beta)
    corrected = np.where(count > bound, printed / (1 - bound / count), np.inf)
    assert np.sum(np.abs(size / count - 1) > corrected) <= binom.isf(FALSE_ALARM, trials, beta)


@pytest.mark.parametrize(
    ("mu", "half", "error", "rows"),
    [(0.2367, 23.5, 1.0, 642.80), (0.2367, 49.5, 0.5, 2664.95), (0.0242, 49.5, 1.0, 13098.44)],
)
def test_the_quantile_of_both_noises_needs_fewer_rows_than_two_quantiles(mu, half, error, rows):
    """Centred values and equal noise: two quantiles at beta / 2 each need q + 2 q half / error rows."""
    epsilon = gaussian_epsilon(mu / math.sqrt(2), 1e-6)
    alone = gaussian_error(gaussian_sigma(epsilon, 1e-6), 0.025)
    assert alone + 2 * alone * half / error == pytest.approx(rows, abs=0.01)
    options = {"lower": -half, "upper": half, "beta": 0.05, "delta": 1e-6, "mechanism": "analytic"}
    actual = average_error(rows, epsilon_count=epsilon, epsilon_sum=epsilon, **options)
    assert actual.valid
    assert actual.error < 0.62 * error


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("low", "high", "mean"), [(-10, 30, 30), (-5, 0, -5), (-7, 7, 0), (0, 1, 0.3), (-9, -3, -9)])
def test_the_direct_error_holds_for_ranges_that_are_not_positive(mechanism, low, high, mean):
    options = {
        "epsilon_count": 0.3,
        "epsilon_sum": 0.2,
        "beta": 0.05,
        "delta": delta(mechanism),
        "mechanism": mechanism,
    }
    for size in (3, 40, 2000):
        count = size + noise(mechanism, 0.3, 1.0)
        total = size * mean + noise(mechanism, 0.2, max(abs(low), abs(high)))
        actual = average_error(count, lower=low, upper=high, **options)
        wrong = actual.valid & (np.abs(total / count - mean) > actual.error)
        assert wrong.sum() <= binom.isf(FALSE_ALARM, TRIALS, 0.05)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("below", [(2, 5), (-5, -2)])
def test_the_direct_error_of_a_quotient_holds_whatever_the_sign(mechanism, below):
    options = {"epsilon_count": 0.3, "epsilon_sums": (0.5, 0.5), "beta": 0.05, "delta": delta(mechanism)}
    for size in (30, 400):
        count = size + noise(mechanism, 0.3, 1.0)
        sums = [size * mean + noise(mechanism, 0.5, largest) for mean, largest in ((-4.0, 4), (below[0], 5))]
        actual = quotient_error(count, lowers=(-4, below[0]), uppers=(3, below[1]), mechanism=mechanism, **options)
        wrong = actual.valid & (np.abs(sums[0] / sums[1] - -4.0 / below[0]) > actual.error)
        assert wrong.sum() <= binom.isf(FALSE_ALARM, TRIALS, 0.05)
        assert np.any(actual.valid)


def test_a_denominator_that_may_be_zero_has_no_prediction():
    actual = quotient_error(1e6, lowers=(1, -1), uppers=(2, 1), epsilon_count=1.0, epsilon_sums=(1.0, 1.0), beta=0.05)
    assert not actual.valid
    assert math.isinf(actual.error)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_proposition_3_2_holds(mechanism):
    options = {"epsilon_count": 0.1, "beta": 0.05, "delta": delta(mechanism), "mechanism": mechanism}
    needed = enough_rows(1, **options).left
    actual = enough_rows(needed, **options)
    assert actual.holds
    assert not enough_rows(needed * 0.999, **options).holds
    count = needed + noise(mechanism, 0.1, 1.0)
    wrong = needed * 0.1 / 1.1 / np.abs(count) > 0.1
    assert wrong.sum() <= binom.isf(FALSE_ALARM, TRIALS, 0.05)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_propositions_3_3_to_3_5_hold(mechanism):
    options = {"lower": 2, "upper": 5, "epsilon_count": 0.1, "beta": 0.05, "delta": delta(mechanism)}
    size = enough_rows(1, epsilon_count=0.1, beta=0.05, delta=delta(mechanism), mechanism=mechanism).left * 1.01
    epsilon = 0.35
    assert all(condition.holds for condition in steady_sum(size, epsilon_sum=epsilon, mechanism=mechanism, **options))
    assert balanced_budget(
        lower=2, upper=5, epsilon_count=0.1, epsilon_sum=epsilon, delta=delta(mechanism), mechanism=mechanism
    ).holds
    count, total = size + noise(mechanism, 0.1, 1.0), 2 * size + noise(mechanism, epsilon, 5.0)
    bound = sum_uncertainty(count, epsilon_sum=epsilon, mechanism=mechanism, **options)
    least = sum_uncertainty(1e9, epsilon_sum=epsilon, mechanism=mechanism, **options) * 2e9  # alpha_sum, nearly
    wrong = least / np.abs(total) > bound * (1 + 1e-6)
    assert wrong.sum() <= binom.isf(FALSE_ALARM, TRIALS, 0.0975)
    assert np.mean(bound <= 0.1) > 0.9


def test_arrays_are_grids():
    counts = np.array([500.0, 998.0, 10006.0])
    grid = average_error(counts, **AGES)
    assert list(grid.error) == [average_error(count, **AGES).error for count in counts]
    assert list(grid.valid) == [True, True, True]
    assert average_error(counts[:, None], **{**AGES, "epsilon_sum": np.array([0.5, 1.0])}).error.shape == (3, 2)
    assert "2 of 3" in str(average_error(np.array([10, 998, 999]), **AGES).conditions[1])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"lower": 66}, "parameter-range"),
        ({"lower": 0, "upper": 0}, "parameter-range"),
        ({"delta": 1e-6}, "parameter-delta"),
        ({"mechanism": "gaussian"}, "parameter-probability"),
        ({"mechanism": "gaussian", "delta": 1e-6}, "parameter-classic"),
        ({"mechanism": "gauss"}, "parameter-choice"),
        ({"method": "best"}, "parameter-choice"),
        ({"gamma": 1.0}, "parameter-probability"),
        ({"beta": 0.0}, "parameter-probability"),
        ({"epsilon_sum": 0.0}, "parameter-positive"),
        ({"noisy_count": math.inf}, "parameter-number"),
    ],
)
def test_what_cannot_be_is_refused_by_its_code(change, code):
    with pytest.raises(ParameterError) as caught:
        average_error(**{"noisy_count": 998, **AGES, **change})
    assert caught.value.code == code


@pytest.mark.parametrize("wrong", [1.0, (1.0,), (1.0, 2.0, 3.0), np.array([1.0, 2.0])])
def test_a_quotient_needs_pairs(wrong):
    with pytest.raises(ParameterError) as caught:
        quotient_error(100, lowers=wrong, uppers=(2, 2), epsilon_count=1, epsilon_sums=(1, 1), beta=0.05)
    assert caught.value.code == "parameter-pair"
