"""From text to a statement: the privacy clause is taken out, placeholders are numbered, and carets stay right."""

import pytest

from hedgerow.errors import HedgerowError, ParameterError, ParseError
from hedgerow.sql.parse import DIALECTS, parse
from hedgerow.sql.privacy_clause import Identifier, engine_options, unit

CLAUSE = (
    "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=10, delta=1e-6, max_groups_contributed=2,"
    " min_privacy_units_per_group = 20, privacy_unit_column=id)"
)
OPTIONS = {"epsilon": 10, "delta": 1e-6, "max_groups": 2, "min_frequency": 20, "unit": "id"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_the_privacy_clause(dialect):
    statement = parse(f"SELECT {CLAUSE} COUNT(*) AS n FROM t", dialect)
    assert engine_options(statement.options) == OPTIONS
    assert unit(statement.options) == "id"
    assert statement.query == parse("SELECT COUNT(*) AS n FROM t", dialect).query


@pytest.mark.parametrize(
    "text",
    [
        f"WITH a AS (SELECT 1) SELECT {CLAUSE} COUNT(*) FROM a",
        f"WITH a AS (SELECT {CLAUSE} COUNT(*) FROM t) SELECT * FROM a",
        f"select\n{CLAUSE.lower()}\ncount(*) FROM t",
    ],
)
def test_the_clause_stands_at_the_first_select_or_at_the_one_after_with(text):
    assert engine_options(parse(text, "bigquery").options) == OPTIONS


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {CLAUSE} COUNT(*) FROM (SELECT {CLAUSE} x FROM t)",
        f"SELECT COUNT(*) FROM (SELECT {CLAUSE} x FROM t)",
        f"SELECT COUNT(*) FROM t UNION ALL SELECT {CLAUSE} COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon) COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1+1) COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=(1)) COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=?) COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, epsilon=2) COUNT(*) FROM t",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1,",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=-id) COUNT(*) FROM t",
    ],
)
def test_a_clause_elsewhere_or_unreadable_is_refused(text):
    with pytest.raises(ParseError) as caught:
        parse(text, "bigquery")
    assert caught.value.code == "privacy-clause"
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "options",
    [
        {"kappa": 3},
        {"group_selection_strategy": Identifier("PUBLIC_GROUPS")},
        {"epsilon": "1"},
        {"epsilon": Identifier("id")},
    ],
)
def test_an_option_that_is_not_known_or_no_number_is_refused(options):
    with pytest.raises(ParameterError) as caught:
        engine_options(options)
    assert caught.value.code == "bad-option"


def test_the_unit_is_a_name():
    with pytest.raises(ParameterError):
        unit({"privacy_unit_column": 3})
    assert unit({}) is None


def test_words_after_the_clause_keep_their_places():
    text = f"SELECT {CLAUSE}\n COUNT(*), ?, nothing FROM t WHERE x > :limit"
    column = next(c for c in parse(text, "bigquery").query.find_all(type(parse("SELECT a").query.expressions[0])))
    assert text[column.this.meta["start"] : column.this.meta["end"] + 1] == "nothing"


def test_a_syntax_error_after_the_clause_points_at_the_text_as_it_was_written():
    text = f"SELECT {CLAUSE} COUNT(*), ? FROM t WHERE WHERE"
    with pytest.raises(ParseError) as caught:
        parse(text, "bigquery")
    assert caught.value.span is not None
    assert text[caught.value.span.start :].startswith("WHERE")


PLACEHOLDERS = {
    "?": "1",
    "?1": "1",
    "$1": "1",
    ":1": "1",
    ":limit": "limit",
    "$limit": "limit",
    ":name": "name",
    ":date": "date",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("text", "name"), PLACEHOLDERS.items())
def test_every_dialect_reads_every_placeholder(dialect, text, name):
    assert parse(f"SELECT {text}", dialect).query.expressions[0].name == name


@pytest.mark.parametrize("dialect", ["bigquery", "postgres", "sqlite", "snowflake", "spark"])
def test_a_name_after_an_at_sign_is_a_parameter(value, dialect):
    assert value("@low + i", dialect, {"low": 3}) == 10


@pytest.mark.parametrize("dialect", DIALECTS)
def test_question_marks_are_numbered_in_the_order_of_the_text(value, dialect):
    assert value("? || ? || ?", dialect, ["a", "b", "c"]) == "abc"


@pytest.mark.parametrize("text", ["SELECT ?, $1", "SELECT $2, ?", "SELECT ?, ?1"])
def test_placeholders_with_and_without_numbers_are_not_mixed(text):
    with pytest.raises(ParseError):
        parse(text)


def test_a_colon_inside_a_value_begins_no_placeholder():
    assert parse("SELECT a:b FROM t", "snowflake").query.find(type(parse("SELECT ?").query.expressions[0])) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_node_knows_the_dialect_it_was_written_in(dialect):
    query = parse("SELECT YEAR(d) + 1 FROM t WHERE x > 3", dialect).query
    assert {node.meta["dialect"] for node in query.walk()} == {dialect}


@pytest.mark.parametrize("text", ["SELECT MAP {a: 1}[27] FROM t", "SELECT (", "SELECT 'a", "SELECT a b c d FROM"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_whatever_cannot_be_read_is_an_error_of_ours(dialect, text):
    try:
        parse(text, dialect)
    except HedgerowError as error:
        assert error.code in {"syntax", "not-a-select"}  # noqa: PT017 - some dialects can read some of it


@pytest.mark.parametrize("text", ["SELECT '\ud800'", "SELECT 1 AS \udfff"])
def test_text_that_cannot_be_written_as_utf_8_is_refused(text):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.code == "not-text"


def test_a_parameter_that_cannot_be_written_as_utf_8_is_refused(value):
    with pytest.raises(HedgerowError) as caught:
        value("s = ?", params=["\ud800"])
    assert caught.value.code == "bad-parameter"


@pytest.mark.parametrize("params", [None, [], {"other": 1}])
def test_a_placeholder_without_a_value_is_refused(value, params):
    with pytest.raises(HedgerowError) as caught:
        value("i + ?", params=params)
    assert caught.value.code == "missing-parameter"
