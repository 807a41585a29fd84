"""Impossible input is refused with a code, and NumPy's numbers are numbers, in every public formula."""

import math

import numpy as np
import pytest

from hedgerow import Gaussian, Laplace, accounting, accuracy, ratio, testing, tuner
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.execution.request import error_target, real, whole
from hedgerow.testing import tolerance

SUMS = {"count": 100, "centred_sum": 30.0, "square_sum": 200.0, "half_range": 4.0}
TOLERANCES = {"count_tolerance": 1.0, "sum_tolerance": 4.0, "square_tolerance": 16.0}
AGES = {"lower": 18, "upper": 65, "epsilon_count": 0.1, "epsilon_sum": 1.0, "beta": 0.05}

FORMULAS = {
    "gaussian_sigma": (accuracy.gaussian_sigma, {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 2.0}),
    "laplace_error": (accuracy.laplace_error, {"sensitivity": 1.0, "epsilon": 1.0, "beta": 0.05}),
    "gaussian_error": (accuracy.gaussian_error, {"sigma": 1.0, "beta": 0.05}),
    "average_error": (accuracy.average_error, {"noisy_count": 998, **AGES}),
    "enough_rows": (accuracy.enough_rows, {"count": 998, "epsilon_count": 0.1, "beta": 0.05}),
    "steady_sum": (accuracy.steady_sum, {"count": 998, **AGES}),
    "sum_uncertainty": (accuracy.sum_uncertainty, {"noisy_count": 998, **AGES}),
    "unknown_size": (tuner.unknown_size, {"epsilon_count": 0.1, "beta": 0.05, "lower": 1, "upper": 10}),
    "known_size": (tuner.known_size, {"noisy_count": 1e5, "epsilon_count": 0.1, "beta": 0.05, "lower": 1, "upper": 9}),
    "gaussian_mu": (accounting.gaussian_mu, {"epsilon": 1.0, "delta": 1e-6}),
    "pure_mu": (accounting.pure_mu, {"epsilon": 1.0}),
    "threshold": (accounting.threshold, {"k": 5, "sigma": 3.0, "delta": 1e-6, "groups": 2}),
    "relative_risk": (ratio.relative_risk, {"x": 60, "y": 30, "n_x": 100, "n_y": 100}),
    "odds_ratio": (ratio.odds_ratio, {"x": 60, "y": 30, "n_x": 100, "n_y": 100}),
    "risk_difference": (ratio.risk_difference, {"x": 60, "y": 30, "n_x": 100, "n_y": 100}),
    "sample_accuracy": (ratio.sample_accuracy, {"x": 60, "y": 30, "epsilon": 1.0, "alpha": 0.1}),
    "expected_ratio": (ratio.expected_ratio, {"x": 60, "y": 30, "epsilon": 1.0}),
    "smooth_sensitivity": (ratio.smooth_sensitivity, {"x": 6, "y": 3, "n_x": 30, "n_y": 30, "smoothness": 0.1}),
    "tolerance.laplace": (tolerance.laplace, {"sensitivity": 1.0, "epsilon": 1.0, "k": 9}),
    "tolerance.gaussian": (tolerance.gaussian, {"sigma": 1.0, "k": 9}),
    "tolerance.partitions": (tolerance.partitions, {"k": 9, "n": 4}),
    "tolerance.variance": (tolerance.variance, {**SUMS, **TOLERANCES}),
    "draws_needed": (testing.draws_needed, {"law": "laplace", "scale": 2.0}),
}


ARGUMENTS = [
    pytest.param(formula, given, argument, id=f"{name}-{argument}")
    for name, (formula, given) in FORMULAS.items()
    for argument, value in given.items()
    if not isinstance(value, str)
]
NO_NUMBERS = (math.nan, math.inf, -math.inf, True, "1", None, np.bool_(1), [math.nan])


@pytest.mark.parametrize(("formula", "given", "argument"), ARGUMENTS)
def test_what_is_no_number_is_refused(formula, given, argument):
    for wrong in NO_NUMBERS:
        with pytest.raises(ParameterError):
            formula(**{**given, argument: wrong})


@pytest.mark.parametrize(("formula", "given", "argument"), ARGUMENTS)
def test_numpy_numbers_are_numbers(formula, given, argument):
    value, expected = given[argument], formula(**given)
    for same in (np.asarray(value)[()], np.asarray(value)):
        assert repr(formula(**{**given, argument: same})) == repr(expected)


@pytest.mark.parametrize("name", ["gaussian_sigma", "laplace_error", "relative_risk", "odds_ratio", "risk_difference"])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (1, 1)])
def test_shapes_are_kept(name, shape):
    formula, given = FORMULAS[name]
    first, value = next(iter(given.items()))
    result = formula(**{**given, first: np.full(shape, value)})
    for array in [result] if isinstance(result, np.ndarray) else [result.value, result.p_value, result.interval.lower]:
        assert array.shape == shape
        assert np.all(array == array.flat[0])


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3)])
@pytest.mark.parametrize("method", ["exact", "basic", "fractional"])
def test_intervals_of_quotients_keep_their_shape(shape, method):
    noise = {"numerator_noise": Laplace(65.0), "denominator_noise": Laplace(10.0), "method": method}
    table = accuracy.quotient_interval(np.full(shape, 41500.0), 998.0, **noise)
    single = accuracy.quotient_interval(41500.0, 998.0, **noise)
    assert table.lower.shape == shape
    assert np.allclose(table.lower, single.lower)


@pytest.mark.parametrize("law", [Gaussian, Laplace])
@pytest.mark.parametrize("wrong", [-1, -1e-300, math.nan, math.inf, "1", None, True])
def test_a_noise_that_cannot_be_cannot_be_made(law, wrong):
    with pytest.raises(ParameterError):
        law(wrong)
    with pytest.raises(ParameterError):
        Laplace(1.0, step=wrong)


@pytest.mark.parametrize("statistic", [ratio.relative_risk, ratio.odds_ratio, ratio.risk_difference])
@pytest.mark.parametrize("count", [300, -3])
def test_more_outcomes_than_people_are_refused(statistic, count):
    for given in ({"x": count, "y": 30}, {"x": 30, "y": count}, {"x": [20, count], "y": 30}):
        with pytest.raises(ParameterError) as caught:
            statistic(**given, n_x=100, n_y=100)
        assert caught.value.code == "parameter-range"


def test_noise_may_put_a_count_outside_of_its_group_but_not_anywhere():
    assert ratio.relative_risk(-3, 30, 100, 100, noise=Laplace(1.0)).value < 0
    assert ratio.relative_risk(103, 30, 100, 100, noise=Gaussian(1.0)).value > 3
    assert ratio.relative_risk(103, 30, 100, 100, size_noise=Gaussian(1.0)).value > 3
    assert ratio.relative_risk(103, 30, 100, 100, rest_noise=Gaussian(1.0)).value > 3
    for impossible in ({"x": -3, "rest_noise": Gaussian(1.0)}, {"x": 300, "noise": Laplace(1.0)}):
        with pytest.raises(ParameterError):
            ratio.relative_risk(**{"x": 0, "y": 30, "n_x": 100, "n_y": 100, **impossible})


@pytest.mark.parametrize(
    "change",
    [
        {"square_sum": 8.9},  # below 30^2 / 100
        {"square_sum": 1600.1},  # above 100 x 4^2
        {"centred_sum": 401.0, "square_sum": 1600.0},
        {"centred_sum": -401.0, "square_sum": 1600.0},
    ],
)
def test_sums_that_no_values_have_are_refused(change):
    with pytest.raises(ParameterError) as caught:
        tolerance.variance(**{**SUMS, **TOLERANCES, **change})
    assert caught.value.code == "parameter-sums"
    with pytest.raises(ParameterError):
        tolerance.complementary_variance(**{**SUMS, **change}, count_tolerance=1.0, square_complementary=1e-6)


@pytest.mark.parametrize("square_sum", [9.0, 1600.0])
def test_the_ends_of_what_values_can_have_are_allowed(square_sum):
    assert tolerance.variance(**{**SUMS, **TOLERANCES, "square_sum": square_sum}).lower >= 0


@pytest.mark.parametrize("epsilon", [1e-320, 5e-324])
@pytest.mark.parametrize("name", ["laplace_error", "sample_accuracy", "expected_ratio", "tolerance.laplace"])
def test_an_epsilon_that_overflows_is_a_clear_error(name, epsilon):
    formula, given = FORMULAS[name]
    with pytest.raises((ParameterError, ConditionNotMet)) as caught:
        formula(**{**given, "epsilon": epsilon})
    assert "2.2e-308" in str(caught.value)


def test_the_sum_condition_prints_the_comparison_that_is_made():
    *_, budget = accuracy.steady_sum(998, **AGES)
    assert str(budget) == "upper / epsilon_sum <= lower / epsilon_count: 65 and 180, holds"
    *_, budget = accuracy.steady_sum(998, delta=1e-6, mechanism="analytic", **AGES)
    assert "(1 - gamma)" not in budget.statement


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.asarray(0.5)])
def test_options_of_a_statement_take_numpy_numbers(number):
    assert real("epsilon", number, 0.0, 1.0) == 0.5
    assert error_target((number, np.int64(1000))) == error_target((0.5, 1000))
    assert whole("max_rows", np.int32(4), 1, 10) == 4
    for wrong in (np.bool_(1), np.array([0.5]), np.float64("nan")):
        with pytest.raises(ParameterError):
            real("epsilon", wrong, 0.0, 1.0)
