"""Intervals of quotients: known values, the relations between the methods, and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Gaussian, Interval, Laplace
from hedgerow.accounting import gaussian_mu
from hedgerow.accuracy import average_error, quotient_interval
from hedgerow.error_bars.intervals import quotient_bounds
from hedgerow.errors import ParameterError

METHODS = ("exact", "basic", "fractional")
RELATIVE = 1e-9
"""For comparisons of floats."""

noises = st.one_of(st.builds(Gaussian, st.floats(0.1, 50)), st.builds(Laplace, st.floats(0.1, 50)))


def between(numerator, denominator, first, second=None, **more):
    return quotient_interval(numerator, denominator, numerator_noise=first, denominator_noise=second or first, **more)


def test_known_values_of_fieller():
    actual = between(300.0, 1000.0, Gaussian(20.0))
    assert (actual.lower, actual.upper) == pytest.approx((0.259502, 0.341421), abs=1e-6)
    cut = between(-20.0, 50.0, Gaussian(20.0), support=(-1, 1))
    assert (cut.lower, cut.upper) == pytest.approx((-1, 0.464402), abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "size", "basic", "exact"),
    [
        (1e-4, 1e5, (36.76, 80.31), (38.86, 72.10)),
        (1e-4, 1e6, (48.69, 52.45), (49.03, 52.06)),
        (1e-4, 1e7, (50.313, 50.689), (50.349, 50.652)),
        (1e-5, 1e5, (1, 100), (12.64, 100)),
        (1e-5, 1e7, (48.70, 52.44), (49.03, 52.06)),
        (1e-5, 1e9, (50.481, 50.519), (50.485, 50.515)),
    ],
)
def test_the_setting_of_table_7_without_its_noise(epsilon, size, basic, exact):
    noise = {"numerator_noise": Laplace(100 / 0.02), "denominator_noise": Laplace(1 / epsilon), "support": (1, 100)}
    for method, ends in (("basic", basic), ("exact", exact)):
        actual = quotient_interval(50.5 * size, size, method=method, **noise)
        digits = 5e-3 if abs(ends[0] * 100 % 1) < 1e-6 else 5e-4
        assert (actual.lower, actual.upper) == pytest.approx(ends, abs=1.2 * digits)


def test_the_example_of_the_ages():
    """1 000 rows, epsilon 0.1 for the count and 1 for the sum: +-1.25, where alpha* is 3.44."""
    actual = between(41.5 * 1000, 1000.0, Laplace(65.0), Laplace(10.0), support=(18, 65))
    assert (actual.lower, actual.upper) == pytest.approx((40.28, 42.79), abs=0.006)
    box = between(41.5 * 1000, 1000.0, Laplace(65.0), Laplace(10.0), method="fractional")
    assert box.upper - 41.5 == pytest.approx(1.84, abs=0.006)


def test_working_age_with_laplace_noise_and_all_of_the_budget_in_one_release():
    """The sums of y and of 1 - y, y the place of an age between 18 and 65: one person moves them by 1 in all."""
    noise = Laplace(1 / 1.1)
    place = (41.5 - 18) / 47
    above, below = np.array([1000 * place]), np.array([1000.0])
    actual = quotient_bounds(above, below, [(1, 1, noise), (0, 1, noise)], 0.05, (0, 1))
    assert 47 * float(actual.upper[0] - actual.lower[0]) / 2 <= 0.1


def test_working_age_with_gaussian_noise_and_all_of_the_budget_in_one_release():
    """The count and the sum of centred ages over 23.5: one person moves them by at most 1 each."""
    noise = Gaussian(math.sqrt(2) / gaussian_mu(1.1, 1e-6))
    for mean in (0.0, 0.2):
        actual = between(1000 * mean, 1000.0, noise, support=(-1, 1))
        assert 23.5 * (actual.upper - actual.lower) / 2 <= 0.27


def test_working_age_as_published():
    options = {"lower": 18, "upper": 65, "epsilon_count": 0.1, "epsilon_sum": 1.0, "beta": 0.05}
    assert average_error(1000, **options).error == pytest.approx(3.44, abs=0.005)


@settings(deadline=None, max_examples=300)
@given(top=st.floats(-1e4, 1e4), bottom=st.floats(-1e4, 1e4), first=noises, second=noises)
def test_the_exact_interval_is_never_longer_than_the_others(top, bottom, first, second):
    exact, basic, fractional = (between(top, bottom, first, second, method=method) for method in METHODS)
    for other in (basic, fractional):
        assert exact.lower >= other.lower - RELATIVE * abs(other.lower)
        assert exact.upper <= other.upper + RELATIVE * abs(other.upper)


@settings(deadline=None)
@given(top=st.floats(10, 1e4), bottom=st.floats(500, 1e4), first=noises, second=noises)
def test_turned_over_the_exact_interval_is_turned_over(top, bottom, first, second):
    there, back = between(top, bottom, first, second), between(bottom, top, second, first)
    if there.lower > 0 and math.isfinite(back.upper):
        assert 1 / there.lower == pytest.approx(back.upper, rel=1e-6)
        assert 1 / there.upper == pytest.approx(back.lower, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("noise", [Gaussian(10.0), Laplace(10.0)])
def test_where_the_denominator_may_be_zero_nothing_is_said_but_why(method, noise):
    actual = between(100.0, 5.0, noise, method=method)
    assert math.isinf(actual.upper)
    assert "denominator" in actual.note
    cut = between(100.0, 5.0, noise, method=method, support=(0, 30))
    assert 0 <= cut.lower <= cut.upper <= 30


def test_the_longer_methods_say_that_they_are_conservative():
    assert between(100.0, 500.0, Gaussian(1.0)).note is None
    for method in ("basic", "fractional"):
        assert between(100.0, 500.0, Gaussian(1.0), method=method).note.startswith("conservative")
    mixed, basic = (between(100.0, 500.0, Gaussian(1.0), Laplace(2.0), method=m) for m in ("exact", "basic"))
    assert basic.lower < mixed.lower < mixed.upper < basic.upper
    assert mixed.note is None
    assert between(100.0, 500.0, Gaussian(1.0), Laplace(0.0)).note is None


def test_a_noisy_value_outside_of_the_support_is_shown_as_its_nearer_end():
    actual = between(900.0, 500.0, Gaussian(1.0), support=(0, 1))
    assert (actual.lower, actual.upper) == (1, 1)
    assert "outside" in actual.note


def test_without_noise_the_quotient_is_known():
    actual = between(100.0, 400.0, Gaussian(0.0), Laplace(0.0))
    assert (actual.lower, actual.upper) == pytest.approx((0.25, 0.25))


def test_more_confidence_is_a_longer_interval():
    levels = (0.5, 0.9, 0.99, 0.999999)
    actual = [between(300.0, 1000.0, Laplace(20.0), confidence=confidence) for confidence in levels]
    widths = [interval.upper - interval.lower for interval in actual]
    assert widths[0] < widths[1] < widths[2] < widths[3]


def test_arrays_give_bounds_and_numbers_give_intervals():
    counts = np.array([10.0, 500.0])
    actual = between(np.array([5.0, 100.0]), counts, Laplace(3.0))
    for i, (top, bottom) in enumerate(((5.0, 10.0), (100.0, 500.0))):
        alone = between(top, bottom, Laplace(3.0))
        assert (actual.lower[i], actual.upper[i]) == pytest.approx((alone.lower, alone.upper))
        assert actual.notes[i] == alone.note
    assert isinstance(between(1.0, 2.0, Laplace(0.1)), Interval)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"numerator": math.nan}, "parameter-number"),
        ({"denominator": "3"}, "parameter-number"),
        ({"numerator_noise": 1.0}, "parameter-noise"),
        ({"denominator_noise": "laplace"}, "parameter-noise"),
        ({"denominator_noise": 3.0}, "parameter-noise"),
        ({"confidence": 1.0}, "parameter-probability"),
        ({"method": "first-order"}, "parameter-choice"),
        ({"support": (1, 0)}, "parameter-support"),
        ({"support": (math.nan, 1)}, "parameter-support"),
        ({"support": 3}, "parameter-support"),
    ],
)
def test_what_cannot_be_is_refused_by_its_code(change, code):
    options = {
        "numerator": 1.0,
        "denominator": 2.0,
        "numerator_noise": Gaussian(1.0),
        "denominator_noise": Gaussian(1.0),
    }
    with pytest.raises(ParameterError) as caught:
        quotient_interval(**{**options, **change})
    assert caught.value.code == code
