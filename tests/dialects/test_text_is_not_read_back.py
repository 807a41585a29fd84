"""Dialects decide by expressions, windows and joins, never by the text that they have written."""

from functools import reduce

import pytest

from hedgerow.compile.queries import has_equality, scalar
from hedgerow.compile.scalars import condition
from hedgerow.dialects import DIALECTS
from hedgerow.expressions.nodes import NO_FRAME, Call, Column, Literal, Order, Window, WindowFrame
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Join, Scan

RESERVED = ("ROWS", "RANGE 1", "GROUPS BETWEEN ")
WINDOWED = sorted(set(DIALECTS) - {"bigquery"})


def column(name, kind=Type.INTEGER, table=""):
    return Column(name, kind, table=table)


def ranked(name, frame=NO_FRAME):
    order = (Order(column(name), descending=False, nulls_first=False),)
    return Window("RANK", (), (column("person"),), order, frame, None, distinct=False, type=Type.INTEGER)


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("engine", WINDOWED)
def test_a_column_named_like_a_frame_is_no_frame(engine, name):
    dialect = DIALECTS[engine]()
    assert dialect.identifier(name) in scalar(ranked(name), dialect)


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (NO_FRAME, ""),
        (WindowFrame("ROWS", -3, 0), "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"),
        (
            WindowFrame("RANGE", float("-inf"), float("inf")),
            "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        ),
        (WindowFrame("GROUPS", 1, 12), "GROUPS BETWEEN 1 FOLLOWING AND 12 FOLLOWING"),
    ],
)
def test_a_frame_prints_as_it_did_when_stored_releases_were_hashed(frame, text):
    assert (str(frame), repr(frame)) == (text, repr(text))


def added(left, right):
    return Call("add", (left, right), Type.FLOAT)


def test_sqlite_writes_a_chain_of_sums_in_one_pair_of_parentheses():
    dialect = DIALECTS["sqlite"]()
    one, two, three = (Literal(value, Type.FLOAT) for value in (1.5, 2.5, 3.5))
    chain = added(Call("subtract", (added(one, two), three), Type.FLOAT), one)
    assert scalar(chain, dialect) == "(1.5 + 2.5 - 3.5 + 1.5)"
    assert scalar(added(one, added(two, three)), dialect) == "(1.5 + (2.5 + 3.5))"


def test_sqlite_calls_a_function_with_at_most_a_hundred_arguments():
    dialect = DIALECTS["sqlite"]()
    text = scalar(reduce(added, [column(f"c{i}", Type.FLOAT) for i in range(250)]), dialect)
    assert text.count("hedgerow_add(") == 3
    assert [f'"c{i}"' in text for i in range(250)] == [True] * 250


def test_sqlite_joins_a_case_in_else_to_the_one_around_it():
    dialect = DIALECTS["sqlite"]()
    flag, zero = column("b", Type.BOOLEAN), Literal(0, Type.INTEGER)
    inner = Call("case", (flag, zero, column("CASE WHEN")), Type.INTEGER)
    outer = Call("case", (flag, column("x"), inner), Type.INTEGER)
    assert scalar(outer, dialect) == 'CASE WHEN "b" THEN "x" WHEN "b" THEN 0 ELSE "CASE WHEN" END'


def test_sql_server_compares_where_a_condition_is_required_and_counts_one_elsewhere():
    dialect = DIALECTS["mssql"]()
    less = Call("less", (column("x"), column("y")), Type.BOOLEAN)
    both = Call("and", (less, column("flag", Type.BOOLEAN)), Type.BOOLEAN)
    assert condition(both, dialect) == "(([x] < [y]) AND ([flag] = 1))"
    assert scalar(less, dialect) == "CASE WHEN ([x] < [y]) THEN 1 WHEN NOT ([x] < [y]) THEN 0 END"
    assert scalar(Call("case", (less, column("a"), column("b")), Type.INTEGER), dialect) == (
        "CASE WHEN ([x] < [y]) THEN [a] ELSE [b] END"
    )


def test_an_outer_join_has_an_equality_where_both_sides_are_compared():
    left, right = column("k", table="t0"), column("k", table="t1")
    equal = Call("equal", (left, right), Type.BOOLEAN)
    beside = Call("less", (left, right), Type.BOOLEAN)
    constant = Call("equal", (right, Literal(" AS t1 OR ", Type.TEXT)), Type.BOOLEAN)
    conditions = {
        equal: True,
        Call("and", (equal, beside), Type.BOOLEAN): True,
        Call("or", (equal, beside), Type.BOOLEAN): False,
        beside: False,
        constant: False,
        None: False,
    }
    for condition_, expected in conditions.items():
        join = Join("left", Scan("a", "t0"), Scan("b", "t1"), condition_)
        assert has_equality(join) is expected, condition_
