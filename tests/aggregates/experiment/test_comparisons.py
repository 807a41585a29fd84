"""Averages of two arms compared: their intervals hold, their noise is that of one arm, p-values are adjusted."""

import numpy as np
import pytest
from scipy import stats

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.execution.build_answer import adjust_p_values, holm
from hedgerow.statistics.moments import BERNSTEIN, Moments, lambda_family
from hedgerow.statistics.two_by_two.arms import Arm, disjoint_counts
from hedgerow.statistics.two_by_two.curves import RISK_DIFFERENCE, AverageRatioCurve
from hedgerow.statistics.two_by_two.estimates import compare_averages
from hedgerow.statistics.two_by_two.score import Score

FALSE_ALARM = 1e-9
BETA = 0.05
EXPERIMENTS = 2000
LAWS = {"gaussian": (lambda_family(), Gaussian(4.0)), "laplace": (BERNSTEIN, Laplace(3.0))}

random = np.random.default_rng()


def drawn(people, mean, noise, law, shrunk=1.0):
    """Noisy moments of many arms with so many people each and skewed values; `shrunk` makes the noise smaller."""
    family, stated = law
    values = np.clip(random.gamma(2.0, mean / 2, size=(people, EXPERIMENTS)), 0.0, 1.0)
    z = 2 * values - 1
    sums = {(0, 0): np.full(EXPERIMENTS, float(people)), (1, 0): z.sum(axis=0), (2, 0): (z**2).sum(axis=0)}
    back = np.array([[row[family.monomials.index(m)] for m in family.moments] for row in family.rows], float)
    exact = back @ np.array([sums[m] for m in family.moments]) / family.denominator
    scale = stated.sigma if isinstance(stated, Gaussian) else stated.scale
    draw = random.normal if isinstance(stated, Gaussian) else random.laplace
    return Moments.of(family, exact + draw(0.0, scale / shrunk, exact.shape), noise), values.mean(axis=0)


def misses(bounds, truth):
    return int(np.sum((truth < bounds.lower - 1e-12) | (truth > bounds.upper + 1e-12)))


def assert_holds(missed):
    assert stats.binom.sf(missed - 1, EXPERIMENTS, BETA) > FALSE_ALARM, f"{missed} of {EXPERIMENTS}"


@pytest.mark.parametrize("people", [60, 1000])
@pytest.mark.parametrize("kind", LAWS)
def test_intervals_about_the_people_hold(kind, people):
    law = LAWS[kind]
    arms, means = zip(drawn(people, 0.2, law[1], law), drawn(people, 0.3, law[1], law), strict=True)
    for curve, exact in (
        (RISK_DIFFERENCE, means[0] - means[1]),
        (AverageRatioCurve(0.0), means[0] / means[1]),
        (AverageRatioCurve(0.5), (0.5 + means[0]) / (0.5 + means[1])),
    ):
        assert_holds(misses(compare_averages(arms, curve, BETA, population=False)[0], exact))


@pytest.mark.parametrize("people", [250, 1000])
@pytest.mark.parametrize("kind", LAWS)
def test_intervals_about_a_population_hold_and_agree_with_the_p_value(kind, people):
    law = LAWS[kind]
    arms, _ = zip(drawn(people, 0.25, law[1], law), drawn(people, 0.25, law[1], law), strict=True)
    bounds, p_values = compare_averages(arms, RISK_DIFFERENCE, BETA, population=True)
    assert_holds(misses(bounds, 0.0))
    excludes = (bounds.lower > 0) | (bounds.upper < 0)
    near = np.abs(p_values - BETA) < 1e-3
    assert np.all((excludes == (p_values < BETA)) | near)


def test_noise_that_is_not_stated_is_noticed():
    """The same intervals, from noise twice as large as they are told, do not hold: the test above has power."""
    law = (lambda_family(), Gaussian(4.0))
    arms, means = zip(drawn(250, 0.2, law[1], law, 0.5), drawn(250, 0.3, law[1], law, 0.5), strict=True)
    bounds, _ = compare_averages(arms, RISK_DIFFERENCE, BETA, population=False)
    assert stats.binom.sf(misses(bounds, means[0] - means[1]) - 1, EXPERIMENTS, BETA) < FALSE_ALARM


METRICS, LOTS = 4, 40_000


def p_values_without_difference(noise, more=1.0):
    """p-values of several rates that are equal in both arms; half of the people are the same for all metrics.

    `more` is the part by which the noise is larger than the test is told.
    """
    people, rate, arms = 2000, 0.1, []
    for _ in range(2):
        outcomes = random.binomial(people // 2, rate, LOTS) + random.binomial(people // 2, rate, (METRICS, LOTS))
        draw = random.normal if isinstance(noise, Gaussian) else random.laplace
        scale = more * (noise.sigma if isinstance(noise, Gaussian) else noise.scale)
        counts, rest = (exact + draw(0.0, scale, (METRICS, LOTS)) for exact in (outcomes, people - outcomes))
        arms.append(Arm(counts.ravel(), (counts + rest).ravel(), disjoint_counts(noise, noise)))
    return Score(arms[0], arms[1], RISK_DIFFERENCE).p_value(np.zeros(METRICS * LOTS)).reshape(METRICS, LOTS)


def is_as_rare_as(hits, level):
    return stats.binom.sf(int(np.sum(hits)) - 1, LOTS, level) > FALSE_ALARM


@pytest.mark.parametrize("noise", [Gaussian(30.0), Laplace(20.0)])
def test_without_a_difference_small_p_values_are_as_rare_as_they_say(noise):
    """Also at the levels of which Holm makes use; the noise is larger than what chance adds, so that it matters."""
    for p_values in p_values_without_difference(noise):
        assert all(is_as_rare_as(p_values <= level, level) for level in (0.2, 0.05, 0.0125, 0.002))
    assert not is_as_rare_as(p_values_without_difference(noise, 1.3)[0] <= 0.0125, 0.0125)


def test_holm_finds_something_where_nothing_is_as_seldom_as_it_says():
    p_values = p_values_without_difference(Laplace(20.0))
    assert is_as_rare_as([min(holm(list(column))) <= 0.05 for column in p_values.T], 0.05)
    assert not is_as_rare_as(p_values.min(axis=0) <= 0.05, 0.05), "unadjusted p-values are noticed"


def test_holm_is_as_published():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01], family=7) == pytest.approx([0.07])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_statistics_of_one_comparison_count_once_and_hidden_groups_count_too():
    bar = Interval(0, 1, population=(0, 1), p_value=0.01)
    bars = [{"lift": bar, "difference": bar, "other": Interval(0, 1, population=(0, 1), p_value=0.02)}]
    adjust_p_values(bars, {"lift": "spent", "difference": "spent", "other": "bought"}, groups=1)
    assert bars[0]["lift"].p_adjusted == bars[0]["difference"].p_adjusted == pytest.approx(0.02)
    assert bars[0]["other"].p_adjusted == pytest.approx(0.02)
    picked = [{"lift": bar}]
    adjust_p_values(picked, {"lift": "spent"}, groups=10)
    assert picked[0]["lift"].p_adjusted == pytest.approx(0.1)
    alone = [{"lift": bar}]
    adjust_p_values(alone, {"lift": "spent"}, groups=1)
    assert alone[0]["lift"].p_adjusted is None
