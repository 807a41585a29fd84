"""The special functions that prices rest on, against FLINT's, which come with proved error bounds."""

import math
from collections.abc import Iterator

import pytest
from flint import arb, ctx

from hedgerow.special import log_normal_cdf, normal_quantile, scaled_erfc

POINTS = [*(n / 11 for n in range(-11, 11 * 30)), 24.999999, 25.0, 25.0000001, 30.0, 200.0, 1e8, 1e150, 1e-300, -1e-9]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 1500
    yield
    ctx.prec = before


def relative_error(computed: float, exact: arb) -> float:
    return abs(float(arb(computed) / exact - 1))


def test_the_scaled_complement_of_the_error_function_is_accurate_everywhere():
    for x in POINTS:
        exact = arb(x).erfc() * (arb(x) * arb(x)).exp() if x < 1e8 else 1 / (arb(x) * arb.pi().sqrt())
        assert relative_error(scaled_erfc(x), exact) < 2e-15, x
    assert scaled_erfc(math.inf) == 0.0
    assert scaled_erfc(-30.0) == math.inf


def test_the_logarithm_of_the_normal_law_is_accurate_in_both_tails():
    for x in [*POINTS[:320], *(-x for x in POINTS[:320]), -35.0, 8.0]:
        exact = ((-arb(x) / arb(2).sqrt()).erfc() / 2).log()
        assert relative_error(log_normal_cdf(x), exact) < 4e-15 + 3e-16 * x * x, x
    assert log_normal_cdf(-math.inf) == -math.inf
    assert log_normal_cdf(math.inf) == 0.0


def test_the_normal_quantile_is_accurate_down_to_the_smallest_probabilities():
    for exponent in range(1, 300):
        probability = 10.0**-exponent
        z = normal_quantile(probability)
        assert abs(log_normal_cdf(z) - math.log(probability)) < 4e-15 * z * z + 4e-15, exponent
    assert normal_quantile(0.0) == -math.inf
    assert normal_quantile(1.0) == math.inf
