"""Coverage of intervals, and tests that it is large enough."""

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9


def _coverage(bounds, exact, beta):
    """Return the share of intervals with `exact` inside, and two verdicts: large enough, not larger than promised."""
    inside = (bounds.lower <= exact) & (exact <= bounds.upper)
    hits, draws = int(np.count_nonzero(inside)), inside.size
    enough = stats.binom.cdf(hits, draws, 1 - beta) > FALSE_ALARM
    close = stats.binom.sf(hits - 1, draws, 1 - beta) > FALSE_ALARM
    return hits / draws, enough, close


@pytest.fixture
def coverage():
    return _coverage
