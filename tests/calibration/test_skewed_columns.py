"""Bounds on skewed, zero-inflated and heavy-tailed columns: as good as the best fixed ones, or a warning or refusal.

The search runs as it does for a statement, on histograms of 5 000 people with the noise of epsilon 1. What an answer
would then be off by follows from the values: what the bounds cut off, and the noise of an answer with such bounds.
`benchmarks/auto_bounds.py` measures the same on real columns, with real answers.
"""

import math
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from hedgerow.calibration import bounds_search
from hedgerow.calibration.bounds_search import OF_A_STATEMENT, Counts, Octaves, UnboundedValue, find_range
from hedgerow.calibration.buckets import CELLS, SMALLEST_POWER, Histogram, octaves_of
from hedgerow.distributions import Laplace
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type

PEOPLE, TRIALS, FALSE_ALARM = 5000, 40, 1e-9
VALUE = Column("x", Type.FLOAT)
RANKS = (np.arange(PEOPLE) + 0.5) / PEOPLE
NORMAL = stats.norm.ppf(RANKS)


def zeros(share, values):
    return np.where(share > RANKS, 0.0, values)


COLUMNS = {
    "log-normal": np.exp(3 + 1.5 * NORMAL),
    "Pareto": 10 * (1 - RANKS) ** (-1 / 1.5),
    "exponential": -np.log1p(-RANKS),
    "half zeros": zeros(0.5, -200 * np.log(np.clip(2 - 2 * RANKS, 1e-9, 1))),
    "most zeros": zeros(0.8, np.exp(5 + 1.3 * stats.norm.ppf(np.clip(5 * RANKS - 4, 1e-4, 1 - 1e-4)))),
    "all equal": np.full(PEOPLE, 42.0),
    "two clusters": np.where(RANKS < 0.5, 10 + NORMAL / 2, 800 + 20 * NORMAL),
    "both signs": 4 * NORMAL,
    "uniform": 100 * RANKS,
    "dates": np.floor(15706 + 365 * RANKS),
}


class Looks:
    """A budget of epsilon 1 that answers looks at one column with simulated noise, and counts the shares."""

    request = SimpleNamespace(min_frequency=10)

    def __init__(self, values):
        self.values, self.payments, self.share = values, [], 0.0

    def look(self, _budget, histogram, share, _subject):
        self.share += share
        counts = np.bincount(histogram.plan(self.values), minlength=len(histogram.cells))
        noise = Laplace(1 / share)
        noisy = counts + np.random.default_rng().laplace(0, noise.scale, len(counts))
        return Counts(histogram.cells, noisy, noise, self.request.min_frequency)


class Values(UnboundedValue):
    """A column of one row each: its histograms are functions of the values."""

    may_have_both_signs = False

    def octaves(self):
        cells = octaves_of(VALUE)

        def indices(values):
            sizes = np.floor(np.log2(np.abs(np.where(values == 0, 1, values)))) - SMALLEST_POWER + 1
            return (np.sign(values) * sizes).astype(int) - cells[0]

        return Histogram(indices, cells)

    def cells(self, span):
        def indices(values):
            return np.clip(np.floor((values - span.lower) / span.width), 0, CELLS - 1).astype(int)

        return (Histogram(indices, tuple(range(CELLS))),)


def error(values, lower, upper, epsilon):
    """Root mean square error of a sum: what is cut off, and Laplace noise in proportion to the largest size."""
    cut = np.maximum(values - upper, 0).sum() - np.maximum(lower - values, 0).sum()
    return math.hypot(cut, math.sqrt(2) * max(abs(lower), abs(upper)) / epsilon)


def best(values):
    """Error of the best fixed bounds: from zero, or from the smallest value, to one of the largest values."""
    lower = min(values.min(), 0.0)
    return min(error(values, lower, upper, 1.0) for upper in np.sort(values)[-200:])


@pytest.fixture
def searched(monkeypatch):
    """Search the bounds of a column so many times: what was found, and the share that it took."""

    def search(values, trials=TRIALS):
        results = []
        for _ in range(trials):
            looks = Looks(values)
            monkeypatch.setattr(bounds_search, "_look", looks.look)
            results.append((find_range(looks, Values(None, VALUE), OF_A_STATEMENT), looks.share))
        return results

    return search


def test_errors_are_near_those_of_the_best_fixed_bounds(searched):
    medians = {}
    for name, values in COLUMNS.items():
        least = best(values)
        ratios = [error(values, b.lower, b.upper, 1 - share) / least for b, share in searched(values) if b is not None]
        assert len(ratios) == TRIALS, name
        assert sum(ratio <= 4 for ratio in ratios) >= 0.6 * TRIALS, (name, ratios)
        medians[name] = median(ratios)
    assert median(medians.values()) <= 2, medians


def test_dates_far_from_zero_get_a_range_of_their_own(searched):
    widths = [bounds.upper - bounds.lower for bounds, _ in searched(COLUMNS["dates"])]
    assert median(widths) <= 3 * 365


def test_no_interval_misses_the_values_as_they_are_without_a_warning(searched):
    for name, values in COLUMNS.items():
        missed = 0
        for bounds, share in searched(values):
            width = max(abs(bounds.lower), abs(bounds.upper))
            cut = abs(np.maximum(values - bounds.upper, 0).sum() - np.maximum(bounds.lower - values, 0).sum())
            missed += bounds.warning is None and cut > math.log(20) * width / (1 - share)
        assert missed <= stats.binom.isf(FALSE_ALARM, TRIALS, 0.05), name


def test_where_only_zeros_are_seen_there_are_no_bounds(searched):
    values = zeros(0.98, 150.0 + 100 * RANKS * np.exp(2 * NORMAL))
    assert [bounds for bounds, _ in searched(values, 10)] == [None] * 10


def counts_of(people, noise=5.0, minimum=10):
    """Octaves of numbers with people in some of them, by power of two; "zero" is the cell of zeros."""
    cells = octaves_of(VALUE)
    counts = np.zeros(len(cells))
    for power, number in people.items():
        counts[cells.index(0 if power == "zero" else power - SMALLEST_POWER + 1)] = number
    return Counts(cells, counts, Laplace(noise), minimum)


def test_a_share_beyond_the_bounds_is_what_noise_cannot_exclude():
    octaves = Octaves(counts_of({3: 400, 4: 1000}), 1.0)
    few = octaves.beyond(0.0, 64.0)
    assert 0.05 <= few <= 0.2
    assert octaves.beyond(0.0, 16.0) == pytest.approx(few + 1000 / 1400, abs=0.01)
    assert Octaves(counts_of({3: 4_000_000}), 1.0).beyond(0.0, 16.0) <= 1e-4


def test_where_half_of_the_people_may_lie_beyond_there_are_no_bounds():
    assert Octaves(counts_of({3: 150}), 1.0).ends() is None
    assert Octaves(counts_of({3: 1500}), 1.0).ends() is not None


def test_only_zeros_are_an_answer_where_hardly_anybody_can_have_more():
    assert Octaves(counts_of({"zero": 5000}), 1.0).ends() is None
    ends = Octaves(counts_of({"zero": 500_000}), 1.0).ends()
    assert (ends.lower, ends.upper) == (0.0, 1.0)


def test_a_cell_rests_on_as_many_people_as_the_owner_asks_of_a_group():
    alone = counts_of({3: 1000, 40: 5}, noise=0.01)
    assert Octaves(alone, 1e-3).side(1).last == 3 - SMALLEST_POWER
    assert Octaves(counts_of({3: 1000, 40: 5}, noise=0.01, minimum=1), 1e-3).side(1).last == 40 - SMALLEST_POWER
