"""Tolerances: the published vectors, the tails they stand for, and how often simulated tests fail."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.testing import tolerance

KS = [0.5, 1, 3, 6, 10, 15, 17, 23, 100, 300]


def test_the_published_laplace_tolerance():
    assert tolerance.laplace(1.0, 50.0, 23) == pytest.approx(1.059189142777, abs=5e-13)


@pytest.mark.parametrize(
    ("k", "per_sigma"),
    [(3, 3.290526731492), (6, 4.891638475699), (10, 6.466951087241), (15, 8.026858882535), (23, 10.041637612176)],
)
def test_the_published_gaussian_tolerances(k, per_sigma):
    assert tolerance.gaussian(1.0, k) == pytest.approx(per_sigma, abs=5e-13)
    assert tolerance.gaussian(7.0, k) == pytest.approx(7 * per_sigma, abs=4e-12)


@pytest.mark.parametrize("k", KS)
def test_normal_noise_exceeds_its_tolerance_with_the_probability_that_was_asked_for(k):
    with ctx.workprec(2000):
        beyond = (arb(tolerance.gaussian(1.0, k)) / arb(2).sqrt()).erfc()
        assert float(beyond * arb(10) ** arb(k)) == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("k", KS)
def test_laplace_noise_exceeds_its_tolerance_with_the_probability_that_was_asked_for(k):
    with ctx.workprec(2000):
        beyond = (-arb(tolerance.laplace(3.0, 2.0, k)) * 2 / 3).exp()
        assert float(beyond * arb(10) ** arb(k)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("k", "of_a_mean", "of_a_variance"),
    [
        (3, 3.300921381306, 3.476976433563),
        (6, 6.301029887090, 6.477121109955),
        (23, 23.301029995664, 23.477121254720),
    ],
)
def test_the_published_flakiness_of_parts(k, of_a_mean, of_a_variance):
    assert tolerance.independent(k, 2) == pytest.approx(of_a_mean, abs=5e-13)
    assert tolerance.independent(k, 3) == pytest.approx(of_a_variance, abs=5e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize("k", KS)
def test_parts_are_never_allowed_more_than_all_of_them_and_hardly_less(k, n):
    part = tolerance.independent(k, n)
    assert k <= part * (1 + 1e-15)
    assert part <= tolerance.partitions(k, n) * (1 + 1e-15)
    if k >= 10:
        assert part == pytest.approx(k + math.log10(n), abs=1e-9)


def test_ten_partitions_need_one_k_more():
    assert tolerance.partitions(23, 10) == 24.0


@pytest.mark.parametrize(("exact", "whole"), [(1.1, 1), (2.4, 2), (2.5, 3), (2.6, 3), (0.2, 0), (7.0, 7)])
def test_whole_tolerances_are_rounded_to_the_nearest(exact, whole):
    assert tolerance.integer(exact) == whole


@pytest.mark.parametrize(
    ("needed", "flakiness", "one_less"), [(1.1, 8.1e-5, None), (2.4, 7.5e-4, None), (2.6, 9.2e-5, 1.30e-3)]
)
def test_rounded_noise_stays_within_the_whole_tolerance(needed, flakiness, one_less):
    """Laplace noise whose tolerance at 1e-3 is `needed`: |round(X)| > T means |X| >= T + 1/2."""
    scale = needed / (3 * math.log(10))
    whole = tolerance.integer(tolerance.laplace(scale, 1.0, 3))
    assert math.exp(-(whole + 0.5) / scale) == pytest.approx(flakiness, rel=0.01)
    assert math.exp(-(whole + 0.5) / scale) <= 1e-3
    if one_less is not None:
        assert math.exp(-(whole - 0.5) / scale) == pytest.approx(one_less, rel=0.01)


def test_arrays_give_arrays():
    actual = tolerance.gaussian(np.array([1.0, 2.0]), np.array([3, 6]))
    assert actual == pytest.approx([3.290526731492, 9.783276951398])
    assert tolerance.integer(np.array([1.1, 2.6])).tolist() == [1.0, 3.0]


def mean_at(k):
    part = tolerance.laplace(1.0, 0.5, tolerance.independent(k, 2))
    return tolerance.mean(count=100, centred_sum=50, count_tolerance=part, sum_tolerance=4.5 * part)


def test_the_published_mean():
    part = tolerance.laplace(1.0, 0.5, tolerance.independent(6, 2))
    assert part == pytest.approx(29.017315, abs=5e-7)
    assert 4.5 * part == pytest.approx(130.577917, abs=5e-7)
    actual = mean_at(6)
    assert (actual.lower, actual.upper) == pytest.approx((-1.135177, 2.543971), abs=5e-7)
    assert actual.tolerance == pytest.approx(2.043971, abs=5e-7)
    assert (mean_at(3).lower, mean_at(3).upper) == pytest.approx((-0.217054, 1.396317), abs=5e-7)


def variance_at(k):
    part = tolerance.laplace(1.0, 1 / 3, tolerance.independent(k, 3))
    return tolerance.variance(
        count=1000,
        centred_sum=50,
        square_sum=700,
        half_range=4.5,
        count_tolerance=part,
        sum_tolerance=4.5 * part,
        square_tolerance=4.5**2 * part,
    )


def test_the_published_variance():
    actual = variance_at(3)
    assert (actual.lower, actual.upper) == pytest.approx((0.182388, 1.215562), abs=5e-7)
    assert actual.tolerance == pytest.approx(1.215562 - (0.7 - 0.05**2), abs=1e-6)


def test_simulated_means_leave_the_bracket_as_seldom_as_asked(random, rates):
    counts = np.maximum(100 + random.laplace(0, 2, 400_000), 1)
    noisy = (50 + random.laplace(0, 9, 400_000)) / counts
    actual, near = mean_at(3), mean_at(1)
    outside = (noisy < actual.lower) | (noisy > actual.upper)
    assert rates.may_be(outside, 1e-3)
    assert not rates.may_be((noisy < near.lower) | (noisy > near.upper), 1e-3)


def test_simulated_variances_leave_the_bracket_as_seldom_as_asked(random, rates):
    counts = np.maximum(1000 + random.laplace(0, 3, 400_000), 1)
    means = (50 + random.laplace(0, 13.5, 400_000)) / counts
    noisy = np.clip((700 + random.laplace(0, 3 * 4.5**2, 400_000)) / counts - means**2, 0, 4.5**2)
    actual, near = variance_at(3), variance_at(1)
    assert rates.may_be((noisy < actual.lower) | (noisy > actual.upper), 1e-3)
    assert not rates.may_be((noisy < near.lower) | (noisy > near.upper), 1e-3)


@pytest.mark.parametrize("total", [-3000.0, -50.0, 0.0, 50.0, 3000.0])
@pytest.mark.parametrize("rows", [1.0, 20.0, 1000.0])
def test_every_corner_of_the_box_is_in_the_bracket(total, rows):
    tc, ts, tq = 30.0, 100.0, 400.0
    squares = total**2 / rows + 10
    box = {"count": rows, "centred_sum": total, "count_tolerance": tc, "sum_tolerance": ts}
    mean = tolerance.mean(**box)
    wide = tolerance.variance(**box, square_sum=squares, half_range=1e9, square_tolerance=tq)
    for c in np.maximum(rows + np.linspace(-tc, tc, 7), 1):
        for s in total + np.linspace(-ts, ts, 7):
            assert mean.lower - 1e-9 <= s / c <= mean.upper + 1e-9
            for q in squares + np.linspace(-tq, tq, 7):
                value = np.clip(q / c - (s / c) ** 2, 0, 1e18)
                assert wide.lower - 1e-6 <= value <= wide.upper + 1e-6
    assert mean.tolerance == max(mean.upper - total / rows, total / rows - mean.lower)


def test_a_variance_is_cut_to_what_is_possible():
    parts = {"count_tolerance": 50.0, "sum_tolerance": 500.0, "square_tolerance": 5000.0}
    actual = tolerance.variance(count=100, centred_sum=0, square_sum=100, half_range=2.0, **parts)
    assert (actual.lower, actual.upper) == (0.0, 4.0)


@pytest.mark.parametrize("k", [0, -1, float("nan"), True, "3"])
def test_a_k_that_cannot_be_is_refused(k):
    with pytest.raises(ParameterError, match="k must be"):
        tolerance.gaussian(1.0, k)


def test_a_k_beyond_floats_is_refused():
    with pytest.raises(ConditionNotMet, match="above 300") as caught:
        tolerance.gaussian(1.0, 301)
    assert caught.value.condition == "k up to 300"


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_partitions_that_cannot_be_is_refused(n):
    with pytest.raises(ParameterError, match="n must be a whole number"):
        tolerance.partitions(3, n)


@pytest.mark.parametrize(("flakiness", "k"), [(1e-9, 9.0), (1e-300, 300.0), (0.5, math.log10(2))])
def test_a_flakiness_is_ten_to_the_minus_k(flakiness, k):
    assert tolerance.k_of(flakiness) == pytest.approx(k)


@pytest.mark.parametrize("flakiness", [0.0, 1.0, -1e-9, 2.0])
def test_a_flakiness_that_cannot_be_is_refused(flakiness):
    with pytest.raises(ParameterError, match="flakiness must lie between 0 and 1"):
        tolerance.k_of(flakiness)
