"""Made-up databases have the owner's shape, and neighbours differ in one person."""

from dataclasses import replace

import duckdb
import pytest

from hedgerow.audit import KINDS, audit
from hedgerow.audit.blueprint import draw_up
from hedgerow.audit.people import Person, crowd, sheets
from hedgerow.audit.repetition import AuditQuestion, asking
from hedgerow.audit.run import plan
from hedgerow.backends import connect_backend
from hedgerow.catalog import BudgetPolicy, Catalog, DeclaredTable, load_catalog
from hedgerow.catalog.model import DeclaredColumn
from hedgerow.errors import BudgetError, ConditionNotMet, ParameterError

WALL = """
CREATE TYPE mood AS ENUM ('good', 'it''s bad');
CREATE TABLE t (
    u UUID UNIQUE, a TINYINT NOT NULL, b UBIGINT, c HUGEINT, d DECIMAL(4, 1) NOT NULL, e FLOAT, f mood NOT NULL,
    g TIMESTAMP NOT NULL, h TIME, i DATE NOT NULL, j BOOLEAN NOT NULL, k VARCHAR[], l UUID NOT NULL, m BLOB,
    n INTERVAL, o VARCHAR NOT NULL, p STRUCT(x INTEGER) NOT NULL, UNIQUE (l, a)
)
"""
WALLED = Catalog(
    "wall",
    BudgetPolicy(10.0, 1e-5, 5.0),
    {"t": DeclaredTable("t", unit="u", max_rows=2, columns={"d": DeclaredColumn("d", lower=-5, upper=5)})},
)


@pytest.fixture(scope="module")
def blueprint(shop, catalog):
    return draw_up(catalog, connect_backend(shop))


@pytest.fixture
def planned(blueprint):
    """The pairs for a query."""

    def pairs(query, kinds=KINDS, **options):
        question = AuditQuestion(query, {"epsilon": 2.0, "mechanism": "laplace", "reuse": False, **options}, "duckdb")
        with asking(blueprint, blueprint.catalog, question) as asker:
            (bought,) = asker.ask()
        return plan(blueprint, question, bought, kinds)

    return pairs


def test_a_database_is_made_with_the_owners_types_and_keys(shop, blueprint):
    theirs = connect_backend(shop).schema()
    with blueprint.build() as connection:
        assert connect_backend(connection).schema() == theirs


def test_a_database_is_made_with_the_owners_schemas():
    with duckdb.connect() as owners:
        owners.execute("CREATE SCHEMA sales")
        owners.execute("ATTACH ':memory:' AS archive")
        owners.execute("CREATE SCHEMA archive.sales")
        for name in ("t", "sales.t", "archive.sales.t"):
            owners.execute(f"CREATE TABLE {name} (u INTEGER UNIQUE)")
        tables = {name: DeclaredTable(name, unit="u", max_rows=1) for name in ("t", "sales.t", "archive.sales.t")}
        backend = connect_backend(owners)
        with draw_up(Catalog("many", BudgetPolicy(10.0, 1e-5), tables), backend).build() as connection:
            assert connect_backend(connection).schema() == backend.schema()


def test_public_tables_have_the_owners_rows_and_private_ones_none(shop, blueprint):
    with blueprint.build() as connection:
        products = [
            database.execute("SELECT * FROM products ORDER BY id").fetchall() for database in (connection, shop)
        ]
        assert products[0] == products[1] != []
        assert connection.execute("SELECT COUNT(*) FROM customers").fetchone() == (0,)


def test_no_private_row_of_the_source_is_read(catalog):
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE products (id INTEGER, category VARCHAR)")
        read = "error('a private row was read')::VARCHAR"
        connection.execute(f"CREATE VIEW customers AS SELECT 1::BIGINT AS id, {read} AS region, 1.0::DOUBLE AS income")
        connection.execute(
            f"CREATE VIEW orders AS SELECT 1::BIGINT AS number, 1::BIGINT AS customer_id, {read} AS city, "
            "1.0::DOUBLE AS price"
        )
        connection.execute("CREATE TABLE lines (order_number BIGINT, product INTEGER, quantity INTEGER)")
        report = audit(
            "SELECT city, SUM(price) FROM orders GROUP BY city",
            source=connection,
            catalog=catalog,
            runs=20,
            depth="release",
            only=["high values"],
        )
        with pytest.raises(duckdb.Error, match="private row"):
            connection.execute("SELECT city FROM orders").fetchall()
    assert len(report.pairs) == 1


def test_rows_follow_keys_and_paths(blueprint):
    built = sheets(blueprint, ["lines", "customers"], [])
    assert [sheet.name for sheet in built] == ["customers", "orders", "lines"]
    person = Person(({("lines", "note"): "x", ("customers", "vip"): "true"},), copies=3)
    people = crowd(built, [(5, person)])
    with blueprint.build() as connection:
        people.settle(blueprint, connection)
        counts = [connection.execute(f"SELECT COUNT(*) FROM {sheet.name}").fetchone()[0] for sheet in built]
        joined = connection.execute(
            "SELECT c.id, COUNT(*) FROM lines JOIN orders o ON order_number = o.number "
            "JOIN customers c ON o.customer_id = c.id GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert counts == [5, 15, 15]
    assert joined == [(i + 1, 3) for i in range(5)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT city, COUNT(*), SUM(price) FROM orders GROUP BY city",
        "SELECT region, AVG(income) FROM customers WHERE vip GROUP BY region",
    ],
)
def test_neighbours_differ_in_the_rows_of_one_person_who_is_new(planned, query):
    unit = {"customers": 0, "orders": 1}
    actual = planned(query, min_frequency=3)
    assert len(actual.pairs) >= 4
    for pair in actual.pairs:
        without, joined = pair.sides()
        newcomer = str(without.size + 1)
        for table, rows in joined.rows.items():
            before = without.rows.get(table, [])
            assert rows[: len(before)] == before
            assert {row[unit[table]] for row in rows[len(before) :]} == {newcomer}
            assert newcomer not in {row[unit[table]] for row in before}


def test_pivotal_groups_have_one_person_less_than_the_least(planned):
    pairs = {
        pair.kind: pair
        for pair in planned("SELECT city, COUNT(DISTINCT customer_id) FROM orders GROUP BY city", min_frequency=7).pairs
    }
    assert pairs["pivotal person"].crowd.size == 6
    assert pairs["pivotal everywhere"].crowd.size % 6 == 0
    assert pairs["pivotal everywhere"].crowd.size > 6 * 2
    assert len({example["orders", "city"] for example in pairs["pivotal everywhere"].newcomer.examples}) > 2


def test_extreme_values_lie_far_beyond_the_bounds(planned):
    pairs = {
        pair.kind: pair
        for pair in planned("SELECT AVG(price), SUM(pieces) FROM orders", bounds={"pieces": (0, 9)}).pairs
    }
    high, low = (pairs[f"{end} values"].newcomer.examples[0] for end in ("high", "low"))
    assert (float(high["orders", "price"]), high["orders", "pieces"]) == (float("inf"), "32767")
    assert float(low["orders", "price"]) == float("-inf")
    assert pairs["many rows"].newcomer.copies == 200


def test_odd_rows_have_null_nan_infinity_and_the_ends_of_types(planned):
    pairs = {
        pair.kind: pair for pair in planned("SELECT SUM(price), COUNT(pieces), COUNT(DISTINCT city) FROM orders").pairs
    }
    cells = {example["orders", name] for example in pairs["odd rows"].newcomer.examples for name in ("price", "pieces")}
    assert {None, "nan", "inf", "-inf", "32767", "-32767"} <= cells


FINDABLE = [
    "SELECT COUNT(*) FROM customers WHERE region = 'south' AND income > 1234 AND joined >= DATE '2021-03-04'",
    "SELECT EXTRACT(year FROM joined), COUNT(*) FROM customers WHERE EXTRACT(year FROM joined) = 1999 GROUP BY 1",
    "SELECT category, SUM(quantity) FROM lines JOIN products ON id = product GROUP BY 1",
    "SELECT COUNT(*) FROM lines JOIN orders ON number = order_number WHERE city LIKE 'Par%' AND quantity > 3",
    "WITH t AS (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY 1) SELECT COUNT(*) FROM t WHERE n >= 3",
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.price < b.price",
    "SELECT COUNT(*) FROM customers c ANTI JOIN orders o ON o.customer_id = c.id",
    "SELECT COUNT(*) FROM lines WHERE product IN (SELECT id FROM products WHERE category = 'kind 2')",
    "SELECT MEDIAN(price) FROM orders WHERE city IS NULL OR city = 'x' || 'y'",
]


@pytest.mark.parametrize("query", FINDABLE)
def test_people_are_found_whom_a_query_reads(planned, query):
    assert planned(query).pairs


def test_a_query_that_nobody_can_be_in_is_said_to_be_one(audited):
    with pytest.raises(ConditionNotMet, match="could not generate a person"):
        audited("SELECT COUNT(*) FROM customers WHERE income < 1 AND income > 2")


def test_an_audit_that_would_compare_nothing_is_refused(planned, monkeypatch):
    monkeypatch.setattr("hedgerow.audit.run._can_reveal", lambda *_: False)
    with pytest.raises(ConditionNotMet, match="changes a number of this statement: alone"):
        planned("SELECT COUNT(*) FROM customers", ["alone"])


def test_public_tables_have_nobody_to_audit(audited):
    with pytest.raises(ConditionNotMet, match="only public tables"):
        audited("SELECT COUNT(*) FROM products")


def test_columns_of_all_types_can_be_filled():
    with duckdb.connect(":memory:") as connection:
        connection.execute(WALL)
        query = "SELECT f, AVG(d), COUNT(*) FROM t WHERE a > 3 AND l IS NOT NULL GROUP BY f"
        options = {"epsilon": 2, "delta": 1e-6, "runs": 20, "depth": "release", "min_frequency": 10}
        kinds = ["high values", "many groups", "odd rows"]
        report = audit(query, source=connection, catalog=WALLED, only=kinds, **options)
    assert [pair.kind for pair in report.pairs] == kinds
    assert report.passed


def test_keys_without_room_for_people_are_said_to_have_none():
    narrow = Catalog("narrow", BudgetPolicy(10.0, 1e-5), {"t": DeclaredTable("t", unit="u", unit_unique=True)})
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (u TINYINT PRIMARY KEY)")
        with pytest.raises(ConditionNotMet, match="No rows could be generated"):
            audit("SELECT COUNT(*) FROM t", source=connection, catalog=narrow, epsilon=0.1, delta=1e-6, runs=20)


def test_what_the_owner_does_not_allow_is_refused_as_ever(audited, shop, catalog):
    with pytest.raises(BudgetError):
        audited("SELECT COUNT(*) FROM customers", epsilon=30, mechanism="laplace")
    strict = replace(catalog, budget=replace(catalog.budget, epsilon=0.01, pure_epsilon=0.0))
    with pytest.raises(BudgetError):
        audit("SELECT COUNT(*) FROM customers", source=shop, catalog=strict, mechanism="laplace")


def test_a_budget_for_one_statement_is_enough_for_any_number_of_runs(shop, catalog):
    tight = replace(catalog, budget=replace(catalog.budget, epsilon=1.0, pure_epsilon=1.0))
    options = {"source": shop, "catalog": tight, "epsilon": 1, "mechanism": "laplace", "only": ["alone"]}
    report = audit("SELECT COUNT(*) FROM customers", runs=30, depth="engine", **options)
    assert not any("fails" in pair.epsilon.event for pair in report.pairs)


@pytest.mark.parametrize(
    "options",
    [
        {"runs": 0},
        {"runs": True},
        {"runs": 2.5},
        {"confidence": 1.0},
        {"confidence": float("nan")},
        {"confidence": True},
        {"depth": "shallow"},
        {"only": []},
        {"only": ["nobody"]},
        {"only": "alone"},
    ],
)
def test_parameters_that_cannot_be_are_refused(audited, options):
    with pytest.raises(ParameterError):
        audited("SELECT COUNT(*) FROM customers", **options)


def test_a_catalog_that_names_no_such_table_is_refused(shop, tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text("dataset: x\nbudget: {epsilon: 1, delta: 1e-6}\ntables: {nothing: {unit: id, max_rows: 1}}\n")
    with pytest.raises(Exception, match="nothing"):
        audit("SELECT COUNT(*) FROM nothing", source=shop, catalog=load_catalog(path))
