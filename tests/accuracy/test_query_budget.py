"""The bounds of the query-budget note hold in simulation; as printed, the one for variances does not."""

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.accounting import QueryBudget, query_budget_delta
from hedgerow.accuracy import mean_bound, variance_bound
from hedgerow.errors import ParameterError

FALSE_ALARM = 1e-9
ALPHA = 0.05
TRIALS = 20_000
SETTINGS = [(2000, 0.5, 0.29), (5000, 0.1, 0.1), (2000, -0.5, 0.29), (1200, -0.9, 0.05)]
SIGMA = 92.0


def trials(count, mean, deviation):
    """Noisy counts, sums and sums of squares around exact ones, with values of at most 1."""
    generator = np.random.default_rng()
    square = mean**2 + deviation**2
    exact = np.array([count, count * mean, count * square])
    return exact + SIGMA * generator.standard_normal((TRIALS, 3)), mean, deviation**2


def most(rate):
    """More failures than this are no accident."""
    return binom.isf(FALSE_ALARM, TRIALS, rate)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_bound_of_a_mean_holds(setting):
    noisy, mean, _ = trials(*setting)
    failures = 0
    for n, s, _ in noisy:
        bound = mean_bound(n, s, SIGMA, SIGMA, ALPHA)
        failures += bound is not None and abs(s / n - mean) >= bound
    assert failures <= most(ALPHA)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_bound_of_a_variance_holds(setting):
    noisy, _, variance = trials(*setting)
    failures = 0
    for n, s, q in noisy:
        bound = variance_bound(n, s, q, SIGMA, SIGMA, SIGMA, ALPHA)
        failures += bound is not None and abs(q / n - (s / n) ** 2 - variance) >= bound
    assert failures <= most(1.5 * ALPHA)


def test_as_printed_the_bound_of_a_variance_fails_for_negative_means():
    noisy, _, variance = trials(1200, -0.9, 0.05)
    failures = 0
    for n, s, q in noisy:
        mean, square = mean_bound(n, s, SIGMA, SIGMA, ALPHA), mean_bound(n, q, SIGMA, SIGMA, ALPHA)
        if mean is not None and square is not None:
            printed = square + mean * (mean + 2 * s / n)
            failures += abs(q / n - (s / n) ** 2 - variance) >= printed
    assert failures > TRIALS / 2


def test_nothing_is_said_where_the_count_may_be_small():
    edge = 2 * np.sqrt(2 * np.log(4 / ALPHA)) * SIGMA
    assert mean_bound(edge, 10.0, SIGMA, SIGMA, ALPHA) is None
    assert mean_bound(edge * 1.001, 10.0, SIGMA, SIGMA, ALPHA) is not None
    assert variance_bound(edge, 10.0, 5.0, SIGMA, SIGMA, SIGMA, ALPHA) is None


def test_the_example_of_the_document():
    published = QueryBudget(2000, 3.0, query_budget_delta(100_000))
    exact = QueryBudget(2000, 3.0, query_budget_delta(100_000), "exact")
    assert published.sigma == pytest.approx(2.040663, abs=1e-6)
    assert published.noise() == pytest.approx(91.2612, abs=1e-4)
    assert exact.sigma == pytest.approx(1.753298, abs=1e-6)
    assert exact.noise() == pytest.approx(78.4099, abs=1e-3)


@pytest.mark.parametrize("wrong", [(0.0, 1.0), (1.0, 1.0), (0.05, 0.0), (0.05, -1.0), (float("nan"), 1.0)])
def test_parameters_that_cannot_be_are_refused(wrong):
    alpha, sigma = wrong
    with pytest.raises(ParameterError):
        mean_bound(1000.0, 10.0, sigma, 1.0, alpha)
