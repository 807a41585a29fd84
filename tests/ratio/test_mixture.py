"""The tail of normal plus Laplace noise."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from hedgerow import Gaussian, Laplace
from hedgerow.error_bars.intervals import tail
from hedgerow.statistics.two_by_two.score import mixed_tail


@pytest.mark.parametrize("sigma", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("first", [0.2, 1.0])
@pytest.mark.parametrize("second", [0.0, 0.2, 0.9999, 1.0, 5.0])
@pytest.mark.parametrize("at", [0.0, 0.3, 2.0, 6.0])
def test_it_is_the_tail_of_the_sum(sigma, first, second, at):
    distance = at * math.sqrt(sigma**2 + 2 * first**2 + 2 * second**2)
    exact = tail([(1.0, Gaussian(sigma)), (1.0, Laplace(first)), (1.0, Laplace(second))], distance) / 2
    assert math.isclose(float(mixed_tail(distance, sigma, first, second)), exact, rel_tol=2e-6, abs_tol=2e-9)


def test_without_laplace_noise_it_is_the_normal_tail_and_without_any_nothing_strays():
    assert math.isclose(float(mixed_tail(1.5, 1.0, 0.0, 0.0)), float(ndtr(-1.5)))
    assert float(mixed_tail(0.1, 0.0, 0.0, 0.0)) == 0.0
    assert float(mixed_tail(0.0, 0.0, 0.0, 0.0)) == 0.5


def test_it_neither_overflows_nor_grows():
    distance = np.geomspace(1e-3, 1e6, 400)
    for sigma, first, second in ((1e-9, 1.0, 0.5), (1.0, 1e-9, 0.0), (1.0, 1.0, 1.0), (1e3, 1e-3, 7.0)):
        actual = mixed_tail(distance, sigma, first, second)
        assert np.all((actual >= 0) & (actual <= 0.5 + 1e-12))
        assert np.all(np.diff(actual) <= 1e-15)
