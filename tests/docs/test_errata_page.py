"""The errata of our sources: each has a test, here or where the page says, and the page lists them all."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expi
from scipy.stats import binom, norm

from hedgerow import Laplace
from hedgerow.accounting import gaussian_delta, selection_delta, selection_mass
from hedgerow.accuracy import average_error, balanced_budget, gaussian_sigma, laplace_error
from hedgerow.ratio import expected_ratio, relative_risk
from hedgerow.statistics.moments import BERNSTEIN, lambda_family
from hedgerow.statistics.moments.families import unit_covariance

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "errata.md"
FALSE_ALARM = 1e-9
DRAWS = 200_000


def rows_of_the_page():
    """Numbers and tests of the table's rows."""
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", PAGE.read_text(), flags=re.MULTILINE)
    return [(int(number), re.findall(r"`([\w/]+\.py)::(\w+)`", tests)) for number, tests in rows]


def test_the_page_numbers_its_errata_and_names_a_test_for_each():
    numbers, tests = zip(*rows_of_the_page(), strict=True)
    assert list(numbers) == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 28
    for number, named in zip(numbers, tests, strict=True):
        assert named, f"erratum {number} names no test"
        for file, function in named:
            assert f"def {function}(" in (ROOT / "tests" / file).read_text(), (number, file, function)


def test_every_test_of_this_file_is_on_the_page():
    named = {function for _, tests in rows_of_the_page() for file, function in tests if file.endswith("errata_page.py")}
    own = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(), flags=re.MULTILINE))
    assert {name for name in own if "page" not in name} == named


def test_a_bound_that_is_reported_only_where_it_looks_good_may_always_be_wrong():
    """Propositions 3.6 and 3.7 select on the noise: at 1 476 rows every bound that passes the condition is wrong."""
    gamma, epsilon, beta, rows = 0.1, 0.02, 0.025, 1476.0
    alpha = laplace_error(1.0, epsilon, beta)
    noise = np.linspace(alpha / gamma - rows, 60 / epsilon, 100_000)
    reported = rows + noise
    assert np.all(alpha / reported <= gamma * (1 + 1e-12))
    assert 2e-4 < 0.5 * math.exp(-epsilon * noise[0]) < 4e-4
    error = np.abs(rows / reported - 1)
    first_order = rows / reported * alpha / reported
    assert np.all(error > first_order / (1 - alpha / reported))


@pytest.mark.parametrize("beta", [0.001, 0.05, 0.3])
def test_three_noises_stay_within_their_bounds_together_as_often_as_stated(beta):
    missed = 1 - (1 - beta) ** 3
    assert missed == pytest.approx(3 * beta - 3 * beta**2 + beta**3)
    assert missed < 3 * beta < 3 * beta + beta**3


@pytest.mark.parametrize(("epsilon_count", "sizes"), [(1e-4, (1e7, 1e9, 1e12)), (1e-5, (1e8, 1e10, 1e13))])
def test_the_proposed_interval_stays_a_constant_factor_wider_than_the_basic_one(epsilon_count, sizes):
    """Both fall like 1 / n, so their quotient does not tend to one: it is 2.9 in Table 7."""
    options = {"lower": 1, "upper": 100, "epsilon_count": epsilon_count, "epsilon_sum": 0.02, "beta": 0.05}
    of_count, of_sum = laplace_error(1, epsilon_count, 0.025), laplace_error(100, 0.02, 0.025)
    for size in sizes:
        proposed = average_error(size, method="published", **options).error
        basic = (of_sum + 50.5 * of_count) / (size - of_count)
        limit = (100 * of_count + 100 * of_sum) / (50.5 * of_count + of_sum)
        assert limit > 1.9
        assert proposed / basic == pytest.approx(limit, rel=2 * of_count / size)
    if epsilon_count == 1e-4:
        assert round(limit, 2) == 2.94


def table_4(count, upper, beta):
    """Share of draws in which first-order propagation is wrong, and in which the count meets its condition."""
    generator = np.random.default_rng()
    rows = count + generator.laplace(0, 1 / 0.02, DRAWS)
    total = count * (1 + upper) / 2 + generator.laplace(0, upper / 0.8, DRAWS)
    of_count, of_sum = laplace_error(1, 0.02, beta / 2), laplace_error(upper, 0.8, beta / 2)
    stated = np.abs(total / rows) * (of_count / np.abs(rows) + of_sum / np.abs(total))
    wrong = np.abs(total / rows - (1 + upper) / 2) > stated
    return np.mean(wrong), np.mean(of_count / np.abs(rows) <= 0.1)


def test_table_4_was_measured_with_ten_times_the_rows_it_prints():
    off = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * DRAWS))  # Hoeffding
    assert table_4(32_000, 105, 0.005)[1] == 1.0
    assert abs(table_4(3200, 105, 0.005)[1] - 0.992) < off + 5e-4
    for beta, share in ((0.005, 0.002), (0.05, 0.021), (0.3, 0.137)):
        assert abs(table_4(32_000, 105, beta)[0] - share) < off + 5e-4
    for beta, share in ((0.005, 0.308), (0.05, 0.402), (0.3, 0.526)):
        assert abs(table_4(10, 2, beta)[0] - share) < off + 5e-4


def test_the_setting_of_table_4_does_not_meet_the_condition_that_it_is_to_test():
    budget = balanced_budget(lower=1, upper=105, epsilon_count=0.02, epsilon_sum=0.8)
    assert (round(budget.left), round(budget.right, 1), budget.holds) == (131, 40.9, False)


def test_a_smaller_gamma_asks_less_of_the_sum_not_more():
    gammas = np.array([1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
    right = balanced_budget(lower=1, upper=105, epsilon_count=0.02, epsilon_sum=0.8, gamma=gammas).right
    assert np.all(np.diff(right) < 0)
    assert right[0] == pytest.approx(1 / 0.02)
    assert right[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "epsilon", "printed", "corrected"),
    [(100, 100, 0.5, -0.040397, 1.003265), (50, 30, 1.0, -0.114416, 1.682423), (10, 10, 1.0, -0.250860, 1.102971)],
)
def test_the_proof_of_claim_3_4_has_a_sign_reversed(x, y, epsilon, printed, corrected):
    """Equation (25): the term with Ei(eps Y / 2) is positive in (24), and negative one line later."""
    half = epsilon * y / 2
    first, second = epsilon / 4 * math.exp(-half) * expi(half), epsilon / 4 * math.exp(half) * expi(-half)
    assert x * (-first - second) == pytest.approx(printed, abs=1e-6)
    assert x * (first - second) == pytest.approx(corrected, abs=1e-6)
    assert expected_ratio(x, y, epsilon=epsilon) == pytest.approx(corrected, rel=0.05)


@pytest.mark.parametrize("deviation", [1e-2, 1e-4, 1e-8])
def test_the_interval_of_equation_9_keeps_a_constant_fraction(deviation):
    """Its half width over p is sqrt(1 - b^2 / (a^2 + 2 b^2)), which for equal deviations is sqrt(2/3), not 1."""
    a, b = deviation, deviation
    fraction = math.sqrt(a**2 + b**2) / math.sqrt(a**2 + 2 * b**2)
    assert fraction == pytest.approx(math.sqrt(1 - b**2 / (a**2 + 2 * b**2)))
    assert fraction == pytest.approx(math.sqrt(2 / 3))
    assert 1 - 1 / b**2 < 0  # what is printed under the root


def test_the_width_of_theorem_4_2_is_a_deviation_and_its_proof_takes_its_root():
    generator = np.random.default_rng()
    x, y = (generator.binomial(200, 0.5, 20_000) for _ in range(2))
    actual = relative_risk(x, y, 200, 200, noise=Laplace(1e-9), method="published")
    deviation = x / y * np.sqrt(1 / x - 1 / 200 + 1 / y - 1 / 200)
    half = (actual.interval.upper - actual.interval.lower) / 2
    assert half == pytest.approx(1.959964 * deviation, rel=1e-4)
    as_in_the_proof = np.abs(x / y - 1) <= 1.959964 * np.sqrt(deviation)
    assert np.mean(as_in_the_proof) > 0.999  # nominal 0.95
    assert np.sum(np.abs(x / y - 1) > half) > binom.isf(FALSE_ALARM, 20_000, 0.01)


@pytest.mark.parametrize(("epsilon", "agrees"), [(1.0, True), (0.5, False)])
def test_table_1_belongs_to_an_epsilon_of_one(epsilon, agrees):
    """Printed: Theorem 4.2, Gaussian noise, p_x = p_y = 0.9, epsilon 0.5: coverage 0.721, of 10 000 draws."""
    sigma = gaussian_sigma(epsilon / 2, 5e-5)
    generator = np.random.default_rng()
    counts = (generator.binomial(200, 0.9, DRAWS) + generator.normal(0, sigma, DRAWS) for _ in range(2))
    x, y = (np.maximum(count, 1) for count in counts)
    with np.errstate(invalid="ignore"):
        half = 1.959964 * x / y * np.sqrt(1 / x - 1 / 200 + 1 / y - 1 / 200)
    covered = np.mean(np.abs(x / y - 1) <= half)
    off = math.sqrt(math.log(2 / FALSE_ALARM) / 2) * (1 / math.sqrt(DRAWS) + 1 / math.sqrt(10_000))
    assert bool(abs(covered - 0.721) < off) is agrees


def test_one_joint_release_of_two_counts_needs_less_noise_than_two_halves_of_the_budget():
    split, joint, disjoint = (
        gaussian_sigma(0.5, 5e-5),
        gaussian_sigma(1.0, 1e-4, math.sqrt(2)),
        gaussian_sigma(1.0, 1e-4),
    )
    assert [round(sigma, 3) for sigma in (split, joint, disjoint)] == [6.25, 4.505, 3.186]


def test_the_tolerance_with_a_misprinted_sign_has_no_value():
    for k in (1, 3, 23):
        with pytest.raises(ValueError, match="math domain error"):
            math.log(1 - 10**k)


def test_equal_noise_on_bernstein_coordinates_is_dominated():
    """The middle coordinate may have 3.5 times the precision: no data loses, and some gain 3.5 times.

    The constant of a family is c' C c, with C the covariance of its moments and c the gradient of the variance.
    """
    y = np.linspace(0, 1, 1001)
    middle = 2 * y * (1 - y)
    assert np.max((1 - y) ** 4 + 3.5 * middle**2 + y**4) == 1.0
    equal, weighted = (unit_covariance(family) for family in (BERNSTEIN, lambda_family(0)))
    ratios = []
    for mean in np.linspace(-1, 1, 41):
        for share in np.linspace(0, 1, 21):
            variance = share * (1 - mean**2)
            gradient = np.array([mean**2 - variance, -2 * mean, 1.0])
            ratios.append((gradient @ weighted @ gradient) / (gradient @ equal @ gradient))
    assert max(ratios) <= 1 + 1e-4  # factors are rounded down to 2^-16
    assert min(ratios) < 0.3


@pytest.mark.parametrize(("sigma", "k", "tau", "groups"), [(5.0, 1, 25.0, 1), (9.0, 10, 55.0, 4), (15.0, 20, 90.0, 10)])
def test_adding_deltas_for_a_threshold_is_safe_and_loose(sigma, k, tau, groups):
    exact = selection_delta(1.0, sigma, k, tau, groups)
    added = gaussian_delta(1.0, math.sqrt(groups) / sigma) + float(selection_mass(sigma, k, tau, groups))
    assert exact <= added


@pytest.mark.parametrize(("count", "missed"), [(1.0, 0.18), (3.0, 0.09)])
def test_first_order_propagation_of_gaussian_noise_misses_where_the_count_is_a_few_deviations(count, missed):
    """With an exact sum and noise e on the count it is wrong where |e (count + e)| > z count, at 95 %."""
    noise = np.linspace(-12, 12, 2_400_001)
    wrong = np.abs(noise * (count + noise)) > 1.959964 * count
    assert np.trapezoid(wrong * norm.pdf(noise), noise) == pytest.approx(missed, abs=0.006)
