"""Functions and exact aggregates that we register on SQLite give what DuckDB gives, even for odd texts and dates."""

import math
import random
import sqlite3

import duckdb
import pytest

from hedgerow.backends.duckdb import DuckDB
from hedgerow.backends.sqlite.functions import EXACT_AGGREGATES, FUNCTIONS, register
from hedgerow.compile.scalars import key, scalar
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import ExactAggregateCall
from hedgerow.dialects.sqlite import SQLITE
from hedgerow.dialects.sqlite.calls import CALLED
from hedgerow.dialects.sqlite.calls import EXACT_AGGREGATES as WRITTEN
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type

from ..expressions.samples import OF_TYPE, calls
from .test_sqlite_values import opened

NUMBERS = [
    *("7", "+7", "-7", " 7 ", "7.25", "7.5", "-7.5", "8.5", "1e3", "1.5e1", "1e-1", "1_000", "0x1F", "0b11", "", "-"),
    *(".5", "5.", "1e999", "-1e999", "1e-999", "9223372036854775807", "9223372036854775808", "\t7\n", "１", "7,000"),
    *("nan", "NaN", "inf", "-Infinity", "+inf", "infinit", "00007", "--7", "1e", "1e+2", "1__0", "true", "t", "yes"),
    *("n", "on", " true", "TrUe", "2", "0.49999999999999999999", "-0", "123456789012345678901234567890"),
]
TIMESTAMPS = [
    *(
        "2024-01-01T00:00:00Z",
        "2024-01-01 00:00:00+02:00",
        "2024-01-01",
        "2024-01-01 10",
        "2024-01-01 10:30",
        "2024-1-5",
    ),
    *("2024-01-01 10:30:15.1234567", "2024/01/05", "20240105", "2024-01-01 24:00:00", " 2024-01-01 ", "1704067200"),
    *("2024-01-01 10:00:00 UTC", "2024-01-01t10:00:00", "0001-01-01", "0000-01-01", "99999-01-01", "infinity", "epoch"),
    *("-infinity", "now", "today", "2024-01-01 10:00:60", "44-03-15 (BC)", "2024-02-30", "24-1-1", "12024-01-01"),
    *("2024-01", "2024 01 01", "-2024-01-01", "10:00:00", "10:00", "24:00:00", "25:00:00", "10:00:00.5", "1:2:3"),
    *(
        "290309-12-22 (BC) 00:00:00",
        "294247-01-10 04:00:54.775806",
        "5881580-07-10",
        "a0012024-01-01",
        "/9999999-01-01",
    ),
]
"""Unusual and invalid texts."""


@pytest.fixture(scope="module")
def spelled(tmp_path_factory):
    """SQLite and DuckDB with the same texts."""
    rows = ", ".join(f"({i}, {SQLITE.string(text)})" for i, text in enumerate([*NUMBERS, *TIMESTAMPS]))
    statements = ["CREATE TABLE t (id INTEGER, s VARCHAR)", f"INSERT INTO t VALUES {rows}"]
    connection = duckdb.connect(":memory:")
    for statement in statements:
        connection.execute(statement)
    yield opened(tmp_path_factory.mktemp("spelled") / "s.db", *statements), DuckDB(connection, handed_in=True)
    connection.close()


def on_both(pair, exprs, write=scalar):
    """The values of expressions over `s`, on both engines."""
    for backend in pair:
        names = tuple(f"c{i}" for i in range(len(exprs)))
        texts = [f"{write(expr, backend.dialect)} AS {name}" for expr, name in zip(exprs, names, strict=True)]
        sql = f"SELECT {', '.join(texts)} FROM {backend.dialect.table('t')} ORDER BY id"
        table = backend.public(Query(sql, names, (), tuple(map(arrow_type, exprs))))
        yield [[*map(repr, column.to_pylist())] for column in table.columns]


S = Column("s", Type.TEXT)


@pytest.mark.parametrize("kind", ["boolean", "integer", "float"])
def test_unusual_numbers_are_read_as_duckdb_reads_them(spelled, kind):
    ours, theirs = on_both(spelled, [Call(f"cast_{kind}", (S,), Type(kind))])
    assert ours == theirs


FAR_KINDS = [Type.DATE, Type.TIMESTAMP]


@pytest.mark.parametrize("kind", FAR_KINDS)
def test_functions_of_far_and_unusual_dates_are_duckdbs(spelled, kind):
    value = Call(f"cast_{kind.value}", (S,), kind)
    later = Call("shift_month", (value, Literal(13, Type.INTEGER)), Type.TIMESTAMP)
    exprs = [Call("cast_text", (value,), Type.TEXT), Call("cast_text", (later,), Type.TEXT)]
    for name in sorted(allowed()):
        for call in calls(name):
            indexes = [at for at, a in enumerate(call.arguments) if a in OF_TYPE[kind]]
            rest = [a for a in call.arguments if isinstance(a, Column) and a not in OF_TYPE[kind]]
            if indexes and not rest and call.type not in FAR_KINDS and len(call.arguments) < 4:
                swapped = [value if a in OF_TYPE[kind] else a for a in call.arguments]
                exprs.append(Call(name, tuple(swapped), call.type))
    assert len(exprs) > 50
    ours, theirs = on_both(spelled, exprs)
    for expr, one, other in zip(exprs, ours, theirs, strict=True):
        assert one == other, expr.function


def test_times_of_day_are_read_as_duckdb_reads_them(spelled):
    ours, theirs = on_both(spelled, [Call("cast_time", (S,), Type.TIME)], key)
    assert ours == theirs


VALUES = [
    *("(1, 5, 2.5, 'b', TRUE)", "(1, 5, -1e15, 'B', FALSE)", "(1, 7, 0.1, 'é', NULL)", "(1, NULL, 0.2, NULL, TRUE)"),
    *("(1, -3, NULL, 'b', TRUE)", "(1, 9223372036854775807, 1e15, '', FALSE)", "(2, 4, 0.3, 'z', TRUE)"),
    *("(3, NULL, NULL, NULL, NULL)", "(4, 9223372036854775807, 1e308, 'a', TRUE)", "(4, 1, 1e308, 'a', TRUE)"),
    *(f"({5 + i % 2}, {i * i % 17}, {(i * 7919 % 1000) / 7}, 'w{i % 4}', {i % 3 == 0})" for i in range(40)),
]
ARGUMENTS = {
    Type.INTEGER: Column("i", Type.INTEGER, native="BIGINT"),
    Type.FLOAT: Column("x", Type.FLOAT, native="DOUBLE"),
    Type.TEXT: Column("s", Type.TEXT, native="VARCHAR"),
    Type.BOOLEAN: Column("b", Type.BOOLEAN, native="BOOLEAN"),
}
IN_ORDER = ", ".join(f"{name} ASC NULLS LAST" for name in "ixsb")
OVER = (
    f"OVER (PARTITION BY g ORDER BY {IN_ORDER} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    f"OVER (PARTITION BY g ORDER BY {IN_ORDER})",
    "OVER (PARTITION BY g)",
)
NUMERIC = (Type.INTEGER, Type.FLOAT)
CONSTANT = {"QUANTILE_CONT": Literal(0.3, Type.FLOAT), "STRING_AGG": Literal("-", Type.TEXT)}


def summarised():
    """Names, arguments and whether a window is needed (True), impossible (False) or both (None)."""
    for name in ("SUM", "AVG", "MEDIAN", "STDDEV_SAMP", "STDDEV_POP", "VAR_SAMP", "VAR_POP"):
        yield from ((name, (ARGUMENTS[kind],), None) for kind in NUMERIC)
    yield "QUANTILE_CONT", (ARGUMENTS[Type.FLOAT], CONSTANT["QUANTILE_CONT"]), None
    yield "STRING_AGG", (ARGUMENTS[Type.TEXT], CONSTANT["STRING_AGG"]), False
    for name in ("COUNT", "MIN", "MAX", "ANY_VALUE"):
        yield from ((name, (column,), None) for column in ARGUMENTS.values())
    yield "COUNT", (), None
    for name in ("BOOL_AND", "BOOL_OR"):
        yield name, (ARGUMENTS[Type.BOOLEAN],), None
    for name in ("ARG_MIN", "ARG_MAX"):
        yield from ((name, (one, other), False) for one in ARGUMENTS.values() for other in ARGUMENTS.values())
    for name in ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"):
        yield name, (), True
    two = Literal(2, Type.INTEGER)
    for name in ("LAG", "LEAD"):
        yield from ((name, (ARGUMENTS[kind], two, ARGUMENTS[kind]), True) for kind in NUMERIC)
        yield name, (ARGUMENTS[Type.INTEGER], two, Literal(2.5, Type.FLOAT)), True
    yield "NTH_VALUE", (ARGUMENTS[Type.FLOAT], two), True


def written(name, arguments, dialect, over=None, condition=None):
    texts = tuple(scalar(a, dialect) for a in arguments)
    kinds = tuple(a.type for a in arguments)
    return dialect.exact_aggregate(
        ExactAggregateCall(name, texts, kinds, filter=condition, over=over, arguments=tuple(arguments))
    )


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    statements = [
        "CREATE TABLE t (g INTEGER, i BIGINT, x DOUBLE, s VARCHAR, b BOOLEAN)",
        f"INSERT INTO t VALUES {', '.join(VALUES)}",
    ]
    connection = duckdb.connect(":memory:")
    for statement in statements:
        connection.execute(statement)
    backend = opened(tmp_path_factory.mktemp("gathered") / "g.db", *statements)
    yield backend, DuckDB(connection, handed_in=True)
    connection.close()


@pytest.mark.parametrize(("name", "arguments", "windowed"), list(summarised()))
def test_a_summary_is_duckdbs(gathered, name, arguments, windowed):
    lite, duck = gathered
    tails = [] if windowed else [(None, "GROUP BY 1"), ("x < 100", "GROUP BY 1")]
    cases = [
        (written(name, arguments, lite.dialect, None, c), written(name, arguments, duck.dialect, None, c), t)
        for c, t in tails
    ]
    if windowed is not False:
        frames = OVER[1:2] if not arguments or name in {"LAG", "LEAD"} else OVER
        cases += [
            (written(name, arguments, lite.dialect, o), written(name, arguments, duck.dialect, o), "") for o in frames
        ]
    for ours, theirs, tail in cases:
        with lite._cursor() as cursor:
            one = cursor.execute(f"SELECT g, {ours} AS v FROM {lite.dialect.table('t')} {tail}").fetchall()
        other = duck._connection.execute(f"SELECT g, {theirs} AS v FROM t {tail}").fetchall()
        assert sorted(map(_plain, one)) == sorted(map(_plain, other)), ours


def _plain(row):
    """A row as text; on SQLite booleans are numbers, and NaN is the empty text."""
    cell = row[1]
    if isinstance(cell, float) and math.isnan(cell):
        cell = ""
    return repr((row[0], int(cell) if isinstance(cell, bool) else cell))


def test_every_function_that_is_written_is_registered():
    assert {*CALLED} <= {*FUNCTIONS}
    for name, (arity, _) in EXACT_AGGREGATES.items():
        assert arity in {1, 2}, name
    assert {"SUM", "COUNT", "LAG"} <= {*WRITTEN}


@pytest.mark.parametrize("bits", [8, 31, 33, 62, 63, 90])
def test_sums_are_exact_within_and_beyond_64_bits(bits):
    with sqlite3.connect(":memory:") as connection:
        register(connection)
        connection.execute("CREATE TABLE t (g INTEGER, x)")
        numbers = [random.randint(-(2**bits), 2**bits - 1) for _ in range(200)]
        numbers += [2**bits - 1] * 60 + [-(2**bits)] * 30
        fits = all(-(2**63) <= number < 2**63 for number in numbers)
        rows = [(i % 3, number if -(2**63) <= number < 2**63 else str(number)) for i, number in enumerate(numbers)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", [*rows, (0, None), (7, None)])
        expected = {g: sum(number for i, number in enumerate(numbers) if i % 3 == g) for g in range(3)} | {7: None}
        for text in [SQLITE.wide_total("x"), *([SQLITE.total("x")] if fits else [])]:
            totals = dict(connection.execute(f"SELECT g, {text} FROM t GROUP BY g").fetchall())
            assert {g: None if total is None else int(total) for g, total in totals.items()} == expected
