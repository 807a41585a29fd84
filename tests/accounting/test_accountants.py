"""Accountants over the same events: the tables of the specification, and why only one kind of them may be a filter."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

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
    ThresholdEvent,
    gaussian_delta,
)
from hedgerow.errors import ConditionNotMet

STATEMENT = GaussianEvent(Fraction(1), Fraction(41.32945161) ** 2, 0, Fraction(1))
ALL = [Basic, ZCDP, RDP, PLD, GDP]


@pytest.mark.parametrize(
    ("count", "exact", "zcdp"),
    [(1, 0.087035, 0.095205), (10, 0.298108, 0.323501), (100, 1.023949, 1.103531), (1000, 3.612382, 3.866782)],
)
def test_gaussian_workloads_total_as_in_the_table(count, exact, zcdp):
    assert GDP().add(STATEMENT, count).epsilon(1e-6) == pytest.approx(exact, abs=6e-7)
    assert ZCDP().add(STATEMENT, count).epsilon(1e-6) == pytest.approx(zcdp, abs=6e-7)
    assert zcdp - 1e-6 < RDP().add(STATEMENT, count).epsilon(1e-6) < zcdp * 1.001
    assert exact - 1e-6 < PLD().add(STATEMENT, count).epsilon(1e-6) < exact * 1.001


def test_basic_composition_adds_epsilons_and_deltas():
    assert Basic().add(STATEMENT, 10).epsilon(1e-6) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("accountant", ALL)
def test_epsilon_and_delta_are_each_others_inverse(accountant):
    total = accountant().add(STATEMENT, 50).add(LaplaceEvent(Fraction(1), Fraction(20)), 2)
    epsilon = total.epsilon(1e-6)
    assert total.delta(epsilon) == pytest.approx(1e-6, rel=1e-3)
    assert total.delta(epsilon * 1.1) < total.delta(epsilon) < total.delta(epsilon * 0.9)


@pytest.mark.parametrize("accountant", ALL)
def test_mass_is_added_to_delta(accountant):
    without = accountant().add(STATEMENT, 5)
    with_mass = accountant().add(STATEMENT, 5).add(ThresholdEvent(Fraction(1, 10**7)), 4)
    assert with_mass.delta(0.3) == pytest.approx(without.delta(0.3) + 4e-7, rel=1e-9)
    assert with_mass.epsilon(1e-6) > without.epsilon(1e-6)
    assert with_mass.epsilon(3.9e-7) == math.inf


@pytest.mark.parametrize("accountant", ALL)
def test_pure_steps_are_never_understated(accountant):
    """Randomised response with total epsilon e has delta (e^e - e^x) / (1 + e^e) at x, and composes worse."""
    total = accountant().add(ApproximateEvent(Fraction(1), Fraction(0)))
    for epsilon in (0.0, 0.3, 0.7):
        exact = (math.e - math.exp(epsilon)) / (1 + math.e)
        assert total.delta(epsilon) >= exact * (1 - 1e-9)


@pytest.mark.parametrize("accountant", [Basic, RDP, PLD])
def test_one_pure_step_is_worth_about_its_epsilon(accountant):
    assert accountant([LaplaceEvent(Fraction(1), Fraction(2))]).epsilon(1e-9) == pytest.approx(0.5, rel=1e-3)


def test_an_exponential_mechanism_is_worth_less_than_a_pure_step_of_its_range():
    bounded = BoundedRangeEvent(Fraction(1, 10))
    pure = ApproximateEvent(Fraction(1, 10), Fraction(0))
    for accountant in (ZCDP, RDP, GDP):
        assert accountant().add(bounded, 100).epsilon(1e-6) < accountant().add(pure, 100).epsilon(1e-6)


def test_nothing_is_proved_by_hand_where_the_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(ConditionNotMet, match="dp-accounting"):
        PLD().add(STATEMENT).epsilon(1e-6)


def test_a_pld_filter_would_admit_twice_the_delta():
    """Two branches, each exactly within (1, 1e-5) by its own composition; chosen by the answer, they are not."""
    mu1, mu2, cut, mass = 0.21776576, 0.15629932, 2.15287, 9.84268e-6
    first = GaussianEvent(Fraction(mu1) ** 2, Fraction(1), 0, Fraction(1))
    second = GaussianEvent(Fraction(mu2) ** 2, Fraction(1), 0, Fraction(1))
    disclosure = ThresholdEvent(Fraction(mass))
    for branch in ([first, second], [first, disclosure]):
        assert PLD(branch).delta(1.0) == pytest.approx(1e-5, rel=2e-3)

    answers = np.linspace(-9, 9, 20001)
    density = np.exp(-((answers - mu1) ** 2) / 2) / math.sqrt(2 * math.pi)
    left = 1.0 - (mu1 * answers - mu1**2 / 2)
    quiet = mass + (1 - mass) * np.maximum(0.0, -np.expm1(left))
    loud = np.array([gaussian_delta(float(epsilon), mu2) for epsilon in left])
    adaptive = float(np.sum(density * np.where(answers > cut, loud, quiet)) * (answers[1] - answers[0]))
    assert adaptive == pytest.approx(1.9437e-5, rel=2e-3)
