"""Estimates from noisy moments."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import (
    BERNSTEIN,
    BILINEAR,
    CORNERS,
    CORRELATION,
    TENSOR,
    Moments,
    ScaledColumn,
    corr,
    covar_pop,
    covar_samp,
    covariance_scale,
    intercept_scale,
    lambda_family,
    mixing,
    regr_intercept,
    regr_r2,
    regr_slope,
    slope_scale,
    stddev_pop,
    stddev_samp,
    stddev_scale,
    var_pop,
    var_samp,
    variance_scale,
)
from hedgerow.statistics.moments.estimates import covariance_constant, variance_constant
from hedgerow.statistics.moments.families import MOMENTS
from hedgerow.statistics.moments.noisy import COVARIANCE, VAR_FIRST, bias, central, gradient

ALARM = 6.2
"""Standard errors; a normal mean strays farther less than once in 10^9."""

QUIET = [(lambda_family(), Gaussian(1e-6)), (BERNSTEIN, Laplace(1e-6))]
QUIET_PAIRS = [(CORRELATION, Gaussian(1e-6)), (CORNERS, Laplace(1e-6)), (TENSOR, Laplace(1e-6))]
X = np.array([3.0, 4.0, 4.5, 7.0, 9.0, 9.5])
Y = np.array([12.0, 10.0, 15.0, 14.0, 19.0, 17.0])
FIRST, SECOND = ScaledColumn(middle=5.0, half=5.0), ScaledColumn(middle=15.0, half=10.0)


def centred(values, column):
    return (values - column.middle) / column.half


@pytest.mark.parametrize(("family", "noise"), QUIET)
def test_without_noise_a_variance_is_the_variance(family, noise, release):
    seen = release(family, noise, 1, centred(X, FIRST))
    scale = variance_scale(FIRST)
    assert scale.values(var_pop(seen)) == pytest.approx(X.var(), rel=1e-4)
    assert scale.values(var_samp(seen)) == pytest.approx(X.var(ddof=1), rel=1e-4)
    assert stddev_scale(FIRST).values(stddev_pop(seen)) == pytest.approx(X.std(), rel=1e-4)
    assert stddev_scale(FIRST).values(stddev_samp(seen)) == pytest.approx(X.std(ddof=1), rel=1e-4)


@pytest.mark.parametrize(("family", "noise"), QUIET_PAIRS)
def test_without_noise_two_columns_have_their_line(family, noise, release):
    seen = release(family, noise, 1, centred(X, FIRST), centred(Y, SECOND))
    slope, intercept = np.polyfit(X, Y, 1)
    scale = covariance_scale(FIRST, SECOND)
    assert scale.values(covar_pop(seen)) == pytest.approx(np.cov(X, Y, ddof=0)[0, 1], rel=1e-4)
    assert scale.values(covar_samp(seen)) == pytest.approx(np.cov(X, Y)[0, 1], rel=1e-4)
    assert corr(seen) == pytest.approx(np.corrcoef(X, Y)[0, 1], rel=1e-4)
    assert regr_r2(seen) == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2, rel=1e-4)
    assert slope_scale(FIRST, SECOND).values(regr_slope(seen)) == pytest.approx(slope, rel=1e-4)
    assert intercept_scale(SECOND).values(regr_intercept(seen, FIRST.offset)) == pytest.approx(intercept, rel=1e-4)
    assert variance_scale(SECOND).values(var_pop(seen.exchanged())) == pytest.approx(Y.var(), rel=1e-4)


def test_a_covariance_needs_no_squares(release):
    seen = release(BILINEAR, Laplace(1e-6), 1, centred(X, FIRST), centred(Y, SECOND))
    assert covar_pop(seen) * 50 == pytest.approx(np.cov(X, Y, ddof=0)[0, 1], rel=1e-4)
    for statistic in (var_pop, corr, regr_slope):
        with pytest.raises(InternalError):
            statistic(seen)


@pytest.mark.parametrize(("rows", "mean", "square", "before"), [(60, 0.0, 1 / 3, -0.02171), (100, -0.6, 0.5, -0.01357)])
def test_the_bias_of_the_noise_is_that_of_the_design_and_is_taken_off(rows, mean, square, before):
    family, draws, exact = lambda_family(), 200_000, square - mean**2
    coordinates = np.array(family.matrix, dtype=float) @ (rows * np.array([1, mean, square]))
    noise = np.random.default_rng().normal(0, 5, (3, draws))
    seen = Moments.of(family, coordinates[:, None] + noise, Gaussian(5.0))
    errors = central(seen, VAR_FIRST) - exact
    mended = errors - bias(seen, VAR_FIRST)
    allowed = ALARM * errors.std() / math.sqrt(draws)
    assert errors.mean() == pytest.approx(before, abs=allowed + 0.0008)
    assert abs(mended.mean()) < allowed + 0.002 < abs(before) / 2
    assert mended.std() < errors.std()


def test_the_predicted_bias_is_that_of_the_design():
    family = lambda_family()
    seen = Moments.from_sums(family.moments, np.array([[60.0], [0.0], [20.0]]), mixing(family), Gaussian(5.0))
    assert bias(seen, VAR_FIRST) == pytest.approx(-0.02046, abs=2e-5)


@pytest.mark.parametrize("family", [CORRELATION, CORNERS, BILINEAR], ids=lambda family: family.name)
def test_the_bias_of_a_covariance_is_taken_off_too(family, release):
    z, w = np.repeat([-0.9, 0.5, 0.8], 50), np.repeat([-0.4, 0.9, 0.2], 50)
    seen = release(family, Gaussian(5.0), 200_000, z, w)
    errors = central(seen, COVARIANCE) - np.mean(z * w) + z.mean() * w.mean()
    allowed = ALARM * errors.std() / math.sqrt(errors.size)
    assert errors.mean() == pytest.approx(float(np.median(bias(seen, COVARIANCE))), abs=allowed + 0.001)


@pytest.mark.parametrize("family", [BERNSTEIN, lambda_family(), CORRELATION, CORNERS], ids=lambda family: family.name)
def test_the_noise_of_an_estimate_has_the_variance_of_the_closed_form(family, release):
    z = 2 * (np.arange(4000) + 0.5) / 4000 - 1
    w = 0.0 * z if family.monomials == BERNSTEIN.monomials else z
    errors = var_pop(release(family, Gaussian(5.0), 100_000, z, w)) - z.var()
    expected = 16 * variance_constant(family, np.array([0.5]), np.array([1 / 12]))[0] * 25 / 4000**2
    assert np.mean(errors**2) == pytest.approx(expected, rel=0.03)
    assert abs(1.1 * np.mean(errors**2) - expected) > 0.03 * expected


def test_the_noise_of_a_covariance_has_the_variance_of_the_closed_form(release):
    z = 2 * (np.arange(4000) + 0.5) / 4000 - 1
    errors = central(release(BILINEAR, Gaussian(5.0), 100_000, z, z), COVARIANCE) - z.var()
    half = np.array([0.5])
    expected = 16 * covariance_constant(BILINEAR, (half, half), np.array([1 / 12]))[0] * 25 / 4000**2
    assert np.mean(errors**2) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("form", [VAR_FIRST, COVARIANCE, (0.3, -1.0, 0.7)])
def test_the_gradient_is_that_of_the_central_moment(form, release):
    seen = release(CORRELATION, Gaussian(1.0), 5, np.linspace(-0.5, 0.9, 200), np.linspace(0.6, -0.3, 200) ** 3)
    actual = gradient(seen, form, central(seen, form))
    for k in range(6):
        step = np.zeros((6, 1))
        step[k] = 1e-4
        up, down = (Moments(seen.known, seen.sums + sign * step, seen.mixing, seen.noise) for sign in (1, -1))
        assert (central(up, form) - central(down, form)) / 2e-4 == pytest.approx(actual[k], rel=1e-4, abs=1e-9)


def at(sums, mixing, noise):
    return Moments.from_sums(MOMENTS, np.array(sums, dtype=float)[:, None], mixing, noise)


SUMS = [500.0, 80.0, -120.0, 220.0, 60.0, 260.0]
MIXING = np.array(
    [
        [2.0, 1, 0, 0, 0.5, 0],
        [0.5, 1, 0.2, 0, 0, 0],
        [0.3, 0.1, 1, 0, 0, 0.4],
        [1, 0, 0, 1, 0, 0],
        [0, 0.6, 0, 0, 1, 0],
        [0.2, 0, 0.7, 0, 0, 1],
    ]
)
"""A way to mix noises in which everything depends on everything."""


@pytest.mark.parametrize("form", [VAR_FIRST, COVARIANCE, (0.3, -1.0, 0.7)])
def test_the_bias_is_half_of_the_second_derivatives_times_the_covariances(form):
    noise, step = Gaussian(2.0), 0.05
    curved = 0.0
    covariance = at(SUMS, MIXING, noise).covariance
    for i, j in product(range(6), repeat=2):
        corners = 0.0
        for a, b in product((-step, step), repeat=2):
            moved = np.array(SUMS)
            moved[i] += a
            moved[j] += b
            corners += math.copysign(1, a * b) * central(at(moved, MIXING, noise), form)[0]
        curved += corners / (4 * step**2) * covariance[i, j] / 2
    assert bias(at(SUMS, MIXING, noise), form)[0] == pytest.approx(curved, rel=1e-3)


def test_the_bias_is_taken_off_from_ten_standard_deviations_on():
    family, rows = lambda_family(), np.array([49.0, 51.0])
    coordinates = np.array(family.matrix, dtype=float) @ (rows * np.array([[1.0], [0.1], [0.4]]))
    seen = Moments.of(family, coordinates, Gaussian(5.0))
    plain, shift = central(seen, VAR_FIRST), bias(seen, VAR_FIRST)
    assert var_pop(seen) == pytest.approx([plain[0], plain[1] - shift[1]])
    assert abs(shift[1]) > 0.01


wild = st.floats(-1e6, 1e6)


@settings(deadline=None, max_examples=200)
@given(st.lists(wild, min_size=6, max_size=6), st.floats(0.01, 1e4))
def test_estimates_stay_within_what_is_possible(sums, sigma):
    seen = Moments.of(CORRELATION, np.array(sums)[:, None], Gaussian(sigma))
    assert 0 <= var_pop(seen)[0] <= 1
    assert -1 <= covar_pop(seen)[0] <= 1
    assert covar_pop(seen)[0] ** 2 <= var_pop(seen)[0] * var_pop(seen.exchanged())[0] + 1e-12
    assert math.isnan(corr(seen)[0]) or -1 <= corr(seen)[0] <= 1


def test_a_covariance_without_variances_stays_within_what_the_means_allow():
    seen = Moments.of(BILINEAR, np.array([[10.0], [0.0], [0.0], [-9000.0]]), Gaussian(5.0))
    assert -1 <= covar_pop(seen)[0] <= 1


def test_a_variance_that_is_lost_in_its_noise_leaves_no_correlation_and_no_slope(release):
    still, moving = np.full(200, 0.3), np.linspace(-0.9, 0.9, 200)
    seen = release(CORRELATION, Gaussian(5.0), 2_000, still, moving)
    assert np.isnan(corr(seen)).mean() > 0.3
    assert np.isnan(regr_slope(seen)).tolist() == np.isnan(regr_intercept(seen)).tolist()
    assert np.isnan(regr_slope(seen)).mean() > 0.3
    assert not np.isnan(regr_slope(seen.exchanged())).any()


def test_a_group_without_rows_has_no_sample_variance():
    seen = Moments.of(BERNSTEIN, np.array([[-3.0], [-2.0], [-1.0]]), Gaussian(5.0))
    assert np.isnan(var_samp(seen))[0]
    assert 0 <= var_pop(seen)[0] <= 1


def test_a_range_without_width_is_refused():
    with pytest.raises(InternalError):
        ScaledColumn(3.0, 0.0)
