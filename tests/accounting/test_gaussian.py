"""The exact profile of Gaussian noise, against the tables of the specification and against integration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.accounting import bounded_range_mu, gaussian_delta, gaussian_epsilon, gaussian_mu, pure_mu, zcdp_delta
from hedgerow.errors import ParameterError

SIGMAS = [
    (0.1, 1e-5, 30.749566),
    (0.1, 1e-7, 41.329452),
    (0.5, 1e-6, 8.057618),
    (1, 1e-5, 3.730632),
    (1, 1e-6, 4.224679),
    (1, 1e-10, 5.867778),
    (3, 10**-7.5, 1.753298),
    (5, 1e-6, 0.980049),
    (10, 1e-5, 0.499889),
]

EPSILONS = [
    (0.1, 1e-6, 0.39685738),
    (0.5, 1e-6, 2.25408465),
    (1.0, 1e-6, 4.88655412),
    (2.0, 1e-6, 10.99715121),
    (0.5, 1e-10, 3.09943033),
]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def integrated_delta(epsilon, mu):
    """The profile as the integral of its slope in mu, which has no cancellation."""
    least = max(epsilon / 45, mu * 1e-16)
    half = math.log(mu / least) / 2
    points = least * np.exp(half * (NODES + 1))
    slope = np.exp(-((epsilon / points - points / 2) ** 2) / 2) / math.sqrt(2 * math.pi)
    return float(np.sum(WEIGHTS * slope * points) * half)


@pytest.mark.parametrize(("epsilon", "delta", "sigma"), SIGMAS)
def test_noise_is_that_of_the_table(epsilon, delta, sigma):
    assert 1 / gaussian_mu(epsilon, delta) == pytest.approx(sigma, abs=6e-7)


@pytest.mark.parametrize(("mu", "delta", "epsilon"), EPSILONS)
def test_epsilon_is_that_of_the_table(mu, delta, epsilon):
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, abs=6e-9)


@pytest.mark.parametrize(
    ("mu", "delta", "epsilon"), [(0.1, 1e-6, 0.429941), (2.0, 1e-6, 11.688596), (0.5, 1e-10, 3.243613)]
)
def test_zcdp_converts_as_in_the_table(mu, delta, epsilon):
    assert zcdp_delta(epsilon, mu**2 / 2) == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize(
    ("sigma", "epsilon", "delta"), [(48.448053, 0.1, 2.636e-9), (0.484481, 10, 2.265e-5), (6.818943, 1, 1.559e-13)]
)
def test_the_classic_rule_has_the_delta_of_the_table(sigma, epsilon, delta):
    assert gaussian_delta(epsilon, 1 / sigma) == pytest.approx(delta, rel=5e-4)


@settings(deadline=None)
@given(st.floats(1e-6, 8.0), st.floats(-5.0, 12.0))
def test_delta_agrees_with_integration_to_ten_digits(mu, distance):
    epsilon = max(0.0, mu * (mu / 2 + distance))
    assert gaussian_delta(epsilon, mu) == pytest.approx(integrated_delta(epsilon, mu), rel=2e-10)


@settings(deadline=None)
@given(st.floats(0.0, 5.0), st.floats(1e-3, 5.0))
def test_negative_epsilon_is_the_other_direction_of_the_same_test(epsilon, mu):
    forwards, backwards = gaussian_delta(epsilon, mu), gaussian_delta(-epsilon, mu)
    assert backwards == pytest.approx(1 - math.exp(-epsilon) * (1 - forwards), abs=1e-14)


def test_without_a_shift_nothing_is_lost():
    assert gaussian_delta(0.5, 0.0) == 0.0
    assert gaussian_delta(-0.5, 0.0) == pytest.approx(1 - math.exp(-0.5))


@settings(deadline=None)
@given(st.floats(0.0, 20.0), st.floats(1e-15, 0.5))
def test_mu_is_on_the_safe_side_and_barely_so(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) * (1 + 1e-9) <= delta
    assert gaussian_delta(epsilon, mu * (1 + 1e-6)) > delta


@settings(deadline=None)
@given(st.floats(1e-4, 10.0), st.floats(1e-15, 0.5))
def test_epsilon_is_on_the_safe_side_and_barely_so(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_delta(epsilon, mu) * (1 + 1e-9) <= delta
    assert epsilon == 0.0 or gaussian_delta(epsilon * (1 - 1e-6), mu) > delta * (1 - 1e-8)


@pytest.mark.parametrize(
    ("epsilon", "any_mechanism", "bounded_range"),
    [
        (0.01, 0.01253312, 0.00626657),
        (0.5, 0.62389259, 0.31297950),
        (2, 2.35796149, 1.23203539),
        (4, 4.19447809, 2.35796149),
    ],
)
def test_pure_steps_are_worth_the_mu_of_the_table(epsilon, any_mechanism, bounded_range):
    assert pure_mu(epsilon) == pytest.approx(any_mechanism, abs=6e-9)
    assert bounded_range_mu(epsilon) == pytest.approx(bounded_range, abs=6e-9)


def test_the_mu_of_a_pure_step_has_no_seam_where_the_formula_changes():
    below, above = pure_mu(1e-3 * (1 - 1e-12)), pure_mu(1e-3 * (1 + 1e-12))
    assert above / below == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize("value", [True, "1", math.nan, math.inf, -1.0, None])
def test_what_is_no_epsilon_is_refused(value):
    with pytest.raises(ParameterError):
        gaussian_mu(value, 1e-6)


@pytest.mark.parametrize("value", [True, "1e-6", math.nan, 0.0, 1.0, -1e-6])
def test_what_is_no_delta_is_refused(value):
    with pytest.raises(ParameterError):
        gaussian_mu(1.0, value)
