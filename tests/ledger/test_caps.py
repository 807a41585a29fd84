"""The caps of a ledger prove the budget they were made for."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.accounting import gaussian_delta, gaussian_mu, selection_delta, selection_mass, threshold
from hedgerow.errors import InternalError
from hedgerow.ledger import Units, caps_for
from hedgerow.ledger.limits import RESERVE, SCALE

TABLE = [
    (1.0, 1e-6, 0.0, 0.055460934746),
    (1.0, 1e-5, 0.0, 0.070950117769),
    (3.0, 1e-6, 0.0, 0.415918135275),
    (3.0, 1e-6, 1.0, 0.199148524294),
    (5.0, 1e-8, 0.0, 0.766201864686),
]


@pytest.mark.parametrize(("epsilon", "delta", "pure", "gaussian"), TABLE)
def test_the_caps_are_those_of_the_table(epsilon, delta, pure, gaussian):
    caps = caps_for(epsilon, delta, pure, reserve=Fraction(0)).cost
    assert float(caps.gaussian) == pytest.approx(gaussian, rel=3e-9)
    assert caps.pure == Fraction(pure)
    assert 0 <= Fraction(delta) / 10 - caps.mass < Fraction(1, SCALE)


@settings(deadline=None)
@given(st.floats(0.01, 20.0), st.floats(1e-12, 0.1), st.floats(0.0, 1.0))
def test_full_caps_prove_the_budget_and_not_a_bit_more(epsilon, delta, share):
    caps = caps_for(epsilon, delta, epsilon * share)
    left = Fraction(epsilon) - caps.cost.pure
    assert left >= 0
    spent = Fraction(gaussian_delta(float(left), math.sqrt(caps.cost.gaussian))) * (1 + Fraction(1, 10**9))
    assert spent + caps.cost.mass <= Fraction(delta) * (1 + Fraction(1, 10**12))
    assert caps.cost.pure >= Fraction(epsilon * share) - Fraction(1, SCALE)


def test_the_reserve_for_discrete_noise_comes_out_of_epsilon():
    with_reserve, without = caps_for(3.0, 1e-6), caps_for(3.0, 1e-6, reserve=Fraction(0))
    assert with_reserve.pure == math.floor(RESERVE * SCALE)
    assert 0 < 1 - with_reserve.gaussian / without.gaussian < 1e-6


def test_all_of_epsilon_can_be_kept_for_laplace_noise():
    caps = caps_for(3.0, 1e-6, 3.0)
    assert caps.cost.pure == 3
    assert 0 < caps.cost.gaussian < Fraction(1, 10**10)


def test_what_full_caps_prove_is_the_limit_and_empty_ones_prove_nothing():
    for pure in (0.0, 1.0, 3.0):
        caps = caps_for(3.0, 1e-6, pure)
        full = caps.proves(caps.units)
        assert (full.epsilon, full.delta) == (pytest.approx(3.0, rel=1e-9), pytest.approx(1e-6, rel=1e-9))
        assert full.epsilon <= 3.0
        assert full.delta <= 1e-6
        nothing = caps.proves(Units())
        assert (nothing.epsilon, nothing.delta) == (0.0, 0.0)


def test_a_charge_is_rounded_up_and_a_cap_down(laplace):
    third = Units.of(laplace(Fraction(1, 3)))
    assert Fraction(third.pure - 1, SCALE) < Fraction(1, 3) < Fraction(third.pure, SCALE)
    cap = caps_for(3.0, 1e-6, 1 / 3)
    assert Fraction(cap.pure, SCALE) <= Fraction(1 / 3) + RESERVE < Fraction(cap.pure + 1, SCALE)


def test_units_survive_being_written_down():
    units = Units(2**90 + 1, 3, 0, 2**79)
    assert Units.from_dict(units.to_dict()) == units


def test_nothing_can_be_given_back(gaussian):
    class Refund:
        cost = gaussian(1.0).cost.__class__(pure=Fraction(-1))

    with pytest.raises(InternalError):
        Units.of(gaussian(1.0).__class__((Refund(),), 0.0, 0.0))


@pytest.mark.parametrize(
    ("epsilon", "delta", "admitted", "without_reserve"),
    [(1.0, 1e-6, 94, 95), (1.0, 1e-5, 121, 122), (3.0, 1e-6, 710, 716), (5.0, 1e-6, 1764, 1778)],
)
def test_many_small_statements_fit(gaussian, epsilon, delta, admitted, without_reserve):
    """Figure 3 of Matsumoto et al. (2026): statements of (0.1, 1e-7). A reserve of a tenth of delta costs about 1 %."""
    one, caps = Units.of(gaussian(0.1, 1e-7)), caps_for(epsilon, delta)
    assert caps.gaussian // one.gaussian == admitted >= without_reserve * 0.989 - 1
    assert min(caps.pure // one.pure, caps.mass // one.mass) > 10**6


@pytest.mark.parametrize("k", [1, 10, 100])
def test_thresholds_do_not_run_out_before_the_noise(gaussian, k):
    """A statement takes the same share of the mass as of the noise; what that costs is a threshold 13 % further up."""
    caps = caps_for(3.0, 1e-6)
    sigma = 1 / gaussian_mu(0.1, 1e-8)
    mass = float(Units.of(gaussian(0.1, 1e-8)).gaussian / caps.gaussian * caps.cost.mass)
    tau = threshold(k, sigma, mass)
    assert selection_delta(0.1, sigma, k, tau) <= 1e-8
    assert tau - k == pytest.approx((threshold(k, sigma, 1e-8) - k) * 1.13, rel=0.01)
    one = Units.of(gaussian(0.1, 1e-8, mass=selection_mass(sigma, k, tau)))
    assert min(caps.gaussian // one.gaussian, caps.mass // one.mass, caps.pure // one.pure) == 877


@pytest.mark.parametrize(
    ("pure", "mu", "above", "composed", "bound"),
    [(1.0, 0.5, 1.0, 3.70e-3, 6.83e-3), (0.5, 0.3, 0.7, 7.33e-4, 1.40e-3), (0.2, 1.0, 3.0, 1.02e-3, 1.54e-3)],
)
def test_the_theorem_bounds_laplace_and_gaussian_noise_together(pure, mu, above, composed, bound):
    """Laplace noise of scale 1/pure, then Gaussian noise: the privacy loss of the first is integrated numerically."""
    losses = np.linspace(-pure, pure, 2001)
    inner = np.array([gaussian_delta(pure + above - float(loss), mu) for loss in losses])
    middle = float(np.trapezoid(np.exp((losses - pure) / 2) / 4 * inner, losses))
    ends = gaussian_delta(above, mu) / 2 + math.exp(-pure) / 2 * gaussian_delta(2 * pure + above, mu)
    assert ends + middle == pytest.approx(composed, rel=5e-3)
    assert ends + middle < gaussian_delta(above, mu) == pytest.approx(bound, rel=5e-3)
