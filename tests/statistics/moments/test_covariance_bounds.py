"""Error bars of covariances, correlations and regression lines hold as often as they say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import (
    BILINEAR,
    CORNERS,
    CORRELATION,
    Moments,
    correlation_bounds,
    covariance_bounds,
    intercept_bounds,
    r2_bounds,
    slope_bounds,
)
from hedgerow.statistics.moments.delta import NO_VARIANCE

BETA = 0.05
SLACK = 0.03
DRAWS = 1_500
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
def test_conservative_intervals_hold_at_least_as_often_as_they_say(family, noise, data, release, holds):
    seen = release(family, noise, DRAWS, *data)
    for bounds, exact in statistics(*data).items():
        found = bounds(seen, BETA, method="rigorous")
        assert holds(found, exact, 1 - BETA)
        assert all(status.kind == "conservative" for status in found.statuses)


@pytest.mark.parametrize(("family", "noise"), RELEASES)
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_the_default_holds_about_as_often_as_it_says(family, noise, data, release, holds):
    seen = release(family, noise, DRAWS, *data)
    for bounds, exact in statistics(*data).items():
        found = bounds(seen, BETA)
        assert holds(found, exact, 1 - BETA - SLACK)
        assert (found.lower <= found.upper).all()
        assert all(status.kind in {"approximate", "conservative"} for status in found.statuses)


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sample", [False, True])
def test_a_release_for_the_covariance_alone_is_enough_for_it(noise, sample, release, holds):
    for first, second in DATA.values():
        seen = release(BILINEAR, noise, DRAWS, first, second)
        exact = np.cov(first, second, ddof=int(sample))[0, 1]
        assert holds(covariance_bounds(seen, BETA, sample=sample), exact, 1 - BETA - SLACK)
        assert holds(covariance_bounds(seen, BETA, sample=sample, method="rigorous"), exact, 1 - BETA)


def test_the_same_test_rejects_noise_that_is_half_as_large_again_as_stated(release, holds):
    data = DATA["3000 rows on a line"]
    seen = release(CORRELATION, NORMAL, 10_000, *data, factor=1.5)
    for bounds, exact in statistics(*data).items():
        if bounds not in (correlation_bounds, r2_bounds):
            assert not holds(bounds(seen, BETA), exact, 1 - BETA - SLACK)
    first, second = DATA["1000 rows"]
    seen = release(CORRELATION, NORMAL, 10_000, first, second, factor=1.5)
    exact = np.corrcoef(first, second)[0, 1]
    assert not holds(correlation_bounds(seen, BETA, method="delta"), exact, 1 - BETA - SLACK)


def test_large_groups_have_intervals_of_first_order_and_small_ones_do_not(release):
    for rows, kind in ((60, "conservative"), (20_000, "approximate")):
        seen = release(CORRELATION, NORMAL, 20, *pair(rows, 0.8))
        for bounds in (covariance_bounds, correlation_bounds, r2_bounds):
            assert {status.kind for status in bounds(seen, BETA).statuses} == {kind}


def test_a_slope_is_unbounded_and_says_why_where_the_first_column_may_have_no_variance(release):
    first, second = np.full(3000, 0.3), np.linspace(-0.9, 0.9, 3000)
    seen = release(CORRELATION, NORMAL, 200, first, second)
    for bounds in (slope_bounds, intercept_bounds):
        for method in ("auto", "rigorous"):
            found = bounds(seen, 1e-9, method=method)
            assert np.isinf(found.lower).all()
            assert np.isinf(found.upper).all()
            assert {status.reason for status in found.statuses} == {NO_VARIANCE.reason}
    assert correlation_bounds(seen, 1e-9).lower.tolist() == [-1.0] * 200
    assert np.isfinite(slope_bounds(seen.exchanged(), 1e-9).upper).all()


def test_nothing_is_known_about_an_empty_group():
    seen = Moments.of(CORRELATION, np.zeros((6, 1)), NORMAL)
    covariance, correlation, slope = (
        each(seen, BETA) for each in (covariance_bounds, correlation_bounds, slope_bounds)
    )
    assert (covariance.lower[0], covariance.upper[0]) == (-1, 1)
    assert (correlation.lower[0], correlation.upper[0]) == (-1, 1)
    assert (slope.lower[0], slope.upper[0]) == (-math.inf, math.inf)
    assert r2_bounds(seen, BETA).lower[0] == 0


def within(seen, reach, points):
    """Noisy moments of one group less the noise that a region allows: what the exact moments may be."""
    directions = np.random.default_rng().normal(size=(seen.mixing.shape[1], points))
    if isinstance(seen.noise, Gaussian):
        directions *= reach / np.linalg.norm(directions, axis=0)
    else:
        directions = reach * np.sign(directions) * np.abs(np.tanh(3 * directions))
    return seen.sums - seen.mixing @ directions * (seen.sigma if isinstance(seen.noise, Gaussian) else 1.0)


@settings(deadline=None, max_examples=40)
@given(st.floats(100, 5000), st.floats(-1, 1), st.floats(0.3, 0.9), st.sampled_from(RELEASES))
def test_every_possible_set_of_moments_in_the_region_gives_statistics_in_the_interval(rows, tilt, spread, made):
    from hedgerow.statistics.moments.regions import region_of  # noqa: PLC0415 - white box

    family, noise = made
    first, second = pair(101, tilt, spread, (0.2, -0.1))
    means = np.array([np.mean(first**i * second**j) for i, j in family.monomials])
    seen = Moments.of(family, (np.array(family.matrix, dtype=float) @ (rows * means))[:, None], noise)
    region = region_of(seen, BETA)
    reach = math.sqrt(region.level) if isinstance(noise, Gaussian) else region.reach
    n, s, t, q, p, r = within(seen, reach, 20_000)
    keep = n > 0
    s, t, q, p, r = (each[keep] / n[keep] for each in (s, t, q, p, r))
    vx, vy, cov = q - s**2, r - t**2, p - s * t
    real = (vx > 0) & (vy > 0) & (cov**2 <= vx * vy) & (np.maximum(q, r) <= 1)
    vx, vy, cov, s, t = (each[real] for each in (vx, vy, cov, s, t))
    slope = cov / vx
    found = {
        correlation_bounds: cov / np.sqrt(vx * vy),
        slope_bounds: slope,
        intercept_at_offset: t - slope * (s + OFFSET),
    }
    # These use all six moments of the region, or fewer of them at a smaller distance.
    tight = correlation_bounds(seen, BETA, method="rigorous")
    assert (found[correlation_bounds] >= tight.lower[0] - 1e-9).all()
    assert (found[correlation_bounds] <= tight.upper[0] + 1e-9).all()
    if isinstance(noise, Laplace):
        for bounds in (slope_bounds, intercept_at_offset):
            ends = bounds(seen, BETA, method="rigorous")
            assert (found[bounds] >= ends.lower[0] - 1e-9).all()
            assert (found[bounds] <= ends.upper[0] + 1e-9).all()


def test_conservative_intervals_of_large_groups_are_the_first_order_ones_at_a_larger_quantile():
    first, second = pair(2001, 0.8, 0.6, (0.1, 0.2))
    means = np.array([np.mean(first**i * second**j) for i, j in CORRELATION.monomials])
    coordinates = np.array(CORRELATION.matrix, dtype=float) @ (1e7 * means)
    seen = Moments.of(CORRELATION, coordinates[:, None], NORMAL)
    for bounds in (covariance_bounds, correlation_bounds, slope_bounds, intercept_at_offset):
        rough, sure = (bounds(seen, BETA, method=method) for method in ("delta", "rigorous"))
        ratio = float((sure.upper - sure.lower)[0] / (rough.upper - rough.lower)[0])
        assert 1.4 < ratio < 1.95


def test_the_square_of_a_correlation_that_may_be_zero_starts_at_zero(release):
    seen = release(CORRELATION, NORMAL, 100, *pair(500, 0.0))
    found, of_correlation = r2_bounds(seen, BETA), correlation_bounds(seen, BETA)
    around = (of_correlation.lower < 0) & (of_correlation.upper > 0)
    assert (found.lower[around] == 0).all()
    assert around.any()


def test_there_is_no_profile_for_two_columns():
    with pytest.raises(InternalError):
        covariance_bounds(Moments.of(BILINEAR, np.ones((4, 1)), NORMAL), BETA, method="profile")


def test_groups_do_not_influence_each_other(release):
    seen = release(CORNERS, LAPLACE, 30, *pair(300, 0.6))
    for bounds in (covariance_bounds, correlation_bounds, slope_bounds, intercept_at_offset):
        together = bounds(seen, BETA)
        for k in (0, 29):
            alone = bounds(Moments(seen.known, seen.sums[:, [k]], seen.mixing, seen.noise), BETA)
            assert (alone.lower[0], alone.upper[0]) == pytest.approx((together.lower[k], together.upper[k]), abs=1e-12)
