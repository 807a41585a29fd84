"""A fixed number of queries (the query-budget note), and schedules for an unknown number."""

import math

import pytest

from hedgerow.accounting import QueryBudget, gaussian_mu, query_budget_delta, query_budget_sigma
from hedgerow.accounting.protocol import SHARES, open_share, power_share
from hedgerow.errors import ParameterError

DELTA = query_budget_delta(100_000)
NOISE = {
    "power": {1: 5.70, 10: 20.24, 100: 71.81, 1000: 254.79, 10000: 904.04},
    "logarithmic": {1: 2.50, 10: 20.25, 100: 118.12, 1000: 556.66, 10000: 2345.70},
    "doubling": {1: 2.25, 10: 25.44, 100: 125.93, 1000: 508.82, 10000: 2849.40},
}


def test_the_documents_example_has_its_sigma_and_its_noise():
    published = QueryBudget(2000, 3.0, DELTA)
    assert pytest.approx(3.1623e-8, rel=1e-4) == DELTA
    assert published.sigma == query_budget_sigma(3.0, DELTA) == pytest.approx(2.040663, abs=6e-7)
    assert published.noise() == pytest.approx(91.2612, abs=6e-5)
    assert published.noise(4.0) == pytest.approx(4 * 91.2612, abs=3e-4)


def test_exact_composition_needs_less_noise():
    exact = QueryBudget(2000, 3.0, DELTA, method="exact")
    assert exact.sigma == pytest.approx(1.753298, abs=6e-7)
    assert exact.noise() == pytest.approx(78.4099, abs=6e-5)


def test_the_published_noise_of_all_queries_together_is_within_the_budget():
    budget = QueryBudget(2000, 3.0, DELTA)
    assert math.sqrt(budget.queries) / budget.noise() < gaussian_mu(3.0, DELTA)


def test_a_mean_counts_twice_and_a_variance_three_times_in_the_document_only():
    published, exact = QueryBudget(10, 1.0, 1e-6), QueryBudget(10, 1.0, 1e-6, method="exact")
    questions = ["count", "sum", "histogram", "mean", "var"]
    assert [published.price(question) for question in questions] == [1, 1, 1, 2, 3]
    assert [exact.price(question) for question in questions] == [1, 1, 1, 1, 1]
    with pytest.raises(ParameterError, match="median"):
        published.price("median")


@pytest.mark.parametrize("rows", [0, 1, -5, math.inf, "many"])
def test_a_size_that_hides_nobody_is_refused(rows):
    with pytest.raises(ParameterError):
        query_budget_delta(rows)


@pytest.mark.parametrize("name", NOISE)
def test_schedules_give_the_noise_of_the_table(name):
    mu = gaussian_mu(3.0, 3.16e-8)
    for index, noise in NOISE[name].items():
        assert 1 / (mu * math.sqrt(SHARES[name](index))) == pytest.approx(noise, abs=0.006 + noise * 2e-4)


@pytest.mark.parametrize("name", NOISE)
def test_no_number_of_shares_exceeds_the_whole(name):
    total = sum(SHARES[name](index) for index in range(1, 20_000))
    assert 0.5 < total < 1.0


def test_the_open_schedule_releases_the_sum_of_its_shares():
    numerator, denominator = open_share(1000)
    assert numerator / denominator == pytest.approx(sum(power_share(index) for index in range(1, 1001)), rel=1e-12)
    assert open_share(10**7)[0] < open_share(10**7 + 1)[0] < denominator
