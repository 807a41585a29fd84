"""No event is too large or too small for an accountant: a report never takes the books away."""

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.accounting import (
    GDP,
    PLD,
    RDP,
    ZCDP,
    ApproximateEvent,
    Basic,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureAsGaussianEvent,
    SpreadRangeEvent,
    ThresholdEvent,
)
from hedgerow.accounting.accountants import _randomised_response
from hedgerow.errors import ConditionNotMet
from hedgerow.session.forecast import total

WIDE = st.integers(-300, 300).map(lambda power: Fraction(10) ** power)
"""Far beyond what any statement may cost."""

LEDGER = st.integers(-12, 12).map(lambda power: Fraction(10) ** power)


def events(amount):
    return st.one_of(
        st.builds(GaussianEvent, amount, amount, st.just(0), st.just(Fraction(1))),
        st.builds(LaplaceEvent, amount, amount),
        st.builds(ApproximateEvent, amount, st.just(Fraction(0))),
        st.builds(BoundedRangeEvent, amount),
        st.builds(PureAsGaussianEvent, amount),
        st.builds(SpreadRangeEvent, amount, amount, amount),
        st.builds(ThresholdEvent, st.just(Fraction(1, 10**9))),
    )


@pytest.mark.parametrize("accountant", [Basic, ZCDP, RDP, GDP])
@settings(deadline=None, max_examples=40)
@given(listed=st.lists(st.tuples(events(WIDE), st.integers(1, 10**6)), max_size=4))
def test_every_accountant_has_a_number_for_every_list_of_events(accountant, listed):
    book = accountant()
    for event, count in listed:
        book.add(event, count)
    epsilon, delta = book.epsilon(1e-6), book.delta(1.0)
    assert epsilon >= 0.0
    assert 0.0 <= delta <= 1.0


@settings(deadline=None, max_examples=30)
@given(listed=st.lists(events(LEDGER), min_size=1, max_size=3))
def test_every_report_has_an_entry_for_each_accountant(listed):
    actual = total(listed, 1e-6)
    assert list(actual) == ["basic", "zCDP", "RDP", "PLD", "GDP"]
    assert all(actual[name] is not None and not math.isnan(actual[name]) for name in ("basic", "zCDP", "RDP", "GDP"))


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 20.0, 700.0, 710.0, 5e4, 1e9])
@pytest.mark.parametrize("order", [1.05, 2.0, 64.0, 65536.0])
def test_the_renyi_divergence_of_a_pure_step_is_that_of_its_definition(epsilon, order):
    with localcontext(Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        odds, power = Decimal(epsilon).exp(), Decimal(order)
        truth, lie = odds / (1 + odds), 1 / (1 + odds)
        exact = (truth**power * lie ** (1 - power) + lie**power * truth ** (1 - power)).ln() / (power - 1)
        assert _randomised_response(epsilon, order) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("epsilon", [800, 10**5, 10**12])
def test_a_huge_pure_step_is_worth_its_epsilon(epsilon):
    step = ApproximateEvent(Fraction(epsilon), Fraction(0))
    assert RDP([step]).epsilon(1e-6) == pytest.approx(epsilon, rel=1e-2)
    assert Basic([step]).epsilon(1e-6) == epsilon


def test_the_library_is_not_given_what_does_not_fit_into_memory():
    with pytest.raises(ConditionNotMet, match="memory"):
        PLD([ApproximateEvent(Fraction(1000), Fraction(0))]).epsilon(1e-6)
    many = PLD().add(ApproximateEvent(Fraction(1, 20), Fraction(0)), 10_000)
    assert many.epsilon(1e-6) == pytest.approx(35.54, abs=0.01)
