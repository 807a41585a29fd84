"""Answers on a terminal."""

import math
from decimal import Decimal

import pytest

from hedgerow.answer.plain import shown
from hedgerow.error_bars.intervals.interval import Interval

HELD_BACK = Interval(note="held back: too few people may be behind it", reason="held-back")


@pytest.mark.parametrize(
    ("value", "bar", "text"),
    [
        (1234, Interval(1204, 1264), "1,234 ± 30"),
        (0.51234, Interval(0.5, 0.52468), "0.512 ± 0.012"),
        (-5, Interval(0, 15), "-5 [0, 15]"),
        (5.0, Interval(3, math.inf), "5 [3, ∞)"),
        (5.0, Interval(-math.inf, 9), "5 (-∞, 9]"),
        (5.0, Interval(), "5.000 ± ∞"),
        (5.0, Interval(5.0, math.inf), "5 [5, ∞)"),
        (None, HELD_BACK, "held back"),
        (None, Interval(0, 1), "NULL"),
        (None, None, "NULL"),
        (True, None, "True"),
        (12345, None, "12345"),
        ("text", None, "text"),
    ],
)
def test_a_number_is_shown_with_its_error_and_no_more_digits_than_that_allows(value, bar, text):
    assert shown(value, bar) == text


def test_the_table_has_the_errors_what_they_mean_and_each_note_once(make):
    bars = [Interval(8, 12, "conservative"), HELD_BACK, Interval(28, 32, "conservative")]
    text = str(make({"r": ["n", "s", "e"], "a": [10, None, 30]}, a=bars))
    assert "10 ± 2" in text
    assert text.splitlines()[-3:] == [
        "± at 0.95 confidence; epsilon 0.5, delta 1e-08, 2.00% of the budget",
        "note: a: conservative",
        "note: a: held back: too few people may be behind it",
    ]


def test_a_long_answer_is_cut_and_says_so(make):
    text = str(make({"a": list(range(1000))}, a=[Interval(i - 1, i + 1) for i in range(1000)]))
    assert len(text.splitlines()) < 210
    assert "the first 200 of 1,000 rows" in text


def test_a_long_key_is_cut_and_costs_no_digit(make):
    text = str(make({"k": ["x" * 5000], "a": [123456789.0]}, a=[Interval(123456788.5, 123456789.5)]))
    assert "123,456,789.00 ± 0.50" in text
    assert "x" * 100 in text
    assert "x" * 200 not in text


def test_many_columns_stand_in_one_line(make):
    names = [f"column_{i}" for i in range(30)]
    text = str(make({name: [1000] for name in names}, **{name: [Interval(900, 1100)] for name in names}))
    assert text.count("1,000 ± 100") == 30


def test_keys_and_names_cannot_move_the_cursor(make):
    text = str(make({"k\x1b[2J": ["\x1b[31mred\x07\r\n"], "a\x1b": [1]}, **{"a\x1b": [Interval(0, 2, "conservative")]}))
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "red" in text


def test_brackets_in_keys_are_brackets(make):
    assert "[bold]x[/bold]" in str(make({"k": ["[bold]x[/bold]"]}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 3, "0.333333 ± 0"),
        (52.5, "52.5 ± 0"),
        (0.004, "0.004 ± 0"),
        (1234567.5, "1,234,567.5 ± 0"),
        (12_345_678_901.0, "12,345,678,901 ± 0"),
        (0, "0 ± 0"),
        (60_000, "60,000 ± 0"),
        (Decimal("7.25"), "7.25 ± 0"),
    ],
)
def test_a_number_without_error_is_shown_in_full(value, text):
    assert shown(value, Interval(float(value), float(value))) == text


def test_a_number_far_below_one_keeps_its_digits():
    assert shown(3.25e-15, Interval(3.2e-15, 3.3e-15)) == "3.25e-15 ± 5e-17"


def test_an_exact_number_of_a_public_table_is_shown_in_full():
    assert shown(1234567.5, None) == "1234567.5"
