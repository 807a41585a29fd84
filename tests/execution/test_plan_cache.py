"""A statement that is asked again is not bound again; nothing else about it changes."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.execution.caches import LONGEST_TEXT, MAXIMUM_PLANS, PlanCache, statement_key
from hedgerow.session.corridor import bind_statement

COUNT = "SELECT COUNT(*) AS n FROM people"
BY_REGION = "SELECT region, AVG(income) AS m FROM people GROUP BY region"
ABOVE = "SELECT COUNT(*) AS n FROM people WHERE income > ?"


def plan(db, text, params=None, **options):
    return bind_statement(session_of(db), text, params, options).logical


def test_a_statement_is_bound_once(town):
    db = town()
    assert plan(db, BY_REGION) is plan(db, BY_REGION, epsilon=0.5)
    assert plan(db, ABOVE, [3]) is plan(db, ABOVE, [3])
    assert plan(db, ABOVE, [3]) != plan(db, ABOVE, [4])


def test_values_that_are_equal_in_python_and_not_in_sql_have_keys_of_their_own():
    values = [1, 1.0, True, Decimal(1), Decimal("1.0"), "1", 0.0, -0.0]
    assert len({statement_key(ABOVE, [value], "duckdb") for value in values}) == len(values)


def test_names_and_order_of_parameters_are_part_of_the_key():
    keys = [statement_key(ABOVE, params, "duckdb") for params in (None, [], [1, 2], [2, 1], (1, 2), {"a": 1}, {"b": 1})]
    assert len(set(keys)) == len(keys)


class Text(str):
    """A text that may compare as it likes."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("text", "params"),
    [
        (Text(COUNT), None),
        (" " * LONGEST_TEXT + COUNT, None),
        (ABOVE, [Text("a")]),
        (ABOVE, [datetime(2026, 1, 1, tzinfo=UTC)]),
        (ABOVE, [object()]),
        (ABOVE, {1: 2}),
        (ABOVE, range(3)),
    ],
)
def test_what_cannot_be_compared_for_certain_is_not_kept(text, params):
    assert statement_key(text, params, "duckdb") is None


def test_bounds_that_the_caller_states_are_not_taken_from_another_question(town):
    db = town()
    wide = plan(db, BY_REGION)
    assert plan(db, BY_REGION, bounds={"income": (0, 10)}) != wide
    assert plan(db, BY_REGION) is wide


def test_options_are_checked_for_a_statement_that_is_kept(town):
    db = town()
    plan(db, COUNT)
    with pytest.raises(hr.ParameterError):
        plan(db, COUNT, epsilon=-1)
    with pytest.raises(hr.ParameterError):
        plan(db, COUNT, no_such_option=1)


def test_a_refused_statement_is_refused_again(town):
    db = town()
    for _ in range(2):
        with pytest.raises(hr.QueryError):
            plan(db, "SELECT * FROM people")


def test_all_analysts_of_a_database_share_its_plans(town):
    db = town()
    assert plan(db, COUNT) is plan(db.as_analyst("ann"), COUNT)


def test_a_text_in_another_dialect_is_another_statement(town):
    """In DuckDB double quotes are around a name, in Spark around a text."""
    db = town()
    text = "SELECT COUNT(*) AS n FROM people WHERE \"region\" = 'north'"
    assert plan(db, text) != plan(db.as_analyst("ann", dialect="spark"), text)


def test_the_oldest_plans_are_dropped(town):
    db, plans = town(), PlanCache()
    first = session_of(db).plans.get(statement_key(COUNT, None, "duckdb"))
    assert first is None
    plan(db, COUNT)
    cached = session_of(db).plans.get(statement_key(COUNT, None, "duckdb"))
    for number in range(MAXIMUM_PLANS + 1):
        plans.keep(number, cached)
    assert plans.get(0) is None
    assert plans.get(1) is cached
