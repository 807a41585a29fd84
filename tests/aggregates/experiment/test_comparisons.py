"""Averages of two arms compared: their intervals hold, their noise is that of one arm, p-values are adjusted."""

import numpy as np
import pytest
from scipy import stats

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.propagation.comparisons import adjust_p_values, holm
from hedgerow.statistics.moments import BERNSTEIN, Moments, lambda_family
from hedgerow.statistics.two_by_two.averages import compare_averages
from hedgerow.statistics.two_by_two.curves import RISK_DIFFERENCE, AverageRatioCurve

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
