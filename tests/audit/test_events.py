"""Events are chosen on some runs and counted on others."""

import numpy as np
import pytest

from hedgerow.audit.events import Tally, choose, worth_of_epsilon, worth_of_mu
from hedgerow.audit.record import Sample, Trait
from hedgerow.distributions import Gaussian, Laplace

RUNS = 4000
FACT = Trait("the group a is shown", fact=True)


def samples(trait, without, joined):
    """One trait, seen on both databases."""
    return tuple(Sample((trait,), np.asarray(values, dtype=float).reshape(-1, 1)) for values in (without, joined))


def parted(trait, without, joined):
    """Those that choose, and those that judge."""
    both = samples(trait, without, joined)
    half = len(without) // 2
    return [sample.part(0, half) for sample in both], [sample.part(half, len(without)) for sample in both]


def test_a_group_that_appears_is_the_event():
    learnt, kept = parted(FACT, [np.nan] * 100, [1.0] * 100)
    event = choose(*learnt, worth_of_epsilon(0.0))
    assert event.words == "the group a is shown"
    assert event.with_newcomer
    assert event.tally(*kept) == Tally(likely=50, rare=0, runs=50)


def test_a_group_that_vanishes_is_the_event_too():
    learnt, kept = parted(FACT, [1.0] * 100, [np.nan] * 100)
    event = choose(*learnt, worth_of_epsilon(0.0))
    assert event.tally(*kept) == Tally(likely=50, rare=0, runs=50)


def test_a_shift_of_laplace_noise_is_told_by_a_threshold_beyond_it():
    noise = np.random.default_rng().laplace(0.0, 1.0, (2, RUNS))
    learnt, kept = parted(Trait("n", noise=Laplace(1.0)), noise[0], noise[1] + 2.0)
    tally = choose(*learnt, worth_of_epsilon(0.0)).tally(*kept)
    assert tally.likely / tally.runs > np.exp(1.2) * tally.rare / tally.runs


def test_a_shift_of_many_numbers_is_told_by_all_of_them_together():
    """Each alone moves by a fifth of its noise; together they are twenty of them, which is almost one."""
    shift, count = 0.2, 20
    noise = np.random.default_rng().normal(0.0, 1.0, (2, 2 * RUNS, count))
    traits = tuple(Trait(f"n{i}", noise=Gaussian(1.0)) for i in range(count))
    without, joined = Sample(traits, noise[0]), Sample(traits, noise[1] + shift)
    event = choose(without.part(0, RUNS), joined.part(0, RUNS), worth_of_mu)
    tally = event.tally(without.part(RUNS, 2 * RUNS), joined.part(RUNS, 2 * RUNS))
    assert "all numbers together" in event.words
    assert worth_of_mu(tally.likely / RUNS, tally.rare / RUNS) > 0.6


def test_noise_in_floating_point_is_told_by_its_lowest_bit():
    noise = np.random.default_rng().laplace(0.0, 1.0, (2, RUNS))
    learnt, kept = parted(Trait("n", noise=Laplace(1.0), step=1.0), noise[0], noise[1] + 1.0)
    event = choose(*learnt, worth_of_epsilon(0.0))
    tally = event.tally(*kept)
    assert "lowest bit" in event.words
    assert tally.rare == 0
    assert tally.likely > RUNS / 20


def test_values_that_are_neither_large_nor_small_are_told_by_how_frequent_they_are():
    middle = np.random.default_rng().integers(4, 7, RUNS)
    learnt, kept = parted(Trait("a drawn point"), np.random.default_rng().integers(0, 11, RUNS), middle)
    tally = choose(*learnt, worth_of_epsilon(0.0)).tally(*kept)
    assert tally.likely == tally.runs or tally.rare == 0


def test_what_learns_by_heart_is_not_chosen_for_it():
    """Both databases are alike, so whatever is chosen happens as often on either."""
    noise = np.random.default_rng().normal(0.0, 1.0, (2, 2 * RUNS, 30))
    traits = tuple(Trait(f"n{i}") for i in range(30))
    without, joined = (Sample(traits, values) for values in noise)
    event = choose(without.part(0, RUNS), joined.part(0, RUNS), worth_of_mu)
    tally = event.tally(without.part(RUNS, 2 * RUNS), joined.part(RUNS, 2 * RUNS))
    error = np.sqrt(2.0 * RUNS * 0.25)
    assert abs(tally.likely - tally.rare) < 6.5 * error


def test_words_may_hold_anything_that_a_key_holds():
    learnt, _ = parted(Trait("the sum of city = '{0} %s {'"), [0.0] * 100, [1.0] * 100)
    assert "'{0} %s {'" in choose(*learnt, worth_of_epsilon(0.0)).words


@pytest.mark.parametrize("values", [[], [np.nan] * 40])
def test_where_nothing_is_seen_nothing_is_chosen(values):
    traits = (Trait("n"),) if values else ()
    both = [Sample(traits, np.asarray(values, dtype=float).reshape(40, -1)) for _ in range(2)]
    event = choose(*both, worth_of_epsilon(0.0))
    assert event is None or event.tally(*both).likely == event.tally(*both).rare
