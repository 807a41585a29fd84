"""The clipping report: shares that hold, a price that is kept, and nothing where nothing was limited."""

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.answer import Summary

QUERY = "SELECT k, SUM(CLIP(x, 0, 750)) AS s, AVG(CLIP(d, 10, 20)) AS a FROM t GROUP BY k"
TRUE = {"x": 29_940 / 60_000, "d": 0.78, "rows of one person": 1.0, "groups of one person": 1.0}


def test_shares_of_values_and_of_people_are_reported(world, plenty):
    report = world().sql(QUERY, epsilon=plenty, max_rows=2, max_groups=1).diagnostics(epsilon=plenty)
    assert [diagnostic.of for diagnostic in report] == list(TRUE)
    assert [diagnostic.limit for diagnostic in report] == ["0 to 750", "10 to 20", "2", "1"]
    for diagnostic in report:
        assert diagnostic.share == pytest.approx(TRUE[diagnostic.of], abs=5e-3)
        assert diagnostic.interval.lower - 1e-3 <= TRUE[diagnostic.of] <= diagnostic.interval.upper + 1e-3
    assert "rows of one person beyond 2: 100.0%" in repr(report)
    assert report.to_dict()["clipped"][0]["of"] == "x"


def test_limits_that_nobody_reaches_are_reported_as_such(world, plenty):
    report = world().sql("SELECT SUM(CLIP(x, 0, 5000)) AS s FROM t", epsilon=plenty).diagnostics(epsilon=plenty)
    assert [diagnostic.share for diagnostic in report] == [pytest.approx(0, abs=1e-3)] * 2


def test_it_is_charged_and_never_costs_more_than_stated(world, charged):
    db = world()
    answer = db.sql(QUERY, epsilon=1)
    before = charged(db)
    report = answer.diagnostics(epsilon=0.7, delta=1e-7)
    built = charged(db)[len(before) :]
    assert len(built) == len(report.payments) == 2
    assert sum(epsilon for epsilon, _ in built) == pytest.approx(report.charge.epsilon)
    assert report.charge.epsilon <= 0.7
    assert sum(delta for _, delta in built) <= 1e-7
    assert {payment.purpose for payment in report.payments} == {"diagnostics"}
    assert answer.diagnostics(epsilon=0.7, delta=1e-7).charge.epsilon == 0
    assert charged(db) == [*before, *built]


def test_it_speaks_of_the_bounds_that_were_found(world, plenty):
    report = world().sql("SELECT SUM(x) AS s FROM t", epsilon=plenty, bounds="auto").diagnostics(epsilon=plenty)
    assert next(iter(report)).limit == "0 to 1536"


def test_rows_are_not_reported_where_everybody_has_one(world, plenty):
    report = world().sql("SELECT SUM(CLIP(v, 0, 49)) AS s FROM one", epsilon=plenty).diagnostics(epsilon=plenty)
    (only,) = report
    assert only.share == pytest.approx(0.5, abs=1e-3)


def test_a_count_has_limits_on_rows_alone(world, plenty):
    report = world().sql("SELECT COUNT(*) AS n FROM t", epsilon=plenty, max_rows=1).diagnostics(epsilon=plenty)
    assert [diagnostic.of for diagnostic in report] == ["rows of one person"]


def test_too_few_people_are_held_back(build):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, i AS x FROM range(5) r(i)", "t: {unit: id, max_rows: 2}", min_frequency=10
    )
    report = db.sql("SELECT SUM(CLIP(x, 0, 9)) AS s FROM t").diagnostics(epsilon=1)
    assert [diagnostic.share for diagnostic in report] == [None, None]
    assert "held back" in repr(report)


def test_public_data_has_nothing_to_report(world, charged):
    db = world()
    report = db.sql("SELECT a FROM places").diagnostics(epsilon=1)
    assert len(report) == 0
    assert report.charge.epsilon == 0
    assert repr(report) == "nothing was limited"
    assert charged(db) == []


def test_an_answer_without_a_database_cannot_be_looked_into():
    answer = hr.Answer(pa.table({"a": [1]}), [{}], 0.95, Summary("x-1", "SELECT 1"))
    with pytest.raises(hr.ConditionNotMet):
        answer.diagnostics(epsilon=1)


def test_without_room_for_all_of_it_nothing_is_spent(world, charged):
    db = world(budget="{epsilon: 1, delta: 1e-6}")
    answer = db.sql(QUERY, epsilon=0.5)
    before = charged(db)
    with pytest.raises(hr.BudgetError) as caught:
        answer.diagnostics(epsilon=3)
    assert caught.value.code == "parts-too-dear"
    assert charged(db) == before


def test_a_report_that_may_not_be_reused_is_refused_before_any_of_it_is_paid(build):
    """An earlier report is stored, but the answer was asked with reuse=False: all parts have to be paid again."""
    db = build(
        "CREATE TABLE t AS SELECT i % 500 AS id, i % 9 AS x FROM range(2000) r(i)",
        "t: {unit: id, max_rows: 2}",
        budget="{epsilon: 2.8, delta: 1e-3, pure_epsilon: 2.7}",
    )
    query = "SELECT SUM(CLIP(x, 0, 5)) AS s FROM t"
    options = {"epsilon": 0.5, "mechanism": "laplace"}
    assert len(db.sql(query, **options).diagnostics(epsilon=1).payments) == 2
    again = db.sql(query, **options, reuse=False)
    before = db.budget.queries
    with pytest.raises(hr.BudgetError) as refused:
        again.diagnostics(epsilon=1)
    assert refused.value.code == "parts-too-dear"
    assert db.budget.queries == before
