"""The findings of `hedgerow check`."""

import pytest

from hedgerow.catalog import Finding, check_catalog
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema

HEAD = "dataset: shop\nbudget: {epsilon: 3, delta: 1e-6, ledger: abc}\ntables:\n"


@pytest.fixture
def check(load, shop):
    """Levels and messages about one subject; `duplicates` are the keys that the data repeats."""

    def about(subject, text, schema=shop, duplicates=()):
        probes = []

        def is_unique(table, columns):
            probes.append((table, columns))
            return (table, columns) not in duplicates

        findings = check_catalog(load(text), schema, is_unique=is_unique)
        assert all(isinstance(finding, Finding) and finding.message for finding in findings)
        return [(finding.level, finding.message) for finding in findings if finding.subject == subject], probes

    return about


def _one(actual, phrase):
    matching = [level for level, message in actual if phrase in message]
    assert len(matching) == 1
    return matching[0]


def test_a_unit_that_the_database_enforces_is_verified_without_a_look_at_the_data(check):
    actual, probes = check("Customers", HEAD + "  customers: {unit: id, unit_unique: true}\n")
    assert _one(actual, "`unit_unique` holds: the database enforces it") == "ok"
    assert probes == []


def test_a_unit_that_is_unique_only_at_present_is_a_warning(check):
    actual, probes = check("order_lines", HEAD + "  order_lines: {unit: LINE, unit_unique: true}\n")
    assert _one(actual, "holds at present") == "warning"
    assert probes == [("order_lines", ("line",))]


def test_a_unit_that_is_not_unique_is_an_error(check):
    actual, _ = check(
        "order_lines",
        HEAD + "  order_lines: {unit: line, unit_unique: true}\n",
        duplicates=[("order_lines", ("line",))],
    )
    assert _one(actual, "does not hold") == "error"


def test_a_key_that_could_be_declared_is_pointed_out(check):
    actual, _ = check("Customers", HEAD + "  customers: {unit: id, max_rows: 5}\n")
    assert _one(actual, "Declare `unit_unique: true`") == "warning"


@pytest.mark.parametrize(("duplicates", "said"), [([], 1), ([("order_lines", ("line",))], 0)])
def test_a_unit_with_one_row_at_present_could_be_declared(check, duplicates, said):
    actual, _ = check("order_lines", HEAD + "  order_lines: {unit: line, max_rows: 5}\n", duplicates=duplicates)
    assert [level for level, message in actual if "If that is always so" in message] == ["warning"] * said


PATH = (
    HEAD + "  orders: {unit: customer_id, max_rows: 1}\n  order_lines: {unit: {through: orders, on: {order_id: KEY}}}\n"
)


def test_a_path_into_an_enforced_key_is_verified(check):
    actual, probes = check("order_lines", PATH.replace("KEY", "id"))
    assert _one(actual, "each row has one owner") == "ok"
    assert probes == []


@pytest.mark.parametrize(("duplicates", "level"), [([], "warning"), ([("orders", ("customer_id",))], "error")])
def test_a_path_into_a_key_that_is_not_enforced_is_asked_of_the_data(check, duplicates, level):
    actual, probes = check("order_lines", PATH.replace("KEY", "customer_id"), duplicates=duplicates)
    assert _one(actual, "counts for each") == level
    assert probes == [("orders", ("customer_id",))]


ONE_EACH = (
    HEAD
    + "  orders: {unit: customer_id, max_rows: 1}\n"
    + "  order_lines: {unit: {through: orders, on: {order_id: id}}, unit_unique: true}\n"
)


@pytest.mark.parametrize(
    ("duplicates", "level"),
    [
        ([], "warning"),
        ([("order_lines", ("order_id",))], "error"),
        ([("orders", ("customer_id",))], "unknown"),
    ],
)
def test_one_row_per_unit_along_a_path_needs_every_step(check, duplicates, level):
    actual, _ = check("order_lines", ONE_EACH, duplicates=duplicates)
    assert _one(actual, "`unit_unique`") == level


def test_one_row_per_unit_along_enforced_steps_is_verified(check, shop, make_table):
    orders = make_table("orders", [["id"], ["customer_id"]], id=Type.INTEGER, customer_id=Type.INTEGER)
    lines = make_table("order_lines", [["order_id"]], order_id=Type.INTEGER)
    schema = Schema({**shop.tables, "orders": orders, "order_lines": lines})
    actual, probes = check("order_lines", ONE_EACH, schema)
    assert _one(actual, "`unit_unique` holds") == "ok"
    assert probes == []


def test_every_table_that_does_not_fit_is_reported_with_its_line(check):
    text = HEAD + "  orders: {unit: buyer}\n  zzz: {unit: id}\n  customers: {unit: id, unit_unique: true}\n"
    for subject, line in [("orders", 4), ("zzz", 5)]:
        ((level, message),), _ = check(subject, text)
        assert level == "error"
        assert message.startswith(f"shop.yaml:{line}: ")
    actual, _ = check("Customers", text)
    assert _one(actual, "The table exists") == "ok"


def test_a_path_into_a_table_that_does_not_fit_is_still_reported(check):
    text = PATH.replace("unit: customer_id", "unit: buyer").replace("KEY", "id")
    ((level, _),), _ = check("orders", text)
    assert level == "error"
    actual, _ = check("order_lines", text)
    assert _one(actual, "The table exists") == "ok"


def test_what_only_the_owner_can_know_is_said_to_be_unknown(check):
    text = HEAD + (
        "  customers: {unit: id, unit_unique: true, columns: {income: {lower: 0, upper: 9}, region: {values: [a]}}}\n"
        "  orders: {unit: customer_id, max_rows: 5}\n"
        "  countries: {public: true}\n"
    )
    actual, _ = check("Customers", text)
    assert _one(actual, "The bounds of `income` are your declaration") == "unknown"
    assert _one(actual, "the values of `region`") == "unknown"
    assert _one(check("orders", text)[0], "5 rows per unit") == "unknown"
    assert _one(check("countries", text)[0], "shown to everybody") == "unknown"
    assert _one(check("connection", text)[0], "keeps your settings") == "unknown"
    assert _one(check("analysts", text)[0], "does not verify the names") == "unknown"
    assert _one(check("shop", text)[0], "names one person") == "unknown"
    assert _one(check("shop", text)[0], "`size`") == "unknown"


def test_a_table_without_a_number_of_rows_is_a_warning(check):
    actual, _ = check("orders", HEAD + "  orders: {unit: customer_id}\n")
    assert _one(actual, "every query must state `max_rows`") == "warning"


def test_a_floating_point_unit_is_a_warning(check):
    actual, _ = check("Customers", HEAD + "  customers: {unit: income, max_rows: 3}\n")
    assert _one(actual, "floating-point") == "warning"


@pytest.mark.parametrize(
    ("budget", "warns"),
    [
        ("epsilon: 3", False),
        ("epsilon: 0.5", False),
        ("epsilon: 0.4", True),
        ("epsilon: 3, per_query: {epsilon: 0.1}", True),
    ],
)
def test_a_default_that_no_statement_may_have_is_a_warning(check, budget, warns):
    text = HEAD.replace("epsilon: 3", budget) + "  orders: {unit: customer_id}\ndefaults: {epsilon: 0.5}\n"
    assert [level for level, _ in check("defaults", text)[0]] == ["warning"] * warns


@pytest.mark.parametrize(("ledger", "levels"), [(", ledger: abc", []), ("", ["warning"])])
def test_a_catalog_that_does_not_name_its_ledger_is_a_warning(check, ledger, levels):
    text = HEAD.replace(", ledger: abc", ledger) + "  orders: {unit: customer_id}\n"
    assert [level for level, _ in check("budget", text)[0]] == levels


@pytest.mark.parametrize(
    ("table", "duplicates", "basis"),
    [
        ("order_lines: {unit: {through: customers, on: {order_id: id}}, max_rows: 5}", (), "database"),
        ("customers: {unit: {through: order_lines, on: {id: order_id}}, max_rows: 5}", (), "owner"),
        ("customers: {unit: {through: order_lines, on: {id: order_id}}, max_rows: 5}", ("order_id",), "data"),
    ],
)
def test_a_path_says_whether_the_database_the_owner_or_the_data_vouches_for_it(load, shop, table, duplicates, basis):
    others = {
        "order_lines": "customers: {unit: id, max_rows: 5}",
        "customers": "order_lines: {unit: line, max_rows: 5}",
    }
    text = f"{HEAD}  {table}\n  {others[table.split(':', 1)[0]]}\n"
    findings = check_catalog(load(text), shop, is_unique=lambda _, columns: columns != duplicates)
    assert [finding.basis for finding in findings if "The key" in finding.message] == [basis]
