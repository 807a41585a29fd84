"""Tables of several schemas and databases, on every engine alike: the same names, and the same integers.

`place(name)` makes an engine with `customers` and `orders` in the current schema, others of the same names in a schema
`sales`, and `odd.name` in a schema `my schema`.
"""

import sqlite3
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import duckdb
import pytest

import hedgerow as hr
from hedgerow.accounting.budget import Budget
from hedgerow.backends import connect_backend
from hedgerow.catalog import bind_catalog, load_catalog
from hedgerow.errors import CatalogError, UnknownNameError
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.sql.parse import parse

from ..internals import session_of
from .engines import clickhouse, mariadb, postgres, spark
from .test_queries import REMAINING, measured

CATALOG = """
dataset: shop
budget: {epsilon: 1.0, delta: 1e-6}
tables:
  customers: {unit: id, max_rows: 1}
  sales.customers: {unit: id, max_rows: 1}
  sales.orders:
    unit: {through: sales.customers, on: {id: id}}
    max_rows: 3
    columns: {amount: {lower: 0, upper: 9}}
  '"my schema"."odd.name"': {public: true}
"""
SCHEMAS = ("", "sales", "my schema")
ROWS = {
    ("", "customers"): [(i, 0) for i in range(4)],
    ("", "orders"): [(i, 9) for i in range(4)],
    ("sales", "customers"): [(i, 0) for i in range(7)],
    ("sales", "orders"): [(i, 2) for i in range(7)],
    ("my schema", "odd.name"): [(i, 5) for i in range(3)],
}
COUNTED = {
    "SELECT COUNT(*) FROM customers": 4,
    "SELECT COUNT(*) FROM sales.customers": 7,
    "SELECT COUNT(*) FROM SALES.Customers": 7,
    "SELECT COUNT(*) FROM sales.orders": 7,
    "SELECT COUNT(sales.orders.amount) FROM sales.orders": 7,
    'SELECT COUNT(*) FROM sales.orders AS o JOIN "my schema"."odd.name" AS p ON o.id = p.id': 3,
    "SELECT COUNT(*) FROM sales.customers WHERE id IN (SELECT id FROM sales.orders WHERE amount > 1)": 7,
}
"""The number of rows that each question finds."""


def statements(quoted, kinds="BIGINT", tail="", schemas=SCHEMAS):
    """SQL that makes the tables; `quoted` writes the name of a table in a schema, or of a schema."""
    yield from (f"CREATE SCHEMA {quoted(schema)}" for schema in schemas if schema)
    for (schema, table), rows in ROWS.items():
        name = f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)
        yield f"CREATE TABLE {name} (id {kinds}, amount {kinds}) {tail}"
        yield f"INSERT INTO {name} VALUES {', '.join(map(str, rows))}"


def double(name):
    return f'"{name}"'


def backquoted(name):
    return f"`{name}`"


def without_signs(name):
    """Spark allows letters, digits and underscores only."""
    return backquoted(name.replace(" ", "_").replace(".", "_"))


def spelled(engine, text):
    """A text about the table with an odd name, as the engine calls it."""
    return text.replace('"my schema"."odd.name"', "my_schema.odd_name") if engine == "spark" else text


@contextmanager
def on_duckdb():
    with duckdb.connect() as connection:
        for statement in statements(double):
            connection.execute(statement)
        yield connection


@contextmanager
def on_sqlite():
    with closing(sqlite3.connect(":memory:")) as connection:
        for schema in SCHEMAS[1:]:
            connection.execute(f"ATTACH ':memory:' AS {double(schema)}")
        for statement in statements(double, schemas=()):
            connection.execute(statement)
        connection.commit()
        yield connection


@contextmanager
def on_postgres():
    import psycopg  # noqa: PLC0415 - it may be missing

    with postgres.running() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in statements(double):
                connection.execute(statement)
        yield url


@contextmanager
def on_clickhouse():
    from chdb import session  # noqa: PLC0415 - it may be missing

    with session.Session() as built:
        built.query("CREATE DATABASE names_of_schemas")
        built.query("USE names_of_schemas")
        for schema in SCHEMAS[1:]:
            built.query(f"CREATE DATABASE {backquoted(schema)}")
        for statement in statements(backquoted, "Int64", "ENGINE = MergeTree ORDER BY tuple()", ()):
            built.query(statement)
        yield built
        built.query("USE default")
        for schema in (*SCHEMAS[1:], "names_of_schemas"):
            built.query(f"DROP DATABASE {backquoted(schema)}")


@contextmanager
def on_mariadb():
    import MySQLdb  # noqa: PLC0415 - it may be missing

    with mariadb.running() as socket:
        owner = MySQLdb.connect(unix_socket=socket, user="root", charset="utf8mb4", autocommit=True)
        for statement in (*mariadb.UTC, "CREATE DATABASE test", "USE test", *statements(backquoted)):
            owner.cursor().execute(statement)
        connection = mariadb.connected(socket, autocommit=True)
        yield mariadb.ibis_over(connection)
        connection.close()
        owner.close()


@contextmanager
def on_spark():
    with spark.folder_of({}) as folder:
        backend = spark.open_spark(f"spark://{folder}?cores=2&memory=2g")
        session = backend._session
        for statement in statements(without_signs, tail="USING parquet"):
            session.sql(statement)
        yield session
        for schema in SCHEMAS[1:]:
            session.sql(f"DROP SCHEMA {without_signs(schema)} CASCADE")
        for table in ("customers", "orders"):
            session.sql(f"DROP TABLE {table}")
        backend.close()


PLACES = {
    "duckdb": (on_duckdb, lambda: None),
    "sqlite": (on_sqlite, lambda: None),
    "postgres": (on_postgres, postgres.why_not),
    "clickhouse": (on_clickhouse, clickhouse.why_not),
    "mariadb": (on_mariadb, mariadb.why_not),
    "spark": (on_spark, spark.why_not),
}


@pytest.fixture(scope="module", params=PLACES)
def place(request, tmp_path_factory):
    """A backend, its schema, the catalog bound to it, and the name of the engine."""
    opened, why_not = PLACES[request.param]
    if reason := why_not():
        pytest.skip(f"NOT TESTED on {request.param}: {reason}")
    path = tmp_path_factory.mktemp(request.param) / "catalog.yaml"
    path.write_text(spelled(request.param, CATALOG), encoding="utf-8")
    declared = load_catalog(path)
    with ExitStack() as stack:
        if request.param == "spark":
            stack.enter_context(spark.compiling())
        backend = connect_backend(stack.enter_context(opened()), declared=declared.tables)
        stack.callback(backend.close)
        schema = backend.schema()
        yield backend, schema, bind_catalog(declared, schema), request.param


@pytest.mark.parametrize("text", COUNTED)
def test_a_name_means_the_table_of_its_schema(place, text):
    backend, schema, catalog, engine = place
    logical = bind(parse(spelled(engine, text)).query, catalog, schema)
    [part] = price(logical, Budget(1.0, 1e-8, "gaussian"), REMAINING, min_frequency=1).parts
    actual = measured(backend, replace(part, minimum=1))["first_pass"]
    one = 1 if not part.bounding.weighted else 1 << part.weight_bits
    assert {row[-1][-1] if isinstance(row[-1], tuple) else row[-1] for row in actual} == {COUNTED[text] * one}


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM orders", "SELECT COUNT(*) FROM archive.orders"])
def test_a_table_of_another_schema_is_not_meant(place, text):
    """`orders` of the current schema is not declared; that of `sales` is another table."""
    _, schema, catalog, _ = place
    with pytest.raises(UnknownNameError, match="There is no table") as refused:
        bind(parse(text).query, catalog, schema)
    assert "sales.orders" in refused.value.hint


def test_a_snapshot_knows_a_qualified_table(place):
    backend, schema, catalog, _ = place
    with backend.snapshot() as snapshot:
        for name in catalog.tables:
            assert snapshot.table(name) == schema.tables[name]


THERE = ("customers", "orders", 'my schema."odd.name"')
"""The names of the tables where `sales` is the current schema."""


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.yaml"
    path.write_text(CATALOG, encoding="utf-8")
    return path


def test_use_is_respected(shop, tmp_path):
    shop.write_text(shop.read_text(encoding="utf-8").replace("  customers:", "  main.customers:"), encoding="utf-8")
    with on_duckdb() as connection:
        connection.execute("USE sales")
        with hr.connect(connection, catalog=shop, ledger=tmp_path / "a.ledger") as db:
            assert set(session_of(db).catalog.tables) == {*THERE, "main.customers"}
            quote = db.quote("SELECT COUNT(*) FROM orders", epsilon=0.1, delta=1e-8)
            assert '"memory"."sales"."orders"' in quote.sql[0]


def test_a_url_names_a_schema(shop, tmp_path):
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        for statement in statements(double):
            connection.execute(statement)
    shop.write_text(shop.read_text(encoding="utf-8").replace("  customers:", "  main.customers:"), encoding="utf-8")
    with hr.connect(f"duckdb:///{file}?schema=sales", catalog=shop) as db:
        assert set(session_of(db).catalog.tables) == {*THERE, "main.customers"}
    with pytest.raises(hr.HedgerowError, match="no tables") as refused:
        hr.connect(f"duckdb:///{file}?schema=none", catalog=shop)
    assert refused.value.code == "no-tables"


def test_attached_databases_are_reached_by_three_parts(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text(
        "dataset: d\nbudget: {epsilon: 1.0, delta: 1e-6}\ntables:\n"
        "  archive.sales.orders: {unit: id, max_rows: 1}\n  orders: {public: true}\n",
        encoding="utf-8",
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders (id INT)")
        connection.execute("ATTACH ':memory:' AS archive")
        connection.execute("CREATE SCHEMA archive.sales")
        connection.execute("CREATE TABLE archive.sales.orders (id INT)")
        with hr.connect(connection, catalog=path) as db:
            [text] = db.quote("SELECT COUNT(*) FROM archive.sales.orders", epsilon=0.1, delta=1e-8).sql
            assert 'FROM "archive"."sales"."orders" AS t0' in text
            assert db.sql("SELECT id FROM orders", epsilon=0.1).arrow().num_rows == 0


def test_two_tables_of_one_name_are_two_tables(tmp_path):
    """One is public, and the other is not."""
    path = tmp_path / "catalog.yaml"
    path.write_text(
        "dataset: d\nbudget: {epsilon: 1.0, delta: 1e-6}\ntables:\n"
        "  sales.customers: {public: true}\n  customers: {unit: id, max_rows: 1}\n",
        encoding="utf-8",
    )
    with on_duckdb() as connection, hr.connect(connection, catalog=path) as db:
        assert db.sql("SELECT id FROM sales.customers", epsilon=0.1).arrow().num_rows == 7
        with pytest.raises(hr.HedgerowError) as refused:
            db.sql("SELECT id FROM customers", epsilon=0.1, delta=1e-8)
        assert refused.value.code != "unknown-table"


def test_a_name_that_could_be_two_tables_is_refused(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text(
        "dataset: d\nbudget: {epsilon: 1.0, delta: 1e-6}\ntables:\n  sales.orders: {public: true}\n", encoding="utf-8"
    )
    with on_duckdb() as connection:
        connection.execute('CREATE TABLE "sales.orders" (id INT)')
        with pytest.raises(CatalogError, match="more than one table") as refused:
            hr.connect(connection, catalog=path)
    assert refused.value.code == "catalog-ambiguous"
