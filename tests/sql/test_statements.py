"""A file of statements is taken apart at its semicolons, and nowhere else."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.sql import statements
from hedgerow.sql.statements import split_statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ;;\n; -- nothing; at all\n /* ; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1;\nSELECT 2 ;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT 'it''s; fine'", ["SELECT ';'", "SELECT 'it''s; fine'"]),
        ('SELECT ";" FROM "a"";b"; SELECT 2', ['SELECT ";" FROM "a"";b"', "SELECT 2"]),
        ("SELECT `;`; SELECT 2", ["SELECT `;`", "SELECT 2"]),
        ("SELECT $$;$$, $a$ $$;$a$; SELECT 2", ["SELECT $$;$$, $a$ $$;$a$", "SELECT 2"]),
        (r"SELECT E'\';'; SELECT 2", [r"SELECT E'\';'", "SELECT 2"]),
        (r"SELECT '\'; SELECT 2", [r"SELECT '\'", "SELECT 2"]),
        ("SELECT 1 -- ; it's one\n + 1; SELECT 2", ["SELECT 1 -- ; it's one\n + 1", "SELECT 2"]),
        ("/* first; */ SELECT /* ; ' */ 1; -- '\nSELECT 2", ["SELECT /* ; ' */ 1", "SELECT 2"]),
        ("SELECT 4 - -1; SELECT 4 / 2", ["SELECT 4 - -1", "SELECT 4 / 2"]),
        ("SELECT 'open; SELECT 2", ["SELECT 'open", "SELECT 2"]),
    ],
)
def test_statements_end_at_semicolons_outside_of_quotes_and_comments(text, expected):
    actual = split_statements(text)
    assert [statement.text for statement in actual] == expected
    assert all(text[statement.start :].startswith(statement.text) for statement in actual)


@given(st.text(alphabet="a;'\"-/*`$E\\\n ", max_size=60))
def test_no_text_is_lost_or_made_up(text):
    end = 0
    for statement in split_statements(text):
        assert text[statement.start : statement.start + len(statement.text)] == statement.text
        assert statement.start >= end
        end = statement.start + len(statement.text)
        assert statement.text.strip() == statement.text != ""


def test_the_example_runs():
    assert doctest.testmod(statements).attempted > 0
    assert doctest.testmod(statements).failed == 0
