"""Means of noisy ratios, and corrections."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from hedgerow import Gaussian, Laplace
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio import binomial_prior, debias, expected_ratio


@pytest.mark.parametrize(
    ("x", "y", "epsilon", "mean"),
    [(100, 100, 0.5, 1.003265), (50, 30, 1.0, 1.682434), (10, 10, 1.0, 1.150865), (100, 100, 0.1, 1.497028)],
)
def test_the_mean_of_a_noisy_ratio_is_that_of_claim_3_4(x, y, epsilon, mean):
    assert round(expected_ratio(x, y, epsilon=epsilon), 6) == mean


@pytest.mark.parametrize("y", [0.0, 0.5, 1.0, 3.0, 59.0, 61.0])
@pytest.mark.parametrize("scale", [0.02, 1.0, 30.0])
def test_the_mean_agrees_with_integration(y, scale):
    def weighted(v):
        return math.exp(-abs(v - y) / scale) / (2 * scale * max(v, 1.0))

    edges = sorted({y - 45 * scale, y, y + 45 * scale, *([1.0] if abs(1 - y) < 45 * scale else [])})
    exact = sum(quad(weighted, a, b, epsabs=1e-14, epsrel=1e-12, limit=300)[0] for a, b in itertools.pairwise(edges))
    assert abs(expected_ratio(1, y, scale=scale) - exact) < 1e-10


def test_the_mean_is_continuous_where_the_series_begins_and_tends_to_the_ratio():
    steps = expected_ratio(1.0, np.array([60 - 1e-9, 60 + 1e-9]), scale=1.0)
    assert math.isclose(steps[0], steps[1], rel_tol=1e-9)
    assert math.isclose(expected_ratio(3, 1e9, epsilon=1.0), 3e-9, rel_tol=1e-12)
    assert math.isclose(expected_ratio(3, 1e4, epsilon=1.0) / 3e-4 - 1, 8e-8, rel_tol=1e-3)


def test_noise_makes_the_mean_larger_never_smaller():
    y = np.arange(5, 300)
    assert np.all(expected_ratio(1.0, y, epsilon=1.0) > 1 / y)


def test_a_noisy_logarithm_has_a_constant_correction_above_an_epsilon_of_ln_2():
    assert math.isclose(debias(2.0, estimator="noisy_log", epsilon=1.0), 2 * (1 - math.log(2) ** 2))
    with pytest.raises(ConditionNotMet, match="no mean"):
        debias(2.0, estimator="noisy_log", epsilon=0.69)


def test_a_correction_under_a_prior_takes_the_bias_away_on_average():
    prior = binomial_prior(40, 0.4)
    weights = np.array(list(prior.values()))
    counts = np.array(list(prior))
    noisy = np.sum(weights * expected_ratio(7.0, counts, epsilon=0.8))
    assert math.isclose(debias(noisy, epsilon=0.8, prior=prior), np.sum(weights * 7.0 / counts), rel_tol=1e-12)
    assert math.isclose(weights.sum(), 1.0)


def test_the_plug_in_correction_removes_most_of_the_bias():
    y, scale = 60, 4.0
    mean = expected_ratio(30, y, scale=scale)
    left = debias(mean, denominator=y, noise=Laplace(scale)) - 0.5
    assert abs(left) < (mean - 0.5) / 10
    assert math.isclose(debias(1.0, denominator=100.0, noise=Gaussian(10.0)), 0.99)


def test_near_zero_there_is_no_plug_in_correction():
    with pytest.raises(ConditionNotMet, match="five standard deviations"):
        debias(1.0, denominator=40.0, noise=Gaussian(10.0))


@pytest.mark.parametrize(
    "options",
    [{}, {"epsilon": 1.0, "scale": 1.0, "prior": {3: 1.0}}, {"epsilon": 1.0, "prior": {0: 1.0}}, {"denominator": 9.0}],
)
def test_a_correction_that_cannot_be_is_refused(options):
    with pytest.raises(ParameterError):
        debias(1.0, **options)


def test_a_negative_exact_count_is_refused():
    with pytest.raises(ParameterError, match="exact count"):
        expected_ratio(1, -1, epsilon=1.0)
