"""The shape and the types of an answer follow from the plan, whatever the rows hold."""

import math

import pyarrow as pa
import pytest

from hedgerow.errors import QueryError

from ..internals import plan_of

KINDS = {
    "bo": ("BOOLEAN", ["true", "false"]),
    "ti": ("TINYINT", ["-128", "127"]),
    "ii": ("INTEGER", ["-2147483648", "2147483647"]),
    "bi": ("BIGINT", ["-9223372036854775808", "9223372036854775807"]),
    "ui": ("UINTEGER", ["4294967295"]),
    "ub": ("UBIGINT", ["18446744073709551615"]),
    "hi": (
        "HUGEINT",
        ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105727"],
    ),
    "de": ("DECIMAL(38,0)", ["'99999999999999999999999999999999999999'"]),
    "dc": ("DECIMAL(38,38)", ["0.5"]),
    "dd": ("DECIMAL(4,2)", ["99.99", "-99.99"]),
    "fl": ("FLOAT", ["'nan'", "'inf'", "3.4e38"]),
    "dx": ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1.7e308", "-1.7e308", "5e-324", "-0.0"]),
    "va": (
        "VARCHAR",
        ["''", "'%'", "'\\'", "'_\\'", "repeat('x', 100000)", "'nan'", "'1e999'", "chr(0)", "'a' || chr(0)"],
    ),
    "en": ("ENUM('', 'a', 'zz')", ["''", "'a'"]),
    "da": ("DATE", ["'infinity'", "'-infinity'", "'5881580-07-10'", "'0001-01-01'", "'5877642-06-25 (BC)'"]),
    "tm": ("TIME", ["'24:00:00'", "'00:00:00'"]),
    "ts": (
        "TIMESTAMP",
        ["'infinity'", "'294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'", "'2500-01-01'"],
    ),
    "ss": ("TIMESTAMP_S", ["'infinity'", "'294247-01-10 04:00:54'"]),
    "ms": ("TIMESTAMP_MS", ["'infinity'", "'294247-01-10 04:00:54'"]),
    "ns": ("TIMESTAMP_NS", ["'infinity'", "'2262-04-11 23:47:16.854775806'"]),
}
CONSTANTS = [
    "0",
    "-3",
    "9223372036854775807",
    "1e300",
    "0.5",
    "123456.789",
    "'%a\\'",
    "'2000-01-01'",
    "NULL",
    "TRUE",
    "'5'",
]
OF_ONE = [
    "{0}",
    "-{0}",
    "ABS({0})",
    "SQRT({0})",
    "LN({0})",
    "LOG2({0})",
    "EXP({0})",
    "SIN({0})",
    "ATAN({0})",
    "FLOOR({0})",
    "CEIL({0})",
    "TRUNC({0})",
    "SIGN({0})",
    "ROUND({0})",
    "ROUND({0}, 2)",
    "LOWER({0})",
    "REVERSE({0})",
    "TRIM({0})",
    "LENGTH({0})",
    "NOT {0}",
    "{0} IS NULL",
    "CLIP({0}, -1, 1)",
    "CLIP({0}, -1.5, 1e30)",
    *(
        f"CAST({{0}} AS {kind})"
        for kind in ("BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN", "DECIMAL(5,2)")
    ),
    *(f"EXTRACT({part} FROM {{0}})" for part in ("YEAR", "QUARTER", "WEEK", "DOW", "DOY", "HOUR", "SECOND")),
    *(f"DATE_TRUNC('{unit}', {{0}})" for unit in ("year", "quarter", "month", "week", "day", "hour")),
    *(
        f"{{0}} {sign} INTERVAL {n} {unit}"
        for unit in ("YEAR", "WEEK", "DAY", "SECOND")
        for sign in "+-"
        for n in (1, 999999)
    ),
]
OF_TWO = [
    "{0} = {1}",
    "{0} < {1}",
    "{0} IS DISTINCT FROM {1}",
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} / {1}",
    "{0} // {1}",
    "{0} % {1}",
    "COALESCE({0}, {1})",
    "LEAST({0}, {1})",
    "GREATEST({0}, {1})",
    "NULLIF({0}, {1})",
    "CASE WHEN bo THEN {0} ELSE {1} END",
    "CASE {0} WHEN {1} THEN 1 END",
    "{0} IN ({1}, 0, 5)",
    "{0} IN ({1})",
    "POW({0}, {1})",
    "ROUND({0}, {1})",
    "{0} LIKE {1}",
    "{0} ILIKE {1}",
    "LEFT({0}, {1})",
    "RIGHT({0}, {1})",
    "SUBSTRING({0}, {1})",
    "STRPOS({0}, {1})",
    "STARTS_WITH({0}, {1})",
    "{0} || {1}",
    "REPLACE({0}, {1}, 'xy')",
    "TRIM({0}, {1})",
    "LOG({0}, {1})",
    "{0} BETWEEN {1} AND {1}",
    "DATE_DIFF('day', {0}, {1})",
    "DATE_DIFF('second', {0}, {1})",
]
PER_STATEMENT = 50
"""Number of expressions in a statement; DuckDB takes ten times as long for three times as many."""
QUICK = ("bo", "bi", "hi", "de", "dc", "dx", "va", "en", "da", "ts", "ns")


@pytest.fixture(scope="module")
def hostile(build_once):
    """Every type with its worst values, alone in a row and next to each other; 20 people with ordinary rows."""
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in KINDS.items())
    statements = [f"CREATE TABLE t (u BIGINT, {columns})", "INSERT INTO t (u, bo) SELECT j, true FROM range(20) r(j)"]
    worst = {name: [f"({value})::{kind}" for value in values] for name, (kind, values) in KINDS.items()}
    longest = max(map(len, worst.values()))
    for turn in range(longest):
        row = ", ".join(values[turn % len(values)] for values in worst.values())
        statements.append(f"INSERT INTO t VALUES ({100 + turn}, {row})")
    statements.append("INSERT INTO t (u) VALUES (NULL), (7)")
    return build_once(statements, "t: {unit: u, max_rows: 3}", handed_in=True)


def _accepted(db, expression):
    try:
        plan_of(db, f"SELECT COUNT({expression}) FROM t")
    except QueryError:
        return False
    return True


def _run(db, expressions, least):
    """Run all accepted expressions as the compiled statements of private counts, on the owner's connection."""
    accepted = [expression for expression in expressions if _accepted(db, expression)]
    assert len(accepted) >= least
    for start in range(0, len(accepted), PER_STATEMENT):
        counts = ", ".join(f"COUNT({expression})" for expression in accepted[start : start + PER_STATEMENT])
        for text in db.quote(f"SELECT {counts} FROM t").sql:
            db.owner.execute(text).fetchall()


def _pairs(template, kinds, constants):
    operands = [*kinds, *constants]
    return [template.format(a, b) for a in operands for b in operands if a in KINDS or b in KINDS]


@pytest.mark.parametrize("template", OF_TWO)
def test_no_row_can_make_a_function_of_two_values_fail(hostile, template):
    """Pairs of types and constants, many at once: also with what the engine shares between expressions."""
    _run(hostile, _pairs(template, QUICK, CONSTANTS[::2]), least=1)


@pytest.mark.slow
@pytest.mark.parametrize("template", OF_TWO)
def test_no_row_can_make_a_function_of_any_two_values_fail(hostile, template):
    _run(hostile, _pairs(template, KINDS, CONSTANTS), least=16)


def test_no_row_can_make_a_function_of_one_value_fail(hostile):
    _run(hostile, [template.format(a) for a in [*KINDS, *CONSTANTS] for template in OF_ONE], least=500)


@pytest.mark.parametrize("column", KINDS)
def test_every_hostile_column_can_be_summed_filtered_and_grouped_by(hostile, column):
    """Sums where it is a number, groups of everything; and what comes out can be shown in every form."""
    if _accepted(hostile, f"CLIP({column}, 0, 10)"):
        answer = hostile.sql(f"SELECT SUM(CLIP({column}, 0, 10)), AVG(CLIP({column}, -5, 5)) FROM t")
        assert [type(value) for value in next(iter(answer))] == [float, float]
    grouped = hostile.sql(f"SELECT {column}, COUNT(*) AS n FROM t GROUP BY 1", epsilon=900, mechanism="gaussian")
    assert len(grouped) >= 1
    assert len(list(grouped)) == len(grouped.to_dict()["rows"]) == len(grouped["n"])
    assert str(grouped)
    assert grouped._repr_html_()
    assert len(grouped.df()) == len(grouped)


def test_truncations_of_one_date_do_not_disturb_each_other(hostile):
    """The engine computes common parts once, outside of what guards them: they must not be able to fail."""
    for query in (
        "SELECT DATE_TRUNC('month', da), COUNT(DATE_TRUNC('day', da)) FROM t GROUP BY 1",
        "SELECT DATE_TRUNC('year', da), DATE_TRUNC('month', da), COUNT(*) FROM t GROUP BY 1, 2",
        "SELECT COUNT(DATE_DIFF('day', da, da)), COUNT(da + INTERVAL 1 DAY), COUNT(da + INTERVAL 2 DAY) FROM t",
        "SELECT COUNT(bi + bi), COUNT((bi + bi) * 2), COUNT(-(bi + bi)) FROM t",
    ):
        assert len(hostile.sql(query)) >= 0


def test_no_text_can_grow_until_the_engine_fails(build):
    """A replacement inside a replacement multiplies lengths, for rows that hold the pattern only."""
    db = build(
        ["CREATE TABLE t (u BIGINT, s VARCHAR)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')"], "t: {unit: u, max_rows: 1}"
    )
    long = "'" + "a" * 9000 + "'"
    grown = f"REPLACE(REPLACE(REPLACE(s, 'a', {long}), 'a', {long}), 'a', {long})"
    try:
        assert len(db.sql(f"SELECT COUNT(*) FROM t WHERE LENGTH({grown}) > 5")) == 1
    except QueryError:
        assert db.budget.queries == 0


UNGROUPED = "SELECT COUNT(*), COUNT(x), SUM(x), AVG(x), COUNT(DISTINCT u) AS d, SUM(x) / COUNT(*) AS q FROM t"
ROWS = {
    "empty": [],
    "one": ["(1, 'a', 1.0)"],
    "nobody": ["(NULL, 'a', 1.0)"] * 30,
    "null": [f"({i}, NULL, NULL)" for i in range(50)],
    "nan": [f"({i}, 'a', 'nan')" for i in range(50)],
    "infinite": [f"({i}, 'a', '{'-' if i % 2 else ''}inf')" for i in range(50)],
    "heavy": ["(1, 'a', 1.0)"] * 500,
    "ordinary": [f"({i}, 'a', {i % 7})" for i in range(200)],
}


@pytest.fixture(scope="module")
def contents(build_once):
    """A table for each kind of contents, with and without a unique unit."""
    statements, tables = [], []
    for name, rows in ROWS.items():
        for table, unit, limits in (
            (f"{name}_many", "u BIGINT", "max_rows: 2"),
            (f"{name}_one", "u BIGINT UNIQUE", "unit_unique: true"),
        ):
            if table != "heavy_one":
                statements.append(f"CREATE TABLE {table} ({unit}, g VARCHAR, x DOUBLE)")
                statements += [f"INSERT INTO {table} VALUES {', '.join(rows)}"] if rows else []
                tables.append(f"{table}: {{unit: u, {limits}, columns: {{x: {{lower: 0, upper: 5}}}}}}")
    return build_once(statements, "\n".join(tables))


def types(answer) -> tuple[tuple[str, str], ...]:
    """Names and types of the columns."""
    return tuple((field.name, str(field.type)) for field in answer.arrow().schema)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("min_frequency", [1, 10])
@pytest.mark.parametrize("unit", ["many", "one"])
def test_an_ungrouped_query_gives_one_row_of_fixed_types(contents, mechanism, min_frequency, unit):
    shapes = set()
    for name in ROWS:
        if (name, unit) == ("heavy", "one"):
            continue
        options = {"mechanism": mechanism, "min_frequency": min_frequency}
        answer = contents.sql(UNGROUPED.replace("FROM t", f"FROM {name}_{unit}"), **options)
        assert len(answer) == 1
        assert len(answer.intervals) == 1
        shapes.add((types(answer), tuple(answer.intervals[0])))
        grouped = contents.sql(f"SELECT g, COUNT(*), AVG(x) FROM {name}_{unit} GROUP BY g", **options)
        shapes.add((types(grouped), "grouped"))
    assert len(shapes) == 2


def test_a_bar_that_is_open_survives_every_function_after_the_noise(build):
    """Numbers that are held back have infinite intervals; rounding it must not fail."""
    db = build(
        "CREATE TABLE t (u BIGINT, x DOUBLE)",
        "t: {unit: u, max_rows: 1, columns: {x: {lower: 0, upper: 5}}}",
        min_frequency=10,
    )
    functions = ("FLOOR", "CEIL", "TRUNC", "ROUND", "ABS", "-", "SQRT", "LN", "EXP")
    shown = ", ".join(f"{f}(AVG(x))" if f != "-" else "-AVG(x)" for f in functions)
    answer = db.sql(f"SELECT {shown}, GREATEST(COUNT(*), 0), SUM(x) / COUNT(*) FROM t")
    assert len(answer) == 1
    for interval in answer.intervals[0].values():
        assert interval.note
        assert math.isinf(interval.lower) or math.isinf(interval.upper)


def test_keys_print_in_one_form_whatever_the_collation_and_the_sign_of_zero(build):
    rows = ", ".join(f"({i}, '{'Anna' if i % 2 else 'anna'}', {'-0.0' if i % 2 else '0.0'})" for i in range(60))
    db = build(
        ["CREATE TABLE t (u BIGINT, s VARCHAR COLLATE NOCASE, z DOUBLE)", f"INSERT INTO t VALUES {rows}"],
        "t: {unit: u, max_rows: 1}",
        min_frequency=5,
    )
    text = db.sql("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=50)
    assert text["s"] == ["Anna", "anna"]
    assert all(abs(n - 30) < 5 for n in text["n"])
    zero = db.sql("SELECT z, COUNT(*) AS n FROM t GROUP BY z", epsilon=50)
    assert [math.copysign(1, z) for z in zero["z"]] == [1.0]
    assert abs(zero["n"][0] - 60) < 5


def test_a_declared_key_is_met_in_its_own_spelling_only(build):
    rows = ", ".join(f"({i}, '{'North' if i % 2 else 'north'}')" for i in range(60))
    db = build(
        ["CREATE TABLE t (u BIGINT, s VARCHAR COLLATE NOCASE)", f"INSERT INTO t VALUES {rows}"],
        "t: {unit: u, max_rows: 1, columns: {s: {values: [north]}}}",
    )
    answer = db.sql("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=50)
    assert answer["s"] == ["north"]
    assert abs(answer["n"][0] - 30) < 5


def test_an_analysts_own_cast_of_a_declared_column_is_another_column(build):
    db = build(
        [
            "CREATE TABLE t (u BIGINT, s VARCHAR, f DOUBLE)",
            "INSERT INTO t SELECT j, 'north', CASE WHEN j = 7 THEN 'nan'::DOUBLE ELSE 1 END FROM range(300) r(j)",
        ],
        "t: {unit: u, max_rows: 1, columns: {s: {values: [north]}, f: {values: [1, 2]}}}",
    )
    for cast in ("CAST(s AS BIGINT)", "CAST(f AS VARCHAR)", "CAST(f AS BIGINT)", "CAST(s AS DATE)"):
        answer = db.sql(f"SELECT {cast} AS k, COUNT(*) AS n FROM t GROUP BY 1", epsilon=20)
        assert len(answer) >= 1


def test_answers_come_sorted_by_key_whatever_the_order_of_rows(build):
    orders = []
    for direction in ("ASC", "DESC"):
        db = build(
            [
                "CREATE TABLE t (u BIGINT, g VARCHAR)",
                f"INSERT INTO t SELECT j, 'g' || (j % 9) FROM range(900) r(j) ORDER BY j {direction}",
            ],
            "t: {unit: u, max_rows: 1}",
        )
        orders.append(db.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=20)["g"])
    assert orders[0] == orders[1] == sorted(orders[0])
    assert len(orders[0]) == 9


def test_types_are_read_from_the_schema_and_never_from_values(build):
    db = build(
        ["CREATE TABLE t (u BIGINT, s VARCHAR)", "INSERT INTO t SELECT j, '1' FROM range(50) r(j)"],
        "t: {unit: u, max_rows: 1}",
    )
    with pytest.raises(QueryError):
        db.sql("SELECT SUM(s) FROM t")
    assert db.sql("SELECT s, COUNT(*) FROM t GROUP BY s", epsilon=50).arrow().schema.field("s").type == pa.string()
