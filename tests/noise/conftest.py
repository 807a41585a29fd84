"""One test of fit for all samplers."""

import numpy as np
import pytest
from scipy import stats


def _merged(probabilities, least):
    """Group neighbouring cells until each holds at least `least`; a remainder joins the last group."""
    groups, total, start = [], 0.0, 0
    for i, probability in enumerate(probabilities):
        total += probability
        if total >= least:
            groups.append((start, i + 1))
            total, start = 0.0, i + 1
    groups[-1] = (groups[-1][0], len(probabilities))
    return groups


def _p_value(draws, distribution, spread):
    """The chi-square p-value of `draws` against `distribution`, which gives P(X <= k) for integers k."""
    edges = np.unique(np.floor(spread * np.linspace(-4.0, 4.0, 49)))
    probabilities = np.diff(distribution(edges), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    groups = _merged(probabilities, 60 / len(draws))
    seen = np.array([counts[a:b].sum() for a, b in groups])
    expected = len(draws) * np.array([probabilities[a:b].sum() for a, b in groups])
    assert len(groups) >= 3
    return stats.chi2.sf(np.sum((seen - expected) ** 2 / expected), len(groups) - 1)


@pytest.fixture
def p_value():
    return _p_value
