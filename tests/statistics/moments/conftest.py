"""Simulated releases of moments, and whether their intervals hold often enough."""

import numpy as np
import pytest
from scipy import stats

from hedgerow.distributions import Gaussian
from hedgerow.statistics.moments import Moments

FALSE_ALARM = 1e-9


def _exact(family, z, w=0.0):
    """The exact coordinates of a release over these rows."""
    powers = np.array([np.sum(z**i * w**j) for i, j in family.monomials])
    return np.array(family.matrix, dtype=float) @ powers


def _release(family, noise, groups, z, w=0.0, *, factor=1.0):
    """Many noisy releases of one group; the noise is `factor` times what it is said to be."""
    random, shape = np.random.default_rng(), (len(family.rows), groups)
    draws = (
        random.normal(0, noise.sigma, shape) if isinstance(noise, Gaussian) else random.laplace(0, noise.scale, shape)
    )
    return Moments.of(family, _exact(family, z, w)[:, None] + factor * draws, noise)


def _holds(bounds, exact, share):
    """True if intervals that hold `share` of the time would hold this seldom more often than the false-alarm rate."""
    slack = 1e-9 * max(1.0, abs(exact))
    inside = (bounds.lower - slack <= exact) & (exact <= bounds.upper + slack)
    return stats.binom.cdf(int(np.count_nonzero(inside)), inside.size, share) > FALSE_ALARM


@pytest.fixture
def release():
    return _release


@pytest.fixture
def holds():
    return _holds
