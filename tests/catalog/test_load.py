"""Catalogs that load, and what they say."""

from datetime import timedelta
from pathlib import Path

import pytest

from hedgerow.catalog import BudgetPolicy, Cap, Catalog, DeclaredColumn, DeclaredTable, Defaults, Through, load_catalog
from hedgerow.expressions.types import Type
from hedgerow.limits import StatementLimits

WHOLE = """\
dataset: shop                     # the ledger is keyed by this name
version: 2026-01
budget:
  epsilon: 3.0
  delta: 1e-6
  pure_epsilon: 0
  refresh: 30d
  lifetime: {epsilon: 12.0}
  per_query: {epsilon: 1.0}
  analysts:
    default: {epsilon: 1.0}
    alice: {epsilon: 2.0, delta: 1e-7}
  ledger: 4f1c
defaults:
  epsilon: 0.5
  delta: 1e-8
  min_frequency: 20
  confidence: 0.9
tables:
  customers:
    unit: id
    unit_unique: true
    undeclared: hidden
    columns:
      income: {lower: 0, upper: 250000}
      region: {values: [north, south, east, west]}
      joined: {type: date}
      notes:  {hidden: true}
      plain:
  orders:
    unit: customer_id
    max_rows: 40
    max_rows_per_group: 20
    max_groups: 3
    size: 10000000
    columns:
      price: {lower: 0, upper: 500}
  order_lines:
    unit: {through: orders, on: {order_id: id}}
    max_rows: 100
  countries:
    public: true
"""

SMALL = """\
dataset: shop
budget: {epsilon: 3, delta: 1e-6}
tables:
  people: {unit: id}
"""


def test_the_whole_catalog_is_read_field_by_field(load):
    assert load(WHOLE) == Catalog(
        dataset="shop",
        version="2026-01",
        budget=BudgetPolicy(
            epsilon=3.0,
            delta=1e-6,
            pure_epsilon=0.0,
            refresh=timedelta(days=30),
            lifetime=Cap(12.0),
            per_query=Cap(1.0),
            analysts={"default": Cap(1.0), "alice": Cap(2.0, 1e-7)},
            ledger="4f1c",
        ),
        defaults=Defaults(epsilon=0.5, delta=1e-8, min_frequency=20, confidence=0.9),
        tables={
            "customers": DeclaredTable(
                "customers",
                unit="id",
                unit_unique=True,
                max_rows=1,
                undeclared_hidden=True,
                columns={
                    "income": DeclaredColumn("income", lower=0.0, upper=250000.0),
                    "region": DeclaredColumn("region", values=("north", "south", "east", "west")),
                    "joined": DeclaredColumn("joined", type=Type.DATE),
                    "notes": DeclaredColumn("notes", hidden=True),
                    "plain": DeclaredColumn("plain"),
                },
            ),
            "orders": DeclaredTable(
                "orders",
                unit="customer_id",
                max_rows=40,
                max_rows_per_group=20,
                max_groups=3,
                size=10**7,
                columns={"price": DeclaredColumn("price", lower=0.0, upper=500.0)},
            ),
            "order_lines": DeclaredTable("order_lines", unit=Through("orders", (("order_id", "id"),)), max_rows=100),
            "countries": DeclaredTable("countries", public=True),
        },
        path=Path("shop.yaml"),
    )


def test_what_is_not_written_takes_the_built_in_value(load):
    catalog = load(SMALL)
    assert catalog.defaults == Defaults(epsilon=None, delta=None, min_frequency=10, confidence=0.95)
    assert catalog.version is None
    assert catalog.budget == BudgetPolicy(3.0, 1e-6)
    assert catalog.tables["people"] == DeclaredTable("people", unit="id", size=10**12)


def test_a_catalog_that_is_built_already_is_returned_as_it_is(load):
    catalog = load(SMALL)
    assert load_catalog(catalog) is catalog


def test_a_path_object_is_as_good_as_a_name(tmp_path):
    (tmp_path / "shop.yaml").write_text(SMALL)
    assert load_catalog(tmp_path / "shop.yaml").path == tmp_path / "shop.yaml"


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b"", b"%YAML 1.1\n---\n"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_byte_order_marks_line_ends_and_yaml_headers_change_nothing(load, prefix, newline):
    catalog = load(prefix + SMALL.encode().replace(b"\n", newline))
    assert catalog == load(SMALL)


@pytest.mark.parametrize(
    ("written", "delta"), [("1e-6", 1e-6), ("1E-6", 1e-6), ("0.000001", 1e-6), (".5", 0.5), ("5.e-1", 0.5)]
)
def test_numbers_are_read_as_yaml_1_2_reads_them(load, written, delta):
    assert load(SMALL.replace("1e-6", written)).budget.delta == delta


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("[on, off, yes, no, y, n]", ("on", "off", "yes", "no", "y", "n")),
        ("[true, False]", (True, False)),
        ("['true', \"1\"]", ("true", "1")),
        ("[1, -2, 0x10, 0o17, 017]", (1, -2, 16, 15, 17)),
        ("[1, 2.5]", (1, 2.5)),
        ("[1_000, 1:30, 2026-01-01, 0b1, nan, inf]", ("1_000", "1:30", "2026-01-01", "0b1", "nan", "inf")),
        ("['', ' ', 'null', \"a\\tb\"]", ("", " ", "null", "a\tb")),
    ],
)
def test_words_and_numbers_among_values_are_read_as_yaml_1_2_reads_them(load, written, values):
    text = SMALL.replace("{unit: id}", "{unit: id, columns: {c: {values: VALUES}}}").replace("VALUES", written)
    actual = load(text).tables["people"].columns["c"].values
    assert actual == values
    assert [type(value) for value in actual] == [type(value) for value in values]


@pytest.mark.parametrize("name", ["on", "no", "yes", "1e-6", "2020", "null", "true", "~"])
def test_keys_are_names_whatever_they_look_like(load, name):
    assert list(load(SMALL.replace("people", name)).tables) == [name]


@pytest.mark.parametrize("version", ["1.10", "2026", "2026-01", "1e3", "v1"])
def test_a_version_is_kept_as_it_is_written(load, version):
    assert load(SMALL + f"version: {version}\n").version == version


@pytest.mark.parametrize(("written", "size"), [("1e9", 10**9), ("12E3", 12000), ("5", 5), ("1e+18", 10**18)])
def test_a_whole_number_may_have_an_exponent(load, written, size):
    assert load(SMALL.replace("unit: id", f"unit: id, size: {written}")).tables["people"].size == size


@pytest.mark.parametrize(("written", "hours"), [("12h", 12), ("1d", 24), ("30d", 720), ("4w", 672), ('"7d"', 168)])
def test_a_period_is_hours_days_or_weeks(load, written, hours):
    text = SMALL.replace("delta: 1e-6", f"delta: 1e-6, refresh: {written}")
    assert load(text).budget.refresh == timedelta(hours=hours)


@pytest.mark.parametrize(("field", "value"), [("queries", 2000), ("schedule", "open")])
def test_the_two_other_ways_to_price_a_statement_are_kept(load, field, value):
    assert getattr(load(SMALL.replace("delta: 1e-6", f"delta: 1e-6, {field}: {value}")).budget, field) == value


def test_all_of_epsilon_may_be_kept_for_laplace_noise(load):
    assert load(SMALL.replace("delta: 1e-6", "delta: 1e-6, pure_epsilon: 3")).budget.pure_epsilon == 3.0


def test_one_row_per_unit_means_at_most_one_row(load):
    assert load(SMALL.replace("unit: id", "unit: id, unit_unique: true")).tables["people"].max_rows == 1
    assert load(SMALL.replace("unit: id", "unit: id, unit_unique: true, max_rows: 1")).tables["people"].max_rows == 1


def test_a_table_of_one_row_per_unit_may_limit_groups_for_its_joins(load):
    catalog = load(SMALL.replace("unit: id", "unit: id, unit_unique: true, max_groups: 5"))
    assert catalog.tables["people"].max_groups == 5


def test_a_long_path_is_followed_to_its_end(load):
    text = SMALL + (
        "  a: {unit: {through: B, on: {b: id}}}\n"
        "  b: {unit: {through: c, on: {x: x, y: y}}}\n"
        "  c: {unit: {through: People, on: {person: id}}}\n"
    )
    assert load(text).tables["b"].unit == Through("c", (("x", "x"), ("y", "y")))


def test_a_public_table_may_say_what_is_known_of_its_columns(load):
    text = SMALL + "  countries: {public: true, columns: {gdp: {lower: 0, upper: 1e14}, code: {values: [AT, DE]}}}\n"
    assert load(text).tables["countries"].columns["gdp"].upper == 1e14


def test_anchors_and_aliases_are_allowed(load):
    text = SMALL.replace("{unit: id}", "{unit: id, columns: {a: &money {lower: 0, upper: 9}, b: *money}}")
    columns = load(text).tables["people"].columns
    assert columns["b"] == DeclaredColumn("b", lower=0.0, upper=9.0)


def test_tables_and_columns_are_found_in_any_spelling(load):
    catalog = load(WHOLE)
    assert catalog.table("CUSTOMERS") is catalog.tables["customers"]
    assert catalog.table("Customers").column("INCOME") is catalog.tables["customers"].columns["income"]
    assert catalog.table("nobody") is None
    assert catalog.table("customers").column("nothing") is None


def test_the_catalog_remembers_where_each_entry_stands(load):
    catalog = load(WHOLE)
    lines = WHOLE.split("\n")
    span = catalog.span("tables", "ORDERS", "max_groups")
    assert lines[span.line - 1].strip() == "max_groups: 3"
    assert WHOLE[span.start : span.end] == "max_groups"
    assert catalog.span("tables", "orders", "unit_unique") == catalog.span("tables", "orders")
    error = catalog.problem("Nothing.", "tables", "orders", "columns", "price", code="catalog-type", hint="Do.")
    assert str(error) == "shop.yaml:37: Nothing. Do."


def test_places_do_not_count_byte_order_marks_or_carriage_returns(load):
    catalog = load(b"\xef\xbb\xbf" + WHOLE.encode().replace(b"\n", b"\r\n"))
    assert catalog.spans == load(WHOLE).spans


def test_a_catalog_from_no_file_points_nowhere():
    catalog = Catalog("shop", BudgetPolicy(1.0, 1e-6), {})
    error = catalog.problem("Nothing.", "tables", code="catalog-type", hint="Do.")
    assert (str(error), error.span) == ("Nothing. Do.", None)


def test_places_are_no_part_of_what_a_catalog_says(load):
    catalog, lower = load(SMALL), load("# a comment\n" + SMALL)
    assert catalog.span("tables") != lower.span("tables")
    assert catalog == lower
    assert "span" not in repr(catalog).lower()


def test_limits_are_read_and_have_public_defaults(load):
    written = "limits: {seconds: 1.5, memory: 500MB, rows: 10, joined_rows: 1e9, rows_per_person: 7}\n"
    assert load(written + SMALL).limits == StatementLimits(1.5, 500_000_000, 10, 10**9, 7)
    assert load("limits: {rows: 10}\n" + SMALL).limits == StatementLimits(rows=10)
    assert load(SMALL).limits == StatementLimits(900.0, 4_000_000_000, 1_000_000, 10**11, 10**7)
