"""Error bars of variances hold as often as they say, and are no longer than they must be."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from hedgerow.distributions import Gaussian, Laplace
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

BETA = 0.05
DRAWS = 1_500
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
@pytest.mark.parametrize(("sample", "beta"), [(False, 0.5), (False, 0.05), (True, 0.05), (False, 0.001)])
def test_intervals_hold_at_least_as_often_as_they_say(family, noise, rows, sample, beta, release, holds):
    bounds = variance_bounds(release(family, noise, DRAWS, rows), beta, sample=sample)
    exact = variance(rows) * (rows.size / (rows.size - 1) if sample and rows.size > 1 else 1.0)
    assert holds(bounds, exact, 1 - beta)
    assert all(status.kind == "conservative" for status in bounds.statuses)
    assert (bounds.lower <= bounds.upper).all()
    assert (bounds.lower >= 0).all()
    assert (bounds.upper <= (2 if sample else 1)).all()


@pytest.mark.parametrize("rows", [DATA["300 uniform"], DATA["1000 uniform"], DATA["300 lopsided"]])
def test_the_same_test_rejects_noise_that_is_30_percent_larger_than_stated(rows, release, holds):
    bounds = variance_bounds(release(lambda_family(), NORMAL, 20_000, rows, factor=1.3), BETA)
    assert not holds(bounds, variance(rows), 1 - BETA)


GROUPS, TABLES, FIRST = 1_000, 150, 0.05
RARE = np.repeat([1.0, -1.0], [1, 49])
"""Fifty people, of whom one in fifty has the greatest value and all others the least."""


def misses_of_the_first(release, family, noise, rows):
    """Return how often the interval of the largest of a thousand noisy variances misses, in all tables."""
    seen = release(family, noise, GROUPS * TABLES, rows)
    largest = var_pop(seen).reshape(TABLES, GROUPS).argmax(axis=1) + GROUPS * np.arange(TABLES)
    bounds = variance_bounds(Moments(seen.known, seen.sums[:, largest], seen.mixing, noise), FIRST / GROUPS)
    exact = rows.var()
    return int(np.count_nonzero((bounds.lower > exact) | (bounds.upper < exact)))


@pytest.mark.parametrize(
    ("family", "noise"), [(lambda_family(), Gaussian(1.2)), (BERNSTEIN, Gaussian(1.2)), (BERNSTEIN, Laplace(0.5))]
)
@pytest.mark.parametrize("rows", [RARE, lopsided(50), lopsided(150)], ids=["rare", "lopsided", "more"])
def test_the_largest_of_a_thousand_variances_is_covered(family, noise, rows, release):
    """A row that was picked asks for an interval that fails a thousand times less often."""
    misses = misses_of_the_first(release, family, noise, rows)
    assert binom.sf(misses - 1, TABLES, FIRST) > 1e-9


def inflated(family, rows, beta, factor, draws):
    """Weighted share of misses under Gaussian noise that is `factor` times larger than it is weighted as."""
    noise = Gaussian(5.0)
    exact = np.array(family.matrix, dtype=float) @ np.array([np.sum(rows**i) for i, _ in family.monomials])
    normal = np.random.default_rng().normal(size=(3, draws)) * factor
    log_weights = 3 * math.log(factor) - (1 - factor**-2) * np.square(normal).sum(axis=0) / 2
    bounds = variance_bounds(Moments.of(family, exact[:, None] + noise.sigma * normal, noise), beta)
    missed = (bounds.lower > rows.var()) | (bounds.upper < rows.var())
    return np.where(missed, np.exp(log_weights), 0.0) / beta


@pytest.mark.parametrize("beta", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("rows", [lopsided(170), lopsided(800), uniform(260)], ids=["170", "800", "260 uniform"])
def test_rare_misses_are_as_rare_as_they_say(rows, beta):
    """Misses of one in a million, drawn from noise three times as large and weighted; at nine standard errors."""
    shares = inflated(lambda_family(), rows, beta, 3.0, 20_000)
    assert shares.mean() - 9 * shares.std() / math.sqrt(shares.size) <= 1.0


def test_groups_of_any_size_lose_no_digits():
    """Two per cent more than first order, at any size."""
    rows = np.array([1e5, 1e7, 1e9, 1e12])
    moments = rows * np.array([[1.0], [0.5], [0.5]])
    seen = Moments.of(lambda_family(), np.array(lambda_family().matrix, dtype=float) @ moments, NORMAL)
    bounds = variance_bounds(seen, BETA)
    gradient = np.array([0.25 - 0.25, -1.0, 0, 1.0, 0, 0])
    first_order = -2 * ndtri(BETA / 2) * math.sqrt(gradient @ seen.covariance @ gradient) / rows
    assert (bounds.upper - bounds.lower) / first_order == pytest.approx(np.full(4, 1.015), abs=0.01)


@pytest.mark.parametrize(("family", "noise"), [(CORRELATION, NORMAL), (CORNERS, LAPLACE), (TENSOR, LAPLACE)])
@pytest.mark.parametrize("size", [20, 150, 600])
def test_variances_of_both_columns_of_a_larger_release_are_covered(family, noise, size, release, holds):
    first, second = uniform(size), np.full(size, -0.2)
    seen = release(family, noise, DRAWS, first, second)
    assert holds(variance_bounds(seen, BETA), variance(first), 1 - BETA)
    assert holds(variance_bounds(seen.exchanged(), BETA), 0.0, 1 - BETA)


def test_where_the_count_may_be_zero_every_variance_is_possible():
    seen = Moments.of(lambda_family(), np.array([[-20.0, 3.0, 12.0], [0.0, 2.0, 5.0], [1.0, 0.0, 0.0]]), NORMAL)
    actual = variance_bounds(seen, BETA)
    assert (actual.lower.tolist(), actual.upper.tolist()) == ([0.0] * 3, [1.0] * 3)


@pytest.mark.parametrize(("family", "noise"), RELEASES)
def test_the_estimate_lies_in_its_interval(family, noise, release):
    for rows in (uniform(40), uniform(600), np.full(300, 0.5)):
        seen = release(family, noise, 500, rows)
        actual = variance_bounds(seen, BETA)
        sure = (actual.upper > 0) & (seen.count > 10 * seen.sigma)
        assert (actual.lower <= var_pop(seen) + 1e-9)[sure].all()
        assert (var_pop(seen) <= actual.upper + 1e-9)[sure].all()


def test_standard_deviations_have_the_roots_of_the_ends(release):
    seen = release(lambda_family(), NORMAL, 50, uniform(200))
    of_variance, of_deviation = variance_bounds(seen, BETA), stddev_bounds(seen, BETA)
    assert of_deviation.lower**2 == pytest.approx(of_variance.lower)
    assert of_deviation.upper**2 == pytest.approx(of_variance.upper)
    assert of_deviation.statuses == of_variance.statuses


def test_groups_do_not_influence_each_other(release):
    seen = release(lambda_family(), NORMAL, 5_000, uniform(140))
    together = variance_bounds(seen, BETA)
    for k in (0, 17, 4_096, 4_999):
        alone = Moments(seen.known, seen.sums[:, [k]], seen.mixing, seen.noise)
        actual = variance_bounds(alone, BETA)
        assert (actual.lower[0], actual.upper[0]) == pytest.approx((together.lower[k], together.upper[k]), abs=1e-12)


def test_no_groups_have_no_bounds():
    for noise in (NORMAL, LAPLACE):
        assert variance_bounds(Moments.of(BERNSTEIN, np.zeros((3, 0)), noise), BETA).lower.size == 0
