"""Refusals whose remedy is known carry it as edits of the text: the rewritten question is answered, or priced."""

from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.errors import Edit, HedgerowError, dump_error, edited, load_error
from hedgerow.sql.remedies import identifier

HERE = Path(__file__).parent

REWRITTEN = [
    ("SELECT AVG(agee) FROM customers", "SELECT AVG(age) FROM customers"),
    ("SELECT AVG(c.agee) AS x FROM customers c", "SELECT AVG(c.age) AS x FROM customers c"),
    ("SELECT COUNT(*) FROM custommers", "SELECT COUNT(*) FROM customers"),
    ("SELECT * FROM customers", "SELECT COUNT(*) FROM customers"),
    ("SELECT c.* FROM customers c WHERE age > 5", "SELECT COUNT(*) FROM customers c WHERE age > 5"),
    ("SELECT region, COUNT(*) FROM customers", "SELECT region, COUNT(*) FROM customers GROUP BY region"),
    (
        "SELECT region, COUNT(*) FROM customers WHERE (age > 5) ORDER BY 2",
        "SELECT region, COUNT(*) FROM customers WHERE (age > 5) GROUP BY region ORDER BY 2",
    ),
    (
        "SELECT age, region, COUNT(*) FROM customers GROUP BY age",
        "SELECT age, region, COUNT(*) FROM customers GROUP BY region, age",
    ),
    (
        "SELECT * FROM (SELECT region, COUNT(*) AS n FROM customers) AS t",
        "SELECT * FROM (SELECT region, COUNT(*) AS n FROM customers GROUP BY region) AS t",
    ),
    (
        "SELECT item.size, COUNT(*) FROM order_lines GROUP BY 1",
        'SELECT "Item.Size", COUNT(*) FROM order_lines GROUP BY 1',
    ),
    ("SELECT MEAN(age) FROM customers", "SELECT AVG(age) FROM customers"),
    ("SELECT COUNT(*) FROM customers WHERE age = NULL", "SELECT COUNT(*) FROM customers WHERE age IS NULL"),
    ("SELECT COUNT(*) FROM customers WHERE age <> NULL", "SELECT COUNT(*) FROM customers WHERE age IS NOT NULL"),
    (
        "SELECT region COUNT(*) FROM customers GROUP BY region",
        "SELECT region , COUNT(*) FROM customers GROUP BY region",
    ),
    ("SELECT COUNT(*) FRM customers", "SELECT COUNT(*) FROM customers"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with duckdb.connect(":memory:") as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
        ledger = tmp_path_factory.mktemp("rewrites") / "shop.ledger"
        with hr.connect(connection, catalog=HERE / "catalog.yaml", ledger=ledger) as opened:
            yield opened


def refused(db, query):
    with pytest.raises(HedgerowError) as caught:
        db.quote(query, epsilon=0.5)
    return caught.value


@pytest.mark.parametrize(("query", "better"), REWRITTEN, ids=[query for query, _ in REWRITTEN])
def test_a_rewrite_is_what_the_hint_asks_for_and_can_be_priced(shop, query, better):
    error = refused(shop, query)
    assert edited(query, error.rewrite) == better
    assert shop.quote(better, epsilon=0.5).charge.epsilon == 0.5


def test_missing_bounds_become_a_clip_around_the_argument(shop):
    query = "SELECT SUM(ABS(score) + 1) AS s FROM customers"
    assert edited(query, refused(shop, query).rewrite) == "SELECT SUM(CLIP(ABS(score) + 1, 0, 100)) AS s FROM customers"


def test_a_name_that_needs_quotes_is_written_with_them():
    assert [identifier(name) for name in ("age", "Age", "order", 'a"b')] == ["age", '"Age"', '"order"', '"a""b"']


def test_a_refusal_without_a_known_remedy_has_no_rewrite(shop):
    assert refused(shop, "SELECT zzzzzz FROM customers").rewrite is None
    assert refused(shop, "DROP TABLE customers").rewrite is None


def test_a_rewrite_survives_the_way_over_a_service(shop):
    query = "SELECT AVG(agee) FROM customers"
    error = refused(shop, query)
    assert load_error(dump_error(error), query).rewrite == error.rewrite == (Edit(11, 15, "age"),)
