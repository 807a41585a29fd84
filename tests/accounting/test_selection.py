"""Thresholds and the exact profile of key selection, against the tables of the specification."""

import math
from fractions import Fraction

import pytest

from hedgerow.accounting import (
    gaussian_mu,
    laplace_threshold,
    selection_delta,
    selection_mass,
    statement_threshold,
    threshold,
)
from hedgerow.errors import ParameterError

PROFILES = [
    ((1, 5, 1, 25, 1), {}, 7.9332815198e-07),
    ((1, 9, 10, 55, 4), {}, 1.1466057945e-06),
    ((1, 15, 20, 90, 10), {}, 1.5306161939e-05),
    ((0.5, 20, 5, 100, 4), {}, 4.0683267635e-06),
    ((1, 12, 10, 70, 4), {"extra": 1 / 144}, 1.14660579e-06),
    ((1, 12, 10, 70, 4), {"extra": 1 / 144, "stage2": 0.1}, 4.52963978e-06),
    ((1, 2, 3, 8, 1), {}, 0.0068296),
    ((1, 2, 3, 8, 2), {}, 0.0396326),
    ((0.7, 3, 5, 12, 1), {}, 0.0098153),
    ((0.7, 3, 5, 12, 2), {}, 0.0198866),
    ((0.3, 1.5, 2, 5, 2), {}, 0.2708247),
]


@pytest.mark.parametrize(("arguments", "more", "delta"), PROFILES)
def test_the_profile_is_that_of_the_table(arguments, more, delta):
    assert selection_delta(*arguments, **more) == pytest.approx(delta, rel=1e-5)


@pytest.mark.parametrize(
    ("groups", "sigma", "mass", "above"),
    [(1, 10, 1e-9, 59.978070), (1, 10, 1e-10, 63.613409), (4, 20, 1e-9, 124.382091), (10, 50, 1e-9, 318.067045)],
)
def test_the_threshold_is_that_of_the_table(groups, sigma, mass, above):
    tau = threshold(7, sigma, mass, groups)
    assert tau - 7 == pytest.approx(above, abs=6e-7)
    assert float(selection_mass(sigma, 7, tau, groups)) == pytest.approx(mass, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "above"),
    [(1, 1e-5, 1, 10.8198), (1, 1e-5, 10, 131.2236), (1, 1e-6, 4, 58.0346), (0.1, 1e-7, 1, 154.2495)],
)
def test_the_laplace_threshold_is_that_of_the_table(epsilon, delta, groups, above):
    assert laplace_threshold(0, groups / epsilon, delta, groups) == pytest.approx(above, abs=6e-5)


@pytest.mark.parametrize(
    ("delta", "groups", "share", "distance"), [(1e-6, 1, 0.1, 4.8311), (1e-6, 4, 0.1, 5.1001), (1e-5, 10, 0.1, 4.8558)]
)
def test_a_second_stage_raises_the_threshold_as_in_the_text(delta, groups, share, distance):
    mu = gaussian_mu(1.0, delta)
    sigma = math.sqrt(groups / share) / mu
    tau = statement_threshold(1.0, delta, sigma, 10, groups, stage2=math.sqrt(1 - share) * mu * (1 - 1e-8))
    assert (tau - 10) / sigma == pytest.approx(distance, abs=6e-5)


@pytest.mark.parametrize(("epsilon", "delta", "groups"), [(1, 1e-5, 1), (1, 1e-6, 50), (0.1, 1e-7, 1), (3, 1e-6, 4)])
def test_keys_and_counts_alone_give_the_whole_delta_to_both_parts(epsilon, delta, groups):
    sigma = math.sqrt(groups) / gaussian_mu(epsilon, delta)
    tau = threshold(10, sigma, delta, groups)
    assert selection_delta(epsilon, sigma, 10, tau, groups) == pytest.approx(delta, rel=1e-6)


def test_no_threshold_helps_where_the_noise_is_too_small():
    assert statement_threshold(1.0, 1e-6, 1.0, 10) == math.inf


def test_the_mass_is_never_understated():
    sigma, tau = 9.0, 55.0
    exact = math.erfc((tau - 10) / sigma / math.sqrt(2)) / 2
    assert Fraction(exact) < selection_mass(sigma, 10, tau) < Fraction(exact) * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("groups", [0, -1, 1.5, True])
def test_a_number_of_groups_that_cannot_be_is_refused(groups):
    with pytest.raises(ParameterError):
        threshold(10, 1.0, 1e-9, groups)
