"""Privacy: no function of the allow-list fails on any row, alone or inside another, and none leaves its range.

An error that appears for one row only would be an answer that nobody paid for.
"""

import math
from dataclasses import replace
from datetime import datetime
from random import SystemRandom

import duckdb
import pytest

from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type
from hedgerow.plan.syntax import COMPARISONS

NATIVE = {
    Type.FLOAT: "DOUBLE",
    Type.INTEGER: "BIGINT",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.BOOLEAN: "BOOLEAN",
    Type.DECIMAL: "DECIMAL(38,4)",
}
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
        "2147483648",
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
    Type.BOOLEAN: ["NULL", "TRUE", "FALSE"],
    Type.DECIMAL: ["NULL", "'9999999999999999999999999999999999.9999'", "0", "-0.5"],
}
TAME = {
    Type.FLOAT: ["-10", "-3.5", "-1", "0", "0.25", "1", "9.99", "10"],
    Type.INTEGER: ["-10", "-7", "-1", "0", "1", "3", "10"],
    Type.TEXT: ["'a b'", "''", "'7'", "'xyz'"],
    Type.DATE: ["'2024-02-29'", "'2026-03-15'", "'1999-12-31'"],
    Type.TIMESTAMP: ["'2024-02-29 23:59:59.9'", "'2026-03-15 00:00:00'"],
    Type.BOOLEAN: ["TRUE", "FALSE"],
    Type.DECIMAL: ["-10", "0.5", "10"],
}
ROWS = 60
PER_STATEMENT = 100
PAIRS = 2_000
ORIGIN = Literal(datetime(2000, 1, 3), Type.TIMESTAMP)  # noqa: DTZ001


def whole(value):
    return Literal(value, Type.INTEGER)


def text(value):
    return Literal(value, Type.TEXT)


CONSTANTS = {
    "lpad": {1: whole(1000), 2: text("ab")},
    "rpad": {1: whole(1000), 2: text("é")},
    "repeat": {1: whole(1000)},
    "fixed": {1: whole(10), 2: whole(2)},
    "width_bucket": {1: Literal(-5.0, Type.FLOAT), 2: Literal(5.0, Type.FLOAT), 3: whole(7)},
    "position_from": {2: whole(3)},
    "like_escape": {1: text("%a!%_%"), 2: text("!")},
    "regexp_matches": {1: text("(?i)a+(b|c)*")},
    "regexp_full_match": {1: text("(?s).*x.*")},
    "regexp_extract": {1: text("(a)(b)?"), 2: whole(2)},
    "regexp_replace": {1: text("(x*)"), 2: text("\\1\\1\\1")},
    "regexp_replace_all": {1: text("(x*)"), 2: text("\\1\\1\\1-")},
    "format_time": {1: text("%Y-%m-%d %H:%M:%S %a %A %b %B %j %U %W %V %G %w %u %y %p %I")},
    "read_time": {1: text("%Y-%m-%d")},
    "clip": {1: Literal(-5.0, Type.FLOAT), 2: Literal(5.0, Type.FLOAT)},
    "clip_whole": {1: whole(-5), 2: whole(5)},
    **{name: {1: whole(3), 2: ORIGIN} for name in allowed() if name.startswith("bucket_")},
}
"""Arguments that the binder admits as constants only."""

OF_TYPE = {
    kind: [Column(f"{kind.value}_{at}", kind, native=native) for at in range(3)] for kind, native in NATIVE.items()
}
COLUMNS = [column for columns in OF_TYPE.values() for column in columns]
SEVERAL = {"case": 3, "in": 3, "coalesce": 2, "least": 2, "greatest": 2, "concat": 3, "concat_present": 3}


COMPARED = {*COMPARISONS.values()}
"""The binder brings both sides of a comparison to one type."""


def calls(name, columns=OF_TYPE):
    """A call of the function for each combination of types that it admits, on columns."""
    function = allowed()[name]
    count = SEVERAL.get(name, function.arity[1] if function.arity[1] < 10 else function.arity[0])
    fixed = CONSTANTS.get(name, {})
    for kinds in _kinds(count, fixed):
        result = function.signature(kinds)
        if result is None or (name in COMPARED and len({*kinds}) > 1):
            continue
        picked = [fixed.get(at) or columns[kind][at % len(columns[kind])] for at, kind in enumerate(kinds)]
        yield Call(name, tuple(picked), result)


def _kinds(count, fixed):
    """Types for every argument: each alone, and the rest alike or numbers or texts."""
    if count > 4:
        return [[Type.INTEGER] * count]
    options = [[fixed[at].type] if at in fixed else list(OF_TYPE) for at in range(count)]
    found = [[]]
    for choice in options:
        found = [[*head, kind] for head in found for kind in choice]
    return found


def rows(values):
    """Rows in which every value stands next to different ones."""
    randomness = SystemRandom()
    return [
        [values[c.type][at] if at < len(values[c.type]) else randomness.choice(values[c.type]) for c in COLUMNS]
        for at in range(ROWS)
    ]


def database(values):
    made = duckdb.connect(":memory:", config={"threads": "1"})
    made.execute(f"CREATE TABLE t ({', '.join(f'{c.name} {c.native}' for c in COLUMNS)})")
    for row in rows(values):
        made.execute(f"INSERT INTO t VALUES ({', '.join(row)})")
    return made


@pytest.fixture(scope="module")
def nasty():
    with database(NASTY) as made:
        yield made


@pytest.fixture(scope="module")
def tame():
    with database(TAME) as made:
        yield made


def render(expr):
    return scalar(expr, DUCKDB)


def run(connection, exprs):
    """All values of all expressions, several in one statement: they share what the engine likes to share."""
    found = []
    for start in range(0, len(exprs), PER_STATEMENT):
        texts = [f"{render(expr)} AS c{at}" for at, expr in enumerate(exprs[start : start + PER_STATEMENT])]
        table = connection.sql(f"SELECT {', '.join(texts)} FROM t").to_arrow_table()
        found += table.columns
    return found


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
