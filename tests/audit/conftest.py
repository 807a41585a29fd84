"""A shop with empty tables: all that an audit reads of a database is its shape."""

import duckdb
import pytest

from hedgerow.audit import audit
from hedgerow.catalog import load_catalog

FALSE_ALARM = 1e-9
"""Rate at which an audit may blame the engine although it is right."""

TABLES = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, region VARCHAR, income DOUBLE, joined DATE, vip BOOLEAN NOT NULL);
CREATE TABLE orders (number BIGINT PRIMARY KEY, customer_id BIGINT, city VARCHAR, price DOUBLE, pieces SMALLINT);
CREATE TABLE lines (order_number BIGINT, product INTEGER, quantity INTEGER, note VARCHAR NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, category VARCHAR);
INSERT INTO products SELECT i, 'kind ' || (i % 4) FROM range(20) AS r(i);
"""

CATALOG = """
dataset: shop
budget: {epsilon: 40, delta: 1e-4, pure_epsilon: 20}
defaults: {epsilon: 1, delta: 1e-6, min_frequency: 1}
tables:
  customers:
    unit: id
    unit_unique: true
    columns:
      income: {lower: 0, upper: 100000}
      region: {values: [north, south, west]}
  orders:
    unit: customer_id
    max_rows: 10
    max_groups: 2
    columns:
      price: {lower: 0, upper: 500}
  lines:
    unit: {through: orders, on: {order_number: number}}
    max_rows: 20
    max_groups: 2
    columns:
      quantity: {lower: 0, upper: 10}
  products: {public: true}
"""


@pytest.fixture(scope="session")
def shop():
    with duckdb.connect(":memory:") as connection:
        connection.execute(TABLES)
        yield connection


@pytest.fixture(scope="session")
def catalog(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "shop.yaml"
    path.write_text(CATALOG, encoding="utf-8")
    return load_catalog(path)


@pytest.fixture(scope="session")
def audited(shop, catalog):
    """Audits a query about the shop; quickly, unless it is said otherwise."""

    def run(query, **options):
        return audit(query, **{"source": shop, "catalog": catalog, "depth": "release", **options})

    return run
