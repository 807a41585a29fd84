"""Statements of analysts from other databases, through the command line: the caret is right, and the hint helps."""

import doctest
import re
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app
from hedgerow.cli import errors as words
from hedgerow.plan import syntax as suggestions

HERE = Path(__file__).parent
BY_REGION = "FROM customers GROUP BY region"
BLOCKS = (HERE / "hints.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]
TYPED = [tuple(block.split("\n")) for block in BLOCKS]


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Options that name the shop on the command line."""
    place = tmp_path_factory.mktemp("hints")
    with duckdb.connect(str(place / "shop.duckdb")) as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
    (place / "shop.yaml").write_text((HERE / "catalog.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return ["--db", str(place / "shop.duckdb"), "--catalog", str(place / "shop.yaml")]


def under_carets(shown: str) -> str:
    lines = shown.splitlines()
    at = next(index for index, line in enumerate(lines) if set(line.strip(" |")) == {"^"})
    return lines[at - 1][lines[at].index("^") : len(lines[at].rstrip())]


@pytest.mark.parametrize(("query", "place", "hint"), TYPED, ids=[query for query, _, _ in TYPED])
def test_the_caret_is_right_and_the_hint_helps(options, query, place, hint):
    result = CliRunner().invoke(app, ["quote", query, *options])
    assert result.exit_code in {1, 2}
    assert under_carets(result.stderr) == place
    [line_of_hint] = [line for line in result.stderr.splitlines() if line.startswith("hint: ")]
    assert hint in line_of_hint


@pytest.mark.parametrize("query", ["EXPLAIN SELECT COUNT(*) FROM customers", "SHOW TABLES", "DROP TABLE customers"])
def test_what_is_no_select_is_called_by_the_word_it_begins_with(options, query):
    result = CliRunner().invoke(app, ["quote", query, *options])
    assert f"this is {query.split()[0]}." in result.stderr


@pytest.mark.parametrize(
    ("query", "instead"), [("SHOW TABLES", ".tables"), ("DESCRIBE customers", ".schema"), ("EXPLAIN SELECT 1", "quote")]
)
def test_what_shows_tables_and_plans_elsewhere_is_told_what_does_here(options, query, instead):
    assert instead in CliRunner().invoke(app, ["quote", query, *options]).stderr


def test_functions_are_called_as_queries_write_them(options):
    """Names of our own, such as trunc_month, are in no message."""
    query = "SELECT DATE_DIFF('day', region, joined), COUNT(*) FROM customers GROUP BY 1"
    assert "DATE_DIFF('day', …) cannot be applied" in CliRunner().invoke(app, ["quote", query, *options]).stderr


def test_a_column_of_using_is_not_taken_for_a_text(options):
    query = "SELECT COUNT(*) FROM customers JOIN orders USING (customer_id)"
    shown = CliRunner().invoke(app, ["quote", query, *options]).stderr
    assert "There is no column 'customer_id' in 'customers'." in shown
    assert "quotes" not in shown


@pytest.mark.parametrize("end", [";", "; -- the whole table", ";\n/* the end */\n;"])
def test_a_comment_may_follow_the_last_semicolon(options, end):
    _, database, _, catalog = options
    with hr.connect(database, catalog=catalog) as opened:
        assert opened.quote(f"SELECT COUNT(*) FROM customers{end}").charge.epsilon > 0


@pytest.mark.parametrize("query", [f"SELECT region, COUNT(*) {BY_REGION} FETCH FIRST 2 ROWS ONLY"])
def test_fetch_first_is_a_limit(options, query):
    assert CliRunner().invoke(app, ["quote", query, *options]).exit_code == 0
    ties = CliRunner().invoke(app, ["quote", query.replace("ONLY", "WITH TIES"), *options])
    assert "[bad-limit]" in ties.stderr


EXAMPLES = {
    "x": "age",
    "d": "joined",
    "s": "region",
    "start": "joined",
    "finish": "DATE '2026-01-31'",
    "condition": "age > 5",
}


@pytest.mark.parametrize("written", sorted(set(suggestions.OTHER_NAMES.values())))
def test_what_a_hint_says_to_write_is_understood(options, written):
    """Each suggestion runs, with its letters replaced by columns."""
    if written.startswith("LIMIT"):
        query = f"SELECT region, COUNT(*) {BY_REGION} LIMIT 10"
    else:
        _, database, _, catalog = options
        for letter, column in EXAMPLES.items():
            written = with_column(written, letter, column)
        aggregate = written.startswith(("AVG", "SUM", "COUNT", "STDDEV", "VARIANCE", "QUANTILE"))
        shown = written.replace("ELSE y", "ELSE 0")
        query = f"SELECT {shown} FROM customers" if aggregate else f"SELECT {shown}, COUNT(*) FROM customers GROUP BY 1"
        with hr.connect(database, catalog=catalog) as opened:
            assert opened.quote(query).charge.epsilon > 0
            return
    assert CliRunner().invoke(app, ["quote", query, *options]).exit_code == 0


def with_column(text: str, letter: str, column: str) -> str:
    """The text with a word of its own replaced, outside of quotes."""
    parts = re.split(r"('[^']*')", text)
    return "".join(part if part.startswith("'") else re.sub(rf"\b{letter}\b", column, part) for part in parts)


def test_hints_name_the_options_of_the_face_that_was_used(options):
    _, database, _, catalog = options
    query = "SELECT COUNT(*) FROM customers"
    shown = CliRunner().invoke(app, ["quote", query, *options, "--min-frequency", "1"])
    assert "--min-frequency 1 is below the owner's" in shown.stderr
    with hr.connect(database, catalog=catalog) as opened, pytest.raises(hr.PolicyError) as caught:
        opened.quote(query, min_frequency=1)
    assert caught.value.message.startswith("min_frequency=1 is below the owner's")


def test_the_json_of_the_command_line_has_its_words_too(options):
    shown = CliRunner().invoke(app, ["quote", "SELECT COUNT(*) FROM `customers`", *options, "--json"])
    assert "--dialect bigquery" in shown.stdout


def test_a_misspelt_table_of_calibrate_is_told_the_right_one(options):
    result = CliRunner().invoke(app, ["calibrate", "--table", "custommers", *options, "--epsilon", "0.1"])
    assert "hint: Did you mean 'customers'?" in result.stderr
    result = CliRunner().invoke(
        app, ["calibrate", "--table", "customers", "--columns", "scor", *options, "--epsilon", "0.1"]
    )
    assert "hint: Did you mean 'score'?" in result.stderr


def test_a_file_that_is_left_out_is_told_so(tmp_path):
    (tmp_path / "_file.csv").write_text("id,a\n1,2\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["init", str(tmp_path / "_file.csv")])
    assert result.exit_code == 3
    assert "has only files whose names begin with _ or ., which are not read" in result.stderr
    assert "hint: Rename the file" in result.stderr


def test_the_examples_in_the_docstrings_run():
    actual = doctest.testmod(words)
    assert actual.attempted > 0
    assert actual.failed == 0
