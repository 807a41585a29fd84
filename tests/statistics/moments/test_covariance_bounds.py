"""Error bars of covariances, correlations and regression lines hold as often as they say."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.statistics.moments import (
    BILINEAR,
    CORNERS,
    CORRELATION,
    Moments,
    corr,
    correlation_bounds,
    covar_pop,
    covariance_bounds,
    intercept_bounds,
    r2_bounds,
    regr_slope,
    slope_bounds,
)
from hedgerow.statistics.moments.bounds import NO_VARIANCE

BETA = 0.05
DRAWS = 400
OFFSET = 1.5
NORMAL, LAPLACE = Gaussian(5.0), Laplace(5 / math.sqrt(2))
RELEASES = [(CORRELATION, NORMAL), (CORNERS, LAPLACE)]


def pair(rows, tilt, spread=0.6, place=(0.0, 0.0)):
    """Two columns whose correlation grows with the tilt."""
    first = np.linspace(-1, 1, rows)
    second = tilt * first + (1 - abs(tilt)) * np.cos(7 * first) / 2
    return np.clip(place[0] + spread * first, -1, 1), np.clip(place[1] + spread * second, -1, 1)


DATA = {
    "nearly nobody": pair(4, 0.5),
    "20 rows": pair(20, 0.5),
    "80 rows": pair(80, -0.9, 0.9),
    "170 rows": pair(170, 0.7, 0.9),
    "400 rows at the end": pair(400, 0.9, 0.3, (0.6, -0.6)),
    "1000 rows": pair(1000, -0.5, 0.5),
    "3000 rows on a line": pair(3000, 1.0, 0.4, (0.3, 0.1)),
    "3000 rows, small spread": pair(3000, 0.8, 0.15),
}


def statistics(first, second):
    slope = np.cov(first, second, ddof=0)[0, 1] / first.var()
    correlation = np.corrcoef(first, second)[0, 1]
    return {
        covariance_bounds: slope * first.var(),
        correlation_bounds: correlation,
        slope_bounds: slope,
        intercept_at_offset: second.mean() - slope * (first.mean() + OFFSET),
        r2_bounds: correlation**2,
    }


def intercept_at_offset(moments, beta, **options):
    return intercept_bounds(moments, beta, offset=OFFSET, **options)


@pytest.mark.parametrize(("family", "noise"), RELEASES)
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_intervals_hold_at_least_as_often_as_they_say(family, noise, data, release, holds):
    seen = release(family, noise, DRAWS, *data)
    for bounds_of, exact in statistics(*data).items():
        bounds = bounds_of(seen, BETA)
        assert holds(bounds, exact, 1 - BETA)
        assert (bounds.lower <= bounds.upper).all()
        assert all(status.kind == "conservative" for status in bounds.statuses)


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sample", [False, True])
def test_a_release_for_the_covariance_alone_is_enough_for_it(noise, sample, release, holds):
    for first, second in DATA.values():
        seen = release(BILINEAR, noise, DRAWS, first, second)
        exact = np.cov(first, second, ddof=int(sample))[0, 1]
        assert holds(covariance_bounds(seen, BETA, sample=sample), exact, 1 - BETA)


def test_the_same_test_rejects_noise_that_is_larger_than_stated(release, holds):
    """By a third, or by half for an intercept, whose interval is longer than it must be."""
    data = pair(3000, 0.5, 0.9)
    for bounds_of, exact in statistics(*data).items():
        factor = 1.8 if bounds_of is intercept_at_offset else 1.35
        seen = release(CORRELATION, NORMAL, 4_000, *data, factor=factor)
        assert not holds(bounds_of(seen, BETA), exact, 1 - BETA)


GROUPS, TABLES = 1_000, 40


@pytest.mark.parametrize(("family", "noise"), [(CORRELATION, Gaussian(1.2)), (CORNERS, Laplace(0.5))])
def test_the_largest_of_a_thousand_groups_is_covered(family, noise, release, holds):
    """A row that was picked asks for an interval that fails a thousand times less often."""
    data = pair(60, 0.3, 0.5, (-0.4, -0.3))
    seen = release(family, noise, GROUPS * TABLES, *data)
    values = {covariance_bounds: covar_pop, correlation_bounds: corr, slope_bounds: regr_slope}
    for bounds_of, value_of in values.items():
        shown = np.nan_to_num(value_of(seen), nan=-np.inf).reshape(TABLES, GROUPS)
        largest = shown.argmax(axis=1) + GROUPS * np.arange(TABLES)
        picked = Moments(seen.known, seen.sums[:, largest], seen.mixing, noise)
        assert holds(bounds_of(picked, BETA / GROUPS), statistics(*data)[bounds_of], 1 - BETA)


def test_a_slope_is_unbounded_and_says_why_where_the_first_column_may_have_no_variance(release):
    first, second = np.full(3000, 0.3), np.linspace(-0.9, 0.9, 3000)
    seen = release(CORRELATION, NORMAL, 200, first, second)
    for bounds in (slope_bounds, intercept_bounds):
        actual = bounds(seen, 1e-9)
        assert np.isinf(actual.lower).all()
        assert np.isinf(actual.upper).all()
        assert {status.reason for status in actual.statuses} == {NO_VARIANCE.reason}
    assert correlation_bounds(seen, 1e-9).lower.tolist() == [-1.0] * 200
    assert np.isfinite(slope_bounds(seen.exchanged(), 1e-9).upper).all()


def test_nothing_is_known_about_an_empty_group():
    seen = Moments.of(CORRELATION, np.zeros((6, 1)), NORMAL)
    covariance, correlation, slope = (
        bounds(seen, BETA) for bounds in (covariance_bounds, correlation_bounds, slope_bounds)
    )
    assert (covariance.lower[0], covariance.upper[0]) == (-1, 1)
    assert (correlation.lower[0], correlation.upper[0]) == (-1, 1)
    assert (slope.lower[0], slope.upper[0]) == (-math.inf, math.inf)
    assert r2_bounds(seen, BETA).lower[0] == 0


def test_intervals_of_large_groups_are_hardly_longer_than_those_of_first_order():
    first, second = pair(2001, 0.8, 0.6, (0.1, 0.2))
    means = np.array([np.mean(first**i * second**j) for i, j in CORRELATION.monomials])
    seen = Moments.of(CORRELATION, (np.array(CORRELATION.matrix, dtype=float) @ (1e7 * means))[:, None], NORMAL)

    def value(sums):
        n, s, t, q, p, r = sums
        vz, vw, cov = q / n - (s / n) ** 2, r / n - (t / n) ** 2, p / n - s * t / n**2
        return {
            covariance_bounds: cov,
            correlation_bounds: cov / math.sqrt(vz * vw),
            slope_bounds: cov / vz,
            intercept_at_offset: t / n - cov / vz * (s / n + OFFSET),
        }

    sums, steps = seen.sums[:, 0], np.eye(6)
    for bounds_of, longest in (
        (covariance_bounds, 1.03),
        (correlation_bounds, 1.03),
        (slope_bounds, 1.03),
        (intercept_at_offset, 1.5),
    ):
        gradient = np.array([(value(sums + e)[bounds_of] - value(sums - e)[bounds_of]) / 2 for e in steps])
        first_order = -2 * ndtri(BETA / 2) * math.sqrt(gradient @ seen.covariance @ gradient)
        bounds = bounds_of(seen, BETA)
        assert first_order < (bounds.upper - bounds.lower)[0] < longest * first_order


def test_the_square_of_a_correlation_that_may_be_zero_starts_at_zero(release):
    seen = release(CORRELATION, NORMAL, 100, *pair(500, 0.0))
    actual, of_correlation = r2_bounds(seen, BETA), correlation_bounds(seen, BETA)
    around = (of_correlation.lower < 0) & (of_correlation.upper > 0)
    assert (actual.lower[around] == 0).all()
    assert around.any()


def test_groups_do_not_influence_each_other(release):
    seen = release(CORNERS, LAPLACE, 30, *pair(300, 0.6))
    for bounds in (covariance_bounds, correlation_bounds, slope_bounds, intercept_at_offset):
        together = bounds(seen, BETA)
        for k in (0, 29):
            alone = bounds(Moments(seen.known, seen.sums[:, [k]], seen.mixing, seen.noise), BETA)
            assert (alone.lower[0], alone.upper[0]) == pytest.approx((together.lower[k], together.upper[k]), abs=1e-12)
