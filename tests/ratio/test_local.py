"""Local and smooth sensitivity, against an enumeration of all data."""

import numpy as np
import pytest

from hedgerow.errors import ParameterError
from hedgerow.ratio import smooth_sensitivity
from hedgerow.statistics.ratio_sensitivity import distance_to, largest_within


def local_sensitivities(most):
    """The local sensitivity at every (X, Y) with 1 <= X, Y <= most, from all neighbours."""
    counts = np.arange(1, most + 1)
    ratio = counts[:, None] / counts[None, :]
    local = np.zeros((most, most))
    for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
        moved = np.roll(ratio, shift, axis=axis)
        edge = [slice(None), slice(None)]
        edge[axis] = 0 if shift == 1 else -1
        difference = np.abs(ratio - moved)
        difference[tuple(edge)] = 0.0
        local = np.maximum(local, difference)
    return local


def enumerated(local, x, y, smoothness):
    """The smooth sensitivity by its definition."""
    counts = np.arange(1, len(local) + 1)
    distance = np.abs(counts[:, None] - x) + np.abs(counts[None, :] - y)
    return np.max(local * np.exp(-smoothness * distance))


def check_all(most, smoothness, step=1):
    local = local_sensitivities(most)
    for x in range(1, most + 1, step):
        for y in range(1, most + 1):
            exact = enumerated(local, x, y, smoothness)
            actual = smooth_sensitivity(x, y, n_x=most, n_y=most, smoothness=smoothness)
            assert np.isclose(actual, exact, rtol=1e-12), (x, y)


@pytest.mark.parametrize("smoothness", [0.02, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("most", [2, 3, 12, 24])
def test_smooth_sensitivity_is_its_definition(most, smoothness):
    check_all(most, smoothness)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.02, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("most", range(2, 61))
def test_smooth_sensitivity_is_its_definition_for_all_data_up_to_sixty(most, smoothness):
    check_all(most, smoothness)


@pytest.mark.parametrize(("n_x", "n_y"), [(1, 9), (9, 1), (5, 30), (30, 5)])
def test_for_groups_of_different_sizes_it_is_never_below_its_definition(n_x, n_y):
    first, second = np.arange(1, n_x + 1), np.arange(1, n_y + 1)
    local = np.array([[exact_at(x, y, n_x, n_y) for y in second] for x in first])
    for x in first:
        for y in second:
            distance = np.abs(first[:, None] - x) + np.abs(second[None, :] - y)
            actual = smooth_sensitivity(x, y, n_x=n_x, n_y=n_y, smoothness=0.2)
            assert actual >= np.max(local * np.exp(-0.2 * distance)) * (1 - 1e-12)


def exact_at(x, y, n_x, n_y):
    """The local sensitivity at one place."""
    near = [(x + a, y + b) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return max((abs(x / y - a / b) for a, b in near if 1 <= a <= n_x and 1 <= b <= n_y), default=0.0)


@pytest.mark.parametrize("most", [5, 20])
def test_the_bound_is_smooth(most):
    smoothness = 0.3
    counts = np.arange(1, most + 1)
    actual = smooth_sensitivity(counts[:, None], counts[None, :], n_x=most, n_y=most, smoothness=smoothness)
    ratios = [actual[1:] / actual[:-1], actual[:, 1:] / actual[:, :-1]]
    assert all(np.all(np.abs(np.log(ratio)) <= smoothness * (1 + 1e-12)) for ratio in ratios)


def test_the_published_third_case_would_be_too_small():
    assert round(smooth_sensitivity(2, 2, n_x=30, n_y=30, smoothness=0.1), 4) == 2.2466
    assert round(smooth_sensitivity(5, 5, n_x=30, n_y=30, smoothness=0.05), 4) == 4.0657


@pytest.mark.parametrize("bound", [0.049, 0.3, 1.0, 4.0, 9.9])
def test_the_distance_to_a_sensitivity_is_exact_and_moves_by_one(bound):
    most = 20
    local = local_sensitivities(most)
    counts = np.arange(1, most + 1)
    places = np.argwhere(local >= bound) + 1
    actual = np.array([[distance_to(bound, x, y, most) for y in counts] for x in counts])
    for x in counts:
        for y in counts:
            exact = np.min(np.abs(places[:, 0] - x) + np.abs(places[:, 1] - y))
            assert actual[x - 1, y - 1] == exact
    assert np.max(np.abs(np.diff(actual, axis=0))) <= 1
    assert np.max(np.abs(np.diff(actual, axis=1))) <= 1


def test_the_largest_local_sensitivity_never_falls_with_distance():
    for x, y in ((1, 20), (20, 1), (7, 7), (3, 2)):
        assert np.all(np.diff(largest_within(x, y, 20, np.arange(0.0, 40.0))) >= 0)


@pytest.mark.parametrize(("x", "y"), [(0, 3), (3, 31), (2.5, 3)])
def test_counts_outside_of_the_domain_are_refused(x, y):
    with pytest.raises(ParameterError, match="whole number from 1"):
        smooth_sensitivity(x, y, n_x=30, n_y=30, smoothness=0.1)
