"""No interval is wide without need: widths over those of the shortest interval that holds as often."""

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals import half_width, quotient_bounds

FALSE_ALARM = 1e-9
BETA = 0.1
DRAWS = 20_000


def convolved(noises):
    """Probabilities of a sum of Laplace noises on the integers, by convolving them one by one."""
    law = np.ones(1)
    for scale, multiple in noises:
        size = int(40 * scale) + 1
        weights = np.zeros(2 * size * multiple + 1)
        weights[::multiple] = np.exp(-np.abs(np.arange(-size, size + 1)) / scale)
        law = np.convolve(law, weights / weights.sum())
    return np.abs(np.arange(len(law)) - len(law) // 2), law


@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize(
    "noises",
    [[(1.0, 1)] * 10, [(0.4, 1)] * 100, [(1.0, 1), (3.0, 1)] * 5, [(1.0, 1), (1.0, 2), (2.0, 3)], [(1.0, 2)] * 3],
)
def test_a_total_of_counts_has_the_least_whole_number_that_suffices(noises, beta):
    distance, law = convolved(noises)
    width = half_width([(float(multiple), Laplace(scale, 1.0)) for scale, multiple in noises], beta)
    step = min(multiple for _, multiple in noises)
    assert law[distance > width].sum() <= beta
    assert law[distance > width - step].sum() > beta


@pytest.mark.parametrize("groups", [10, 100, 1_000, 10_000])
@pytest.mark.parametrize("factor", [1.0, 1 / 3, -0.25])
def test_a_total_of_many_counts_is_as_wide_as_its_deviation_asks(groups, factor):
    noise = Laplace(1.0, 1.0)
    deviation = abs(factor) * np.sqrt(groups * np.exp(-1.0) * 2) / (1 - np.exp(-1.0))
    width = half_width([(factor, noise)] * groups, 0.05)
    assert 0.95 < width / (1.95996 * deviation) < 1.09


@pytest.mark.parametrize(
    "coefficients", [np.sqrt(np.arange(1.0, 8.0)), np.geomspace(0.1, 3.0, 20), 1 + np.pi * np.arange(3)]
)
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_counts_with_weights_that_have_no_common_multiple_are_neither_short_nor_long(coefficients, scale):
    draws = np.random.default_rng().geometric(-np.expm1(-1 / scale), (2, DRAWS, len(coefficients)))
    noise = (draws[0] - draws[1]) @ coefficients
    terms = [(float(c), Laplace(scale, 1.0)) for c in coefficients]
    for width, enough in ((half_width(terms, BETA), True), (0.7 * half_width(terms, BETA), False)):
        hits = int(np.count_nonzero(np.abs(noise) <= width))
        assert bool(binom.cdf(hits, DRAWS, 1 - BETA) > FALSE_ALARM) is enough
    rank = int(binom.ppf(1 - FALSE_ALARM, DRAWS, 1 - BETA * 0.7))
    quantile = np.sort(np.abs(noise))[rank]  # a lesser one than the law's at 1 - 0.7 beta only by a false alarm
    assert half_width(terms, BETA) <= 1.05 * quantile


def drawn(noise, size):
    random = np.random.default_rng()
    if isinstance(noise, Gaussian):
        return random.normal(0, noise.sigma, size)
    if noise.step:
        chance = -np.expm1(-noise.step / noise.scale)
        return noise.step * (random.geometric(chance, size) - random.geometric(chance, size)).astype(float)
    return random.laplace(0, noise.scale, size)


QUOTIENTS = [
    [(1.0, 0.0, Laplace(4.0)), (0.0, 1.0, Laplace(4.0)), (0.0, 1.0, Laplace(4.0))],
    [(1.0, 1.0, Laplace(4.0)), (0.0, 1.0, Laplace(4.0)), (0.0, 1.0, Laplace(1.0)), (0.0, 1.0, Laplace(2.0))],
    [(1.0, 0.0, Laplace(4.0)), (-1.0, 0.0, Laplace(4.0)), (0.0, 1.0, Laplace(3.0)), (0.0, -1.0, Laplace(3.0))],
    [(1.0, 1.0, Laplace(3.0)), *[(0.0, 1.0, Laplace(3.0))] * 9],
    [(1.0, 0.0, Laplace(4.0)), (0.0, 1.0, Gaussian(4.0))],
    [(1.0, 1.0, Laplace(9.0, 1.0)), *[(0.0, 1.0, Laplace(9.0, 1.0))] * 4],
]


@pytest.mark.parametrize("support", [(-np.inf, np.inf), (0.0, 1.0)])
@pytest.mark.parametrize("denominator", [20.0, 300.0])
@pytest.mark.parametrize("terms", QUOTIENTS)
def test_quotients_over_several_laplace_noises_hold_as_often_as_they_say_and_hardly_more(terms, denominator, support):
    noises = [drawn(noise, DRAWS) for _, _, noise in terms]
    above = 0.3 * denominator + sum(a * x for (a, _, _), x in zip(terms, noises, strict=True))
    below = denominator + sum(b * x for (_, b, _), x in zip(terms, noises, strict=True))
    actual = quotient_bounds(above, below, terms, BETA, support)
    hits = int(np.count_nonzero((actual.lower <= 0.3) & (actual.upper >= 0.3)))
    assert binom.cdf(hits, DRAWS, 1 - BETA) > FALSE_ALARM
    assert {status.kind.value for status in actual.statuses} == {"exact"}
    if denominator == 300.0:
        lattice = any(isinstance(noise, Laplace) and noise.step for _, _, noise in terms)
        assert binom.sf(hits - 1, DRAWS, 1 - BETA * (0.8 if lattice else 0.99)) > FALSE_ALARM
        middle, half = (actual.lower + actual.upper) / 2, 0.35 * (actual.upper - actual.lower)
        narrow = int(np.count_nonzero(np.abs(0.3 - middle) <= half))
        assert binom.cdf(narrow, DRAWS, 1 - BETA) < FALSE_ALARM


def test_quotients_of_one_group_do_not_depend_on_the_order_or_the_sign_of_its_noises():
    terms = QUOTIENTS[1]
    turned = [(-a, -b, noise) for a, b, noise in reversed(terms)]
    one, other = (quotient_bounds(np.array([30.0]), np.array([90.0]), some, BETA, (0, 1)) for some in (terms, turned))
    assert (one.lower[0], one.upper[0]) == pytest.approx((other.lower[0], other.upper[0]), rel=1e-12)
