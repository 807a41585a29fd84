"""Advice that pays: centring, and which sum belongs below. Rescaling does not pay."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.accuracy import average_error, quotient_error
from hedgerow.errors import ParameterError
from hedgerow.tuner import advise

SPENT = {"epsilon_count": 0.001, "epsilon_sums": (1.0, 1.0), "beta": 0.05, "gamma": 0.5}
narrow = st.floats(1.0, 100.0)


def relative(lowers, uppers, count=1e9):
    """The error of Proposition 3.7 for sums in the middle of their ranges, as a share of the quotient."""
    middle = [(low + high) / 2 for low, high in zip(lowers, uppers, strict=True)]
    return quotient_error(count, lowers=lowers, uppers=uppers, **SPENT).error / (middle[0] / middle[1])


@settings(deadline=None)
@given(scale=st.floats(1e-6, 1e6), first=narrow, second=narrow)
def test_rescaling_a_sum_changes_nothing_but_units(scale, first, second):
    once, scaled = relative((1, 1), (first, second), 1e5), relative((scale, 1), (scale * first, second), 1e5)
    assert scaled == pytest.approx(once, rel=1e-9)


@settings(deadline=None)
@given(first=narrow, second=narrow, scale=st.floats(0.01, 100))
def test_the_sum_that_is_put_below_is_the_one_with_the_smaller_predicted_error(first, second, scale):
    advice = advise(lower=(scale, 1), upper=(scale * first, second))
    there, back = relative((scale, 1), (scale * first, second)), relative((1, scale), (second, scale * first))
    if not math.isclose(there, back, rel_tol=1e-4):
        assert advice.swap == (back < there)
        assert advice.gain == pytest.approx(max(there / back, 1.0), rel=1e-3)


def test_the_rule_of_the_document_depends_on_units():
    """The smaller upper bound above: metres and kilometres would be given opposite advice. Ours does not change."""
    assert not advise(lower=(1, 1), upper=(10, 2)).swap
    assert not advise(lower=(0.001, 1), upper=(0.01, 2)).swap


@settings(deadline=None)
@given(low=st.floats(-100, 100), width=st.floats(0.1, 100))
def test_centring_gains_what_is_said(low, width):
    high = low + width
    advice = advise(lower=low, upper=high)
    spent = {"epsilon_count": 0.1, "epsilon_sum": 0.7, "beta": 0.05, "method": "direct"}
    before = average_error(1e4, lower=low, upper=high, **spent)
    after = average_error(1e4, lower=low + advice.shift, upper=high + advice.shift, **spent)
    assert advice.gain >= 1
    assert before.error / after.error == pytest.approx(advice.gain, rel=1e-6)


def test_a_sum_that_may_be_zero_does_not_belong_below():
    assert advise(lower=(1, -1), upper=(2, 1)).swap
    assert not advise(lower=(-1, 1), upper=(1, 2)).swap
    neither = advise(lower=(-1, -1), upper=(1, 1))
    assert not neither.swap
    assert "count" in neither.reasons[0]


def test_the_reasons_are_sentences():
    for advice in (advise(lower=18, upper=65), advise(lower=-1, upper=1), advise(lower=(1, 1), upper=(2, 100))):
        assert all(reason[0].isupper() and reason.endswith(".") for reason in advice.reasons)
    assert "41.5" in advise(lower=18, upper=65).reasons[0]
    assert advise(lower=5, upper=5).reasons == ("All values are the same: ask for the count.",)


@pytest.mark.parametrize(("lower", "upper"), [([1, 2, 3], [4, 5, 6]), (3, 2), ((1, 1), 2)])
def test_ranges_that_cannot_be_are_refused(lower, upper):
    with pytest.raises(ParameterError):
        advise(lower=lower, upper=upper)
