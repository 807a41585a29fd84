"""The first catalog that is written from a schema."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.catalog import Through, bind_catalog, codes, draft_catalog
from hedgerow.catalog.draft import Reference, lists_people, names_person, references, unit_candidates
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

TYPED = "age: {type: integer, lower: 0, upper: 120}"


@pytest.fixture
def draft(shop):
    return lambda schema=shop, **options: draft_catalog(schema, **{"dataset": "shop", "ledger_id": "12e45", **options})


def _schema(*tables):
    return Schema({table.name: table for table in tables})


def test_a_draft_is_refused_until_the_owner_has_filled_it_in(draft, refusal):
    text = draft()
    error = refusal(text)
    assert error.code == codes.FILL_IN
    assert text.split("\n")[error.span.line - 1].strip().startswith("unit: ???")
    assert "public: true" in error.hint


def test_a_draft_loads_and_fits_the_database_once_it_is_filled_in(draft, load, shop):
    text = (
        draft()
        .replace("unit: ???", "unit: {through: orders, on: {order_id: id}}", 1)
        .replace("unit: ???", "public: true", 1)
    )
    catalog = bind_catalog(load(text), shop)
    assert catalog.dataset == "shop"
    assert (catalog.budget.epsilon, catalog.budget.delta, catalog.budget.pure_epsilon) == (3.0, 1e-6, 0.0)
    assert catalog.budget.ledger == "12e45"
    assert catalog.tables["Customers"].unit == "ID"
    assert catalog.tables["Customers"].unit_unique
    assert catalog.tables["orders"].unit == "customer_id"
    assert not catalog.tables["orders"].unit_unique
    assert catalog.tables["order_lines"].unit == Through("orders", (("order_id", "id"),))
    assert all(not table.columns for table in catalog.tables.values())


def test_every_table_is_private_in_a_draft(draft):
    lines = [line.split("#")[0] for line in draft().split("\n")]
    assert not any("public" in line for line in lines)


def test_the_budget_is_written_as_it_was_chosen(draft, load, make_table):
    schema = _schema(make_table("people", [["id"]], id=Type.INTEGER))
    catalog = load(draft(schema, dataset="a: b", epsilon=0.1, delta=3e-11, pure_epsilon=0.05, ledger_id=None))
    assert catalog.dataset == "a: b"
    assert (catalog.budget.epsilon, catalog.budget.delta, catalog.budget.pure_epsilon) == (0.1, 3e-11, 0.05)
    assert catalog.budget.ledger is None


def test_numbers_get_bounds_to_fill_in_and_keys_get_none(draft):
    text = draft()
    for name in ("income", "price", "quantity"):
        assert f"# {name}: {{lower: ???, upper: ???}}" in text
    for name in ("ID", "customer_id", "order_id"):
        assert f"{name}: {{lower" not in text


@pytest.mark.parametrize(("old", "new"), [("# income:", "income:"), ("# region:", "region:")])
def test_a_line_that_is_uncommented_but_not_filled_in_is_refused_at_its_line(draft, refusal, make_table, old, new):
    table = make_table("people", [["id"]], id=Type.INTEGER, income=Type.FLOAT, region=Type.TEXT)
    text = draft(_schema(table)).replace(old, new)
    error = refusal(text)
    assert error.code == codes.FILL_IN
    assert text.split("\n")[error.span.line - 1].strip().startswith(new)


def test_every_comment_that_offers_a_line_offers_one_that_loads(draft, load, make_table):
    table = make_table("people", [["id"]], id=Type.INTEGER, income=Type.FLOAT, region=Type.TEXT)
    text = draft(_schema(table))
    for field in ("version", "refresh", "lifetime", "per_query", "analysts", "income", "region"):
        text = text.replace(f"# {field}:", f"{field}:")
    text = (
        text.replace("# defaults:", "defaults:")
        .replace("#   ", "  ")
        .replace("lower: ???, upper: ???", "lower: 0, upper: 1")
    )
    heading, rest = text.split("\n\n", 1)
    catalog = load(rest.replace("[???]", "[north]"))
    assert heading.startswith("#")
    assert catalog.defaults.epsilon == 0.1
    assert catalog.budget.lifetime.epsilon == 12.0
    assert catalog.tables["people"].columns["income"].upper == 1.0
    assert catalog.tables["people"].columns["region"].values == ("north",)


def test_a_foreign_key_is_suggested_and_the_suggestion_loads(draft, load, shop):
    text = draft()
    assert "    # unit: {through: orders, on: {order_id: id}}" in text
    text = text.replace("    unit: ???  ", "    # ", 1).replace("# unit: {through", "unit: {through", 1)
    catalog = load(text.replace("unit: ???", "public: true"))
    assert catalog.tables["order_lines"].unit == Through("orders", (("order_id", "id"),))


def test_tables_that_differ_only_in_case_do_not_both_enter_a_draft(draft, load, make_table):
    tables = [make_table(name, [["id"]], id=Type.INTEGER) for name in ("users", "USERS")]
    text = draft(_schema(*tables))
    assert list(load(text).tables) == ["users"]
    assert "# USERS is left out" in text


def test_a_table_of_text_alone_is_told_how_to_give_its_columns_types(draft, load, make_table):
    schema = _schema(make_table("people", [], id=Type.TEXT, age=Type.TEXT))
    text = draft(schema)
    assert TYPED in text
    taken = text.replace(f"# {TYPED}", f"{TYPED} #").replace("unit: ???", "unit: id")
    assert load(taken).tables["people"].columns["age"].type is Type.INTEGER
    assert TYPED not in draft(_schema(make_table("people", [], id=Type.TEXT, age=Type.INTEGER)))


def test_a_database_without_tables_has_no_draft(draft):
    with pytest.raises(CatalogError, match="no table"):
        draft(Schema({}))


@pytest.mark.parametrize(
    ("name", "unique", "columns", "candidates"),
    [
        ("customers", [["id"]], ["id", "name"], ["id"]),
        ("dim_patient", [["patient_key"]], ["patient_key", "age"], ["patient_key"]),
        ("people", [], ["id", "name"], ["id"]),
        ("users", [["email"], ["id"]], ["id", "email"], ["id"]),
        ("users", [["email"], ["phone"]], ["email", "phone"], ["email", "phone"]),
        ("patients", [["id"]], ["id", "user_id"], ["id"]),
        ("orders", [["id"]], ["id", "customer_id"], ["customer_id"]),
        ("orders", [["id"]], ["id", "CustomerID"], ["CustomerID"]),
        ("visits", [["id"]], ["id", "patientid"], ["patientid"]),
        ("visits", [["id"]], ["id", "patient_id", "employee_id"], ["patient_id", "employee_id"]),
        ("orders", [["id"]], ["id", "amount"], []),
        ("events", [["id"]], ["id", "email"], []),
        ("user_events", [["id"]], ["id"], []),
        ("memberships", [["id"]], ["id", "users", "user_count", "number_of_users"], []),
    ],
)
def test_a_unit_is_guessed_only_where_names_speak_of_people(make_table, name, unique, columns, candidates):
    table = make_table(name, unique, **dict.fromkeys(columns, Type.INTEGER))
    assert unit_candidates(table) == candidates


@pytest.mark.parametrize("name", ["customer_id", "PatientNo", "user", "userID", "EMPLOYEE_ID"])
def test_a_column_may_name_a_person(name):
    assert names_person(name)


@pytest.mark.parametrize("name", ["id", "user_name", "users", "order_id", "", "_", "employee_count", "paid"])
def test_a_column_may_name_no_person(name):
    assert not names_person(name)


@pytest.mark.parametrize(
    ("name", "people"), [("Customers", True), ("tbl_users", True), ("people", True), ("orders", False), ("_", False)]
)
def test_a_table_may_list_people(name, people):
    assert lists_people(name) is people


@pytest.mark.parametrize(
    ("column", "parent", "key", "leads"),
    [
        ("order_id", "orders", "id", True),
        ("OrderID", "Orders", "ID", True),
        ("order_id", "orders", "order_id", True),
        ("company_id", "companies", "id", True),
        ("id", "orders", "id", False),
        ("order_id", "order_lines", "id", False),
        ("order_id", "invoices", "order_id", False),
        ("order_date", "orders", "id", False),
    ],
)
def test_a_column_leads_to_another_table_by_name_and_unique_key(make_table, column, parent, key, leads):
    child = make_table("lines", [], **{column: Type.INTEGER})
    other = make_table(parent, [[key]], **{key: Type.INTEGER})
    assert references(child, _schema(child, other)) == [Reference(column, parent, key)] * leads


def test_a_key_that_is_not_enforced_leads_nowhere(make_table):
    child = make_table("lines", [], order_id=Type.INTEGER)
    assert references(child, _schema(child, make_table("orders", [], id=Type.INTEGER))) == []


NAMES = st.text(
    st.one_of(st.sampled_from(string.printable + "é\x85\u2028\ufeff😀"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=20,
).filter(lambda name: name.strip() and "\0" not in name)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=NAMES, ledger=NAMES, table=NAMES, columns=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_whatever_names_a_database_has_its_draft_says_no_more_than_it_should(
    draft, load, dataset, ledger, table, columns
):
    kinds = [Type.FLOAT, Type.TEXT, Type.DATE, Type.OTHER]
    actual = {name: SchemaColumn(name, kind) for name, kind in zip(columns, kinds, strict=False)}
    schema = _schema(SchemaTable(table, actual), SchemaTable("users", {"id": SchemaColumn("id", Type.INTEGER)}))
    text = draft(schema, dataset=dataset, ledger_id=ledger).replace("unit: ???", "public: true")
    catalog = load(text)
    assert catalog.dataset == dataset
    assert catalog.budget.ledger == ledger
    assert set(catalog.tables) == {table, "users"} or table.lower() == "users"
    assert all(not entry.columns for entry in catalog.tables.values())
