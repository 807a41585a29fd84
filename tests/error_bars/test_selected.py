import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import EXACT, Bounds
from hedgerow.error_bars.intervals.noise_sums import half_width
from hedgerow.error_bars.intervals.selected_counts import SELECTED, selected_count_bounds

BETA = 0.05
DRAWS = 20_000
THRESHOLD = 69.98
MINIMUM = 10


def released_gaussian(count, sigma, threshold):
    """Noisy counts, given that they reach the threshold."""
    chance = ndtr((count - threshold) / sigma)
    return count - sigma * ndtri(chance * np.random.default_rng().uniform(size=DRAWS))


def released_laplace(count, scale, threshold):
    """The same for Laplace noise, by inverting its survival function."""
    gap = (threshold - count) / scale
    chance = 0.5 * np.exp(-gap) if gap >= 0 else 1 - 0.5 * np.exp(gap)
    survival = chance * np.random.default_rng().uniform(size=DRAWS)
    return count + scale * np.where(survival < 0.5, -np.log(2 * survival), np.log(2 - 2 * survival))


@pytest.mark.parametrize(("above", "expected"), [(0.5, -6.99), (1, -2.93), (2, -0.37), (3, 0.96), (4, 2.03)])
def test_lower_ends_are_those_of_the_specification(above, expected):
    seen = selected_count_bounds(np.array([1000 + 10 * above]), Gaussian(10.0), 1000, 1, BETA)
    assert (seen.lower[0] - 1000) / 10 == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("count", [10, 50, 60, 70, 90, 120])
@pytest.mark.parametrize(
    ("noise", "released"), [(Gaussian(10.0), released_gaussian), (Laplace(10.0), released_laplace)]
)
def test_intervals_hold_given_release_for_every_count(count, noise, released, coverage):
    values = released(count, 10.0, THRESHOLD)
    assert coverage(selected_count_bounds(values, noise, THRESHOLD, MINIMUM, BETA), count, BETA)[1]


@pytest.mark.parametrize(
    ("count", "share"), [(10, 0.0), (50, 0.0), (60, 0.839), (70, 0.944), (90, 0.973), (120, 0.951)]
)
def test_plain_intervals_hold_given_release_as_often_as_the_specification_says(count, share, coverage):
    values = released_gaussian(count, 10.0, THRESHOLD)
    plain = Bounds.around(values, half_width([(1, Gaussian(10.0))], BETA))
    assert coverage(plain, count, BETA)[0] == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("noise", "released"), [(Gaussian(7.0), released_gaussian), (Laplace(7.0), released_laplace)])
def test_the_same_test_rejects_noise_that_is_30_percent_larger_than_stated(noise, released, coverage):
    values = released(60, 10.0, THRESHOLD)
    assert not coverage(selected_count_bounds(values, noise, THRESHOLD, MINIMUM, BETA), 60, BETA)[1]


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("threshold", [20.0, 20.4])
def test_on_a_lattice_the_conditional_coverage_is_enough_for_every_count_by_enumeration(scale, threshold):
    noise = Laplace(scale, 1.0)
    offsets = np.arange(-600, 601)
    for count in range(5, 60):
        values = (count + offsets)[count + offsets >= threshold].astype(float)
        weights = np.exp(-np.abs(values - count) / scale)
        seen = selected_count_bounds(values, noise, threshold, 5, BETA)
        covered = weights[(seen.lower <= count) & (count <= seen.upper)].sum()
        assert covered >= (1 - BETA) * weights.sum() * (1 - 1e-12)


def test_a_laplace_count_close_to_its_threshold_says_nothing_but_the_minimum():
    noise, edge = Laplace(10.0), 70 + 10 * np.log(2 / BETA)
    close = selected_count_bounds(np.array([edge - 0.01, edge + 0.01]), noise, 70, MINIMUM, BETA)
    assert close.lower[0] == MINIMUM
    assert close.lower[1] > MINIMUM


@pytest.mark.parametrize("noise", [Gaussian(10.0), Laplace(10.0), Laplace(10.0, 1.0)])
def test_far_from_the_threshold_the_plain_interval_is_right(noise):
    plain = half_width([(1, noise)], BETA)
    seen = selected_count_bounds(np.array([500.0]), noise, 70, MINIMUM, BETA)
    assert seen.lower[0] == pytest.approx(500 - plain, abs=1.01)
    assert seen.upper[0] == 500 + plain
    assert seen.statuses == [EXACT]


def test_near_the_threshold_the_lower_arm_is_longer_and_says_why():
    seen = selected_count_bounds(np.array([75.0]), Gaussian(10.0), 70, MINIMUM, BETA)
    assert seen.lower[0] < 75 - 1.96 * 10
    assert seen.statuses == [SELECTED]


@pytest.mark.parametrize("noise", [Gaussian(10.0), Laplace(10.0), Laplace(10.0, 1.0)])
def test_the_lower_end_rises_with_the_value_and_never_falls_below_the_minimum(noise):
    seen = selected_count_bounds(np.arange(70.0, 200.0), noise, 70, MINIMUM, BETA)
    assert np.all(np.diff(seen.lower) >= -1e-9)
    assert seen.lower.min() == MINIMUM
