"""Complementary tolerances: the published vectors, their chance, and where they cannot be had."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from hedgerow.errors import ConditionNotMet
from hedgerow.testing import tolerance

COUNT, TOTAL, SQUARES, HALF = 200, 60.0, 500.0, 4.5


def test_the_published_complementary_tolerances():
    assert tolerance.complementary_laplace(1.0, 1.0, 3) == pytest.approx(1.00050033e-3, abs=5e-12)
    assert tolerance.complementary_gaussian(1.0, 3) == pytest.approx(1.25331447e-3, abs=5e-12)
    assert tolerance.complementary_laplace(2.0, 0.5, 3) == pytest.approx(4 * 1.00050033e-3, abs=2e-11)
    assert tolerance.complementary_gaussian(8.0, 3) == pytest.approx(8 * 1.25331447e-3, abs=4e-11)


@pytest.mark.parametrize("k", [0.1, 1, 3, 17, 100, 300])
def test_noise_falls_short_of_it_with_the_probability_that_was_asked_for(k):
    with ctx.workprec(2000):
        wanted = arb(10) ** arb(-k)
        normal = (arb(tolerance.complementary_gaussian(1.0, k)) / arb(2).sqrt()).erf()
        laplace = 1 - (-arb(tolerance.complementary_laplace(1.0, 1.0, k))).exp()
        assert float(normal / wanted) == pytest.approx(1.0, rel=1e-12)
        assert float(laplace / wanted) == pytest.approx(1.0, rel=1e-12)


def _laplace(scale, k, **options):
    return tolerance.complementary_laplace(scale, 1.0, k, **options)


@pytest.mark.parametrize("complementary", [tolerance.complementary_gaussian, _laplace])
def test_on_a_grid_it_needs_a_scale_of_more_than_ten_to_the_k_steps(complementary):
    assert complementary(1001.0, 3, step=1.0) == 0.0
    for scale in (1000.0, 5.0, 0.1):
        with pytest.raises(ConditionNotMet, match="noise is zero") as caught:
            complementary(scale, 3, step=1.0)
        assert caught.value.condition == "scale > 10^k steps"
        assert "assert_distribution" in caught.value.hint
    assert complementary(0.5, 3, step=1 / 2048) == 0.0


@pytest.mark.parametrize("scale", [1001.0, 5_000.0, 123_456.0])
def test_rounded_noise_is_within_the_steps_of_a_grid_as_seldom_as_asked(scale):
    normal = tolerance.complementary_gaussian(scale, 3, step=1.0)
    laplace = tolerance.complementary_laplace(scale, 1.0, 3, step=1.0)
    for whole, chance in (
        (normal, lambda t: math.erf((t + 0.5) / scale / math.sqrt(2))),
        (laplace, lambda t: -math.expm1(-(t + 0.5) / scale)),
    ):
        assert whole == int(whole)
        assert chance(whole) <= 1e-3 < chance(whole + 1)


def parts(k, law):
    """Tolerances for noise of scale 3 on the count and of scale 3 h and 3 h^2 on the sums."""
    half = tolerance.partitions(k, 2)
    if law == "laplace":
        return tolerance.laplace(3.0, 1.0, half), tolerance.complementary_laplace(3.0, 1.0, half)
    return tolerance.gaussian(3.0, half), tolerance.complementary_gaussian(3.0, half)


def noisy(random, law, draws):
    noise = random.laplace if law == "laplace" else random.normal
    counts = np.maximum(COUNT + noise(0, 3.0, draws), 1)
    means = (TOTAL + noise(0, 3.0 * HALF, draws)) / counts
    return means, (SQUARES + noise(0, 3.0 * HALF**2, draws)) / counts - means**2


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_simulated_means_and_variances_are_as_near_as_seldom_as_asked(random, rates, law):
    k, draws = 2, 400_000
    counted, short = parts(k, law)
    means, variances = noisy(random, law, draws)
    to_mean = tolerance.complementary_mean(
        count=COUNT, centred_sum=TOTAL, count_tolerance=counted, sum_complementary=HALF * short, half_range=HALF
    )
    to_variance = tolerance.complementary_variance(
        count=COUNT,
        centred_sum=TOTAL,
        square_sum=SQUARES,
        count_tolerance=counted,
        square_complementary=HALF**2 * short,
        half_range=HALF,
    )
    for values, exact, near in (
        (means, TOTAL / COUNT, to_mean),
        (variances, SQUARES / COUNT - (TOTAL / COUNT) ** 2, to_variance),
    ):
        distances = np.abs(values - exact)
        assert rates.may_be(distances <= near, 10.0**-k)
        assert not rates.may_be(distances <= 4 * near, 10.0**-k)


def test_a_mean_at_the_end_of_its_range_cannot_be_told_from_one_without_noise():
    with pytest.raises(ConditionNotMet, match="at an end of its range"):
        tolerance.complementary_mean(
            count=10, centred_sum=45.0, count_tolerance=1.0, sum_complementary=1e-9, half_range=4.5
        )
    with pytest.raises(ConditionNotMet, match="at an end of its range"):
        tolerance.complementary_variance(
            count=10,
            centred_sum=20.0,
            square_sum=40.0,
            count_tolerance=1.0,
            square_complementary=1e-9,
            half_range=4.5,
        )


def test_a_count_below_one_is_taken_for_one():
    assert tolerance.complementary_mean(count=0.25, centred_sum=0, count_tolerance=0.5, sum_complementary=0.1) == 0.1
