"""Values of SQLite are read by one rule for each type, and computed with as DuckDB does, whatever is stored."""

import datetime as dt
import math
import sqlite3
import struct
from decimal import Decimal
from random import SystemRandom

import duckdb
import pyarrow as pa
import pytest

from hedgerow.backends.sqlite import open_sqlite
from hedgerow.compile.scalars import key, scalar
from hedgerow.compiled import KEY_INDEX, SELECTED, Query, arrow_type
from hedgerow.dialects import DUCKDB
from hedgerow.dialects.sqlite import SQLITE
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type

from ..expressions.samples import COLUMNS, calls

ANYTHING = [
    *("NULL", "0", "1", "-1", "7", "9223372036854775807", "-9223372036854775808", "2.5", "-0.0", "1e300", "9e999"),
    *("-9e999", "5e-324", "''", "'abc'", "'7'", "'nan'", "'true'", "'2024-02-29'", "'2024-02-30'", "'0000-01-01'"),
    *("'24:00:00'", "'2024-02-29T23:59:59.5Z'", "'infinity'", "'a0012024-01-01'", "'😀é'", "x''", "x'ff00'", "x'4142'"),
    *("CAST(x'ff41' AS TEXT)", "CAST(x'610062' AS TEXT)", "CAST(x'6100ff' AS TEXT)", "CAST(x'eda080' AS TEXT)"),
]
"""One value of every storage class and of many looks, valid text or not, as SQLite spells it."""

STORED = {
    Type.BOOLEAN: {"integer"},
    Type.INTEGER: {"integer"},
    Type.DECIMAL: {"integer", "real"},
    Type.FLOAT: {"real", "text"},
    Type.TEXT: {"text"},
    Type.DATE: {"text"},
    Type.TIME: {"integer"},
    Type.TIMESTAMP: {"integer"},
}
"""A key of each type as stored in SQLite."""

PER_STATEMENT = 60
PAIRS = 600


def opened(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return open_sqlite(path)


@pytest.fixture(scope="module")
def junk(tmp_path_factory):
    """A table in which every column, whatever its type, holds everything."""
    shape = ", ".join(f"{column.name} {column.native}" for column in COLUMNS)
    rows = [
        ", ".join(ANYTHING[(row + 7 * at) % len(ANYTHING)] for at in range(len(COLUMNS)))
        for row in range(len(ANYTHING))
    ]
    statements = [f"CREATE TABLE junk ({shape})", *(f"INSERT INTO junk VALUES ({row})" for row in rows)]
    return opened(tmp_path_factory.mktemp("junk") / "junk.db", *statements)


def shown(backend, exprs, write, kinds):
    """Each expression on each row of the junk, by column."""
    actual = []
    for start in range(0, len(exprs), PER_STATEMENT):
        some = exprs[start : start + PER_STATEMENT]
        names = tuple(f"c{i}" for i in range(len(some)))
        texts = ", ".join(f"{write(expr, backend.dialect)} AS {name}" for expr, name in zip(some, names, strict=True))
        query = Query(f"SELECT {texts} FROM {backend.dialect.table('junk')}", names, (), tuple(map(kinds, some)))
        actual += [column.to_pylist() for column in backend.public(query).columns]
    return actual


def typeof_key(expr, dialect):
    return f"typeof({key(expr, dialect)})"


def typeof_value(expr, dialect):
    return f"typeof({scalar(expr, dialect)})"


def word(_):
    return pa.string()


@pytest.mark.parametrize("name", sorted(allowed()))
def test_no_stored_value_makes_a_function_fail_or_changes_the_type_of_a_key(junk, name):
    exprs = list(calls(name))
    shown(junk, exprs, typeof_value, word)
    shown(junk, exprs, key, arrow_type)
    for expr, actual in zip(exprs, shown(junk, exprs, typeof_key, word), strict=True):
        assert {*actual} <= STORED[expr.type] | {"null"}, expr


def test_no_stored_value_makes_a_function_inside_a_function_fail(junk):
    randomness = SystemRandom()
    exprs = [expr for name in allowed() for expr in calls(name)]
    by_type = {kind: [expr for expr in exprs if expr.type is kind] for kind in STORED}
    pairs = []
    while len(pairs) < PAIRS:
        outer = randomness.choice(exprs)
        at = randomness.randrange(len(outer.arguments))
        inner = outer.arguments[at]
        if not isinstance(inner, Literal) and by_type.get(inner.type):
            chosen = randomness.choice(by_type[inner.type])
            pairs.append(Call(outer.function, (*outer.arguments[:at], chosen, *outer.arguments[at + 1 :]), outer.type))
    shown(junk, pairs, key, arrow_type)


def test_a_key_is_a_value_that_groups_by_itself(junk):
    """Two rows with one printed key are one group, also where what is stored is no value of the type."""
    for column in COLUMNS:
        text = key(column, junk.dialect)
        sql = f"SELECT {text} AS k, COUNT(*) AS n FROM {junk.dialect.table('junk')} GROUP BY 1"
        actual = junk.public(Query(sql, ("k", "n"), (), (arrow_type(column), pa.int64()))).column("k").to_pylist()
        assert len({*map(repr, actual)}) == len(actual), column.name


READ = [
    ("INTEGER", "7", 7),
    ("INTEGER", "'7'", 7),
    ("INTEGER", "'abc'", None),
    ("INTEGER", "1.5", None),
    ("INTEGER", "x'07'", None),
    ("DOUBLE", "7", 7.0),
    ("DOUBLE", "9e999", math.inf),
    ("DOUBLE", "NULL", None),
    ("NUMERIC", "7", 7.0),
    ("NUMERIC", "7.25", 7.25),
    ("DECIMAL(6,2)", "7.25", Decimal("7.25")),
    ("DECIMAL(6,2)", "7.256", Decimal("7.26")),
    ("DECIMAL(6,2)", "12345.0", None),
    ("DECIMAL(6,2)", "'abc'", None),
    ("TEXT", "'abc'", "abc"),
    ("TEXT", "7", "7"),
    ("TEXT", "x'ff'", None),
    ("TEXT", "CAST(x'ff41' AS TEXT)", None),
    ("DATE", "'2024-02-29'", dt.date(2024, 2, 29)),
    ("DATE", "'2024-02-30'", None),
    ("DATE", "'0000-01-01'", None),
    ("DATE", "'now'", None),
    ("DATE", "20240229", None),
    ("DATETIME", "'2024-02-29T10:00:00Z'", dt.datetime(2024, 2, 29, 10)),  # noqa: DTZ001
    ("DATETIME", "'2024-02-29'", dt.datetime(2024, 2, 29)),  # noqa: DTZ001
    ("DATETIME", "1709200800", None),
    ("TIME", "'10:00:00.5'", dt.time(10, 0, 0, 500_000)),
    ("BOOLEAN", "1", True),
    ("BOOLEAN", "'false'", False),
    ("BOOLEAN", "2", None),
]


@pytest.mark.parametrize(("declared", "stored", "value"), READ)
def test_a_stored_value_is_read_by_the_type_of_its_column(tmp_path, declared, stored, value):
    backend = opened(tmp_path / "t.db", f"CREATE TABLE t (x {declared})", f"INSERT INTO t VALUES ({stored})")
    actual = backend.schema().tables["t"].columns["x"]
    column = Column("x", actual.type, native=actual.native)
    sql = f"SELECT {key(column, backend.dialect)} AS x FROM {backend.dialect.table('t')}"
    assert backend.public(Query(sql, ("x",), (), (arrow_type(column),))).to_pylist() == [{"x": value}]


def test_what_is_no_number_in_a_column_of_doubles_is_nan(tmp_path):
    backend = opened(tmp_path / "t.db", "CREATE TABLE t (x REAL)", "INSERT INTO t VALUES ('NaN'), ('abc'), (x'00')")
    sql = f"SELECT x FROM {backend.dialect.table('t')}"
    actual = backend.public(Query(sql, ("x",), (), (pa.float64(),))).column("x").to_pylist()
    assert len(actual) == 3
    assert all(map(math.isnan, actual))


@pytest.mark.parametrize(
    ("stored", "kind", "value"),
    [
        ("'12'", Type.INTEGER, 12),
        ("12", Type.INTEGER, 12),
        ("2.5", Type.INTEGER, 2),
        ("12", Type.TEXT, "12"),
        ("2.5", Type.TEXT, "2.5"),
        ("'2024-02-29'", Type.DATE, dt.date(2024, 2, 29)),
        ("20240229", Type.DATE, None),
        ("x'00'", Type.TEXT, None),
        ("'2.5'", Type.FLOAT, 2.5),
        ("1", Type.BOOLEAN, True),
    ],
)
def test_a_column_without_a_type_is_read_as_the_catalog_says(tmp_path, stored, kind, value):
    backend = opened(tmp_path / "t.db", "CREATE TABLE t (x)", f"INSERT INTO t VALUES ({stored})")
    expr = Call(f"imposed_{kind.value}", (Column("x", Type.OTHER),), kind)
    sql = f"SELECT {key(expr, backend.dialect)} AS x FROM {backend.dialect.table('t')}"
    assert backend.public(Query(sql, ("x",), (), (arrow_type(expr),))).to_pylist() == [{"x": value}]


def test_text_is_compared_by_bytes_whatever_its_collation(tmp_path):
    backend = opened(
        tmp_path / "t.db",
        "CREATE TABLE t (s TEXT COLLATE NOCASE, r TEXT COLLATE RTRIM)",
        "INSERT INTO t VALUES ('Bob', 'a '), ('bob', 'a'), ('BOB', 'a ')",
    )
    known = backend.schema().tables["t"].columns
    s, r = (Column(name, Type.TEXT, native=known[name].native, collated=known[name].collated) for name in "sr")
    bob, blank = Literal("bob", Type.TEXT), Literal("a", Type.TEXT)
    exprs = [
        Call("equal", (s, bob), Type.BOOLEAN),
        Call("equal", (blank, r), Type.BOOLEAN),
        Call("in", (s, bob, blank), Type.BOOLEAN),
        Call("is_null", (Call("nullif", (s, bob), Type.TEXT),), Type.BOOLEAN),
        Call("like", (s, bob), Type.BOOLEAN),
    ]
    dialect, table = backend.dialect, backend.dialect.table("t")
    conditions = [*(scalar(expr, dialect) for expr in exprs), dialect.among("s", "SELECT 'bob'")]
    for condition in conditions:
        sql = f"SELECT COUNT(*) AS n FROM {table} WHERE {condition}"
        assert backend.public(Query(sql, ("n",), (), (pa.int64(),))).to_pylist() == [{"n": 1}], condition
    sql = f"SELECT {key(s, dialect)} AS k FROM {table} GROUP BY 1 ORDER BY 1"
    assert backend.public(Query(sql, ("k",), (), (pa.string(),))).column("k").to_pylist() == ["BOB", "Bob", "bob"]


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("nothing") / "n.db", "CREATE TABLE t (x)")


def evaluated(backend, texts, kinds):
    names = tuple(f"c{i}" for i in range(len(texts)))
    listed = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
    return [column.to_pylist()[0] for column in backend.public(Query(f"SELECT {listed}", names, (), kinds)).columns]


def test_doubles_are_written_to_the_last_bit(nothing):
    randomness = SystemRandom()
    bits = [struct.unpack("<d", randomness.randbytes(8))[0] for _ in range(300)]
    short = [randomness.randrange(-(10**15), 10**15) / 10 ** randomness.randrange(23) for _ in range(300)]
    values = [
        *(v for v in bits if math.isfinite(v)),
        *short,
        0.1,
        -0.0,
        math.inf,
        -math.inf,
        2.0**-1074,
        2.0**1023,
        1e22,
    ]
    actual = evaluated(nothing, [SQLITE.real(value) for value in values], (pa.float64(),) * len(values))
    assert [struct.pack("<d", v) for v in actual] == [struct.pack("<d", v) for v in values]
    assert math.isnan(evaluated(nothing, [SQLITE.real(math.nan)], (pa.float64(),))[0])


@pytest.mark.parametrize("value", ["", "O'Neil", '"', "\\", "a\x00b", "--", "%", "😀é", "?1 :x @y", "\n\t\x7f"])
def test_text_is_written_so_that_it_is_read_back(nothing, value):
    assert evaluated(nothing, [SQLITE.string(value)], (pa.string(),)) == [value]


def test_half_a_pair_of_signs_is_no_text(nothing):
    text = f"hedgerow_text(CAST({SQLITE.string(chr(0xD800))} AS BLOB))"
    assert evaluated(nothing, [text], (pa.string(),)) == [None]


def test_sums_have_all_their_digits(tmp_path):
    most, least = 2**63 - 1, -(2**63)
    values = [most] * 5 + [least] * 2 + [-5, 7, 0, 2**32, -(2**32) - 1]
    listed = ", ".join(f"({value})" for value in values)
    backend = opened(tmp_path / "t.db", "CREATE TABLE t (x INTEGER)", f"INSERT INTO t VALUES {listed}, (NULL)")
    dialect = backend.dialect
    wide = f"(SELECT {dialect.total('x')} AS s FROM t GROUP BY x)"
    integers = {
        "a": dialect.total("x"),
        "b": dialect.product_total("x", "1000"),
        "c": dialect.total("CASE WHEN x > 7 THEN x END"),
        "d": dialect.weighed(dialect.total("x"), 2**30, dialect.product_total("x", "3")),
        "e": f"(SELECT {dialect.wide_total('s')} FROM {wide})",
    }
    shown = ", ".join(f"{text} AS {name}" for name, text in integers.items())
    with backend.snapshot() as snapshot:
        actual = snapshot.run(Query(f"SELECT {shown} FROM t", (), tuple(integers)))
    total = sum(values)
    expected = [total, 1000 * total, sum(v for v in values if v > 7), total * 2**30 - 3 * total, total]
    assert [actual.exact_integers(name).tolist()[0] for name in integers] == expected
    none = dialect.total("CASE WHEN x = 8 THEN x END")
    assert backend.public(Query(f"SELECT {none} AS n FROM t", ("n",), (), (pa.int64(),))).to_pylist() == [{"n": None}]


@pytest.mark.parametrize("one", [1, 2, 2**30])
def test_full_weights_keep_all_digits_of_small_and_large_sums(tmp_path, one):
    edge = (2**63 - 1) // one
    sums = [0, 1, -1, edge, -edge, edge + 1, -edge - 1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 3 * 2**63, 2**90]
    backend = opened(tmp_path / "t.db", "CREATE TABLE t (x INTEGER)", "INSERT INTO t VALUES (1)")
    integers = {f"a{place}": backend.dialect.weighed(_digits(whole), one, "0") for place, whole in enumerate(sums)}
    shown = ", ".join(f"{text} AS {name}" for name, text in integers.items())
    with backend.snapshot() as snapshot:
        actual = snapshot.run(Query(f"SELECT {shown} FROM t", (), tuple(integers)))
    assert [actual.exact_integers(name).tolist()[0] for name in integers] == [whole * one for whole in sums]


def _digits(whole):
    """A sum as SQLite has it: an integer, or its digits as text beyond 64 bits."""
    if whole == -(2**63):
        return f"({whole + 1} - 1)"
    return f"({whole})" if -(2**63) < whole < 2**63 else f"'{whole}'"


KEYS = [
    ("REAL", Type.FLOAT, ["'NaN'", "9e999", "-9e999", "0.1", "NULL", "1e22"]),
    ("DECIMAL(9,2)", Type.DECIMAL, ["0.07", "12", "-3.5", "NULL"]),
    ("BIGINT", Type.INTEGER, ["-9223372036854775808", "9223372036854775807", "NULL"]),
    ("TEXT", Type.TEXT, ["'O''Neil'", "CAST(x'610062' AS TEXT)", "'é'", "''", "NULL"]),
    ("BOOLEAN", Type.BOOLEAN, ["0", "1", "NULL"]),
    ("DATE", Type.DATE, ["'0001-01-01'", "'9999-12-31'", "NULL"]),
    ("DATETIME", Type.TIMESTAMP, ["'2024-02-29T10:00:00.5'", "'0001-01-01'", "NULL"]),
    ("TIME", Type.TIME, ["'23:59:59.999999'", "'00:00:00'", "NULL"]),
]


@pytest.mark.parametrize(("declared", "kind", "values"), KEYS)
def test_keys_that_were_selected_are_found_again(tmp_path, declared, kind, values):
    rows = ", ".join(f"({value})" for value in values)
    backend = opened(tmp_path / "t.db", f"CREATE TABLE t (x {declared})", f"INSERT INTO t VALUES {rows}")
    dialect, column = backend.dialect, Column("x", kind, native=backend.schema().tables["t"].columns["x"].native)
    step = dialect.step("found", f"SELECT {key(column, dialect)} AS k0 FROM {dialect.table('t')}", once=True)
    first = dialect.statement([step], "SELECT k0, 1 AS n FROM found")
    first_pass = Query(dialect.statement_text(first), ("k0",), ("n",), (arrow_type(column),), statement=first)
    joined = f"found JOIN {SELECTED} ON {dialect.same('found.k0', f'{SELECTED}.k0', kind)}"
    second = dialect.statement([step], f"SELECT {KEY_INDEX} FROM {joined} ORDER BY 1")
    measure = Query(dialect.statement_text(second), (), (KEY_INDEX,), statement=second)
    with backend.snapshot() as snapshot:
        keys = snapshot.run(first_pass).exact_keys()
        snapshot.load(SELECTED, keys.append_column(KEY_INDEX, pa.array(range(len(values)), type=pa.int64())))
        assert snapshot.run(measure).exact_integers(KEY_INDEX).tolist() == [*range(len(values))]
        snapshot.load(
            SELECTED, keys.append_column(KEY_INDEX, pa.array(range(len(values)), type=pa.int64())).slice(0, 0)
        )
        assert snapshot.run(measure).exact_integers(KEY_INDEX).tolist() == []


def test_a_root_is_the_one_that_other_engines_take(nothing):
    randomness = SystemRandom()
    cases = [(randomness.randrange(1, 2**100), randomness.randrange(1, 2**40)) for _ in range(100)]
    cases += [((3 * 2**30) ** 2, 9), ((3 * 2**30) ** 2, 1), (1681 * 2**60, 1681 * 7)]
    ours = evaluated(nothing, [SQLITE.root(squared, str(size)) for squared, size in cases], (pa.int64(),) * len(cases))
    with duckdb.connect() as connection:
        listed = ", ".join(DUCKDB.root(squared, f"CAST({size} AS HUGEINT)") for squared, size in cases)
        assert ours == list(connection.execute(f"SELECT {listed}").fetchall()[0])
