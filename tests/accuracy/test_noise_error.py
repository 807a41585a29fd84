"""One noise: its size, and how far it strays."""

import math

import numpy as np
import pytest
from scipy.stats import laplace, norm

from hedgerow.accounting import gaussian_delta
from hedgerow.accuracy import gaussian_error, gaussian_sigma, laplace_error
from hedgerow.errors import ParameterError

TABLE = [
    (0.1, 1e-5, 48.448053, 30.749566),
    (0.1, 1e-7, 57.168591, 41.329452),
    (0.5, 1e-6, 10.597605, 8.057618),
    (0.99, 1e-6, 5.352327, None),
]


@pytest.mark.parametrize(("epsilon", "delta", "classic", "analytic"), TABLE)
def test_both_calibrations_give_the_known_noise(epsilon, delta, classic, analytic):
    assert gaussian_sigma(epsilon, delta, method="classic") == pytest.approx(classic, abs=2e-6)
    if analytic is not None:
        assert gaussian_sigma(epsilon, delta) == pytest.approx(analytic, abs=2e-6)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 10.0])
def test_the_analytic_calibration_is_private_and_no_more(epsilon):
    sigma = gaussian_sigma(epsilon, 1e-6, sensitivity=7.0)
    assert gaussian_delta(epsilon, 7.0 / sigma) <= 1e-6
    assert gaussian_delta(epsilon, 7.0 / (0.999 * sigma)) > 1e-6


@pytest.mark.parametrize("epsilon", [1.0, 1.5, 10.0])
def test_the_classic_calibration_is_refused_where_it_is_not_proved(epsilon):
    with pytest.raises(ParameterError, match="below 1") as caught:
        gaussian_sigma(epsilon, 1e-5, method="classic")
    assert caught.value.code == "parameter-classic"


def test_the_classic_rule_would_break_its_promise_at_ten():
    assert gaussian_delta(10.0, 10.0 / math.sqrt(2 * math.log(1.25e5))) > 2e-5


@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-9])
def test_errors_are_the_quantiles_of_the_noise(beta):
    assert laplace_error(2.0, 0.5, beta) == pytest.approx(laplace.isf(beta / 2, scale=4.0))
    assert gaussian_error(3.0, beta) == pytest.approx(norm.isf(beta / 2, scale=3.0))


@pytest.mark.parametrize(("beta", "ratio"), [(0.05, 2.7162 / 1.9600), (0.01, 3.2552 / 2.5758)])
def test_the_tail_bound_is_longer_by_the_known_factor(beta, ratio):
    assert gaussian_error(1.0, beta, method="tail") / gaussian_error(1.0, beta) == pytest.approx(ratio, abs=1e-4)


def test_arrays_give_arrays_and_numbers_give_numbers():
    grid = np.array([0.1, 0.5])
    assert isinstance(laplace_error(1.0, 0.1, 0.05), float)
    assert laplace_error(1.0, grid, 0.05) == pytest.approx([laplace_error(1.0, e, 0.05) for e in grid])
    assert gaussian_sigma(grid, 1e-6) == pytest.approx([gaussian_sigma(e, 1e-6) for e in grid])
    assert gaussian_error(np.array([1, 2]), 0.05).shape == (2,)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: laplace_error(0.0, 1.0, 0.05), "parameter-positive"),
        (lambda: laplace_error(1.0, -1.0, 0.05), "parameter-positive"),
        (lambda: laplace_error(1.0, 1.0, 1.0), "parameter-probability"),
        (lambda: laplace_error("1", 1.0, 0.5), "parameter-number"),
        (lambda: laplace_error(True, 1.0, 0.5), "parameter-number"),  # noqa: FBT003 - it is refused
        (lambda: laplace_error(math.nan, 1.0, 0.5), "parameter-number"),
        (lambda: laplace_error([1.0, [2.0]], 1.0, 0.5), "parameter-number"),
        (lambda: gaussian_error(-1.0, 0.5), "parameter-negative"),
        (lambda: gaussian_error(1.0, 0.5, method="exact"), "parameter-choice"),
        (lambda: gaussian_sigma(1.0, 0.0), "parameter-probability"),
        (lambda: gaussian_sigma(1.0, 1e-6, method="best"), "parameter-choice"),
        (lambda: gaussian_sigma(math.inf, 1e-6), "parameter-number"),
    ],
)
def test_what_cannot_be_is_refused_by_its_code(call, code):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.code == code
