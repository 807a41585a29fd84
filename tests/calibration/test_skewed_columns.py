"""Bounds on skewed, zero-inflated and heavy-tailed columns: as good as the best fixed ones, or a warning or refusal.

The search runs as it does for a statement, on histograms of 5 000 people with the noise of epsilon 1: Laplace, or
Gaussian at delta 1e-7, of which each look takes a share of mu squared. What an answer
would then be off by follows from the values: what the bounds cut off, and the noise of an answer with such bounds.
`benchmarks/bounds_search.py` has the simulation; `benchmarks/auto_bounds.py` measures the same with real answers.
"""

import importlib.util
import math
import sys
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from scipy import stats

from hedgerow.calibration.bounds_search import Counts, Octaves
from hedgerow.calibration.buckets import SMALLEST_POWER, octaves_of
from hedgerow.distributions import Laplace

PATH = Path(__file__).parents[2] / "benchmarks" / "bounds_search.py"
SPECIFICATION = importlib.util.spec_from_file_location("simulated_search", PATH)
SEARCH = importlib.util.module_from_spec(SPECIFICATION)
sys.modules["simulated_search"] = SEARCH
SPECIFICATION.loader.exec_module(SEARCH)

PEOPLE, TRIALS, FALSE_ALARM = 5000, 20, 1e-9
NOISES = pytest.mark.parametrize("noise", ["laplace", "gaussian"])
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


def error(values, lower, upper, noise):
    """Root mean square error of a sum: what is cut off, and noise in proportion to the largest size."""
    return math.hypot(SEARCH.clipped(values, lower, upper), noise * max(abs(lower), abs(upper)))


def best(values, noise):
    """Error of the best fixed bounds: from zero, or from the smallest value, to one of the largest values."""
    lower = min(values.min(), 0.0)
    return min(error(values, lower, upper, noise) for upper in np.sort(values)[-200:])


def searched(values, trials=TRIALS, noise="laplace"):
    """Search the bounds of a column so many times: what was found, and the share that it took."""
    return list(SEARCH.searches(values, noise, trials))


@NOISES
def test_errors_are_near_those_of_the_best_fixed_bounds_and_large_ones_are_warned_of(noise):
    """An interval of 95 % that is off by what the bounds cut off misses with a chance that follows from the noise."""
    medians = {}
    for name, values in COLUMNS.items():
        least, ratios, missed = best(values, SEARCH.deviation(noise, 1)), [], 0.0
        for bounds, share in searched(values, noise=noise):
            assert bounds is not None, name
            one = SEARCH.deviation(noise, 1 - share)
            ratios.append(error(values, bounds.lower, bounds.upper, one) / least)
            cut = SEARCH.clipped(values, bounds.lower, bounds.upper) / (one * max(abs(bounds.lower), abs(bounds.upper)))
            missed += bounds.warning is None and stats.norm.sf(1.96 - cut) + stats.norm.sf(1.96 + cut)
        assert sum(ratio <= 4 for ratio in ratios) >= 0.5 * TRIALS, (name, ratios)
        assert missed <= stats.binom.isf(FALSE_ALARM, TRIALS, 0.05), name
        medians[name] = median(ratios)
    assert median(medians.values()) <= 2, medians


@NOISES
def test_the_amount_that_is_cut_off_is_within_its_stated_limit(noise):
    """In nine of ten searches at least, over all columns; and some cuts are more than a tenth of it."""
    amounts = [
        (SEARCH.clipped(values, bounds.lower, bounds.upper), bounds.clipped)
        for values in COLUMNS.values()
        for bounds, _ in searched(values, noise=noise)
    ]
    assert stats.binom.cdf(sum(cut <= limit + 1e-9 for cut, limit in amounts), len(amounts), 0.9) > FALSE_ALARM
    assert any(cut > limit / 10 for cut, limit in amounts)


@NOISES
def test_dates_far_from_zero_get_a_range_of_their_own(noise):
    widths = [bounds.upper - bounds.lower for bounds, _ in searched(COLUMNS["dates"], noise=noise)]
    assert median(widths) <= 3 * 365


def test_where_only_zeros_are_seen_there_are_hardly_ever_bounds_and_these_are_warned_of():
    """A hundred people of 5 000 have more than zero; noise makes one search in two hundred see them."""
    values = zeros(0.98, 150.0 + 100 * RANKS * np.exp(2 * NORMAL))
    seen = [bounds for bounds, _ in searched(values, 10 * TRIALS) if bounds is not None]
    assert len(seen) <= stats.binom.isf(FALSE_ALARM, 10 * TRIALS, 0.02)
    assert all(bounds.warning is not None for bounds in seen)


def counts_of(people, noise=5.0, minimum=10):
    """Octaves of numbers with people in some of them, by power of two; "zero" is the cell of zeros."""
    cells = octaves_of(SEARCH.VALUE)
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
def test_a_tail_that_hides_in_every_octave_alone_is_seen(noise):
    """250 people between 100 and 8 000, and fewer than an octave needs in each one."""
    uppers = [bounds.upper for bounds, _ in searched(COLUMNS["thin tail"], noise=noise)]
    assert median(uppers) >= 1500
