"""The probability that an estimate misses, against printed numbers, numerical integration and plain formulas."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from hedgerow.accuracy import gaussian_sigma
from hedgerow.errors import ParameterError
from hedgerow.ratio import sample_accuracy
from hedgerow.ratio.failure import gaussian_failure, laplace_failure

EXACT = [
    (100, 100, 1, 0.1, 0.0240305),
    (50, 100, 0.5, 0.1, 0.1084447),
    (100, 50, 1, 0.1, 0.3543857),
    (5, 5, 0.3, 0.3, 0.8687754),
    (3, 10, 0.2, 0.2, 0.8138832),
    (110, 100, 1, 0.1, 0.0295046),
    (90, 100, 1, 0.1, 0.0194337),
    (2, 2, 0.5, 0.5, 0.8193747),
]

WITHIN = [
    (100, 100, 0.5, [0.8151, 0.9760, 0.0698, 0.0360, 0.6830, 0.0027, 0.2849]),
    (100, 100, 1, [0.9760, 0.9997, 0.1347, 0.9929, 0.9585, 0.0289, 0.8720]),
    (50, 100, 1, [0.9908, 0.9999, 0.2533, 0.9933, 0.9797, 0.0569, 0.9548]),
    (100, 50, 1, [0.6456, 0.8927, 0.0696, 0.0650, 0.4530, 0.0052, 0.1604]),
    (100, 50, 3, [0.9687, 0.9992, 0.1947, 0.9747, 0.9399, 0.3488, 0.8849]),
    (100, 30, 3, [0.7163, 0.9261, 0.1218, 0.7288, 0.5970, 0.0528, 0.4196]),
]


def integrated(x, y, alpha, first, second, *, normal):
    """P(|X~/Y~ - x/y| > alpha), the denominator integrated out piece by piece."""
    low, high = x / y - alpha, x / y + alpha

    def below(t):
        if normal:
            return float(ndtr(t / first))
        return 0.5 * math.exp(t / first) if t < 0 else 1 - 0.5 * math.exp(-t / first)

    def integrand(v):
        z = abs(v - y) / second
        density = math.exp(-z * z / 2) / (second * math.sqrt(2 * math.pi)) if normal else math.exp(-z) / (2 * second)
        inside = below(high * v - x) - below(low * v - x)
        return density * (1 - inside if v > 0 else 1 + inside)

    reach = (12 if normal else 50) * second
    corners = sorted(
        {
            0.0,
            float(y),
            *(x / slope + k * first / abs(slope) for slope in (low, high) if slope for k in (-30, -8, 0, 8, 30)),
        }
    )
    edges = [y - reach, *(corner for corner in corners if abs(corner - y) < reach), y + reach]
    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=300)[0] for a, b in itertools.pairwise(edges))


@pytest.mark.parametrize(("x", "y", "epsilon", "alpha", "failure"), EXACT)
def test_the_probability_of_a_miss_is_the_exact_one(x, y, epsilon, alpha, failure):
    assert round(sample_accuracy(x, y, epsilon=epsilon, alpha=alpha), 7) == failure


@pytest.mark.parametrize(("x", "y", "epsilon", "within"), WITHIN)
def test_every_estimator_is_as_accurate_as_the_table_says(x, y, epsilon, within):
    options = {"epsilon": epsilon, "alpha": 0.1, "n_x": 150, "n_y": 150}
    actual = [
        sample_accuracy(x, y, **options),
        sample_accuracy(x, y, scale=1 / epsilon, **options),
        sample_accuracy(x, y, estimator="noisy_log", **options),
        sample_accuracy(x, y, estimator="smooth", delta=1 / 150, **options),
        sample_accuracy(x, y, estimator="propose_test_release", delta=1 / 150, **options),
        sample_accuracy(x, y, estimator="smooth", delta=1e-6, **options),
        sample_accuracy(x, y, estimator="propose_test_release", delta=1e-6, **options),
    ]
    assert [round(1 - failure, 4) for failure in actual] == within


COUNTS = [(1, 1), (100, 100), (110, 100), (90, 100), (3, 40), (200, 7)]
PARTS = [0.01, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 3.0]
SCALES = [(400.0, 400.0), (2.0, 2.0), (1.0, 5.0), (0.02, 0.02)]


@pytest.mark.parametrize(("x", "y"), COUNTS)
@pytest.mark.parametrize("part", PARTS)
def test_the_exact_formulas_agree_with_integration_for_tiny_and_huge_epsilon(x, y, part):
    for first, second in SCALES:
        for formula, normal in ((laplace_failure, False), (gaussian_failure, True)):
            alpha = part * x / y
            actual = float(formula(*(np.float64(argument) for argument in (x, y, alpha, first, second))))
            assert abs(actual - integrated(x, y, alpha, first, second, normal=normal)) < 1e-9


@pytest.mark.parametrize(("x", "y", "alpha"), [(110, 100, 0.1), (90, 100, 0.1), (2, 1, 1.0)])
@pytest.mark.parametrize("nudge", [0.0, 1e-12, -1e-12, 1e-7, -1e-7])
def test_nothing_happens_where_an_end_is_one(x, y, alpha, nudge):
    actual = sample_accuracy(x, y, epsilon=1.0, alpha=alpha + nudge)
    assert abs(actual - integrated(x, y, alpha + nudge, 2.0, 2.0, normal=False)) < 1e-9


def test_the_published_claim_is_an_upper_bound():
    x, y, epsilon, alpha = 5, 5, 0.3, 0.3
    ratio, b = x / y, 2 / epsilon
    low, high = ratio - alpha, ratio + alpha
    printed = sum(
        (a * a * math.exp(-alpha * y / (b * a)) - math.exp(-alpha * y / b)) / (2 * (a * a - 1)) for a in (low, high)
    )
    assert round(printed, 7) == 0.8858954
    assert sample_accuracy(x, y, epsilon=epsilon, alpha=alpha) < printed


def test_a_delta_makes_the_noise_gaussian_for_half_of_the_budget_each():
    sigma = gaussian_sigma(0.5, 5e-5)
    actual = sample_accuracy(100, 80, epsilon=1.0, alpha=0.2, delta=1e-4)
    assert abs(actual - integrated(100, 80, 0.2, sigma, sigma, normal=True)) < 1e-9
    assert round(sigma, 3) == 6.25


def test_a_declared_bound_on_the_denominator_makes_the_naive_estimate_better():
    options = {"epsilon": 1.0, "alpha": 0.1, "n_x": 150, "estimator": "naive"}
    assert math.isclose(sample_accuracy(100, 100, **options), math.exp(-0.2 / 150))
    assert math.isclose(sample_accuracy(100, 100, bound=50, **options), math.exp(-0.1 * (50 * 51) / 150))


def test_a_proposal_of_ones_own_is_never_better_than_the_best_one():
    options = {"epsilon": 1.0, "alpha": 0.1, "n_x": 150, "n_y": 150, "delta": 1e-6}
    best = sample_accuracy(100, 100, estimator="propose_test_release", **options)
    tried = [
        sample_accuracy(100, 100, estimator="propose_test_release", bound=bound, **options)
        for bound in np.geomspace(0.001, 10, 200)
    ]
    assert min(tried) >= best - 1e-12
    assert min(tried) < best * 1.3


def test_arrays_broadcast():
    actual = sample_accuracy(np.array([[100], [50]]), 100, epsilon=np.array([0.5, 1.0]), alpha=0.1)
    assert actual.shape == (2, 2)
    assert actual[0, 1] == sample_accuracy(100, 100, epsilon=1.0, alpha=0.1)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"estimator": "guess"}, "parameter-choice"),
        ({"estimator": "naive"}, "parameter-whole"),
        ({"estimator": "smooth", "n_x": 150, "n_y": 150}, "parameter-delta"),
        ({"estimator": "smooth", "n_x": 20, "n_y": 150, "delta": 1e-6}, "parameter-range"),
        ({"alpha": 0.0}, "parameter-positive"),
    ],
)
def test_what_cannot_be_is_refused(options, code):
    with pytest.raises(ParameterError) as caught:
        sample_accuracy(100, 100, **{"epsilon": 1.0, "alpha": 0.1, **options})
    assert caught.value.code == code
