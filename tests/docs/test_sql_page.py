"""The SQL page is complete and true: its examples bind, and together they use every function there is."""

import re
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from hedgerow.aggregates import names
from hedgerow.backends import connect_backend
from hedgerow.catalog import bind_catalog, load_catalog
from hedgerow.compile.scalars import scalar
from hedgerow.dialects import DUCKDB
from hedgerow.errors import HedgerowError
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Call, walk
from hedgerow.plan.bind import bind
from hedgerow.plan.clauses import REFUSED
from hedgerow.plan.syntax import COMPARISONS, NAMED, PLAIN, WHOLE_OR_FLOAT
from hedgerow.sql.parse import parse

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
FUNCTIONS = re.search(r"## Functions and operators\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)[1]
ROWS = re.findall(r"^\| (`.*?) \| ", FUNCTIONS.replace("\\|", "¦"), re.MULTILINE)
SPELLED = [example.replace("¦", "|") for row in ROWS for example in re.findall(r"`([^`]+)`", row)]
NOT_WRITTEN = {
    *(name for name in allowed() if name.startswith("imposed_")),
    *("indicator", "is_there", "same_text", "one_spelling"),
    *("seconds", "clock_seconds", "week_from_sunday"),
}
"""Put there by the catalog, by an aggregate or by a join, or (the last three) written in other dialects only."""

TABLE = """CREATE TABLE t (
    u BIGINT PRIMARY KEY, x DOUBLE, y DOUBLE, i BIGINT, j BIGINT, s VARCHAR, t VARCHAR, d DATE, e DATE, m TIMESTAMP,
    z TIMESTAMPTZ, c TIME, b BOOLEAN)"""
ODD = """INSERT INTO t VALUES
    (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 'nan', 'inf', 9223372036854775807, -1, '', 'ß', 'infinity', '-infinity', 'infinity', 'infinity', '24:00', TRUE),
    (3, '-inf', 0, -9223372036854775808, -1, '2026-01-01', 'x', '0001-01-01', '9999-12-31', '-infinity', '-infinity',
        '00:00', FALSE),
    (4, 1e308, -1e308, 0, 0, 'a%', '%', '2026-02-28', '2024-02-29', '2026-01-01 23:59:59', '2026-01-01 23:59:59+00',
        '23:59:59.999999', TRUE),
    (5, -1, 5e-324, 5, 3, repeat('a', 1000), 'a', '5877642-06-25 (BC)', '5881580-07-10',
        '290309-12-22 (BC) 00:00:00', '294247-01-10 04:00:54.775806+00', '12:00', NULL)"""


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect(":memory:") as built:
        built.execute(TABLE)
        built.execute(ODD)
        yield built


@pytest.fixture(scope="module")
def bound(connection, tmp_path_factory):
    path = tmp_path_factory.mktemp("sql") / "t.yaml"
    path.write_text("dataset: t\nbudget: {epsilon: 1, delta: 1e-6}\ntables: {t: {public: true}}\n", encoding="utf-8")
    schema = connect_backend(connection).schema()
    catalog = bind_catalog(load_catalog(path), schema)
    return lambda text: bind(parse(f"SELECT {text} AS v FROM t").query, catalog, schema).root.columns[0].expr


def test_the_page_spells_out_many_examples():
    assert len(SPELLED) > 100


@pytest.mark.parametrize("example", SPELLED)
def test_every_example_on_the_page_is_accepted(bound, example):
    assert bound(example) is not None


@pytest.mark.parametrize("example", SPELLED)
def test_no_example_fails_on_odd_values(bound, connection, example):
    text = scalar(bound(example), DUCKDB)
    connection.sql(f"SELECT {text} FROM t AS t0").fetchall()
    connection.sql(f"SELECT COUNT(*) FROM t AS t0 WHERE ({text}) IS NOT NULL").fetchall()


def test_the_examples_use_every_function_that_a_query_can_name(bound):
    used = {node.function for example in SPELLED for node in walk(bound(example)) if isinstance(node, Call)}
    assert set(allowed()) - used <= NOT_WRITTEN


def test_the_examples_use_every_syntax_that_means_a_function():
    seen = {type(node) for example in SPELLED for node in parse(f"SELECT {example} FROM t").query.walk()}
    seen |= _other_dialects()
    assert {*PLAIN, *WHOLE_OR_FLOAT, *COMPARISONS} - seen == set()
    assert {name for name in NAMED if not any(f"{name}(" in example for example in SPELLED)} == set()


def _other_dialects() -> set[type]:
    """Spellings that DuckDB lacks: `<=>` of Spark."""
    return {type(node) for node in parse("SELECT x <=> y FROM t", "spark").query.walk() if isinstance(node, exp.Expr)}


@pytest.mark.parametrize("name", names())
def test_every_aggregate_is_on_the_page(name):
    assert re.search(rf"^\| `{name}\(", PAGE, re.MULTILINE)


@pytest.mark.parametrize("code", sorted({code for code, _, _ in REFUSED.values()} - {"lock", "into"}))
def test_every_clause_that_is_refused_is_on_the_page(code):
    assert re.search(rf"^\| .* \| .*`{code}`.* \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", ["RANDOM()", "NOW()", "GETENV('HOME')", "MD5(s)"])
def test_what_is_not_on_the_page_is_refused(bound, text):
    name = text.split("(", maxsplit=1)[0]
    assert f"{name}(" not in PAGE
    with pytest.raises(HedgerowError):
        bound(text)
