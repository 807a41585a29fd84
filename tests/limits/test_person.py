"""One person with very many rows makes no statement fail: joins see a public number of rows of each person."""

import duckdb
import pytest

import hedgerow as hr
from hedgerow.answer import NoteKind
from hedgerow.compile import program
from hedgerow.plan.join_limits import rows_kept

from ..internals import plan_of, price_of, session_of
from .conftest import HEAVY

THREE = (
    "SELECT COUNT(*) AS c FROM (SELECT DISTINCT a.customer_id, a.id AS x, b.id AS y, c.id AS z FROM orders a "
    "JOIN orders b ON a.customer_id = b.customer_id JOIN orders c ON a.customer_id = c.customer_id) AS t"
)
CATALOG = """
dataset: shop
budget: {epsilon: 100, delta: 0.5}
defaults: {epsilon: 1, delta: 1e-9, min_frequency: 1}
limits: {memory: 64MB}
tables:
  orders: {unit: customer_id, max_rows: 20}
"""
WITHOUT_SPILLING = {"memory_limit": "200MB", "temp_directory": "", "threads": "2"}


@pytest.mark.parametrize("there", [True, False])
def test_the_person_with_six_hundred_orders_makes_no_statement_run_out_of_memory(tmp_path, there):
    (tmp_path / "c.yaml").write_text(CATALOG)
    with duckdb.connect(config=WITHOUT_SPILLING) as connection:
        connection.execute("CREATE TABLE orders AS SELECT i AS id, 1 + i % 60 AS customer_id FROM range(300) t(i)")
        if there:
            connection.execute(f"INSERT INTO orders SELECT 1000 + i, 1 FROM range({HEAVY}) t(i)")
        with hr.connect(connection, catalog=tmp_path / "c.yaml", ledger=tmp_path / "l.ledger") as db:
            assert len(db.sql(THREE)) == 1


QUESTIONS = {
    "two": "SELECT SUM(a.price) AS c FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND b.day > a.day",
    "three": THREE,
    "filtered": "SELECT COUNT(*) AS c FROM orders a JOIN orders b ON a.customer_id = b.customer_id WHERE a.price > 50",
    "path": "SELECT SUM(a.amount) AS c FROM lines a JOIN lines b ON a.order_id = b.order_id AND a.amount < b.amount",
    "path and its table": "SELECT SUM(a.amount) AS c FROM lines a JOIN orders o ON o.id = a.order_id "
    "JOIN lines b ON b.order_id = o.id AND a.amount < b.amount WHERE o.price > 0",
    "outer": "SELECT COUNT(*) AS c FROM orders a LEFT JOIN orders b ON a.customer_id = b.customer_id AND b.price < 3",
    "nested": "SELECT COUNT(*) AS c FROM orders a WHERE a.price > "
    "(SELECT AVG(b.price) FROM orders b WHERE b.customer_id = a.customer_id)",
    "exists": "SELECT COUNT(*) AS c FROM orders a WHERE EXISTS "
    "(SELECT 1 FROM orders b WHERE b.customer_id = a.customer_id AND b.price > a.price)",
    "grouped": "SELECT c.region, COUNT(*) AS c FROM customers c JOIN orders a ON c.id = a.customer_id "
    "JOIN orders b ON c.id = b.customer_id GROUP BY c.region",
    "public": "SELECT COUNT(*) AS c FROM orders a CROSS JOIN numbers",
}
KEPT = {
    "two": 22,
    "three": 7,
    "filtered": 22,
    "path": 22,
    "path and its table": 22,
    "outer": 22,
    "nested": 22,
    "exists": 22,
    "grouped": 22,
}
SMALL = {"rows_per_person": 500}


def exact(db, query):
    """The sums of a question before any noise, and how many rows of each person it joins."""
    (part,) = price_of(db, query)[1].parts
    steps = program(part, session_of(db).backend.dialect, "0" * 32)
    with session_of(db).backend.snapshot() as snapshot:
        actual = snapshot.run(steps.first_pass)
    names = steps.first_pass.integers
    return sorted(zip(*(actual.exact_integers(name).tolist() for name in names), strict=True)), rows_kept(part.release)


@pytest.fixture(scope="module")
def expected(shops, tmp_path_factory):
    """DuckDB's features."""
    with shops("duckdb").connected(tmp_path_factory.mktemp("expected"), **SMALL) as db:
        return {name: exact(db, query) for name, query in QUESTIONS.items() if name in KEPT}


@pytest.mark.parametrize("name", KEPT)
def test_every_engine_keeps_the_same_rows_of_a_person(shop, tmp_path, expected, name):
    with shop.connected(tmp_path, **SMALL) as db:
        sums, kept = exact(db, QUESTIONS[name])
    assert set(kept.values()) == {KEPT[name]}
    assert sums == expected[name][0]


def test_people_within_the_limit_lose_nothing(shops, tmp_path):
    """Two people of five orders, joined with themselves: 25 pairs each."""
    query = "SELECT COUNT(*) AS c FROM orders a JOIN orders b ON a.customer_id = b.customer_id WHERE a.customer_id < 4"
    query += " AND a.customer_id > 1"
    with shops("duckdb").connected(tmp_path, rows_per_person=25) as db:
        [(weighted,)], kept = exact(db, query)
        assert kept == {"orders": 5}
        assert weighted == 2 * 25 * 2**30


def test_public_rows_that_each_row_meets_count_too(shops, tmp_path):
    with shops("duckdb").connected(tmp_path, rows_per_person=20_000) as db:
        assert exact(db, QUESTIONS["public"])[1] == {"orders": 10}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) AS c FROM orders JOIN customers ON customers.id = orders.customer_id",
        "SELECT COUNT(*) AS c FROM lines JOIN orders ON orders.id = lines.order_id",
        "SELECT COUNT(*) AS c FROM orders JOIN nations ON nations.id = orders.id",
        "SELECT COUNT(*) AS c FROM orders WHERE id IN (SELECT id FROM nations)",
        "SELECT COUNT(*) AS c FROM orders AS a JOIN orders AS b ON a.id = b.id",
        "SELECT AVG(n) AS c FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS t",
    ],
)
def test_joins_that_multiply_nobodys_rows_are_left_alone(shops, tmp_path, query):
    with shops("duckdb").connected(tmp_path) as db:
        logical = plan_of(db, query)
        assert [rows_kept(release) for release in logical.releases] == [{}]


TOO_MANY = [
    ("SELECT COUNT(*) FROM customers, nations a, nations b, nations c, nations d, nations e, nations f", "2.4e+08"),
    (f"SELECT COUNT(*) FROM {', '.join(f'nations n{i}' for i in range(14))}", "3.7e+19"),
    ("SELECT a.id FROM nations a, nations b, numbers c, numbers d, numbers e, numbers f", "1.0e+16"),
    ("SELECT COUNT(*) FROM (SELECT a.n FROM numbers a, numbers b, numbers c, numbers d) AS t", "1.6e+13"),
    (
        "SELECT COUNT(*) FROM customers LEFT JOIN numbers a ON a.n > age LEFT JOIN numbers b ON b.n > a.n, numbers c",
        "8.0e+09",
    ),
    (
        "SELECT COUNT(*) FROM customers WHERE EXISTS (SELECT 1 FROM numbers a, numbers b, numbers c WHERE a.n > age)",
        "8.0e+09",
    ),
]


@pytest.mark.parametrize(("query", "rows"), TOO_MANY)
def test_a_statement_whose_joins_could_make_too_many_rows_is_refused_and_costs_nothing(shops, tmp_path, query, rows):
    with shops("duckdb").connected(tmp_path, rows_per_person=10**6) as db:
        with pytest.raises(hr.UnsupportedSQLError) as caught:
            db.sql(query)
        assert caught.value.code == "too-many-joined-rows"
        assert rows in caught.value.message
        assert db.budget.queries == 0


def test_declared_sizes_decide_what_is_refused(tmp_path):
    for size, refused in (("1e7", False), ("1e9", True)):
        text = CATALOG.replace("max_rows: 20", f"max_rows: 20, size: {size}")
        (tmp_path / "c.yaml").write_text(text.replace("memory: 64MB", "joined_rows: 1e9"))
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE orders AS SELECT i AS id, 1 + i % 60 AS customer_id FROM range(300) t(i)")
            with hr.connect(connection, catalog=tmp_path / "c.yaml", ledger=tmp_path / f"{size}.ledger") as db:
                query = "SELECT COUNT(*) AS c FROM orders a JOIN orders b ON a.customer_id = b.customer_id"
                if refused:
                    with pytest.raises(hr.UnsupportedSQLError):
                        db.sql(query)
                else:
                    assert len(db.sql(query)) == 1


@pytest.mark.parametrize(("query", "said"), [(THREE, ("at most 170 rows of 'orders'",)), (QUESTIONS["two"], ())])
def test_an_answer_says_where_few_rows_of_a_person_are_joined(shops, tmp_path, query, said):
    with shops("duckdb").connected(tmp_path) as db:
        notes = [
            note.text
            for note in db.sql(query.replace("SELECT DISTINCT", "SELECT")).notes
            if note.kind is NoteKind.JOIN_LIMIT
        ]
    assert len(notes) == len(said)
    assert all(words in note for words, note in zip(said, notes, strict=True))
