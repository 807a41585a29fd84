"""A region holds all exact moments at once, and nothing in it lies outside of the extremes that are computed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals import tail
from hedgerow.statistics.moments import CORNERS, CORRELATION, Moments
from hedgerow.statistics.moments.noisy import quadratic
from hedgerow.statistics.moments.regions import Box, Ellipsoid, central_range, mean_range, region_of

BETA = 0.05
NORMAL, LAPLACE = Gaussian(5.0), Laplace(5 / math.sqrt(2))
RELEASES = [(CORRELATION, NORMAL), (CORNERS, LAPLACE)]


def seen_at(family, noise, rows):
    """A group of two columns with clear moments, as if the noise had been zero."""
    first, second = np.linspace(-0.9, 0.7, 101), np.linspace(-0.8, 0.9, 101) ** 3
    means = np.array([np.mean(first**i * second**j) for i, j in family.monomials])
    return Moments.of(family, (np.array(family.matrix, dtype=float) @ (rows * means))[:, None], noise)


def rim(region, points):
    """Moments on the rim of a region, among them all corners of a box."""
    seen, size = region.moments, region.moments.mixing.shape[1]
    draws = np.random.default_rng().normal(size=(size, points))
    if isinstance(region, Ellipsoid):
        draws *= math.sqrt(region.level) * seen.sigma / np.linalg.norm(draws, axis=0)
    else:
        draws = region.reach * np.sign(draws)
    return seen.sums + seen.mixing @ draws


@pytest.mark.parametrize("made", RELEASES, ids=lambda made: made[0].name)
@settings(deadline=None, max_examples=60)
@given(rows=st.floats(90, 3000), form=st.tuples(*[st.floats(-2, 2)] * 3))
def test_no_moments_in_a_region_have_a_central_moment_outside_of_its_range(made, rows, form):
    region = region_of(seen_at(*made, rows), BETA)
    lower, upper = (float(end[0]) for end in central_range(region, form))
    moments = rim(region, 20_000)
    n, s, t, *seconds = moments[:, moments[0] > 1]
    values = sum(a * each for a, each in zip(form, seconds, strict=True)) / n
    possible = (np.abs(s / n) <= 1) & (np.abs(t / n) <= 1)
    values = (values - quadratic(form, s / n, t / n))[possible]
    assert (values >= lower - 1e-9).all()
    assert (values <= upper + 1e-9).all()


@pytest.mark.parametrize("made", RELEASES, ids=lambda made: made[0].name)
def test_the_range_of_a_quotient_is_reached(made):
    region = region_of(seen_at(*made, 600.0), BETA)
    for coefficients in (np.array([0.2, 1, -0.5, 0, 0.3, 0]), np.array([0, 0, 0, 1.0, 0, -1.0])):
        lower, upper = (float(end[0]) for end in region.quotient(coefficients[:, None]))
        moments = rim(region, 100_000)
        values = coefficients @ moments / moments[0]
        assert lower - 1e-9 <= values.min() <= lower + 0.1 * (upper - lower)
        assert upper - 0.1 * (upper - lower) <= values.max() <= upper + 1e-9


@pytest.mark.parametrize("made", RELEASES, ids=lambda made: made[0].name)
@pytest.mark.parametrize("rows", [-50.0, 0.0, 10.0])
def test_where_the_count_may_be_zero_a_quotient_has_no_ends_and_a_mean_has_its_range(made, rows):
    region = region_of(seen_at(*made, rows), BETA)
    lower, upper = region.quotient(np.array([[0.0], [1], [0], [0], [0], [0]]))
    assert (lower[0], upper[0]) == (-math.inf, math.inf)
    assert [float(end[0]) for end in mean_range(region, 0.5, -0.25)] == [-0.75, 0.75]


def test_a_box_holds_all_noises_at_once_as_often_as_it_says():
    region = Box(seen_at(CORNERS, LAPLACE, 100.0), BETA)
    alone = 1 - tail([(1.0, LAPLACE)], region.reach)
    assert alone**6 == pytest.approx(1 - BETA, abs=1e-9)


def test_an_ellipsoid_holds_all_moments_at_once_as_often_as_it_says(release, holds):
    z, w = np.linspace(-1, 1, 50), np.linspace(-1, 1, 50) ** 2
    seen = release(CORRELATION, NORMAL, 20_000, z, w)
    exact = np.array([np.sum(z**i * w**j) for i, j in seen.known])
    apart = seen.sums - exact[:, None]
    distance = np.einsum("ig,ij,jg->g", apart, np.linalg.inv(seen.covariance), apart)
    level = Ellipsoid(seen, BETA).level
    inside = int(np.count_nonzero(distance <= level))
    from scipy.stats import binom  # noqa: PLC0415 - it is slow to import, and needed here only

    assert 1e-9 < binom.cdf(inside, distance.size, 1 - BETA) < 1 - 1e-9


@pytest.mark.parametrize("made", RELEASES, ids=lambda made: made[0].name)
def test_the_least_count_is_the_least_in_the_region(made):
    region = region_of(seen_at(*made, 600.0), BETA)
    least = float(region.least_count()[0])
    counts = rim(region, 100_000)[0]
    assert least - 1e-9 <= counts.min() <= least + 0.1 * (600 - least)
