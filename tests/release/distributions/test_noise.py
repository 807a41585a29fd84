"""Releases carry the noise that was paid for, from the text of the statement to the shown number."""

import math

import numpy as np
import pytest
from scipy import stats

from hedgerow.accounting import gaussian_mu

GROUPS = 2500
EPSILON, DELTA = 1.0, 1e-8
MU = gaussian_mu(EPSILON, DELTA)
FALSE_ALARM = 1e-9


@pytest.fixture
def draws(ask):
    """The noise in one column of a statement over all groups: shown minus exact."""

    def noise(db, measure, exact, mechanism, **options):
        answer = ask(db, f"SELECT g, {measure} AS m FROM t GROUP BY g", mechanism=mechanism, **options)
        return np.array(answer["m"], dtype=float) - exact

    return noise


def test_a_count_of_people_has_laplace_noise_on_whole_numbers(people, draws, assert_law):
    noise = draws(people(GROUPS, 20), "COUNT(*)", 20, "laplace")
    assert_law(noise, "unit laplace", 1 / EPSILON)


def test_a_count_of_people_errs_by_0_85_at_epsilon_1(people, draws):
    """The mean size of whole Laplace noise is 2q / (1 - q^2), q = 1/e: 0.851, where a fine grid has 1."""
    sizes = np.abs(draws(people(GROUPS, 20), "COUNT(*)", 20, "laplace"))
    ratio = math.exp(-1)
    mean = 2 * ratio / (1 - ratio**2)
    spread = math.sqrt((2 * ratio / (1 - ratio) ** 2 - mean**2) / GROUPS)
    allowed = float(stats.norm.isf(FALSE_ALARM / 2)) * spread
    assert mean == pytest.approx(0.851, abs=1e-3)
    assert abs(sizes.mean() - mean) < allowed
    assert abs(1.0 - mean) > allowed


def test_at_epsilon_10_a_count_of_people_is_nearly_always_exact(people, draws):
    noise = draws(people(GROUPS, 20), "COUNT(*)", 20, "laplace", epsilon=10)
    wrong = int(np.sum(noise != 0))
    chance = 2 * math.exp(-10) / (1 + math.exp(-10))
    assert stats.binomtest(wrong, GROUPS, chance).pvalue > FALSE_ALARM
    assert set(np.abs(noise)) <= {0.0, 1.0, 2.0}


def test_a_count_of_people_has_gaussian_noise(people, draws, assert_law):
    noise = draws(people(GROUPS, 20), "COUNT(*)", 20, "gaussian")
    assert_law(noise, "gaussian", math.hypot(1 / MU, math.sqrt(1 / 12)))


@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_the_noise_follows_epsilon(people, draws, assert_law, epsilon):
    db = people(GROUPS, 20)
    assert_law(draws(db, "SUM(x)", 60, "gaussian", epsilon=epsilon), "gaussian", 10 / gaussian_mu(epsilon, DELTA))
    assert_law(draws(db, "SUM(x)", 60, "laplace", epsilon=epsilon), "laplace", 10 / epsilon)


def test_a_sum_alone_has_noise_for_its_largest_value(people, draws, assert_law):
    db = people(GROUPS, 20)
    assert_law(draws(db, "SUM(x)", 60, "gaussian"), "gaussian", 10 / MU)
    assert_law(draws(db, "SUM(x)", 60, "laplace"), "laplace", 10 / EPSILON)


def test_a_person_with_several_rows_gets_noise_for_all_of_them(people, draws, assert_law):
    db = people(GROUPS, 5, rows=4)
    assert_law(draws(db, "SUM(x)", 60, "gaussian"), "gaussian", 4 * 10 / MU)
    assert_law(draws(db, "SUM(x)", 60, "laplace"), "laplace", 4 * 10 / EPSILON)


def test_fewer_rows_by_request_mean_less_noise_and_smaller_weights(people, draws, assert_law):
    db = people(GROUPS, 5, rows=4)
    assert_law(draws(db, "SUM(x)", 15, "gaussian", max_rows=1), "gaussian", 10 / MU)


def test_several_numbers_share_the_budget(people, ask, assert_law):
    """Two sums over rows of different filters: mu squared is split in two."""
    answer = ask(
        people(GROUPS, 20),
        "SELECT g, SUM(x) FILTER (WHERE x > 1) AS a, SUM(x) FILTER (WHERE x > 2) AS b FROM t GROUP BY g",
        mechanism="gaussian",
    )
    first, second = np.array(answer["a"]) - 60, np.array(answer["b"]) - 60
    assert_law(first, "gaussian", math.sqrt(2) * 10 / MU)
    assert_law(second, "gaussian", math.sqrt(2) * 10 / MU)
    assert abs(stats.pearsonr(first, second).statistic) < stats.norm.isf(FALSE_ALARM / 2) / math.sqrt(GROUPS)


def test_an_average_has_the_predicted_spread(people, draws, assert_law):
    """x = 3 in [0, 10] is a = -0.4 of the half range h: the variance is h^2 (1 + a^2) / n^2 times that of each part."""
    size, half, off = 300, 5.0, -0.4
    db = people(1000, size)
    parts = half * math.sqrt(1 + off**2) / size
    assert_law(draws(db, "AVG(x)", 3.0, "gaussian"), "gaussian", math.sqrt(2) / MU * parts)
    noise = draws(db, "AVG(x)", 3.0, "laplace")
    predicted = 2 * half / (size * EPSILON) * math.sqrt(1 + off**2)
    assert predicted / 1.3 < np.std(noise) < predicted * 1.3


def test_different_groups_and_repeated_statements_have_independent_noise(people, draws):
    db = people(GROUPS, 20)
    first, second = (draws(db, "SUM(x)", 60, "gaussian") for _ in range(2))
    limit = stats.norm.isf(FALSE_ALARM / 2) / math.sqrt(GROUPS - 1)
    assert abs(stats.pearsonr(first, second).statistic) < limit
    assert abs(stats.pearsonr(first[1:], first[:-1]).statistic) < limit
    assert len(set(first) | set(second)) > GROUPS


def test_numbers_without_groups_have_the_same_noise(people, ask, assert_law):
    """Forty sums over different rows in each statement share its budget; thirty statements."""
    db = people(1, 400)
    sums = ", ".join(f"SUM(x) FILTER (WHERE u >= {-i}) AS s{i}" for i in range(40))
    noise = [
        value - 1200 for _ in range(30) for value in next(iter(ask(db, f"SELECT {sums} FROM t", mechanism="gaussian")))
    ]
    assert_law(noise, "gaussian", math.sqrt(40) * 10 / MU)
