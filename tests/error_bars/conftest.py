"""How often intervals hold, and whether that is often enough."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9


def _coverage(bounds, exact, beta):
    """How often `exact` lies inside, with two verdicts at the false-alarm rate: enough, and not more than promised."""
    inside = (bounds.lower <= exact) & (exact <= bounds.upper)
    hits, draws = int(np.count_nonzero(inside)), inside.size
    enough = stats.binom.cdf(hits, draws, 1 - beta) > FALSE_ALARM
    close = stats.binom.sf(hits - 1, draws, 1 - beta) > FALSE_ALARM
    return hits / draws, enough, close


@pytest.fixture
def coverage():
    return _coverage
