"""A ledger to charge, and noisy groups to compare."""

import numpy as np
import pytest

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.distributions import Laplace
from hedgerow.ledger import open_ledger

FALSE_ALARM = 1e-9
"""False-alarm rate of a test of randomness."""


@pytest.fixture
def ledger(tmp_path):
    """A ledger with room for noise of every kind."""
    policy = BudgetPolicy(epsilon=10_000.0, delta=1e-2, pure_epsilon=9_000.0)
    with open_ledger(tmp_path / "clinic.ledger", dataset="clinic", policy=policy) as opened:
        yield opened


@pytest.fixture(scope="session")
def noisy_groups():
    """Noisy counts of outcomes in groups of one size."""

    def drawn(rate, size, noise, draws):
        generator = np.random.default_rng()
        exact = generator.binomial(size, rate, draws)
        if isinstance(noise, Laplace):
            return exact + generator.laplace(0, noise.scale, draws)
        return exact + generator.normal(0, noise.sigma, draws)

    return drawn


@pytest.fixture(scope="session")
def false_alarm():
    return FALSE_ALARM
