"""Prices that the owner sets: for the query-budget note's number of queries, and by a schedule without an end."""

import pytest

import hedgerow as hr
from hedgerow.accounting import QueryBudget

COUNT = "SELECT COUNT(*) FROM people"
MEAN = "SELECT AVG(income) FROM people"
NUMBER = "{epsilon: 3, delta: 1e-6, queries: 12}"
PUBLISHED = "{epsilon: 3, delta: 1e-6, queries: 12, accounting: published}"
NO_RULE = "{min_frequency: 1}"


def ask_until_closed(db, query, most=40):
    for answered in range(most):
        try:
            db.sql(query, reuse=False)
        except hr.BudgetError as refused:
            return answered, refused.code
    return most, "never closed"


def test_a_number_of_queries_closes_the_dataset_when_it_is_used_up(town):
    assert ask_until_closed(town(budget=NUMBER, defaults=NO_RULE), COUNT) == (12, "budget-queries")


@pytest.mark.parametrize(("query", "expected"), [(COUNT, 12), ("SELECT SUM(income) FROM people", 12), (MEAN, 6)])
def test_the_published_accounting_counts_a_mean_twice(town, query, expected):
    assert ask_until_closed(town(budget=PUBLISHED, defaults=NO_RULE), query)[0] == expected


def test_our_accounting_counts_a_mean_once(town):
    assert ask_until_closed(town(budget=NUMBER, defaults=NO_RULE), MEAN)[0] == 12


@pytest.mark.parametrize(
    ("budget", "protocol"),
    [
        (NUMBER, QueryBudget(12, 3 - 1e-6, 0.9e-6, "exact")),
        (PUBLISHED, QueryBudget(12, 3.0, 1e-6, "published")),
    ],
)
def test_every_query_gets_the_noise_of_the_protocol(town, budget, protocol):
    answer = town(budget=budget, defaults=NO_RULE).sql(COUNT)
    assert answer.receipt.mechanisms[0].scale == pytest.approx(protocol.noise(), rel=1e-6)


def test_the_example_of_the_query_budget_note_is_one_line_of_a_catalog(town):
    db = town(budget="{epsilon: 3, rows: 100000, queries: 2000, accounting: published}", defaults=NO_RULE)
    assert db.sql(COUNT).receipt.mechanisms[0].scale == pytest.approx(91.2612, abs=1e-3)
    assert db.budget.limit.delta == pytest.approx(3.1623e-8, rel=1e-4)
    total = db.sql("SELECT SUM(income) FROM people").receipt.mechanisms[0]
    assert total.scale == pytest.approx(91.2612 * 1000, rel=1e-4)


@pytest.mark.parametrize("budget", ["{epsilon: 3, rows: 1000, delta: 1e-6, queries: 5}", "{epsilon: 3, rows: 1000}"])
def test_rows_stand_for_delta_only_where_queries_are_counted(town, budget):
    with pytest.raises(hr.CatalogError):
        town(budget=budget)


def test_a_query_cannot_state_a_price_that_the_owner_has_set(town):
    db = town(budget=NUMBER, defaults=NO_RULE)
    with pytest.raises(hr.PolicyError) as refused:
        db.sql(COUNT, epsilon=1)
    assert refused.value.code == "price-is-set"
    assert db.budget.queries == 0


def test_laplace_noise_is_refused_where_the_owner_set_the_price(town):
    with pytest.raises(hr.ParameterError):
        town(budget=NUMBER, defaults=NO_RULE).sql(COUNT, mechanism="laplace")


def test_an_open_schedule_always_has_a_next_query_with_more_noise(town):
    db = town(budget="{epsilon: 3, delta: 1e-6, schedule: open}", defaults=NO_RULE)
    scales = [db.sql(COUNT, reuse=False).receipt.mechanisms[0].scale for _ in range(30)]
    assert scales == sorted(scales)
    assert scales[-1] > 4 * scales[0]
    assert max(db.budget.used.values()) < 1


def test_a_statement_of_a_schedule_says_what_it_guarantees_on_its_own(town):
    charge = town(budget=NUMBER, defaults=NO_RULE).sql(COUNT).receipt.charge
    assert 0 < charge.epsilon < 3
    assert 0 < charge.delta < 1e-6
