"""A union over side values leaves none of them out, and the half widths it is made of are never too short."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals import half_width, quotient_bounds
from hedgerow.statistics.moments import BERNSTEIN, CORNERS, CORRELATION, Moments, lambda_family
from hedgerow.statistics.moments.bounds import (
    MAIN,
    correlation_range,
    covariance_range,
    half_widths,
    mean_range,
    root_range,
    slope_range,
    variance_range,
)
from hedgerow.statistics.moments.noisy import COVARIANCE, VAR_FIRST, VAR_SECOND, around

BETA = 0.05
NORMAL, LAPLACE = Gaussian(5.0), Laplace(5 / math.sqrt(2))
RELEASES = [(CORRELATION, NORMAL), (CORNERS, LAPLACE)]
COUNT = np.eye(6)[0]


def seen_at(family, noise, rows, tilt=0.6, width=0.8):
    """A group of two columns, as if the noise had been zero."""
    line = np.linspace(-1, 1, 101)
    first, second = width * line, width * (tilt * line + (1 - abs(tilt)) * np.cos(7 * line) / 2)
    means = np.array([np.mean(first**i * second**j) for i, j in family.monomials])
    return Moments.of(family, (np.array(family.matrix, dtype=float) @ (rows * means))[:, None], noise)


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.floats(0.05, 1), min_size=1, max_size=6),
    st.sampled_from([0.5, 0.05, 1e-3, 1e-6, 1e-9]),
    st.sampled_from([0.0, 0.2, 2.0]),
)
def test_half_widths_are_never_too_short_and_hardly_too_long(weights, beta, step):
    for noise in (Gaussian(3.0), Laplace(3.0), Laplace(3.0, step)):
        exact = half_width([(weight, noise) for weight in weights], beta)
        lattice = sum(weights) * step if isinstance(noise, Laplace) and noise.step else 0.0
        assert exact * (1 - 1e-6 - 1e-12 / beta) - lattice <= half_widths(np.array([weights]), noise, beta)[0]
        assert half_widths(np.array([weights]), noise, beta)[0] <= 1.06 * exact + lattice + 1e-9


@settings(deadline=None, max_examples=20)
@given(st.floats(30, 1000), st.floats(-500, 500), st.sampled_from([0.3, 0.05, 1e-4]))
def test_the_roots_of_a_score_are_those_of_the_exact_quotient(count, total, beta):
    """Two noises, one in each part: there the interval of a quotient is known exactly."""
    for noise in (NORMAL, LAPLACE):
        sums = np.array([count, total, 0, 0, 0, 0])[:, None]
        seen = Moments(((0, 0), (1, 0)), sums, np.eye(6)[:, :2], noise)
        lower, upper = root_range(seen, np.eye(6)[1][:, None], COUNT[:, None], beta)
        exact = quotient_bounds(
            np.array([total]), np.array([count]), [(1, 0, noise), (0, 1, noise)], beta, (-np.inf, np.inf)
        )
        size = 0.03 * (exact.upper[0] - exact.lower[0]) if count > 150 else math.inf
        assert exact.lower[0] - size <= lower[0] <= exact.lower[0] + 1e-9
        assert exact.upper[0] - 1e-9 <= upper[0] <= exact.upper[0] + size


def covers(outer, inner):
    size = 1e-9 * (1 + abs(outer[1][0] - outer[0][0]))
    return (inner[0] >= outer[0] - size).all() and (inner[1] <= outer[1] + size).all()


@settings(deadline=None, max_examples=20)
@given(st.floats(60, 3000), st.floats(-1, 1), st.floats(0.2, 1), st.sampled_from([0.5, 0.05, 1e-5]))
@pytest.mark.parametrize("release_of", RELEASES, ids=["gaussian", "laplace"])
def test_the_union_holds_the_range_of_every_side_value(release_of, rows, tilt, width, beta):
    """Points between those of the grid, drawn at random."""
    seen = seen_at(*release_of, rows, tilt, width)
    share = np.random.default_rng().random((2, 100, 1))
    share[:, :4, 0] = [[0, 0, 1, 1], [0, 1, 0, 1]]
    means = [mean_range(seen, (1 - MAIN) * beta / 2, column) for column in (0, 1)]
    m, k = (low + (high - low) * part for (low, high), part in zip(means, share, strict=True))
    ones = np.broadcast_to(COUNT[:, None, None], (6, *m.shape))
    product, square = around(COVARIANCE, m, k), around(VAR_FIRST, m, k)
    assert covers(covariance_range(seen, beta), root_range(seen, product, ones, MAIN * beta))
    slope = slope_range(seen, beta)
    if np.isfinite(slope[0][0]):
        assert covers(slope, root_range(seen, product, square, MAIN * beta))
    low, high = mean_range(seen, (1 - MAIN) * beta, 0)
    m = low + (high - low) * share[0]
    lower, upper = root_range(seen, around(VAR_FIRST, m, 0 * m), ones, MAIN * beta)
    possible = lower <= 1 - m**2
    union = variance_range(seen, beta)
    assert (lower[possible] >= union[0] - 1e-9).all()
    assert (np.minimum(upper, 1 - m**2)[possible] <= union[1] + 1e-9).all()


@settings(deadline=None, max_examples=12)
@given(st.floats(200, 3000), st.floats(-1, 1), st.sampled_from([0.5, 0.05, 1e-5]))
@pytest.mark.parametrize("release_of", RELEASES, ids=["gaussian", "laplace"])
def test_a_correlation_allows_for_every_ratio_of_the_variances(release_of, rows, tilt, beta):
    seen, part = seen_at(*release_of, rows, tilt), (1 - MAIN) * beta / 3
    share = np.random.default_rng().random((3, 100, 1))
    means = [mean_range(seen, part, column) for column in (0, 1)]
    m, k = (low + (high - low) * side for (low, high), side in zip(means, share, strict=False))
    ratios = root_range(seen, around(VAR_FIRST, m, k), around(VAR_SECOND, m, k), part)
    if not np.isfinite(ratios[1]).all() or (ratios[0] <= 0).any():
        return
    root = np.sqrt(ratios[0] + (ratios[1] - ratios[0]) * share[2])
    below = around((1 / root / 2, 0.0, root / 2), m, k)
    lower, upper = root_range(seen, around(COVARIANCE, m, k), below, MAIN * beta)
    union = correlation_range(seen, beta)
    assert (np.clip(lower, -1, 1) >= union[0] - 1e-9).all()
    assert (np.clip(upper, -1, 1) <= union[1] + 1e-9).all()


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("rows", [-50.0, 0.0, 10.0])
def test_where_the_count_may_be_zero_nothing_is_known(noise, rows):
    seen = seen_at(BERNSTEIN if noise is LAPLACE else lambda_family(), noise, rows)
    assert [end[0] for end in mean_range(seen, BETA, 0)] == [-1.0, 1.0]
    assert [end[0] for end in root_range(seen, np.eye(6)[1][:, None], COUNT[:, None], BETA)] == [-math.inf, math.inf]
