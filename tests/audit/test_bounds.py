"""Bounds from counts: exact limits, and what follows from them."""

import math

import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from hedgerow.accounting import gaussian_delta
from hedgerow.audit.events import Tally, blur, epsilon_bound, furthest, greatest_chance, least_chance, mu_bound

LEVEL = 0.01
RUNS = 20
CHANCES = [0.001, 0.03, 0.2, 0.5, 0.77, 0.96, 0.9995]


@pytest.mark.parametrize("chance", CHANCES)
def test_a_limit_fails_no_more_often_than_its_level(chance):
    too_high = sum(binom.pmf(k, RUNS, chance) for k in range(RUNS + 1) if least_chance(k, RUNS, LEVEL) > chance)
    too_low = sum(binom.pmf(k, RUNS, chance) for k in range(RUNS + 1) if greatest_chance(k, RUNS, LEVEL) < chance)
    assert too_high <= LEVEL * (1 + 1e-9)
    assert too_low <= LEVEL * (1 + 1e-9)


def blamed(likely, rare, bound, claim):
    """Return the probability that a bound exceeds the claim, over all counts that are possible."""
    counts = range(RUNS + 1)
    chances = [[binom.pmf(count, RUNS, chance) for count in counts] for chance in (likely, rare)]
    pairs = [(a, b) for a in counts for b in counts if bound(Tally(a, b, RUNS)) > claim]
    return sum(chances[0][a] * chances[1][b] for a, b in pairs)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_statement_that_keeps_its_epsilon_is_blamed_no_more_often_than_stated(epsilon, delta):
    rare = 0.3
    likely = min(1.0, math.exp(epsilon) * rare + delta)
    actual = blamed(likely, rare, lambda tally: epsilon_bound(tally, delta, LEVEL), epsilon)
    assert 0.0 < actual <= 2 * LEVEL


@pytest.mark.parametrize("mu", [0.2, 1.0])
@pytest.mark.parametrize("mass", [0.0, 0.02])
def test_a_statement_that_keeps_its_mu_is_blamed_no_more_often_than_stated(mu, mass):
    rare = 0.3
    likely = float(ndtr(ndtri(rare) + mu)) + mass
    actual = blamed(likely, rare, lambda tally: mu_bound(tally, LEVEL, mass=mass), mu)
    assert 0.0 < actual <= 2 * LEVEL


def test_twice_the_epsilon_shows_where_there_are_runs_enough():
    assert epsilon_bound(Tally(2000, 270, 4000), 0.0, LEVEL) > 1.7


def test_delta_is_forgiven_and_no_more():
    assert epsilon_bound(Tally(50, 0, 1000), 0.05, LEVEL) == 0.0
    assert epsilon_bound(Tally(500, 0, 1000), 0.05, LEVEL) > 3.0


def test_what_happens_always_and_never_shows_as_much_as_can_be_shown():
    assert epsilon_bound(Tally(1000, 0, 1000), 0.0, LEVEL) == furthest(1000, 0.0, LEVEL)
    assert furthest(10_000, 0.0, LEVEL) > furthest(1000, 0.0, LEVEL) + 2.0


def test_databases_that_look_alike_show_nothing():
    assert epsilon_bound(Tally(500, 500, 1000), 0.0, LEVEL) == 0.0
    assert mu_bound(Tally(500, 500, 1000), LEVEL) == 0.0
    assert mu_bound(Tally(0, 0, 1000), LEVEL) == 0.0
    assert mu_bound(Tally(1000, 1000, 1000), LEVEL) == 0.0


def test_a_bound_of_mu_shows_more_than_one_of_epsilon_at_a_small_delta():
    """For Gaussian noise the epsilon of a small delta lies far in the tail, where no run ever comes."""
    mu, delta = 1.0, 1e-6
    tally = Tally(round(4000 * ndtr(mu / 2)), round(4000 * ndtr(-mu / 2)), 4000)
    shown = mu_bound(tally, LEVEL)
    assert 0.8 < shown < mu
    assert gaussian_delta(epsilon_bound(tally, delta, LEVEL), shown) > delta


def test_a_bound_of_mu_lies_below_it_by_the_blur():
    runs, mu = 10_000, 0.3
    tally = Tally(round(runs * ndtr(mu / 2)), round(runs * ndtr(-mu / 2)), runs)
    assert mu_bound(tally, LEVEL) == pytest.approx(mu - blur(runs, LEVEL), abs=0.003)
