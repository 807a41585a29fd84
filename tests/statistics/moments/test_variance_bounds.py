"""Error bars of variances hold as often as they say, and are no longer than they must be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtri

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals import half_width
from hedgerow.errors import InternalError
from hedgerow.statistics.moments import (
    BERNSTEIN,
    CORNERS,
    CORRELATION,
    TENSOR,
    Moments,
    lambda_family,
    stddev_bounds,
    var_pop,
    variance_bounds,
)
from hedgerow.statistics.moments.delta import quantile
from hedgerow.statistics.moments.regions import box_bounds, profile_bounds

BETA = 0.05
SLACK = 0.03
"""By how much an approximate interval may hold less often than it says."""
DRAWS = 3_000
NORMAL, LAPLACE = Gaussian(5.0), Laplace(5 / math.sqrt(2))
RELEASES = [(lambda_family(), NORMAL), (BERNSTEIN, NORMAL), (BERNSTEIN, LAPLACE)]


def uniform(rows):
    return 2 * (np.arange(rows) + 0.5) / rows - 1


def lopsided(rows):
    """The quantiles of a Beta(2, 8), of mean 0.2."""
    from scipy.stats import beta  # noqa: PLC0415 - it is slow to import, and needed here only

    return 2 * beta.ppf((np.arange(rows) + 0.5) / rows, 2, 8) - 1


DATA = {
    "100 uniform": uniform(100),
    "300 uniform": uniform(300),
    "1000 uniform": uniform(1000),
    "300 lopsided": lopsided(300),
}
EDGES = {
    "no rows": np.zeros(0),
    "one row": np.array([0.4]),
    "20 uniform": uniform(20),
    "60 alike": np.full(60, 0.9),
    "100 at the end": np.ones(100),
    "200 alike": np.zeros(200),
    "coin": np.repeat([-1.0, 1.0], 40),
    "large coin": np.repeat([-1.0, 1.0], 500),
}


def variance(rows):
    return float(rows.var()) if rows.size else 0.5


@pytest.mark.parametrize(("family", "noise"), RELEASES)
@pytest.mark.parametrize("rows", [*DATA.values(), *EDGES.values()], ids=[*DATA, *EDGES])
def test_conservative_intervals_hold_at_least_as_often_as_they_say(family, noise, rows, release, holds):
    found = variance_bounds(release(family, noise, DRAWS, rows), BETA, method="rigorous")
    assert holds(found, variance(rows), 1 - BETA)
    assert all(status.kind == "conservative" for status in found.statuses)


@pytest.mark.parametrize("method", ["delta", "profile"])
@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
def test_approximate_intervals_hold_about_as_often_as_they_say(method, rows, release, holds):
    found = variance_bounds(release(lambda_family(), NORMAL, DRAWS, rows), BETA, method=method)
    assert holds(found, variance(rows), 1 - BETA - SLACK)
    assert all(status.kind == "approximate" for status in found.statuses)


@pytest.mark.parametrize("rows", [DATA["300 uniform"], DATA["1000 uniform"], DATA["300 lopsided"]])
def test_the_same_test_rejects_noise_that_is_30_percent_larger_than_stated(rows, release, holds):
    found = variance_bounds(release(lambda_family(), NORMAL, 20_000, rows, factor=1.3), BETA, method="delta")
    assert not holds(found, variance(rows), 1 - BETA - SLACK)


@pytest.mark.parametrize(("family", "noise"), RELEASES)
@pytest.mark.parametrize("rows", [*DATA.values(), *EDGES.values()], ids=[*DATA, *EDGES])
@pytest.mark.parametrize("sample", [False, True])
def test_the_default_holds_about_as_often_as_it_says(family, noise, rows, sample, release, holds):
    found = variance_bounds(release(family, noise, DRAWS, rows), BETA, sample=sample)
    exact = variance(rows) * (rows.size / (rows.size - 1) if sample and rows.size > 1 else 1.0)
    assert holds(found, exact, 1 - BETA - SLACK)
    assert (found.lower <= found.upper).all()
    assert (found.lower >= 0).all()
    assert (found.upper <= (2 if sample else 1)).all()


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.5), (0.6, 0.3), (0.9, 0.1), (0.0, 1.0)])
@pytest.mark.parametrize("size", [0.8, 1.0, 1.5, 3.0])
def test_near_the_switch_an_approximate_interval_is_seldom_wrong(mean, spread, size, release, holds):
    rows = mean + spread * np.repeat([-1.0, 1.0], round(size * 15 * NORMAL.sigma))
    rows = np.clip(rows, -1, 1)
    found = variance_bounds(release(lambda_family(), NORMAL, DRAWS, rows), BETA)
    rough = np.array([status.kind == "approximate" for status in found.statuses])
    found.lower[~rough], found.upper[~rough] = 0, 1
    assert holds(found, variance(rows), 1 - BETA - SLACK)


@pytest.mark.parametrize(("family", "noise"), [(CORRELATION, NORMAL), (CORNERS, LAPLACE), (TENSOR, LAPLACE)])
@pytest.mark.parametrize("size", [20, 150, 600])
def test_variances_of_both_columns_of_a_larger_release_are_covered(family, noise, size, release, holds):
    first, second = uniform(size), np.full(size, -0.2)
    seen = release(family, noise, DRAWS, first, second)
    assert holds(variance_bounds(seen, BETA, method="rigorous"), variance(first), 1 - BETA)
    assert holds(variance_bounds(seen.exchanged(), BETA, method="rigorous"), 0.0, 1 - BETA)
    assert holds(variance_bounds(seen, BETA), variance(first), 1 - BETA - SLACK)


def on_the_rim(seen, level, points):
    """Moments at the given Mahalanobis distance from the noisy ones of one group, far more than one of them extreme."""
    directions = np.random.default_rng().normal(size=(3, points))
    directions *= math.sqrt(level) / np.linalg.norm(directions, axis=0)
    root = np.linalg.cholesky(seen.covariance[np.ix_([0, 1, 3], [0, 1, 3])])
    return seen.sums[[0, 1, 3]] + root @ directions


@settings(deadline=None, max_examples=60)
@given(
    st.floats(60, 3000),
    st.floats(-0.95, 0.95),
    st.floats(0, 1),
    st.sampled_from([lambda_family(), BERNSTEIN]),
    st.sampled_from([0.3, 0.05, 0.001]),
)
def test_the_profile_bounds_are_the_extremes_over_the_ellipsoid(rows, mean, share, family, beta):
    square = mean**2 + share * (1 - mean**2)
    coordinates = np.array(family.matrix, dtype=float) @ (rows * np.array([1, mean, square]))
    seen, level = Moments.of(family, coordinates[:, None], NORMAL), float(chdtri(3, beta))
    lower, upper = (float(end[0]) for end in profile_bounds(seen, level))
    count, total, squares = on_the_rim(seen, level, 40_000)
    p, q = total / count, squares / count
    possible = (count > 0) & (p**2 <= q) & (q <= 1)
    values = (q - p**2)[possible]
    assert (values >= lower - 1e-12).all()
    assert (values <= upper + 1e-12).all()
    if np.all(count > 0) and values.size > 1_000:
        near = 0.03 * (upper - lower) + 1e-9
        assert values.min() - near <= lower
        assert upper == 1 or values.max() + near >= upper


def test_where_the_count_may_be_zero_every_variance_is_possible():
    seen = Moments.of(lambda_family(), np.array([[-20.0, 3.0, 12.0], [0.0, 2.0, 5.0], [1.0, 0.0, 0.0]]), NORMAL)
    found = variance_bounds(seen, BETA)
    assert (found.lower.tolist(), found.upper.tolist()) == ([0.0] * 3, [1.0] * 3)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-20, 500), min_size=3, max_size=3),
    st.sampled_from([0.3, 0.05, 0.001]),
)
def test_the_box_bounds_are_sound_and_close(sums, beta):
    seen = Moments.of(BERNSTEIN, np.array(sums)[:, None], LAPLACE)
    lower, upper = (float(end[0]) for end in box_bounds(seen, beta))
    reach = half_width([(1.0, LAPLACE)], beta / 3)
    line = np.linspace(-1, 1, 41)
    axes = [np.unique(np.maximum(each + reach * line, 0.0)) for each in sums]
    first, middle, last = (each.ravel() for each in np.meshgrid(*axes))
    total = first + middle + last
    keep = total > 0
    p1, p2 = middle[keep] / total[keep], last[keep] / total[keep]
    values = 4 * (p2 - (p1 / 2 + p2) ** 2)
    values = values[values >= 0]
    assert (values >= lower - 1e-12).all()
    assert (values <= upper + 1e-9).all()
    if values.size > 1000:
        assert values.max() >= upper - 0.02


@pytest.mark.parametrize("noise", [Gaussian(1.0), Laplace(1.0)])
@pytest.mark.parametrize("beta", [0.2, 0.05, 0.001])
def test_the_quantile_of_a_linear_form_is_never_too_small(noise, beta):
    for weights in ([1.0], [1.0, 1.0], [1.0, 0.3], [1.0, 0.9, 0.5], [1.0] * 6):
        spread = math.hypot(*weights) * (1.0 if isinstance(noise, Gaussian) else math.sqrt(2))
        exact = half_width([(each, noise) for each in weights], beta)
        assert exact <= quantile(noise, beta) * spread * (1 + 1e-9)


def test_groups_of_any_size_lose_no_digits():
    rows = np.array([1e3, 1e6, 1e9, 1e12])
    moments = rows * np.array([[1.0], [0.5], [0.5]])
    seen = Moments.of(lambda_family(), np.array(lambda_family().matrix, dtype=float) @ moments, NORMAL)
    rough, sure = (variance_bounds(seen, BETA, method=method) for method in ("delta", "rigorous"))
    ratio = (sure.upper - sure.lower) / (rough.upper - rough.lower)
    assert ratio == pytest.approx(np.sqrt(chdtri(3, BETA) / chdtri(1, BETA)), rel=0.02)


@pytest.mark.parametrize(("family", "noise"), RELEASES)
def test_the_estimate_lies_in_its_interval(family, noise, release):
    for rows in (uniform(40), uniform(600), np.full(300, 0.5)):
        seen = release(family, noise, 500, rows)
        found = variance_bounds(seen, BETA)
        sure = (found.upper > 0) & (seen.count > 10 * seen.sigma)
        assert (found.lower <= var_pop(seen) + 1e-9)[sure].all()
        assert (var_pop(seen) <= found.upper + 1e-9)[sure].all()


def test_standard_deviations_have_the_roots_of_the_ends(release):
    seen = release(lambda_family(), NORMAL, 50, uniform(200))
    of_variance, of_deviation = variance_bounds(seen, BETA), stddev_bounds(seen, BETA)
    assert of_deviation.lower**2 == pytest.approx(of_variance.lower)
    assert of_deviation.upper**2 == pytest.approx(of_variance.upper)
    assert of_deviation.statuses == of_variance.statuses


def test_groups_do_not_influence_each_other(release):
    seen = release(lambda_family(), NORMAL, 5_000, uniform(140))
    together = variance_bounds(seen, BETA, method="rigorous")
    for k in (0, 17, 4_096, 4_999):
        alone = Moments(seen.known, seen.sums[:, [k]], seen.mixing, seen.noise)
        found = variance_bounds(alone, BETA, method="rigorous")
        assert (found.lower[0], found.upper[0]) == pytest.approx((together.lower[k], together.upper[k]), abs=1e-12)


def test_no_groups_have_no_bounds():
    for noise in (NORMAL, LAPLACE):
        assert variance_bounds(Moments.of(BERNSTEIN, np.zeros((3, 0)), noise), BETA).lower.size == 0


def test_a_profile_under_laplace_noise_is_refused():
    with pytest.raises(InternalError):
        variance_bounds(Moments.of(BERNSTEIN, np.ones((3, 1)), LAPLACE), BETA, method="profile")
