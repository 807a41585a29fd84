"""Statements and ledgers for the tests of the ledger."""

from fractions import Fraction

import pytest

from hedgerow.accounting import GaussianEvent, LaplaceEvent, ThresholdEvent, gaussian_mu
from hedgerow.budget import Charge
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.ledger import open_ledger


@pytest.fixture
def gaussian():
    """A Gaussian statement with a guarantee of its own, and some threshold mass if wanted."""

    def statement(epsilon, delta=1e-8, mass=0):
        variance = 1 / Fraction(gaussian_mu(epsilon, delta)) ** 2
        events = [GaussianEvent(Fraction(1), variance, 1, Fraction(2**48))]
        if mass:
            events.append(ThresholdEvent(Fraction(mass)))
        return Charge(tuple(events), epsilon, delta)

    return statement


@pytest.fixture
def laplace():
    """A Laplace statement."""

    def statement(epsilon):
        return Charge((LaplaceEvent(Fraction(epsilon), Fraction(1)),), float(epsilon), 0.0)

    return statement


@pytest.fixture
def path(tmp_path):
    """Where the ledger of a test is."""
    return tmp_path / "shop.ledger"


@pytest.fixture
def book(path):
    """Opens the ledger of a test, as often as wanted, with any budget; closes all at the end."""
    opened = []

    def open_it(epsilon=3.0, delta=1e-6, *, dataset="shop", notice=None, patience=5.0, at=path, **policy):
        more = {"clock": policy.pop("clock")} if "clock" in policy else {}
        budget = BudgetPolicy(epsilon, delta, **policy)
        ledger = open_ledger(at, dataset=dataset, policy=budget, notice=notice, patience=patience, **more)
        opened.append(ledger)
        return ledger

    yield open_it
    for ledger in opened:
        ledger.close()
