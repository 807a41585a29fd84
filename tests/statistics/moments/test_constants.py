"""The mean squared errors of the design, from closed forms."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.statistics.moments import (
    BERNSTEIN,
    BILINEAR,
    CORNERS,
    CORRELATION,
    TENSOR,
    Family,
    lambda_family,
    unit_covariance,
)
from hedgerow.statistics.moments.estimates import covariance_constant, variance_constant

WEIGHTED = [lambda_family(Fraction(k, 2)) for k in range(3)]
PLACES = [(0, 0), (0.5, 0), (0.5, 1 / 12), (0.5, 0.25), (0.1, 0.01), (0.1, 0.09), (0.2, 0.02)]
TABLE = [
    (BERNSTEIN, [1, 0.1875, 0.16667, 0.25, 0.65, 0.5572, 0.4172], 1, 0.4160, 3),
    (WEIGHTED[0], [1, 0.14286, 0.08730, 0.07143, 0.64286, 0.53406, 0.39406], 1, 0.3616, 2.2857),
    (WEIGHTED[1], [1.01613, 0.12903, 0.07168, 0.06452, 0.64258, 0.52490, 0.38490], 1.0161, 0.3530, 2.5806),
    (WEIGHTED[2], [1.0625, 0.125, 0.0625, 0.0625, 0.6625, 0.5297, 0.3897], 1.0625, 0.3566, 3),
]
CENTRED = Family.of("centred sums", ((0, 0), (1, 0), (2, 0)), np.eye(3, dtype=int).tolist())


def feasible(means, variances):
    """Means in [0, 1], and for each as many variances from zero to the greatest."""
    mean = np.repeat(np.linspace(0, 1, means), variances)
    return mean, np.tile(np.linspace(0, 1, variances), means) * mean * (1 - mean)


def frechet(means, covariances):
    """Pairs of means, and for each as many covariances from the least to the greatest."""
    line = np.linspace(0, 1, means)
    first, second, share = (grid.ravel() for grid in np.meshgrid(line, line, np.linspace(0, 1, covariances)))
    least = np.maximum(-first * second, -(1 - first) * (1 - second))
    greatest = np.minimum(first * (1 - second), second * (1 - first))
    return (first, second), least + share * (greatest - least)


@pytest.mark.parametrize(
    ("family", "constants", "worst", "average", "count"), TABLE, ids=lambda parameter: str(parameter)[:20]
)
def test_variances_err_as_in_the_table_of_the_design(family, constants, worst, average, count):
    assert variance_constant(family, *np.array(PLACES).T) == pytest.approx(constants, rel=5e-4)
    over = variance_constant(family, *feasible(41, 21))
    assert over.max() == pytest.approx(worst, rel=5e-4)
    assert over.mean() == pytest.approx(average, rel=5e-4)
    assert unit_covariance(family)[0, 0] == pytest.approx(count, rel=5e-4)


def test_an_equal_split_of_centred_sums_errs_as_in_the_table_of_the_design():
    expected = [1.125, 0.1875, 0.20833, 0.375, 0.735, 0.6822, 0.4722]
    assert 3 * variance_constant(CENTRED, *np.array(PLACES).T) == pytest.approx(expected, rel=5e-4)


def test_the_default_is_better_than_equal_noise_by_1_9_on_uniform_data_and_never_worse_by_two_percent():
    uniform = np.array([0.5]), np.array([1 / 12])
    assert variance_constant(BERNSTEIN, *uniform) / variance_constant(lambda_family(), *uniform) > 1.9
    everywhere = feasible(401, 201)
    ratio = variance_constant(lambda_family(), *everywhere) / variance_constant(BERNSTEIN, *everywhere)
    assert ratio.max() < 1.02


@pytest.mark.parametrize(("weight", "least", "most"), [(0, 0.286, 1.000), (1, 0.248, 1.016), (2, 0.216, 1.063)])
def test_ratios_to_equal_noise_are_those_of_the_design(weight, least, most):
    everywhere = feasible(41, 21)
    ratio = variance_constant(WEIGHTED[weight], *everywhere) / variance_constant(BERNSTEIN, *everywhere)
    assert (ratio.min(), ratio.max()) == pytest.approx((least, most), abs=6e-4)


def test_covariances_err_as_in_the_design():
    assert covariance_constant(BILINEAR, *frechet(11, 5)).mean() == pytest.approx(0.501, rel=0.01)
    assert covariance_constant(BILINEAR, *frechet(41, 21)).max() == pytest.approx(1)


def test_correlations_err_as_in_the_design():
    variance = variance_constant(CORRELATION, *feasible(25, 15)).mean()
    covariance = covariance_constant(CORRELATION, *frechet(25, 15)).mean()
    assert (variance, covariance) == pytest.approx((0.6985, 0.5319), rel=0.01)
    assert 2 * variance + covariance == pytest.approx(1.929, rel=0.01)
    alone = variance_constant(lambda_family(), *feasible(25, 15)).mean()
    together = covariance_constant(BILINEAR, *frechet(25, 15)).mean()
    split = (2 * np.sqrt(alone) + np.sqrt(together)) ** 2
    assert split == pytest.approx(3.634, rel=0.03)


def test_laplace_correlations_err_far_less_than_three_releases_and_not_much_more_than_nine_coordinates():
    totals = {
        family.name: 2 * variance_constant(family, *feasible(25, 15)).mean()
        + covariance_constant(family, *frechet(25, 15)).mean()
        for family in (CORNERS, TENSOR)
    }
    parts = (
        variance_constant(BERNSTEIN, *feasible(25, 15)).mean(),
        covariance_constant(BILINEAR, *frechet(25, 15)).mean(),
    )
    separate = (2 * parts[0] ** (1 / 3) + parts[1] ** (1 / 3)) ** 3
    assert totals["corners"] < separate / 3
    assert totals["tensor"] < totals["corners"] < 1.25 * totals["tensor"]


@pytest.mark.parametrize("family", [BERNSTEIN, *WEIGHTED], ids=lambda family: family.name)
def test_no_release_beats_the_oracle(family):
    mean, variance = feasible(41, 21)
    inside = np.linspace(0, 1, 201)[:, None]
    oracle = np.max(((inside - mean) ** 2 - variance) ** 2, axis=0)
    assert (variance_constant(family, mean, variance) >= oracle - 1e-9).all()
