"""The catalog against the schema of a database."""

import pytest

from hedgerow.catalog import BudgetPolicy, Catalog, DeclaredTable, Through, bind_catalog, codes
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema

TEXT = """\
dataset: shop
budget: {epsilon: 3, delta: 1e-6}
tables:
  CUSTOMERS:
    unit: id
    columns:
      Income: {lower: 0, upper: 250000}
      REGION: {values: [north, south]}
  Orders:
    unit: Customer_ID
  ORDER_LINES:
    unit: {through: ORDERS, on: {Order_ID: ID}}
  countries: {public: true}
"""


@pytest.fixture
def bind(load, shop):
    return lambda text, schema=shop: bind_catalog(load(text), schema)


def _refusal(bind, text, *arguments):
    with pytest.raises(CatalogError) as caught:
        bind(text, *arguments)
    return caught.value


def test_names_take_the_spelling_of_the_database(bind):
    catalog = bind(TEXT)
    assert list(catalog.tables) == ["Customers", "orders", "order_lines", "countries"]
    assert [table.name for table in catalog.tables.values()] == list(catalog.tables)
    assert catalog.tables["Customers"].unit == "ID"
    assert list(catalog.tables["Customers"].columns) == ["income", "region"]
    assert catalog.tables["Customers"].columns["income"].name == "income"
    assert catalog.tables["orders"].unit == "customer_id"
    assert catalog.tables["order_lines"].unit == Through("orders", (("order_id", "id"),))


def test_all_else_stays_as_it_was(bind, load):
    before, after = load(TEXT), bind(TEXT)
    assert after.budget == before.budget
    assert after.file == "shop.yaml"
    assert after.tables["Customers"].columns["region"].values == ("north", "south")
    assert after.span("tables", "Customers", "unit").line == 5


def test_binding_twice_changes_nothing_more(bind, shop):
    once = bind(TEXT)
    assert bind_catalog(once, shop) == once


TABLE = """\
dataset: shop
budget: {{epsilon: 3, delta: 1e-6}}
tables:
  orders: {{unit: customer_id}}
  customers:
    unit: id
    columns:
      {}
"""


@pytest.mark.parametrize(
    "column",
    [
        "income: {lower: 0, upper: 1}",
        "income: {values: [1, 2.5]}",
        "id: {lower: 0, upper: 1, values: [1, 2]}",
        "region: {values: ['1', 'true']}",
        "region: {type: float, lower: 0, upper: 1}",
        "region: {type: boolean, values: [true]}",
        "active: {values: [true, false]}",
        "active: {type: integer, lower: 0, upper: 1}",
        "joined: {type: timestamp}",
        "income: {type: integer}",
        "shape: {hidden: true}",
        "shape:",
        "shape: {type: integer, lower: 0, upper: 1}",
    ],
)
def test_a_declaration_that_the_type_can_carry_is_accepted(bind, column):
    assert "Customers" in bind(TABLE.format(column)).tables


@pytest.mark.parametrize(
    ("column", "phrase"),
    [
        ("region: {lower: 0, upper: 1}", "only numbers have bounds"),
        ("joined: {lower: 0, upper: 1}", "only numbers have bounds"),
        ("active: {lower: 0, upper: 1}", "only numbers have bounds"),
        ("shape: {lower: 0, upper: 1}", "only numbers have bounds"),
        ("income: {type: text}", "no safe way"),
        ("joined: {type: integer}", "no safe way"),
        ("id: {type: date}", "no safe way"),
        ("region: {values: [1, 2]}", "never equals `1`. Write text"),
        ("region: {values: [true]}", "never equals `true`"),
        ("id: {values: ['1']}", 'never equals `"1"`. Write whole numbers'),
        ("id: {values: [1, 2.5]}", "never equals `2.5`"),
        ("income: {values: [true]}", "Write numbers"),
        ("active: {values: [1, 0]}", "[true, false]"),
        ("joined: {values: [2020-01-01]}", "in a view"),
        ("shape: {values: [a]}", "in a view"),
        ("region: {type: float, values: [a]}", "Write numbers"),
    ],
)
def test_a_declaration_that_the_type_cannot_carry_is_refused_at_its_line(bind, column, phrase):
    error = _refusal(bind, TABLE.format(column))
    assert error.code == codes.TYPE
    assert error.message.startswith("shop.yaml:8: ")
    assert phrase in str(error)


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "phrase"),
    [
        ("  Orders:", "  Order_s:", 9, codes.UNKNOWN_TABLE, "Did you mean `orders`?"),
        ("  countries:", "  zzz:", 13, codes.UNKNOWN_TABLE, "`Customers`, `countries`"),
        ("unit: id", "unit: customer", 5, codes.UNKNOWN_COLUMN, "`customer` is not a column of `Customers`"),
        ("Income:", "incme:", 7, codes.UNKNOWN_COLUMN, "Did you mean `income`?"),
        ("{Order_ID: ID}", "{order: ID}", 12, codes.UNKNOWN_COLUMN, "column of `order_lines`"),
        ("{Order_ID: ID}", "{order_id: key}", 12, codes.UNKNOWN_COLUMN, "column of `orders`"),
        ("{Order_ID: ID}", "{code: ID}", 12, codes.TYPE, "never equal"),
    ],
)
def test_a_name_that_the_database_does_not_have_is_refused_at_its_line(bind, old, new, line, code, phrase):
    text = TEXT.replace(old, new).replace("through: ORDERS", "through: orders")
    text = text if new != "  Order_s:" else text.replace("through: orders", "through: Order_s")
    error = _refusal(bind, text)
    assert error.code == code
    assert error.span.line == line
    assert error.message.startswith(f"shop.yaml:{line}: ")
    assert phrase in str(error)


def test_a_table_in_two_spellings_is_refused_even_if_one_is_exact(bind, shop, make_table):
    both = Schema({**shop.tables, "ORDERS": make_table("ORDERS", [], id=Type.INTEGER)})
    error = _refusal(bind, TEXT, both)
    assert (error.code, error.span.line) == (codes.AMBIGUOUS, 9)
    assert "`orders`, `ORDERS`" in error.message


def test_a_column_in_two_spellings_is_refused_only_where_it_is_named(bind, shop, make_table):
    twice = make_table("orders", [["id"]], id=Type.INTEGER, customer_id=Type.INTEGER, price=Type.FLOAT, PRICE=Type.TEXT)
    both = Schema({**shop.tables, "orders": twice})
    assert "orders" in bind(TEXT, both).tables
    text = TEXT.replace("    unit: Customer_ID\n", "    unit: Customer_ID\n    columns:\n      price: {hidden: true}\n")
    error = _refusal(bind, text, both)
    assert (error.code, error.span.line) == (codes.AMBIGUOUS, 12)


def test_a_path_is_compared_by_the_types_that_are_imposed(bind):
    text = TEXT.replace("{Order_ID: ID}", "{code: ID}").replace(
        "  countries", "    columns: {code: {type: integer}}\n  countries"
    )
    assert bind(text).tables["order_lines"].unit == Through("orders", (("code", "id"),))


def test_a_path_into_a_type_of_its_own_is_left_to_the_database(bind, shop, make_table):
    orders = make_table("orders", [["id"]], id=Type.OTHER, customer_id=Type.INTEGER)
    assert "orders" in bind(TEXT, Schema({**shop.tables, "orders": orders})).tables


def test_a_catalog_that_was_built_by_hand_is_bound_too(shop):
    catalog = Catalog("shop", BudgetPolicy(1.0, 1e-6), {"o": DeclaredTable("o", unit="customer_id")})
    with pytest.raises(CatalogError, match=r"^`o` is not a table that this connection can read\."):
        bind_catalog(catalog, shop)
