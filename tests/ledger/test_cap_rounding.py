"""Caps of the ledger: rounded against the analyst, to the last unit."""

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from hedgerow.accounting import GaussianEvent, gaussian_mu
from hedgerow.accounting.budget import Charge
from hedgerow.catalog.model import BudgetPolicy, Cap
from hedgerow.errors import BudgetError
from hedgerow.ledger import open_ledger
from hedgerow.ledger.entries import Account
from hedgerow.ledger.limits import SCALE, Units, caps_for

pytestmark = pytest.mark.mutation


@pytest.mark.parametrize(("epsilon", "delta", "pure"), [(3.0, 1e-6, 0.0), (1.0, 1e-9, 0.3), (0.7, 1e-5, 0.1)])
def test_no_cap_is_above_what_was_proved(epsilon, delta, pure):
    caps = caps_for(epsilon, delta, pure)
    left = Fraction(epsilon) - Fraction(pure) - Fraction(1, 10**6)
    near = float(left) if Fraction(float(left)) <= left else math.nextafter(float(left), 0.0)
    assert caps.gaussian <= Fraction(gaussian_mu(near, caps.gaussian_delta)) ** 2 * SCALE
    assert Fraction(caps.mass, SCALE) + Fraction(caps.gaussian_delta) <= Fraction(delta)
    assert Fraction(caps.deliberate, SCALE) <= Fraction(pure)
    assert Fraction(caps.pure, SCALE) <= Fraction(pure) + Fraction(1, 10**6)


@pytest.fixture
def ledger(tmp_path):
    """A ledger that keeps nothing for Laplace noise: its pure epsilon is the reserve for discrete noise alone."""
    policy = BudgetPolicy(epsilon=3.0, delta=1e-6)
    with open_ledger(tmp_path / "t.ledger", dataset="t", policy=policy) as opened:
        yield opened


def test_the_surcharge_of_noise_on_a_coarse_grid_is_held_to_the_reserve(ledger):
    """37 / 2^26 is about half of the reserve of a millionth: one such statement fits, two do not."""
    coarse = GaussianEvent(Fraction(1), Fraction(10**6), 1, Fraction(2**26))
    assert Fraction(4, 10**7) < coarse.cost.pure < Fraction(6, 10**7)
    charge = Charge((coarse,), 0.1, 1e-9)
    ledger.charge(charge, question={"text": "one"})
    with pytest.raises(BudgetError) as caught:
        ledger.charge(charge, question={"text": "two"})
    assert caught.value.code == "budget-pure"
    assert ledger.budget().queries == 1


def test_an_account_keeps_what_was_charged_in_its_own_period():
    charged = Account("2026-02").plus(Units(gaussian=5), 1)
    assert charged.within("2026-02") == charged
    assert charged.within("2026-01") == charged
    assert charged.within("2026-03") == Account("2026-03", Units(), Units(gaussian=5), 1, 0)


def test_a_clock_set_back_gives_a_newcomer_no_second_period(tmp_path):
    """Charges made while the clock is behind belong to the latest period there ever was."""
    days = [0]
    statement = Charge((GaussianEvent(Fraction(1), Fraction(10), 0, Fraction(1)),), 1.0, 1e-8)
    policy = BudgetPolicy(
        epsilon=100.0, delta=1e-6, refresh=timedelta(days=30), analysts={"bob": Cap(epsilon=1.7, delta=1e-6)}
    )

    def clock():
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days[0])

    with open_ledger(tmp_path / "t.ledger", dataset="t", policy=policy, clock=clock) as ledger:
        days[0] = 40
        ledger.charge(statement, analyst="alice", question={"text": "in the second period"})
        days[0] = 10
        ledger.charge(statement, analyst="bob", question={"text": "while the clock is behind"})
        days[0] = 41
        with pytest.raises(BudgetError) as caught:
            ledger.charge(statement, analyst="bob", question={"text": "when it is right again"})
        assert caught.value.code == "budget-analyst"
        days[0] = 61
        ledger.charge(statement, analyst="bob", question={"text": "in the third period"})
