"""Bounds on skewed, zero-inflated and heavy-tailed columns: as good as the best fixed ones, or a warning or refusal.

The search runs as it does for a statement, on histograms of 5 000 people with the noise of epsilon 1: Laplace, or
Gaussian at delta 1e-7, of which each look takes a share of mu squared. What an answer
would then be off by follows from the values: what the bounds cut off, and the noise of an answer with such bounds.
`benchmarks/auto_bounds.py` measures the same on real columns, with real answers.
"""

import math
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from hedgerow.accounting import gaussian_mu
from hedgerow.calibration import bounds_search
from hedgerow.calibration.bounds_search import OF_A_STATEMENT, Counts, Octaves, UnboundedValue, find_range
from hedgerow.calibration.buckets import CELLS, SMALLEST_POWER, Histogram, octaves_of
from hedgerow.distributions import Gaussian, Laplace
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type

PEOPLE, TRIALS, FALSE_ALARM = 5000, 20, 1e-9
MU = gaussian_mu(1.0, 1e-7)
NOISES = pytest.mark.parametrize("noise", ["laplace", "gaussian"])
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
    "thin tail": np.where(RANKS < 0.95, 50 + 8 * NORMAL, -1000 * np.log(np.clip(20 - 20 * RANKS, 1e-9, 1))),
    "chronic": np.clip(11 + 7 * NORMAL + np.where(RANKS > 0.85, 200 * (RANKS - 0.85), 0), 0, None),
}


class Looks:
    """A budget of epsilon 1 that answers looks at one column with simulated noise, and counts the shares."""

    request = SimpleNamespace(min_frequency=10)

    def __init__(self, values, noise):
        self.values, self.noise, self.payments, self.share = values, noise, [], 0.0

    def noise_factor(self, share, other):
        return share / other if self.noise == "laplace" else math.sqrt(share / other)

    def look(self, _budget, histogram, share, _subject):
        self.share += share
        counts, random = (
            np.bincount(histogram.plan(self.values), minlength=len(histogram.cells)),
            np.random.default_rng(),
        )
        if self.noise == "laplace":
            noise, draws = Laplace(1 / share), random.laplace(0, 1 / share, len(counts))
        else:
            noise = Gaussian(1 / (MU * math.sqrt(share)))
            draws = random.normal(0, noise.sigma, len(counts))
        return Counts(histogram.cells, counts + draws, noise, self.request.min_frequency)


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


def deviation(noise, share):
    """Standard deviation of the noise of a sum with bounds 0 and 1."""
    return math.sqrt(2) / share if noise == "laplace" else 1 / (MU * math.sqrt(share))


def cut_off(values, lower, upper):
    return abs(np.maximum(values - upper, 0).sum() - np.maximum(lower - values, 0).sum())


def error(values, lower, upper, noise):
    """Root mean square error of a sum: what is cut off, and noise in proportion to the largest size."""
    return math.hypot(cut_off(values, lower, upper), noise * max(abs(lower), abs(upper)))


def best(values, noise):
    """Error of the best fixed bounds: from zero, or from the smallest value, to one of the largest values."""
    lower = min(values.min(), 0.0)
    return min(error(values, lower, upper, noise) for upper in np.sort(values)[-200:])


@pytest.fixture
def searched(monkeypatch):
    """Search the bounds of a column so many times: what was found, and the share that it took."""

    def search(values, trials=TRIALS, noise="laplace"):
        results = []
        for _ in range(trials):
            looks = Looks(values, noise)
            monkeypatch.setattr(bounds_search, "_look", looks.look)
            results.append((find_range(looks, Values(None, VALUE), OF_A_STATEMENT), looks.share))
        return results

    return search


@NOISES
def test_errors_are_near_those_of_the_best_fixed_bounds_and_large_ones_are_warned_of(searched, noise):
    """An interval of 95 % that is off by what the bounds cut off misses with a chance that follows from the noise."""
    medians = {}
    for name, values in COLUMNS.items():
        least, ratios, missed = best(values, deviation(noise, 1)), [], 0.0
        for bounds, share in searched(values, noise=noise):
            assert bounds is not None, name
            one = deviation(noise, 1 - share)
            ratios.append(error(values, bounds.lower, bounds.upper, one) / least)
            cut = cut_off(values, bounds.lower, bounds.upper) / (one * max(abs(bounds.lower), abs(bounds.upper)))
            missed += bounds.warning is None and stats.norm.sf(1.96 - cut) + stats.norm.sf(1.96 + cut)
        assert sum(ratio <= 4 for ratio in ratios) >= 0.5 * TRIALS, (name, ratios)
        assert missed <= stats.binom.isf(FALSE_ALARM, TRIALS, 0.05), name
        medians[name] = median(ratios)
    assert median(medians.values()) <= 2, medians


@NOISES
def test_dates_far_from_zero_get_a_range_of_their_own(searched, noise):
    widths = [bounds.upper - bounds.lower for bounds, _ in searched(COLUMNS["dates"], noise=noise)]
    assert median(widths) <= 3 * 365


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


@NOISES
def test_a_tail_that_hides_in_every_octave_alone_is_seen(searched, noise):
    """250 people between 100 and 8 000, and fewer than an octave needs in each one."""
    uppers = [bounds.upper for bounds, _ in searched(COLUMNS["thin tail"], noise=noise)]
    assert median(uppers) >= 1500
