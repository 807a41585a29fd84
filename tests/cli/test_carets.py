"""Errors point at the place: in the query, and in the catalog."""

import doctest

import pytest

import hedgerow.cli.errors
from hedgerow.cli.errors import excerpt
from hedgerow.errors import Span


def test_an_error_shows_the_line_of_the_query_with_carets_below(run, shop):
    result = run("query", "SELECT region,\n       SUM(incom) AS total\nFROM customers GROUP BY region", *shop.options)
    lines = result.stderr.splitlines()
    place = next(index for index, line in enumerate(lines) if "SUM(incom)" in line)
    assert lines[place].startswith("  2 | ")
    start = lines[place].index("incom")
    assert lines[place + 1][start:] == "^^^^^"
    assert not lines[place + 1][:start].strip(" |")
    assert "hint: " in result.stderr


def test_an_error_shows_the_line_of_the_catalog(run, shop):
    shop.rewrite("lower: 0, upper: 500", "lower: 0, upper: -5")
    result = run("check", *shop.options)
    assert result.exit_code == 2
    assert "15 |       price: {lower: 0, upper: -5}" in result.stderr
    assert "^" in result.stderr


def test_the_example_in_the_docstring_runs():
    actual = doctest.testmod(hedgerow.cli.errors)
    assert actual.attempted > 0
    assert actual.failed == 0


@pytest.mark.parametrize(
    ("text", "span", "carets"),
    [
        ("abc", Span(1, 2), "    |  ^"),
        ("abc", Span(3, 3), "    |    ^"),
        ("abc", Span(99, 120), "    |    ^"),
        ("", Span(0, 0), "    | ^"),
        ("ab\ncd", Span(3, 5, 2), "    | ^^"),
        ("ab\ncd", Span(0, 5), "    | ^^"),
        ("\tab", Span(1, 3), "    |  ^^"),
        ("日本 x", Span(3, 4), "    |      ^"),
    ],
)
def test_carets_stand_below_the_characters_they_mean(text, span, carets):
    assert excerpt(text, span).splitlines()[1] == carets


def test_of_a_long_line_only_the_surroundings_are_shown():
    text = "x" * 5000 + "HERE" + "y" * 5000
    line, carets = excerpt(text, Span(5000, 5004)).splitlines()
    assert len(line) < 140
    assert line[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in excerpt("SELECT \x1b[2J", Span(7, 8))
