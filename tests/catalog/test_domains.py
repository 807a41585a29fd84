"""Values that come from a column of a public table: read strictly, bound to the schema, told to the owner."""

import pytest

from hedgerow.catalog import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable, bind_catalog, check_catalog, codes
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema

TEXT = """\
dataset: shop
budget: {epsilon: 3, delta: 1e-6, ledger: abc}
tables:
  CUSTOMERS:
    unit: id
    unit_unique: true
    columns:
      Region:
        values:
          table: COUNTRIES
          column: CODE
  Countries:
    public: true
"""


@pytest.fixture
def bind(load, shop):
    return lambda text, schema=shop: bind_catalog(load(text), schema)


@pytest.fixture
def refusal_when_bound(bind):
    def refuse(text, *schema):
        with pytest.raises(CatalogError) as caught:
            bind(text, *schema)
        return caught.value

    return refuse


def _at(error, line, code, phrase):
    assert error.code == code
    assert error.span.line == line
    assert error.message.startswith(f"shop.yaml:{line}: ")
    assert error.hint
    assert phrase in str(error)


def test_a_column_names_where_its_values_are_found(load):
    column = load(TEXT).tables["CUSTOMERS"].columns["Region"]
    assert column == DeclaredColumn("Region", values_from=("COUNTRIES", "CODE"))
    assert column.values is None


def test_a_list_names_no_table(load):
    text = TEXT.replace("\n          table: COUNTRIES\n          column: CODE", " [a, b]")
    assert load(text).tables["CUSTOMERS"].columns["Region"] == DeclaredColumn("Region", values=("a", "b"))


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "phrase"),
    [
        ("          column: CODE\n", "", 9, codes.MISSING_FIELD, "column: column_of_COUNTRIES"),
        ("          table: COUNTRIES\n", "", 9, codes.MISSING_FIELD, "table: public_table"),
        ("column: CODE", "column:", 11, codes.MISSING_FIELD, "`column` is missing"),
        ("table: COUNTRIES", "tabel: COUNTRIES", 10, codes.UNKNOWN_FIELD, "Did you mean `table`?"),
        ("column: CODE", "column: CODE\n          where: x", 12, codes.UNKNOWN_FIELD, "`table`, `column`"),
        ("column: CODE", "column: CODE\n          table: other", 12, codes.DUPLICATE, "line 10"),
        ("column: CODE", "column: CODE\n        values: [a]", 12, codes.DUPLICATE, "line 9"),
        ("column: CODE", "column: [CODE, name]", 11, codes.SHAPE, "a single value"),
        ("column: CODE", "column: {CODE: name}", 11, codes.SHAPE, "a single value"),
        ("column: CODE", "column: true", 11, codes.TEXT, "a name"),
        ("column: CODE", 'column: "  "', 11, codes.TEXT, "a name"),
        ("table: COUNTRIES", "table: ???", 10, codes.FILL_IN, "`table`"),
        ("\n          table: COUNTRIES\n          column: CODE", " {}", 9, codes.MISSING_FIELD, "`table` is missing"),
        ("\n          table: COUNTRIES\n          column: CODE", " COUNTRIES.CODE", 9, codes.SHAPE, "a list"),
        (
            "          table: COUNTRIES\n          column: CODE",
            "          - {table: c, column: d}",
            10,
            codes.SHAPE,
            "",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_line(refusal, old, new, line, code, phrase):
    assert old in TEXT
    _at(refusal(TEXT.replace(old, new)), line, code, phrase)


def test_names_take_the_spelling_of_the_database(bind):
    column = bind(TEXT).tables["Customers"].columns["region"]
    assert column == DeclaredColumn("region", values_from=("countries", "code"))


def test_binding_twice_changes_nothing_more(bind, shop):
    once = bind(TEXT)
    assert bind_catalog(once, shop) == once


HIDDEN = "    public: true\n    columns: {code: {hidden: true}}"
UNLISTED = "    public: true\n    undeclared: hidden"


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "phrase"),
    [
        ("table: COUNTRIES", "table: contries", 10, codes.VALUES, "Did you mean `Countries`?"),
        ("table: COUNTRIES", "table: zzz", 10, codes.VALUES, "`zzz: {public: true}`"),
        ("table: COUNTRIES", "table: customers", 10, codes.VALUES, "which is private"),
        ("  Countries:\n    public: true", "  orders:\n    unit: customer_id", 10, codes.VALUES, "does not declare"),
        ("column: CODE", "column: coed", 11, codes.UNKNOWN_COLUMN, "Did you mean `code`?"),
        ("column: CODE", "column: population", 11, codes.UNKNOWN_COLUMN, "column of `countries`"),
        ("    public: true", HIDDEN, 11, codes.VALUES, "which is hidden"),
        ("    public: true", UNLISTED, 11, codes.VALUES, "which is hidden"),
    ],
)
def test_a_source_that_is_no_public_column_is_refused_at_its_line(refusal_when_bound, old, new, line, code, phrase):
    assert old in TEXT
    _at(refusal_when_bound(TEXT.replace(old, new)), line, code, phrase)


def test_a_table_that_the_database_does_not_have_is_refused_where_it_is_named_first(bind, shop, refusal_when_bound):
    schema = Schema({name: table for name, table in shop.tables.items() if name != "countries"})
    _at(
        refusal_when_bound(TEXT, schema),
        10,
        codes.UNKNOWN_TABLE,
        "`Countries` is not a table that this connection can read",
    )


def test_a_column_that_is_declared_may_be_named_though_others_are_hidden(bind):
    text = TEXT.replace("    public: true", UNLISTED + "\n    columns: {code: {}}")
    assert bind(text).tables["Customers"].columns["region"].values_from == ("countries", "code")


@pytest.fixture
def between(load, shop, make_table):
    """Bind a private column whose values are in a public one, each with its line of the catalog."""

    def bound(private, public, said="", imposed=""):
        tables = [
            make_table("Customers", [["ID"]], ID=Type.INTEGER, region=private),
            make_table("countries", [], code=public),
        ]
        text = TEXT.replace("          column: CODE\n", f"          column: CODE\n        {said or '# nothing'}\n")
        text += f"    columns: {{code: {{{imposed}}}}}\n"
        return bind_catalog(load(text), Schema({table.name: table for table in tables}))

    return bound


NUMBERS = (Type.INTEGER, Type.DECIMAL, Type.FLOAT)
FITTING = {
    (Type.TEXT, Type.TEXT),
    (Type.BOOLEAN, Type.BOOLEAN),
    *((kind, Type.INTEGER) for kind in NUMBERS),
    *((kind, other) for kind in NUMBERS[1:] for other in NUMBERS[1:]),
}


@pytest.mark.parametrize("public", list(Type))
@pytest.mark.parametrize("private", list(Type))
def test_the_types_must_fit_as_those_of_a_list_must(between, private, public):
    if (private, public) in FITTING:
        assert between(private, public).tables["Customers"].columns["region"].values_from == ("countries", "code")
        return
    with pytest.raises(CatalogError) as caught:
        between(private, public)
    assert (caught.value.code, caught.value.span.line) == (codes.TYPE, 9)
    assert f"`code` of `countries`, which is of type {public.name}" in caught.value.message


@pytest.mark.parametrize(
    ("private", "said", "hint"),
    [
        (Type.INTEGER, "", "Name a column of whole numbers"),
        (Type.FLOAT, "", "Name a column of numbers"),
        (Type.BOOLEAN, "", "Name a column of booleans"),
        (Type.TEXT, "type: integer", "Name a column of whole numbers"),
        (Type.DATE, "", "in a view"),
    ],
)
def test_the_refusal_says_which_column_would_do(between, private, said, hint):
    with pytest.raises(CatalogError, match="`code` of `countries`") as caught:
        between(private, Type.TEXT, said)
    assert hint in caught.value.hint


def test_an_imposed_type_counts_on_either_side(between):
    for said, imposed, public in [("type: integer", "", Type.INTEGER), ("", "type: text", Type.OTHER)]:
        assert between(Type.TEXT, public, said, imposed).tables["Customers"].columns["region"].values_from


def test_a_public_column_may_have_its_own_values_as_its_domain(bind):
    text = TEXT + "    columns: {code: {values: {table: countries, column: code}}}\n"
    assert bind(text).tables["countries"].columns["code"].values_from == ("countries", "code")


def _by_hand(column, *, public=True):
    tables = {
        "customers": DeclaredTable("customers", unit="ID", unit_unique=True, columns={"region": column}),
        "countries": DeclaredTable("countries", public=public, unit=None if public else "code"),
    }
    return Catalog("shop", BudgetPolicy(1.0, 1e-6), tables)


def test_a_catalog_that_was_built_by_hand_is_bound_too(shop):
    bound = bind_catalog(_by_hand(DeclaredColumn("REGION", values_from=("Countries", "Code"))), shop)
    assert bound.tables["Customers"].columns["region"].values_from == ("countries", "code")
    with pytest.raises(CatalogError, match="which is private"):
        bind_catalog(_by_hand(DeclaredColumn("region", values_from=("countries", "code")), public=False), shop)


def test_a_list_and_a_table_at_once_are_refused(shop):
    with pytest.raises(CatalogError, match="given twice, as a list and by a table"):
        bind_catalog(_by_hand(DeclaredColumn("region", values=("a",), values_from=("countries", "code"))), shop)


def test_the_owner_is_told_where_the_values_come_from(load, shop):
    text = TEXT.replace("      Region:", "      active: {values: [true]}\n      Region:")
    findings = check_catalog(load(text), shop, is_unique=lambda _table, _columns: True)
    declared = [
        finding for finding in findings if finding.subject == "Customers" and "your declaration" in finding.message
    ]
    assert [finding.level for finding in declared] == ["unknown", "unknown"]
    assert "the values of `active` are" in declared[0].message
    assert "The values of `region` are those of `code` in `countries`" in declared[1].message


def test_a_source_that_does_not_fit_is_an_error_for_the_owner(load, shop):
    text = TEXT.replace("column: CODE", "column: coed")
    findings = check_catalog(load(text), shop, is_unique=lambda _table, _columns: True)
    errors = [finding.message for finding in findings if finding.level == "error"]
    assert len(errors) == 1
    assert errors[0].startswith("shop.yaml:11: ")
