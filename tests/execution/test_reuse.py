"""An answer that was paid for is given again, free and with the same digits; nothing else is."""

import pytest

import hedgerow as hr
from hedgerow.answer.released import FREE

GROUPED = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"


def test_the_same_question_again_is_free_and_has_the_same_digits(town):
    db = town()
    first, again = db.sql(GROUPED), db.sql(GROUPED)
    assert list(first) == list(again)
    assert first.intervals == again.intervals
    assert (first.receipt.reused, again.receipt.reused) == (False, True)
    assert again.receipt.charge == FREE
    assert db.budget.queries == 1


def test_a_stored_answer_survives_a_restart(town):
    first = town().sql(GROUPED)
    again = town().sql(GROUPED)
    assert again.receipt.reused
    assert list(first) == list(again)


def test_the_text_may_differ_where_the_question_does_not(town):
    db = town()
    first = db.sql(GROUPED)
    again = db.sql("select V.Ward, avg(v.cost) mean, count(*) n from VISITS as v group by 1 order by 1")
    assert again.receipt.reused
    assert again["n"] == first["n"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward ORDER BY mean DESC LIMIT 2",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 1",
        "SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward",
        "SELECT ward, AVG(cost) * 2 AS twice FROM visits GROUP BY ward",
    ],
)
def test_what_a_stored_release_implies_is_free(town, query):
    db = town()
    first = db.sql(GROUPED)
    again = db.sql(query)
    assert again.receipt.reused
    assert db.budget.queries == 1
    stored = dict(zip(first["ward"], first["mean"], strict=True))
    for row in again:
        if "mean" in again.columns:
            assert row.mean == stored[row.ward]


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits WHERE cost > 1 GROUP BY ward", {}),
        ("SELECT ward, SUM(cost) AS total, COUNT(*) FILTER (WHERE cost > 5) FROM visits GROUP BY ward", {}),
        ("SELECT COUNT(*) AS n, AVG(cost) AS mean FROM visits", {}),
        (GROUPED, {"epsilon": 1.5}),
        (GROUPED, {"min_frequency": 6}),
        (GROUPED, {"max_rows": 5}),
        (GROUPED, {"max_groups": 2}),
        (GROUPED, {"bounds": {"cost": (0, 50)}}),
        (GROUPED, {"reuse": False}),
    ],
)
def test_another_question_is_a_new_charge(town, query, options):
    db = town()
    db.sql(GROUPED)
    assert not db.sql(query, **options).receipt.reused
    assert db.budget.queries == 2


def test_a_cheaper_repetition_is_answered_from_the_better_release(town):
    db = town()
    first = db.sql(GROUPED)
    again = db.sql(GROUPED, epsilon=0.3)
    assert again.receipt.reused
    assert list(first) == list(again)


def test_intervals_are_recomputed_at_another_confidence(town):
    db = town()
    first, again = db.sql(GROUPED), db.sql(GROUPED, confidence=0.5)
    assert again.receipt.reused
    for wide, narrow in zip(first.intervals, again.intervals, strict=True):
        assert wide["n"].lower < narrow["n"].lower < narrow["n"].upper < wide["n"].upper


def test_another_declared_version_is_asked_anew(town):
    town(version="v1").sql(GROUPED)
    assert not town(version="v2").sql(GROUPED).receipt.reused
    assert town(version="v1").sql(GROUPED).receipt.reused


def test_a_release_paid_for_by_one_analyst_is_free_for_another(town):
    town(analyst="ann").sql(GROUPED)
    assert town(analyst="bob").sql(GROUPED).receipt.reused


def test_an_empty_budget_still_gives_old_answers(town):
    budget = "{epsilon: 1.02, delta: 1e-5}"
    db = town(budget=budget)
    first = db.sql(GROUPED)
    while True:
        try:
            db.sql("SELECT COUNT(*) FROM people", reuse=False)
        except hr.BudgetError:
            break
    assert list(db.sql(GROUPED)) == list(first)


def test_a_named_mechanism_is_not_served_by_another(town):
    db = town(pure=25)
    db.sql("SELECT AVG(income) FROM people", mechanism="laplace")
    assert not db.sql("SELECT AVG(income) FROM people", mechanism="gaussian").receipt.reused
    assert db.sql("SELECT AVG(income) FROM people", mechanism="laplace").receipt.reused


def test_the_count_that_selected_is_not_reused_in_arithmetic(town):
    db = town()
    db.sql("SELECT ward, COUNT(DISTINCT person) AS people, SUM(cost) AS total FROM visits GROUP BY ward")
    mixed = db.sql("SELECT ward, SUM(cost) / COUNT(DISTINCT person) AS each FROM visits GROUP BY ward")
    assert not mixed.receipt.reused


def test_held_back_groups_stay_held_back_when_reused(town):
    db = town(defaults="{epsilon: 1, delta: 1e-7, min_frequency: 100000}")
    query = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    first, again = db.sql(query), db.sql(query)
    assert again.receipt.reused
    assert first["n"] == again["n"] == [None, None]
    assert "held back" in again.intervals[0]["n"].note
