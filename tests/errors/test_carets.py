"""A refusal points at the clause: on the command line, and as the text of the exception."""

import doctest
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow import errors
from hedgerow.cli import app
from hedgerow.errors import CatalogError, QueryError, Span, pointing_into

HERE = Path(__file__).parent

POINTED = [
    (
        "join-not-on-unit",
        "SELECT COUNT(*)\nFROM customers AS c\nJOIN orders AS o ON c.age = o.id",
        "orders AS o ON c.age = o.id",
    ),
    (
        "window-across-people",
        "SELECT COUNT(*) FROM (\n  SELECT RANK() OVER (ORDER BY age) AS r FROM customers\n) AS t",
        "RANK() OVER (ORDER BY age",
    ),
    (
        "subquery-not-correlated",
        "SELECT COUNT(*) FROM customers WHERE age IN (SELECT age FROM customers)",
        "age IN (SELECT age FROM customers",
    ),
    ("missing-bounds", "SELECT region,\n       SUM(score)\nFROM customers GROUP BY region", "SUM(score"),
    ("unsupported-expression", "SELECT COUNT(*) FROM customers\nWHERE getenv('HOME') = region", "getenv('HOME'"),
    ("unit-shown", "SELECT customer_id, COUNT(*)\nFROM orders\nGROUP BY customer_id", "customer_id"),
]


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Options that name the shop on the command line."""
    place = tmp_path_factory.mktemp("carets")
    with duckdb.connect(str(place / "shop.duckdb")) as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
    (place / "shop.yaml").write_text((HERE / "catalog.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return ["--db", str(place / "shop.duckdb"), "--catalog", str(place / "shop.yaml")]


def under_carets(shown: str) -> str:
    """The text above the carets. The parser remembers where names stand, so a closing bracket is left out."""
    lines = shown.splitlines()
    at = next(index for index, line in enumerate(lines) if set(line.strip(" |")) == {"^"})
    return lines[at - 1][lines[at].index("^") : len(lines[at].rstrip())]


@pytest.mark.parametrize("command", ["query", "quote"])
@pytest.mark.parametrize(("code", "query", "clause"), POINTED, ids=[code for code, _, _ in POINTED])
def test_the_command_line_shows_the_clause_with_carets_below(options, command, code, query, clause):
    result = CliRunner().invoke(app, [command, query, *options])
    assert result.exit_code == 1
    assert f"[{code}]" in result.stderr
    assert "hint: " in result.stderr
    assert under_carets(result.stderr) == clause


@pytest.mark.parametrize(("code", "query", "clause"), POINTED, ids=[code for code, _, _ in POINTED])
def test_the_text_of_the_exception_shows_the_clause_with_carets_below(options, code, query, clause):
    _, database, _, catalog = options
    with hr.connect(database, catalog=catalog) as opened, pytest.raises(QueryError) as caught, pointing_into(query):
        opened.sql(query)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"{caught.value.message} {caught.value.hint}\n")
    assert under_carets(str(caught.value)) == clause


def test_an_error_without_a_place_or_without_a_text_is_its_sentence_alone():
    with pytest.raises(QueryError) as caught, pointing_into("SELECT 1"):
        raise QueryError("No.")
    assert str(caught.value) == "No."
    assert str(QueryError("No.", hint="Yes.", span=Span(0, 6))) == "No. Yes."
    with pytest.raises(QueryError) as caught, pointing_into(None):
        raise QueryError("No.", span=Span(0, 6))
    assert str(caught.value) == "No."


def test_an_error_of_the_catalog_does_not_point_into_the_query():
    with pytest.raises(CatalogError) as caught, pointing_into("SELECT 1"):
        raise CatalogError("No.", span=Span(0, 6))
    assert str(caught.value) == "No."


def test_the_examples_in_the_docstrings_run():
    actual = doctest.testmod(errors)
    assert actual.attempted > 0
    assert actual.failed == 0
