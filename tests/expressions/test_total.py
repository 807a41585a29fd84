"""Privacy: no function of the allow-list fails on any row, alone or inside another, and none leaves its range.

An error that appears for one row only would be an answer that nobody paid for.
"""

import math
from dataclasses import replace
from random import SystemRandom

import duckdb
import pytest

from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type

from .samples import COLUMNS, OF_TYPE, calls

NASTY = {
    Type.FLOAT: [
        "NULL",
        "'nan'",
        "'inf'",
        "'-inf'",
        "1.7e308",
        "-1.7e308",
        "5e-324",
        "-0.0",
        "0",
        "1",
        "-1",
        "0.5",
        "1e15",
        "'9.3e18'",
    ],
    Type.INTEGER: [
        "NULL",
        "9223372036854775807",
        "-9223372036854775808",
        "0",
        "1",
        "-1",
        "2147483647",
        "2147483648",
        "-2147483648",
        "55296",
        "1114112",
        "13",
        "100",
    ],
    Type.TEXT: [
        *("NULL", "''", "'%'", "'\\'", "'a' || chr(0)", "repeat('x', 20000)", "'😀é'", "'ß'", "'nan'", "'1e999'"),
        *("'9999-12-31'", "'infinity'", "'24:00:00'", "repeat('ab ', 400)", "'2026-02-30'", "chr(10)", "'-1'"),
    ],
    Type.DATE: [
        *("NULL", "'infinity'", "'-infinity'", "'5881580-07-10'", "'5877642-06-25 (BC)'", "'0001-01-01'"),
        *("'9999-12-31'", "'2024-02-29'", "'10000-01-01'"),
    ],
    Type.TIMESTAMP: [
        *("NULL", "'infinity'", "'-infinity'", "'294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'"),
        *("'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'2024-02-29 23:59:59'"),
    ],
    Type.TIME: ["NULL", "'00:00:00'", "'23:59:59.999999'", "'24:00:00'", "'12:34:56.789'"],
    Type.BOOLEAN: ["NULL", "TRUE", "FALSE"],
    Type.DECIMAL: ["NULL", "'9999999999999999999999999999999999.9999'", "0", "-0.5"],
}
TAME = {
    Type.FLOAT: ["-10", "-3.5", "-1", "0", "0.25", "1", "9.99", "10"],
    Type.INTEGER: ["-10", "-7", "-1", "0", "1", "3", "10"],
    Type.TEXT: ["'a b'", "''", "'7'", "'xyz'"],
    Type.DATE: ["'2024-02-29'", "'2026-03-15'", "'1999-12-31'"],
    Type.TIMESTAMP: ["'2024-02-29 23:59:59.9'", "'2026-03-15 00:00:00'"],
    Type.TIME: ["'00:00:00'", "'23:59:59.9'", "'12:34:56.789'"],
    Type.BOOLEAN: ["TRUE", "FALSE"],
    Type.DECIMAL: ["-10", "0.5", "10"],
}
ROWS = 60
PER_STATEMENT = 100
PAIRS = 2_000


def rows(values):
    """Rows in which every value stands next to different ones."""
    randomness = SystemRandom()
    return [
        [values[c.type][at] if at < len(values[c.type]) else randomness.choice(values[c.type]) for c in COLUMNS]
        for at in range(ROWS)
    ]


def database(values):
    built = duckdb.connect(":memory:", config={"threads": "1"})
    built.execute(f"CREATE TABLE t ({', '.join(f'{c.name} {c.native}' for c in COLUMNS)})")
    for row in rows(values):
        built.execute(f"INSERT INTO t VALUES ({', '.join(row)})")
    return built


@pytest.fixture(scope="module")
def nasty():
    with database(NASTY) as built:
        yield built


@pytest.fixture(scope="module")
def tame():
    with database(TAME) as built:
        yield built


def render(expr):
    return scalar(expr, DUCKDB)


def run(connection, exprs):
    """All values of all expressions, several in one statement: they share what the engine likes to share."""
    actual = []
    for start in range(0, len(exprs), PER_STATEMENT):
        texts = [f"{render(expr)} AS c{at}" for at, expr in enumerate(exprs[start : start + PER_STATEMENT])]
        table = connection.sql(f"SELECT {', '.join(texts)} FROM t").to_arrow_table()
        actual += table.columns
    return actual


def nested(exprs, count):
    """Random calls with one column exchanged for another call of the same type."""
    randomness = SystemRandom()
    by_type = {}
    for expr in exprs:
        by_type.setdefault(expr.type, []).append(expr)
    for _ in range(count):
        outer = randomness.choice(exprs)
        places = [at for at, a in enumerate(outer.arguments) if not isinstance(a, Literal) and a.type in by_type]
        if places:
            at = randomness.choice(places)
            inner = randomness.choice(by_type[outer.arguments[at].type])
            yield Call(outer.function, (*outer.arguments[:at], inner, *outer.arguments[at + 1 :]), outer.type)


@pytest.mark.parametrize("name", allowed())
def test_no_row_makes_a_function_fail(nasty, name):
    exprs = list(calls(name))
    assert exprs
    run(nasty, exprs)
    for expr in exprs[:3]:
        nasty.sql(f"SELECT COUNT(*) FROM t WHERE ({render(expr)}) IS NOT NULL").fetchall()


def test_no_row_makes_a_function_inside_a_function_fail(nasty):
    exprs = [expr for name in allowed() for expr in calls(name)]
    pairs = list(nested(exprs, PAIRS))
    assert len(pairs) > PAIRS / 2
    run(nasty, pairs)


BOUNDED = {
    kind: [replace(c, range=Range(-10.0, 10.0)) if kind.is_numeric else c for c in columns]
    for kind, columns in OF_TYPE.items()
}


def outside(expr, column):
    """The values that leave the range which the expression states, with room for the rounding of doubles."""
    stated = range_of(expr)
    slack = 1e-9 * max(1.0, *(abs(end) for end in (stated.lower, stated.upper) if math.isfinite(end)), 0.0)
    numbers = [float(v) for v in column.to_pylist() if v is not None]
    return [v for v in numbers if not math.isnan(v) and not stated.lower - slack <= v <= stated.upper + slack]


def numeric(exprs):
    return [expr for expr in exprs if expr.type.is_numeric or expr.type is Type.BOOLEAN]


def test_values_lie_in_the_range_that_a_function_states(tame):
    exprs = numeric(expr for name in allowed() for expr in calls(name, BOUNDED))
    for expr, column in zip(exprs, run(tame, exprs), strict=True):
        assert outside(expr, column) == [], render(expr)


def test_values_lie_in_the_range_that_a_function_inside_a_function_states(tame):
    exprs = [expr for name in allowed() for expr in calls(name, BOUNDED)]
    pairs = numeric(nested(exprs, PAIRS))
    for expr, column in zip(pairs, run(tame, pairs), strict=True):
        assert outside(expr, column) == [], render(expr)
