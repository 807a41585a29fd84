import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import Bounds
from hedgerow.error_bars.intervals.noise_sums import half_width, sum_half_width, sum_tail, tail
from hedgerow.errors import InternalError

scales = st.floats(0.01, 100)
betas = st.floats(1e-6, 0.9)


def lattice_law(noises, size=4000):
    """Probabilities of the sum of Laplace noises on the integers, from -size to size."""
    support = np.arange(-size, size + 1)
    total = np.ones(1)
    for noise in noises:
        weights = np.exp(-np.abs(support) / noise.scale)
        total = np.convolve(total, weights / weights.sum(), mode="same" if len(total) > 1 else "full")
    return support, total


def gaussian_laplace_tail(sigma, scale, t):
    """The textbook convolution of a normal and a Laplace law."""
    x, r = t / sigma, sigma / scale
    near, far = (np.exp(r * r / 2 + sign * t / scale + log_ndtr(-sign * x - r)) for sign in (-1, 1))
    return 2 * ndtr(-x) + near - far


@pytest.mark.parametrize(
    ("first", "second", "at_95", "at_99"),
    [
        (1, 1, 4.11300328, 5.99024435),
        (2, 1, 6.54780939, 9.78194393),
        (10, 1, 30.05782609, 46.15220522),
        (65, 415, 1253.53657, 1921.45331),
    ],
)
def test_two_laplaces_have_the_quantiles_of_the_specification(first, second, at_95, at_99):
    terms = [(1.0, Laplace(first)), (-1.0, Laplace(second))]
    assert half_width(terms, 0.05) == pytest.approx(at_95, rel=1e-8)
    assert half_width(terms, 0.01) == pytest.approx(at_99, rel=1e-8)
    assert sum_half_width(0.0, ((float(first), 1), (float(second), 1)), 0.05) == pytest.approx(at_95, rel=1e-8)


def test_normal_noises_add_in_squares():
    assert half_width([(3.0, Gaussian(1.0)), (-4.0, Gaussian(1.0))], 0.05) == pytest.approx(5 * 1.959963985)
    assert tail([(3.0, Gaussian(1.0)), (-4.0, Gaussian(1.0))], 5 * 1.959963985) == pytest.approx(0.05)


def test_one_laplace_is_exact():
    assert half_width([(2.0, Laplace(5.0))], 0.05) == pytest.approx(10 * math.log(20))
    assert tail([(2.0, Laplace(5.0))], 10 * math.log(20)) == pytest.approx(0.05)


def test_no_noise_needs_no_room():
    assert half_width([(0.0, Laplace(5.0)), (1.0, Gaussian(0.0))], 0.05) == 0
    assert tail([], 0.0) == 0
    assert tail([], -1.0) == 1


@settings(deadline=None)
@given(scales, scales, betas)
def test_nearly_equal_scales_behave_like_equal_ones(scale, gap, beta):
    equal = half_width([(1, Laplace(scale)), (1, Laplace(scale))], beta)
    near = half_width([(1, Laplace(scale)), (1, Laplace(scale * (1 + gap * 1e-12)))], beta)
    assert near == pytest.approx(equal, rel=1e-9)


@pytest.mark.parametrize("beta", [0.5, 0.05, 0.001, 1e-6])
@pytest.mark.parametrize(("scale", "step"), [(0.3, 1.0), (1.0, 1.0), (7.5, 1.0), (20.0, 0.25)])
def test_a_lattice_has_the_least_multiple_of_its_step_that_suffices(scale, step, beta):
    width = half_width([(1.0, Laplace(scale, step))], beta)
    support = np.arange(-4000, 4001)
    weights = np.exp(-np.abs(support) * step / scale)
    weights /= weights.sum()
    assert width / step == round(width / step)
    assert weights[np.abs(support) * step > width].sum() <= beta
    assert width == 0 or weights[np.abs(support) * step > width - step].sum() > beta
    assert tail([(1.0, Laplace(scale, step))], width) == pytest.approx(weights[np.abs(support) * step > width].sum())


@pytest.mark.parametrize("beta", [0.2, 0.05, 0.001])
@pytest.mark.parametrize("noises", [(1, 1), (0.5, 3), (10, 10), (10, 40), (5, 5, 5), (0.4, 0.4, 8)])
def test_a_lattice_in_a_sum_is_never_short_and_costs_at_most_a_step_and_a_half_a_noise(noises, beta):
    noises = [Laplace(scale, 1.0) for scale in noises]
    terms = [(1.0, noise) for noise in noises]
    support, law = lattice_law(noises)
    width = half_width(terms, beta)
    assert law[np.abs(support) > width].sum() <= beta
    assert law[np.abs(support) > width - 1.5 * len(noises)].sum() > beta
    assert tail(terms, width) >= law[np.abs(support) > width].sum()


@pytest.mark.parametrize("distance", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize(("sigma", "scale"), [(1.0, 1.0), (0.05, 1.0), (1.0, 0.05), (2.0, 1.0)])
def test_inversion_meets_the_closed_form_of_normal_plus_laplace_from_above(sigma, scale, distance):
    exact = gaussian_laplace_tail(sigma, scale, distance)
    bound = sum_tail(sigma, ((scale, 1),), distance)
    assert exact * (1 - 1e-9) <= bound <= exact + 1e-8


@settings(deadline=None)
@given(scales, scales, st.floats(0.001, 1000))
def test_inversion_meets_the_closed_form_of_two_laplaces_from_above(first, second, distance):
    exact = tail([(1, Laplace(first)), (1, Laplace(second))], distance)
    assert exact * (1 - 1e-9) <= sum_tail(0.0, ((first, 1), (second, 1)), distance) <= exact + 1e-7


def test_a_sum_of_many_laplaces_is_nearly_normal():
    width = half_width([(1.0, Laplace(1.0))] * 2000, 0.05)
    assert width == pytest.approx(1.959963985 * math.sqrt(4000), rel=1e-3)


@settings(deadline=None)
@given(scales, scales, scales, betas)
def test_width_and_tail_agree(sigma, first, second, beta):
    terms = [(1.0, Gaussian(sigma)), (1.0, Laplace(first)), (-2.0, Laplace(second))]
    width = half_width(terms, beta)
    assert tail(terms, width) <= beta * (1 + 1e-6) + 1e-9
    assert tail(terms, 0.99 * width) > beta * (1 - 1e-6) - 1e-9


def test_a_very_small_failure_probability_is_bounded_not_computed():
    assert half_width([(1, Laplace(1.0))] * 3, 1e-15) >= half_width([(1, Laplace(1.0))] * 3, 1e-10)
    assert tail([(1, Laplace(1.0))] * 3, 1000.0) <= 1e-15


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, float("nan")])
def test_a_failure_probability_that_is_none_is_refused(beta):
    with pytest.raises(InternalError):
        half_width([(1.0, Gaussian(1.0))], beta)


def test_intervals_of_sums_hold_as_often_as_promised_and_not_with_noise_30_percent_larger(coverage):
    draws, random = 20_000, np.random.default_rng()
    terms = [(1.0, Gaussian(2.0)), (1.0, Laplace(1.0)), (-1.0, Laplace(3.0))]
    noise = random.normal(0, 2, draws) + random.laplace(0, 1, draws) - random.laplace(0, 3, draws)
    width = half_width(terms, 0.1)
    _, enough, close = coverage(Bounds.around(50 + noise, width), 50, 0.1)
    assert enough
    assert close
    assert not coverage(Bounds.around(50 + 1.3 * noise, width), 50, 0.1)[1]
