"""Events cost what was proved, and survive being written down."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.accounting import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureAsGaussianEvent,
    ThresholdEvent,
    bounded_range_mu,
    event_from_dict,
    gaussian_delta,
    pure_mu,
)
from hedgerow.accounting.budget import Charge, Cost
from hedgerow.errors import LedgerError, ParameterError

SOME = st.fractions(min_value=0, max_value=10**6)
ABOVE_ZERO = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)
FINE = st.fractions(min_value=2**20, max_value=2**60)
EVENTS = st.one_of(
    st.builds(GaussianEvent, SOME, ABOVE_ZERO, st.integers(0, 1000), FINE),
    st.builds(LaplaceEvent, SOME, ABOVE_ZERO),
    st.builds(ThresholdEvent, SOME),
    st.builds(BoundedRangeEvent, st.fractions(0, 100)),
    st.builds(PureAsGaussianEvent, st.fractions(0, 100)),
    st.builds(ApproximateEvent, SOME, SOME),
)


@settings(deadline=None)
@given(EVENTS)
def test_an_event_that_is_written_and_read_is_the_same_event(event):
    assert event_from_dict(event.to_dict()) == event
    assert event_from_dict(event.to_dict()).cost == event.cost


def test_discrete_gaussian_noise_is_charged_by_the_proved_rule():
    event = GaussianEvent(Fraction(3), Fraction(7), 5, Fraction(2**48))
    assert event.cost == Cost(Fraction(3, 7), Fraction(37 * 5, 2**48), Fraction(15, 10**31))


def test_rounded_gaussian_noise_owes_nothing_for_being_discrete():
    assert GaussianEvent(Fraction(3), Fraction(7), 0, Fraction(1)).cost == Cost(Fraction(3, 7))


def test_a_grid_that_is_too_coarse_for_the_rule_is_refused():
    GaussianEvent(Fraction(1), Fraction(1), 1, Fraction(2**20))
    with pytest.raises(ParameterError, match="too coarse"):
        GaussianEvent(Fraction(1), Fraction(1), 1, Fraction(2**20 - 1))


def test_an_exponential_mechanism_is_charged_a_little_above_its_exact_mu():
    cost = BoundedRangeEvent(Fraction(1, 2)).cost
    exact = Fraction(bounded_range_mu(0.5)) ** 2
    assert exact < cost.gaussian <= exact * (1 + Fraction(1, 10**9))
    assert (cost.pure, cost.mass) == (0, 0)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0, 20.0])
def test_a_pure_step_is_charged_as_the_gaussian_pair_that_just_dominates_it(epsilon):
    """Randomised response is the worst step of its epsilon; its delta at x is (e^epsilon - e^x) / (1 + e^epsilon)."""
    cost = PureAsGaussianEvent(Fraction(epsilon)).cost
    assert (cost.pure, cost.mass) == (0, 0)
    mu = math.sqrt(cost.gaussian)
    assert mu == pytest.approx(pure_mu(epsilon), rel=1e-8)

    def margin(mu, x):
        return gaussian_delta(x, mu) - (math.exp(epsilon) - math.exp(x)) / (1 + math.exp(epsilon))

    tried = [epsilon * step / 200 for step in range(200)]
    assert min(margin(mu, x) for x in tried) >= 0.0
    assert min(margin(mu * (1 - 1e-4), x) for x in tried) < 0.0


def test_the_other_events_take_one_coordinate_each():
    assert LaplaceEvent(Fraction(2), Fraction(3)).cost == Cost(pure=Fraction(2, 3))
    assert ThresholdEvent(Fraction(1, 10**9)).cost == Cost(mass=Fraction(1, 10**9))
    assert ApproximateEvent(Fraction(1), Fraction(1, 10)).cost == Cost(pure=Fraction(1), mass=Fraction(1, 10))


def test_a_charge_costs_the_sum_of_its_events():
    charge = Charge((LaplaceEvent(Fraction(1), Fraction(3)), ThresholdEvent(Fraction(1, 7))), 1.0, 1e-6)
    assert charge.cost == Cost(Fraction(0), Fraction(1, 3), Fraction(1, 7))


@pytest.mark.parametrize("value", [0.5, -1, True, "1"])
def test_a_value_that_is_not_exact_or_below_zero_is_refused(value):
    with pytest.raises(ParameterError):
        ThresholdEvent(value)


@pytest.mark.parametrize("make", [lambda: LaplaceEvent(Fraction(1), Fraction(0)), lambda: GaussianEvent(1, 0, 0, 1)])
def test_an_event_without_noise_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_an_event_of_a_later_version_is_not_guessed_at():
    with pytest.raises(LedgerError) as refused:
        event_from_dict({"kind": "quantum", "epsilon": "1"})
    assert refused.value.code == "ledger-newer"
