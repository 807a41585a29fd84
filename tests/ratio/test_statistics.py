"""Relative risk, odds ratio and risk difference: what intervals and p-values promise."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow import Gaussian, Laplace
from hedgerow.accuracy import quotient_interval
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.ratio import odds_ratio, relative_risk, risk_difference
from hedgerow.statistics.two_by_two.arms import Arm, disjoint_counts, noisy_size, public_size
from hedgerow.statistics.two_by_two.curves import ODDS_RATIO, RELATIVE_RISK, RISK_DIFFERENCE
from hedgerow.statistics.two_by_two.score import Score

STATISTICS = [relative_risk, odds_ratio, risk_difference]
METHODS = ["auto", "classic", "published", "conservative", "log", "fieller", "bootstrap"]
NOISES = [None, Laplace(1.0), Laplace(6.0), Gaussian(5.0), (Laplace(1.0), Laplace(3.0)), (Gaussian(2.0), Laplace(2.0))]
MISSING = {(odds_ratio, "fieller"), (risk_difference, "log")}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", NOISES)
def test_every_method_gives_an_interval_around_its_value(statistic, method, noise):
    if (statistic, method) in MISSING:
        with pytest.raises(ParameterError) as caught:
            statistic(61, 38, 200, 210, noise=noise, method=method)
        assert caught.value.code == "parameter-choice"
        return
    actual = statistic(61, 38, 200, 210, noise=noise, method=method)
    assert actual.interval.lower < actual.value < actual.interval.upper
    assert 0 < actual.p_value < 1
    assert actual.method == method


def test_the_classic_interval_is_that_of_equation_3():
    deviation = math.sqrt(1 / 61 - 1 / 200 + 1 / 38 - 1 / 210)
    actual = relative_risk(61, 38, 200, 210, noise=Laplace(3.0), method="classic")
    ratio = (61 / 200) / (38 / 210)
    assert math.isclose(actual.interval.lower, ratio * math.exp(-1.959963984540054 * deviation))
    assert math.isclose(actual.interval.upper, ratio * math.exp(1.959963984540054 * deviation))


@pytest.mark.parametrize(("method", "spread"), [("published", 0.0), ("conservative", 18.0)])
def test_the_published_intervals_are_those_of_theorems_4_2_and_4_5(method, spread):
    ratio = 60 / 45
    inner = 1 / 60 - 1 / 150 + 1 / 45 - 1 / 150 + spread * (1 / 60**2 + 1 / 45**2)
    actual = relative_risk(60, 45, 150, 150, noise=Laplace(3.0), method=method)
    assert math.isclose(actual.interval.upper - ratio, 1.959963984540054 * ratio * math.sqrt(inner))
    assert math.isclose(ratio - actual.interval.lower, actual.interval.upper - ratio)


def test_the_classic_odds_ratio_is_woolfs_and_the_classic_difference_walds():
    actual = odds_ratio(30, 20, 100, 100, method="classic")
    deviation = math.sqrt(1 / 30 + 1 / 70 + 1 / 20 + 1 / 80)
    assert math.isclose(actual.interval.upper, actual.value * math.exp(1.959963984540054 * deviation))
    wald = risk_difference(30, 20, 100, 100, method="classic")
    assert math.isclose(wald.interval.upper, 0.1 + 1.959963984540054 * math.sqrt(0.21 / 100 + 0.16 / 100))


def test_without_noise_the_default_is_the_score_interval():
    """At the ends of the interval the test that pools the groups is just at its limit."""
    actual = risk_difference(30, 20, 100, 100)
    z = (0.3 - 0.2) / math.sqrt(2 * 0.25 * 0.75 / 100)
    assert math.isclose(actual.p_value, math.erfc(z / math.sqrt(2)), rel_tol=1e-6)
    score = Score(
        Arm(np.array([30.0]), np.array([100.0]), ()), Arm(np.array([20.0]), np.array([100.0]), ()), RISK_DIFFERENCE
    )
    for end in (actual.interval.lower, actual.interval.upper):
        assert math.isclose(score.p_value(np.array([end]))[0], 0.05, rel_tol=1e-6)


@pytest.mark.parametrize("noise", [None, Laplace(2.0), Gaussian(4.0)])
def test_all_three_statistics_test_the_same_hypothesis(noise):
    actual = [statistic(61, 38, 200, 150, noise=noise).p_value for statistic in STATISTICS]
    assert math.isclose(actual[0], actual[1], rel_tol=1e-4)
    assert math.isclose(actual[0], actual[2], rel_tol=1e-4)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("noise", [Laplace(2.0), Gaussian(4.0)])
@pytest.mark.parametrize(("x", "y"), [(61, 38), (40, 41), (9, 3), (30, 44), (2, 30), (150, 20)])
def test_an_interval_excludes_no_difference_where_the_p_value_is_small_and_only_there(statistic, noise, x, y):
    actual = statistic(x, y, 200, 200, noise=noise)
    null = 0.0 if statistic is risk_difference else 1.0
    assert (actual.interval.lower <= null <= actual.interval.upper) == (actual.p_value >= 0.05)


@pytest.mark.parametrize("noise", [None, Laplace(2.0), Gaussian(4.0)])
@pytest.mark.parametrize(("x", "y"), [(61, 38), (9, 12), (150, 20), (3, 80)])
def test_exchanging_the_groups_turns_the_interval_over(noise, x, y):
    for statistic in (relative_risk, odds_ratio):
        one, other = statistic(x, y, 200, 170, noise=noise).interval, statistic(y, x, 170, 200, noise=noise).interval
        assert math.isclose(one.lower * other.upper, 1.0, rel_tol=1e-4) or (one.lower == 0 and other.upper == math.inf)
        assert math.isclose(one.upper * other.lower, 1.0, rel_tol=1e-4) or (one.upper == math.inf and other.lower == 0)
    one, other = (risk_difference(*pair, noise=noise).interval for pair in ((x, y, 200, 170), (y, x, 170, 200)))
    assert math.isclose(one.lower, -other.upper, abs_tol=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_more_noise_and_more_confidence_make_longer_intervals(statistic):
    widths = [statistic(61, 38, 200, 200, noise=Laplace(b)).interval for b in (0.5, 2.0, 5.0)]
    assert all(a.lower > b.lower and a.upper < b.upper for a, b in itertools.pairwise(widths))
    wide = statistic(61, 38, 200, 200, noise=Laplace(2.0), confidence=0.99).interval
    assert wide.lower < widths[1].lower
    assert wide.upper > widths[1].upper


def test_noise_that_hides_the_denominator_leaves_the_interval_open():
    actual = relative_risk(60, 3, 200, 200, noise=Laplace(2.0)).interval
    assert actual.upper == math.inf
    assert actual.lower > 1
    assert "denominator may be zero" in actual.note


@pytest.mark.parametrize("noise", [Laplace(4.0), Gaussian(9.0)])
@pytest.mark.parametrize(("x", "y"), [(-6, 40), (40, -6), (-5, -5), (0, 0), (230, 40), (40, 230), (-80, 60), (60, -80)])
def test_impossible_noisy_counts_have_intervals_too(noise, x, y):
    for statistic in STATISTICS:
        actual = statistic(x, y, 200, 200, noise=noise)
        assert actual.interval.lower <= actual.interval.upper
        assert 0 <= actual.p_value <= 1


@pytest.mark.parametrize("noise", [Laplace(1.5), Gaussian(2.0)])
def test_about_the_people_who_were_counted_it_is_the_exact_interval_of_the_quotient(noise):
    actual = relative_risk(61, 38, 200, 200, noise=noise, population=False).interval
    exact = quotient_interval(61.0, 38.0, numerator_noise=noise, denominator_noise=noise)
    assert math.isclose(actual.lower, exact.lower, rel_tol=2e-3)
    assert math.isclose(actual.upper, exact.upper, rel_tol=2e-3)
    with pytest.raises(ParameterError, match="default method"):
        relative_risk(61, 38, 200, 200, noise=noise, population=False, method="log")


def test_private_sizes_cost_width_and_disjoint_counts_cost_less():
    public = relative_risk(160, 120, 200, 200, noise=Laplace(4.0)).interval
    beside = relative_risk(160, 120, 200, 200, noise=Laplace(4.0), size_noise=Laplace(4.0)).interval
    disjoint = relative_risk(160, 120, 200, 200, noise=Laplace(4.0), rest_noise=Laplace(4.0)).interval
    widths = [actual.upper - actual.lower for actual in (disjoint, public, beside)]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] * 0.99


def test_a_size_that_may_be_zero_leaves_everything_open():
    actual = relative_risk(3, 40, 5, 200, noise=Laplace(4.0), rest_noise=Laplace(4.0))
    assert (actual.interval.lower, actual.interval.upper, actual.p_value) == (0.0, math.inf, 1.0)
    assert "size of a group" in actual.interval.note


def test_arrays_give_what_single_numbers_give():
    x, y = np.array([61.0, 9.0, -3.0, 150.0]), np.array([38.0, 12.0, 30.0, 3.0])
    many = relative_risk(x, y, 200, 170, noise=Laplace(2.0))
    for i, interval in enumerate(many.interval.intervals()):
        one = relative_risk(float(x[i]), float(y[i]), 200, 170, noise=Laplace(2.0))
        assert math.isclose(one.interval.lower, interval.lower, rel_tol=1e-9, abs_tol=1e-12)
        assert one.interval.upper == interval.upper or math.isclose(one.interval.upper, interval.upper, rel_tol=1e-9)
        assert one.p_value == many.p_value[i]
        assert isinstance(one.interval, Interval)


def test_many_groups_are_taken_in_blocks_that_do_not_matter():
    x = np.linspace(-10.0, 190.0, 700)
    many = relative_risk(x, 40.0, 200, 170, noise=Laplace(2.0)).interval
    for i in (0, 255, 256, 511, 699):
        one = relative_risk(float(x[i]), 40.0, 200, 170, noise=Laplace(2.0)).interval
        assert math.isclose(one.upper, many.upper[i], rel_tol=1e-9)
    assert len(many.lower) == len(many.notes) == 700


@pytest.mark.parametrize("method", METHODS)
def test_no_groups_have_no_intervals(method):
    none = np.zeros(0)
    actual = relative_risk(none, none, none + 1, none + 1, noise=Laplace(2.0), method=method)
    assert len(actual.interval.lower) == len(actual.p_value) == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"method": "best"}, "parameter-choice"),
        ({"confidence": 1.0}, "parameter-probability"),
        ({"noise": 3.0}, "parameter-noise"),
        ({"noise": 1.0}, "parameter-noise"),
        ({"noise": (Laplace(1.0),) * 3}, "parameter-pair"),
        ({"n_x": 0}, "parameter-positive"),
        ({"x": math.nan}, "parameter-number"),
        ({"size_noise": Laplace(1.0), "rest_noise": Laplace(1.0)}, "parameter-noise"),
    ],
)
def test_what_cannot_be_is_refused(options, code):
    with pytest.raises(ParameterError) as caught:
        relative_risk(**{"x": 61, "y": 38, "n_x": 200, "n_y": 200, **options})
    assert caught.value.code == code


def covered(noisy_groups, sizes, rates, noise, curve, draws):
    """Return the share of draws in which the test behind the interval accepts the truth."""
    arms = [
        Arm(noisy_groups(rate, size, noise, draws), np.full(draws, float(size)), public_size(noise))
        for size, rate in zip(sizes, rates, strict=True)
    ]
    value = curve.value(np.float64(rates[0]), np.float64(rates[1]))
    return int(np.sum(Score(arms[0], arms[1], curve).p_value(np.full(draws, value)) >= 0.05))


@pytest.mark.parametrize("curve", [RELATIVE_RISK, ODDS_RATIO, RISK_DIFFERENCE])
@pytest.mark.parametrize("noise", [Laplace(2.0), Gaussian(6.25)])
@pytest.mark.parametrize("sizes", [(20, 20), (200, 60)])
@pytest.mark.parametrize("rates", [(0.1, 0.1), (0.9, 0.1), (0.5, 0.5), (0.05, 0.8)])
def test_the_default_interval_holds_in_small_groups(noisy_groups, false_alarm, curve, noise, sizes, rates):
    draws = 20_000
    held = covered(noisy_groups, sizes, rates, noise, curve, draws)
    assert held >= binom.ppf(false_alarm, draws, 0.94)
    assert held <= binom.isf(false_alarm, draws, 0.985)


def test_the_published_interval_does_not_hold(noisy_groups, false_alarm):
    """The same count of draws notices a coverage that is too small."""
    noise, draws = Gaussian(6.25), 20_000
    x, y = (noisy_groups(0.1, 200, noise, draws) for _ in range(2))
    actual = relative_risk(np.maximum(x, 1), np.maximum(y, 1), 200, 200, noise=noise, method="published").interval
    held = int(np.sum((actual.lower <= 1) & (actual.upper >= 1)))
    assert held < binom.ppf(false_alarm, draws, 0.94)


def test_the_interval_holds_wherever_its_test_accepts(noisy_groups):
    noise = Laplace(2.0)
    x, y = noisy_groups(0.3, 100, noise, 400), noisy_groups(0.1, 100, noise, 400)
    sizes = np.full(400, 100.0)
    accepted = (
        Score(Arm(x, sizes, public_size(noise)), Arm(y, sizes, public_size(noise)), RELATIVE_RISK).p_value(
            np.full(400, 3.0)
        )
        >= 0.05
    )
    actual = relative_risk(x, y, 100, 100, noise=noise).interval
    assert np.all(((actual.lower <= 3.0) & (actual.upper >= 3.0)) >= accepted)


@pytest.mark.parametrize("released", ["beside", "disjoint"])
@pytest.mark.parametrize("noise", [Laplace(2.0), Gaussian(3.0)])
def test_intervals_with_private_sizes_hold(noisy_groups, false_alarm, released, noise):
    draws, arms = 20_000, []
    for rate, size in ((0.4, 80), (0.15, 60)):
        generator = np.random.default_rng()
        outcomes = generator.binomial(size, rate, draws)
        other = noisy_groups(0.0, size, noise, draws)
        count = outcomes + noisy_groups(0.0, size, noise, draws)
        sizes = size + other if released == "beside" else count + (size - outcomes) + other
        arms.append(Arm(count, sizes, (noisy_size if released == "beside" else disjoint_counts)(noise, noise)))
    held = np.sum(Score(arms[0], arms[1], RELATIVE_RISK).p_value(np.full(draws, 0.4 / 0.15)) >= 0.05)
    assert held >= binom.ppf(false_alarm, draws, 0.94)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_bootstrap_is_repeatable(statistic):
    first, second = (statistic(20, 12, 80, 80, noise=Laplace(2.0), method="bootstrap") for _ in range(2))
    assert first == second


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 0.01])
def test_noise_far_finer_than_its_lattice_has_hardly_any_variance(scale):
    """At an epsilon of a thousand a count has such noise."""
    noise = Laplace(scale, step=1.0)
    assert 0 <= noise.variance <= 1e-40
    estimate = odds_ratio(60, 45, 150, 150, noise=noise, size_noise=noise)
    assert estimate.interval.lower <= estimate.value <= estimate.interval.upper
