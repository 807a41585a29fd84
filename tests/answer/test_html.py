"""Answers in notebooks."""

import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import table

from hedgerow.answer import Answer, Summary
from hedgerow.error_bars.intervals.interval import Interval

HELD_BACK = Interval(note="held back: too few people may be behind it", reason="held-back")


class Seen(HTMLParser):
    """The tags of a page, the names of their attributes, the titles and the texts of its cells."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.titles, self.cells, self._inside = [], set(), [], [], False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.titles += [value for name, value in attrs if name == "title"]
        if tag == "td":
            self._inside = True
            self.cells.append("")

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "td"

    def handle_data(self, data):
        if self._inside:
            self.cells[-1] += data


def shown(answer):
    return Seen(answer._repr_html_())


def test_every_number_has_its_error_and_its_interval_when_pointed_at(make):
    seen = shown(make({"r": ["n"], "a": [1234]}, a=[Interval(1204, 1264)]))
    assert seen.cells == ["n", "1,234 ± 30"]
    assert seen.titles == ["from 1,204 to 1,264"]


def test_an_open_interval_says_so_and_why(make):
    seen = shown(make({"a": [5.0]}, a=[Interval(3, math.inf, "unbounded: because")]))
    assert seen.cells == ["5 [3, ∞)"]
    assert seen.titles == ["from 3 to ∞; unbounded: because"]


def test_what_was_held_back_is_marked_and_has_no_bar(make):
    seen = shown(make({"r": ["n", "s"], "a": [10, None]}, a=[Interval(8, 12), HELD_BACK]))
    assert seen.cells[-1] == "held back"
    assert seen.titles[-1].endswith("held back: too few people may be behind it")
    assert seen.tags.count("span") == 1
    assert seen.tags.count("em") == 1


def stripes(page):
    """The left and right end, in percent, of each interval that is drawn."""
    drawn = re.findall(r"linear-gradient\(90deg,transparent ([\d.]+)%,#4c78a8\w+ [\d.]+%,#4c78a8\w+ ([\d.]+)%", page)
    return [(float(left), float(right)) for left, right in drawn]


def test_the_bars_of_a_column_share_one_scale(make):
    page = make({"a": [10, 90]}, a=[Interval(0, 20), Interval(80, 100)])._repr_html_()
    assert stripes(page) == [(0, 20), (80, 100)]


def test_an_open_end_reaches_to_the_end_of_the_scale(make):
    page = make({"a": [10, 90, 50]}, a=[Interval(0, 20), Interval(80, 100), Interval(40, math.inf)])._repr_html_()
    assert stripes(page)[-1] == (40, 100)


def test_a_narrow_interval_stays_visible(make):
    page = make({"a": [0, 1000]}, a=[Interval(0, 0.001), Interval(999.999, 1000)])._repr_html_()
    assert all(right - left > 1 for left, right in stripes(page))
    assert all(0 <= left <= right <= 100 for left, right in stripes(page))


def test_there_is_no_script_and_nothing_is_loaded(make):
    seen = shown(make({"r": ["n"], "a": [10]}, a=[Interval(8, 12, "conservative")]))
    assert set(seen.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "span", "em", "p"}
    assert seen.attributes <= {"style", "title", "aria-hidden"}


def test_notes_stand_below_the_table(make):
    page = make({"a": [10]}, a=[Interval(8, 12, "conservative")])._repr_html_()
    assert ">note: a: conservative</p>" in page


@given(
    st.text() | st.sampled_from(["<script>alert(1)</script>", '" onmouseover="alert(1)', "'><img src=x>", "&lt;b&gt;"])
)
def test_no_text_can_be_more_than_text(text):
    def page(word):
        bars = [{f"a{word}": Interval(8, 12, f"conservative {word}"), "b": Interval(note=f"held back {word}")}]
        columns = {f"k{word}": [word], f"a{word}": [10], "b": [None]}
        return Seen(Answer(table(columns), bars, 0.95, Summary("1", "q"))._repr_html_())

    usual, hostile = page("x"), page(text)
    assert hostile.tags == usual.tags
    assert hostile.attributes == usual.attributes
    assert hostile.titles[0] == f"from 8 to 12; conservative {text}"


def test_a_long_answer_is_cut_and_says_so(make):
    seen = shown(make({"a": list(range(1000))}, a=[Interval(i - 1, i + 1) for i in range(1000)]))
    assert seen.tags.count("tr") == 201
    page = make({"a": list(range(1000))}, a=[Interval(i - 1, i + 1) for i in range(1000)])._repr_html_()
    assert "the first 200 of 1,000 rows" in page


@pytest.mark.parametrize("values", [[0], [0, 0]])
def test_a_column_without_any_spread_is_shown_without_bars(make, values):
    seen = shown(make({"a": values}, a=[Interval(0, 0)] * len(values)))
    assert "span" not in seen.tags
