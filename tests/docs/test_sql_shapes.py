"""Every query on the SQL page is answered, about as the database itself would; what it says is refused is refused."""

import math
import re
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.expressions import exact_aggregates

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- (?P<mark>\w+): (?P<said>.+?) -->\n)?^```sql\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(actual["text"], actual["mark"], actual["said"]) for actual in BLOCK.finditer(PAGE)]
SAME = [text for text, mark, _ in BLOCKS if mark is None]
OTHERWISE = [(text, said if mark == "dialect" else "duckdb") for text, mark, said in BLOCKS if mark is not None]
REFUSED = re.findall(r"^\| `((?:SELECT|WITH|DELETE) .*?)`: .*? \| `([a-z-]+)` \|", PAGE, re.MULTILINE)
TABLES = re.search(r"^```yaml\n(tables:.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]

EPSILON = 1_000
TOLERANCE = 0.05
"""At this epsilon it is more than thirty times the scale of the noise on any cell: a false alarm is rarer than 1e-9."""

HEAD = f"""
dataset: shop
budget: {{epsilon: 1000000, delta: 0.01}}
defaults: {{epsilon: {EPSILON}, delta: 1e-6, min_frequency: 5}}
"""

SCHEMA = """
CREATE MACRO clip(x, low, high) AS CASE WHEN x < low THEN low WHEN x > high THEN high ELSE x END;
CREATE TABLE regions (region VARCHAR PRIMARY KEY, country VARCHAR, people BIGINT);
INSERT INTO regions VALUES ('north', 'X', 1000), ('south', 'X', 700), ('east', 'Y', 900), ('moon', 'Z', 1);
CREATE TABLE channels (name VARCHAR PRIMARY KEY);
INSERT INTO channels VALUES ('web'), ('shop'), ('fax');
CREATE TABLE products (product_id INTEGER PRIMARY KEY, category VARCHAR);
INSERT INTO products SELECT i, ['food', 'toys', 'books'][1 + i % 3] FROM range(20) AS r(i);
CREATE TABLE customers
    (id INTEGER PRIMARY KEY, region VARCHAR, segment VARCHAR, age INTEGER, income DOUBLE, joined DATE);
INSERT INTO customers
    SELECT i, CASE WHEN i % 10 < 5 THEN 'north' WHEN i % 10 < 8 THEN 'south' ELSE 'east' END,
        ['home', 'office', 'farm'][1 + i % 3], 20 + i % 60, 100.0 * (i % 500), DATE '2024-01-01' + (i % 300)::INTEGER
    FROM range(2000) AS r(i);
CREATE TABLE orders
    (order_id INTEGER PRIMARY KEY, customer_id INTEGER, price DOUBLE, status VARCHAR, day DATE, channel VARCHAR);
INSERT INTO orders
    SELECT i, i * i % 1501, i * 7 % 500, CASE WHEN i % 5 < 3 THEN 'paid' ELSE 'open' END,
        DATE '2024-06-01' + (i % 397)::INTEGER, CASE WHEN i % 7 < 4 THEN 'web' ELSE 'shop' END
    FROM range(3000) AS r(i);
CREATE TABLE lines (order_id INTEGER, product_id INTEGER, quantity INTEGER, amount DOUBLE);
INSERT INTO lines SELECT i % 3000, i % 20, 1 + i % 9, i * 13 % 100 FROM range(7000) AS r(i);
"""


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect(":memory:") as built:
        built.execute(SCHEMA)
        yield built


@pytest.fixture(scope="module")
def connect(connection, tmp_path_factory):
    """A way to the page's tables, in a dialect."""
    path = tmp_path_factory.mktemp("shapes") / "shop.yaml"
    path.write_text(HEAD + TABLES, encoding="utf-8")
    return lambda dialect: hr.connect(connection, catalog=path, ledger=path.with_suffix(".ledger"), dialect=dialect)


@pytest.fixture(scope="module")
def database(connect):
    with connect("duckdb") as opened:
        yield opened


def in_order(rows: list[tuple]) -> list[tuple]:
    """Rows in an order that small noise does not change: by what is no number first."""
    return sorted(rows, key=lambda row: tuple(_place(cell) for cell in row))


def _place(cell: object) -> tuple[int, str]:
    return (1, "") if isinstance(cell, float) or (isinstance(cell, int) and abs(cell) > 5) else (0, str(cell))


def close(left: object, right: object) -> bool:
    """True if two cells are the same, or two numbers about the same."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return left == right


@pytest.mark.parametrize("text", SAME)
def test_every_query_on_the_page_is_answered_about_as_the_database_would(database, connection, text):
    answered = in_order([tuple(row) for row in database.sql(text)])
    plain = in_order(connection.execute(text).fetchall())
    assert len(answered) == len(plain)
    assert all(close(a, b) for one, other in zip(answered, plain, strict=True) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("text", "dialect"), OTHERWISE)
def test_queries_that_the_database_would_answer_otherwise_are_answered(connect, text, dialect):
    with connect(dialect) as database:
        assert len(database.sql(text)) > 1


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_is_not_available_is_refused_by_the_code_on_the_page(database, text, code):
    with pytest.raises(hr.HedgerowError) as caught:
        database.sql(text)
    assert caught.value.code == code


def test_declared_values_from_a_public_table_make_empty_groups_appear(database):
    (text,) = [text for text, mark, said in BLOCKS if mark == "differs" and "channel" in said]
    assert [row.channel for row in database.sql(text)] == ["fax", "shop", "web"]


@pytest.mark.parametrize(
    "name", sorted({*exact_aggregates.names(windowed=True), *exact_aggregates.names(windowed=False)})
)
def test_every_exact_aggregate_and_window_function_is_on_the_page(name):
    assert re.search(rf"^\| .*`{name}`.* \|", PAGE, re.MULTILINE)


def test_the_page_has_many_examples_of_all_three_kinds():
    assert len(SAME) > 30
    assert len(OTHERWISE) > 3
    assert len(REFUSED) > 12


def test_cells_are_compared_with_a_tolerance_that_notices():
    assert close(100, 101.0)
    assert not close(100, 110)
    assert not close("north", "south")
    assert not close(None, 0)
