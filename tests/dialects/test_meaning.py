"""Engines of which no server is at hand: what is written for them means what DuckDB's own spelling means.

Read by a parser of their dialect, and run on DuckDB (see `reading`).
"""

import math

import pytest
import sqlglot

from hedgerow.backends.duckdb import DuckDB
from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DIALECTS, DUCKDB
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.types import Type

from ..conformance.questions import CLAUSES, KEYS
from ..conformance.tables import Table, everything, nasty, reference
from ..conformance.test_queries import measured, planned
from ..conformance.values import same
from ..expressions.samples import COLUMNS, calls
from .reading import ENGINES, ReadAs, parser, translated

FINITE = {"mssql", "mysql"}
"""Engines without infinity and NaN."""

WHOLE = {"trino": "divide_whole", "mssql": "divide_whole trunc_week", "snowflake": "divide_whole"}
"""Engines on which a division of whole numbers is whole, which the parser does not know."""

LACKING = {("mssql", "substring"), ("mssql", "left"), ("mssql", "trim"), ("mysql", "trim")}

TEXT = [column for column in COLUMNS if column.type is Type.TEXT]
PATTERNS = ["%", "", "a%", "%\\%", "%c", "_b%", "%!%b%", "%[a]%", "O'Neil", "%😀%", "x%x"]
WITH_CONSTANTS = [
    *(("like", (pattern,)) for pattern in PATTERNS),
    *(("like_escape", (pattern, "!")) for pattern in ("a!!!%b%", "%!_c", "%!!%")),
    *((name, (sought,)) for name in ("starts_with", "ends_with", "contains") for sought in ("", "%", "\\", "ab ", "é")),
    *(("substring", places) for places in ((1, 0), (2, 3), (3,), (1, 10_000))),
    *(("left", (count,)) for count in (0, 1, 3)),
    *((name, signs) for name in ("trim", "ltrim", "rtrim") for signs in ((), ("ab",), ("\\ ",))),
]
"""Functions whose second argument is a constant, with constants of all kinds."""


def plain(value):
    """True if an engine without infinity, that leaves blanks at the end alone, can tell a value from all others."""
    if isinstance(value, float):
        return math.isfinite(value) and (value == 0 or 1e-100 < abs(value) < 1e100)
    return not (isinstance(value, str) and value.endswith(" "))


@pytest.fixture(scope="module", params=ENGINES)
def rows(request):
    """The name of an engine, and a table of values that it can hold."""
    table = nasty()
    kept = [row for row in table.rows if request.param not in FINITE or all(map(plain, row))]
    wide = {"BIGINT": "HUGEINT"} if request.param == "snowflake" else {}
    columns = {name: wide.get(native, native) for name, native in table.columns.items()}
    built = {"nasty": table, "wide": Table(columns, kept)}
    with reference(built) as connection:
        backend = ReadAs(request.param, connection, DuckDB(connection, handed_in=True).schema())
        yield request.param, backend, connection, [row[0] for row in kept]


def written(expr, dialect):
    """The text, or None where the engine lacks it."""
    try:
        return scalar(expr, dialect)
    except UnsupportedSQLError as refusal:
        assert refusal.code == "engine-lacks"  # noqa: PT017 - any other refusal is a fault
        return None


@pytest.mark.parametrize("function", sorted(allowed()))
def test_a_function_means_the_same(rows, function):
    compare(rows, function, list(calls(function)))


@pytest.mark.parametrize(
    "function", ["like", "like_escape", "starts_with", "ends_with", "contains", "substring", "left", "trim"]
)
def test_a_function_with_constants_means_the_same(rows, function):
    exprs = [_with_constants(name, values) for name, values in WITH_CONSTANTS if name.endswith(function)]
    assert compare(rows, function, exprs) or (rows[0], function) in LACKING


def _with_constants(name, values):
    constants = [Literal(value, Type.TEXT if isinstance(value, str) else Type.INTEGER) for value in values]
    return Call(name, (TEXT[0], *constants), allowed()[name].signature([Type.TEXT, *(c.type for c in constants)]))


def compare(rows, function, exprs):
    """Run what the engine has of `exprs`; how many that are."""
    name, backend, connection, kept = rows
    actual = [(expr, text) for expr in exprs if (text := written(expr, backend.dialect)) is not None]
    theirs = _evaluated(
        connection, lambda sql: _divided(translated(sql, name), name, function), [t for _, t in actual], "wide"
    )
    ours = _evaluated(connection, str, [scalar(expr, DUCKDB) for expr, _ in actual], "nasty")
    for place, (expr, text) in enumerate(actual):
        pairs = [(ours[i][place], _read(theirs[i][place], expr.type)) for i in kept]
        assert not [pair for pair in pairs if not _same(*pair)][:3], text
    return len(actual)


def _evaluated(connection, translate, texts, table):
    """All values of all expressions, by row."""
    listed = "".join(f", {text} AS c{place}" for place, text in enumerate(texts))
    return {row[0]: row[1:] for row in connection.sql(translate(f"SELECT id{listed} FROM {table}")).fetchall()}


def _divided(sql, name, function):
    return sql.replace(" / ", " // ") if function in WHOLE.get(name, "").split() else sql


def _read(value, kind):
    """As `backends.tables` reads what an engine sends."""
    if value is None:
        return None
    return bool(value) if kind is Type.BOOLEAN else value.decode() if isinstance(value, bytes) else value


def _same(ours, theirs):
    return same(ours, theirs, close=isinstance(ours, float))


@pytest.fixture(scope="module")
def shop():
    with reference(everything()) as connection:
        yield connection, DuckDB(connection, handed_in=True), {}


GROUPED = "SELECT {} AS k, COUNT(*) AS n, SUM(amount) AS s, MEDIAN(amount) AS m FROM orders GROUP BY 1"
QUESTIONS = [
    *(GROUPED.format(key) for key in KEYS[:4]),
    "SELECT COUNT(*) AS n, SUM(amount) AS s, VAR_POP(amount) AS v, COUNT(DISTINCT channel) AS c FROM orders",
    *CLAUSES,
]
FEW = 5


@pytest.mark.parametrize(("mechanism", "questions"), [("gaussian", QUESTIONS), ("laplace", QUESTIONS[:FEW])])
@pytest.mark.parametrize("name", ENGINES)
def test_statements_mean_the_same_integers(shop, name, mechanism, questions):
    connection, duckdb, known = shop
    schema, refused = duckdb.schema(), 0
    backend = ReadAs(name, connection, schema)
    for text in questions:
        for place, part in enumerate(planned(schema, text, mechanism=mechanism)):
            try:
                actual = measured(backend, part)
            except UnsupportedSQLError as refusal:
                assert refusal.code == "engine-lacks"  # noqa: PT017 - any other refusal is a fault
                refused += 1
                continue
            expected = known.get((text, place, mechanism)) or measured(duckdb, part)
            known[text, place, mechanism] = expected
            assert actual == expected, text
    assert refused <= FEW


NASTY_TEXTS = [
    "",
    "'",
    "''",
    "\\",
    "\\'",
    "'; DROP TABLE t; --",
    "a\nb\r",
    "\\n",
    '"',
    "`",
    "😀é",
    "%_[",
    "$$",
    "{x}",
    "?",
    "N'",
]


@pytest.mark.parametrize("name", ENGINES)
def test_a_text_is_read_as_it_was_written(shop, name):
    connection, duckdb, _ = shop
    backend = ReadAs(name, connection, duckdb.schema())
    for text in NASTY_TEXTS:
        written_down = backend.dialect.string(text)
        if written_down.startswith("CONVERT(X'"):
            assert bytes.fromhex(written_down.removeprefix("CONVERT(X'").partition("'")[0]).decode() == text
            continue
        [statement] = sqlglot.parse(f"SELECT {written_down} AS v", read=parser(name))
        [literal] = statement.expressions
        assert literal.this.name == text


@pytest.mark.parametrize("name", ENGINES)
def test_a_text_with_a_zero_character_is_refused(name):
    with pytest.raises(UnsupportedSQLError) as refused:
        DIALECTS[name]().string("a\x00b")
    assert refused.value.code == "engine-lacks"


@pytest.mark.parametrize("name", ENGINES)
def test_a_name_is_read_as_it_was_written(name):
    for column in ("a b", "a`b", 'a"b', "a]b", "SELECT", "é"):
        [statement] = sqlglot.parse(f"SELECT {DIALECTS[name]().identifier(column)} FROM t", read=parser(name))
        [actual] = statement.expressions
        assert (actual.name, actual.this.quoted) == (column, True)
