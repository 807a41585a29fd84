"""`connect` says which rows have one owner by the catalog's word alone."""

import duckdb
import pytest

import hedgerow as hr

CATALOG = """
dataset: shop
budget: {epsilon: 3, delta: 1e-6}
tables:
  orders: {unit: customer, max_rows: 5}
  items: {unit: {through: orders, on: {order_id: id}}, max_rows: 5}
"""


@pytest.fixture
def connected(tmp_path, capsys):
    """The output of `connect` on standard error, for orders whose key has this constraint."""

    def connect(constraint):
        catalog = tmp_path / "shop.yaml"
        catalog.write_text(CATALOG, encoding="utf-8")
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE orders (id INTEGER {constraint}, customer INTEGER)")
            connection.execute("CREATE TABLE items (order_id INTEGER)")
            hr.connect(connection, catalog=catalog).close()
        return capsys.readouterr().err

    return connect


@pytest.mark.parametrize("constraint", ["PRIMARY KEY", "UNIQUE"])
def test_nothing_is_said_of_a_path_that_the_database_enforces(connected, constraint):
    assert "enforces" not in connected(constraint)


def test_a_path_that_nothing_enforces_is_named(connected):
    assert (
        "Nothing enforces that `orders` (id) is unique: the owners of the rows of `items` are as the catalog says"
        in connected("")
    )
