"""Several counts of the same rows are averaged: the noise of the average is what the error bars say, and no more."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.aggregates.conftest import FALSE_ALARM
from tests.internals import price_of

from hedgerow.statistics.moments import BERNSTEIN, BILINEAR, CORNERS, CORRELATION, lambda_family
from hedgerow.statistics.moments.families import unit_covariance

AVERAGES = "AVG(k) AS a, AVG(m) AS b, COUNT(*) AS n"
TWO_MOMENTS = "VAR_POP(k) AS v, VAR_POP(m) AS w, COUNT(*) AS n"


def count_variance(db, measures, **options):
    """The variance of the noise of the last aggregate, a count, over that of one noisy sum."""
    _, private = price_of(db, f"SELECT {measures} FROM one", **options)
    terms = private.parts[0].sum_forms[-1].count
    assert {type(noisy_sum.noise) for noisy_sum in private.parts[0].noisy_sums} == {type(_noise(private))}
    return math.fsum(coefficient**2 for _, coefficient in terms)


def _noise(private):
    return private.parts[0].noisy_sums[0].noise


def is_chi_square(numbers, variance):
    """Return whether independent numbers have mean zero and this variance, as far as so many can tell."""
    tail = stats.chi2.cdf(np.sum(np.square(numbers)) / variance, len(numbers))
    return FALSE_ALARM / 2 < tail < 1 - FALSE_ALARM / 2


@pytest.mark.parametrize("family", [lambda_family(), BERNSTEIN, BILINEAR, CORRELATION, CORNERS])
def test_centred_sums_do_not_share_noise_with_their_count(family):
    """So an averaged count needs no correction of the sums beside it."""
    covariance = unit_covariance(family)
    firsts = [index for index, moment in enumerate(family.moments) if sum(moment) == 1]
    assert all(covariance[0, index] == 0 for index in firsts)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_counts_of_joint_releases_are_averaged(world, mechanism):
    one = count_variance(world, "VAR_POP(k) AS v, COUNT(*) AS n", mechanism=mechanism)
    two = count_variance(world, TWO_MOMENTS, mechanism=mechanism)
    assert math.isclose(two, one / 2, rel_tol=1e-12)
    if mechanism == "gaussian":
        assert round(one, 2) == 2.58
        assert round(two, 2) == 1.29


def test_counts_of_other_rows_are_not_averaged(world):
    one = count_variance(world, "VAR_POP(k) AS v, COUNT(*) AS n", mechanism="gaussian")
    for other in ("VAR_POP(x)", "VAR_POP(m) FILTER (WHERE b)"):
        assert count_variance(world, f"VAR_POP(k) AS v, {other} AS w, COUNT(*) AS n", mechanism="gaussian") == one


@pytest.mark.parametrize("mechanism", ["gaussian"])
def test_an_averaged_count_has_the_noise_that_its_interval_says(crowd, mechanism):
    groups, size = 1500, 2
    db = crowd(groups, size)
    answer = db.sql(f"SELECT g, {TWO_MOMENTS} FROM t GROUP BY g", mechanism=mechanism, confidence=0.95)
    _, private = price_of(db, f"SELECT g, {TWO_MOMENTS} FROM t GROUP BY g", mechanism=mechanism)
    sigma = _noise(private).sigma * math.sqrt(unit_covariance(lambda_family())[0, 0] / 2)
    errors = np.array(answer["n"]) - size
    assert is_chi_square(errors, sigma**2 + 1 / 12)
    assert not is_chi_square(errors * 1.3, sigma**2 + 1 / 12)
    bars = [row["n"] for row in answer.intervals]
    assert math.isclose(max(bar.upper for bar in bars) - max(answer["n"]), stats.norm.isf(0.025) * sigma, abs_tol=0.51)


def test_the_counts_of_pairs_are_averaged(world):
    """Each pair (y, 1 - y) of Laplace noises counts the rows, with twice the variance of one noise."""
    for averaged, measures in enumerate(("AVG(k)", "AVG(k), SUM(m)"), start=1):
        actual = count_variance(world, f"{measures}, COUNT(*) AS n", mechanism="laplace")
        assert math.isclose(actual, 2 / averaged, rel_tol=1e-12)


def test_pairs_of_other_rows_are_not_averaged(world):
    for other in ("AVG(x)", "AVG(m) FILTER (WHERE b)"):
        assert count_variance(world, f"AVG(k), {other}, COUNT(*) AS n", mechanism="laplace") == 2


def test_pairs_and_moments_are_averaged_by_precision(world):
    """A pair has variance 2 and Bernstein's moments have 3, so both together have 6 / 5."""
    actual = count_variance(world, "AVG(k), VAR_POP(m), COUNT(*) AS n", mechanism="laplace")
    assert math.isclose(actual, 6 / 5, rel_tol=1e-12)


def test_averages_beside_an_averaged_count_have_the_noise_that_was_derived(crowd):
    """Of an average at the relative distance a from the middle: 1 + a^2 / k, for k columns."""
    groups, size = 3000, 100
    db = crowd(groups, size, constant=True)
    text = f"SELECT g, {AVERAGES} FROM t GROUP BY g"
    answer = db.sql(text, mechanism="laplace", epsilon=10, confidence=0.95)
    _, private = price_of(db, text, mechanism="laplace", epsilon=10)
    unit = 2 * _noise(private).scale ** 2
    half, distance = 49 / 2, 1 - 7 / (49 / 2)
    expected = 2 * unit * (1 + distance**2 / 2) * (half / size) ** 2
    errors = np.array(answer["a"]) - 7
    band = stats.norm.isf(FALSE_ALARM / 2) * math.sqrt(5 / groups)  # a sum of Laplace noises has kurtosis up to 6
    assert np.mean(errors**2) / expected == pytest.approx(1.0, abs=band)
    assert np.mean((errors * 1.3) ** 2) / expected > 1.0 + band
    lower, upper = zip(*((row["a"].lower, row["a"].upper) for row in answer.intervals), strict=True)
    hits = int(np.sum((np.array(lower) <= 7) & (np.array(upper) >= 7)))
    assert stats.binom.cdf(hits, groups, 0.95) > FALSE_ALARM
    assert np.mean(np.subtract(upper, lower)) < 2.2 * stats.norm.isf(0.025) * math.sqrt(expected)
