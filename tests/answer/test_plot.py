"""Charts of answers: what is drawn for which key and which interval."""

import datetime as dt
import math
import sys
from decimal import Decimal

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.error_bars.intervals.interval import Interval, Reason

HELD_BACK = Interval(note="held back: too few people may be behind it", reason="held-back")
UNBOUNDED = Interval(note="unbounded: the denominator may be zero")
OPEN_ABOVE = Interval(3.0, math.inf, "unbounded: the denominator may be zero")
OPEN_BELOW = Interval(-math.inf, 9.0, "unbounded: the denominator may be zero")
ASTRAY = Interval(0.0, 0.0, "the noisy value lies outside of what is possible", reason=Reason.OUTSIDE_RANGE)

DAYS = [dt.date(2025, 1, day) for day in (1, 2, 3, 4, 5)]
SOLID = [Interval(8, 12), Interval(18, 22), Interval(28, 32), Interval(38, 42), Interval(48, 52)]
TENS = [10, 20, 30, 40, 50]


def of_kind(actual, kind, **mark):
    return [layer for layer in actual if layer.kind == kind and mark.items() <= layer.mark.items()]


def values(layer, *names):
    return [tuple(row.get(name) for name in names) for row in layer.rows]


def arrows(actual):
    """The arrow heads, by shape, with the number of points that have one and the edge that they stand at."""
    heads = [layer for layer in of_kind(actual, "point") if str(layer.mark.get("shape")).startswith("triangle")]
    return {layer.mark["shape"]: (len(layer.rows), layer.encoding["y"]["value"]) for layer in heads}


def test_words_get_bars_from_zero_with_a_rule_from_end_to_end(make, layers):
    answer = make({"region": ["n", "s"], "people": [10, 20]}, people=SOLID[:2])
    bars, rules = layers(answer.plot())
    assert (bars.kind, bars.field("x"), bars.field("y")) == ("bar", "x", "value")
    assert bars.encoding["y"]["scale"]["zero"] is True
    assert bars.encoding["y"]["stack"] is None
    assert values(bars, "x", "value") == [("n", 10), ("s", 20)]
    assert (rules.kind, rules.field("y"), rules.field("y2")) == ("rule", "lower", "upper")
    assert values(rules, "lower", "upper") == [(8, 12), (18, 22)]


def test_titles_name_the_columns_and_the_confidence(make, layers):
    chart = make({"region": ["n"] * 2, "people": [10, 20]}, 0.9, people=SOLID[:2]).plot()
    assert chart.to_dict()["title"]["text"] == "people by region, 90 % intervals"
    bars = layers(chart)[0]
    assert (bars.encoding["x"]["title"], bars.encoding["y"]["title"]) == ("region", "people")


def test_words_stay_in_the_order_of_the_answer(make, layers):
    answer = make({"region": ["z", "a", "m"], "people": [30, 20, 10]}, people=SOLID[:3])
    for layer in layers(answer.plot()):
        assert layer.encoding["x"]["scale"]["domain"] == ["z", "a", "m"]


def test_dates_get_a_line_in_a_band_with_a_point_for_each_row(make, layers):
    band, line, dots = layers(make({"day": DAYS, "visits": TENS}, visits=SOLID).plot())
    assert (band.kind, band.field("y"), band.field("y2")) == ("area", "lower", "upper")
    assert (line.kind, line.field("y")) == ("line", "value")
    assert (dots.kind, dots.mark["filled"], len(dots.rows)) == ("point", True, 5)
    assert values(band, "lower", "upper") == [(bar.lower, bar.upper) for bar in SOLID]
    assert {row["run"] for row in line.rows} == {1}


def test_dates_are_not_moved_by_the_time_zone_of_whoever_looks(make, layers):
    band, *_ = layers(make({"day": DAYS, "visits": TENS}, visits=SOLID).plot())
    assert band.encoding["x"]["type"] == "temporal"
    assert band.encoding["x"]["scale"]["type"] == "utc"
    assert band.rows[0]["x"] == "2025-01-01T00:00:00Z"


def test_moments_with_a_zone_are_drawn_where_they_are(make, layers):
    zone = dt.timezone(dt.timedelta(hours=2))
    moments = [dt.datetime(2025, 1, day, 1, 30, tzinfo=zone) for day in (1, 2)]
    band, *_ = layers(make({"at": moments, "visits": [10, 20]}, visits=SOLID[:2]).plot())
    assert band.rows[0]["x"] == "2024-12-31T23:30:00.000Z"


def test_a_line_is_drawn_in_the_order_of_time_whatever_the_order_of_the_answer(make, layers):
    answer = make({"day": DAYS[::-1], "visits": TENS}, visits=SOLID)
    line = of_kind(layers(answer.plot()), "line")[0]
    assert [row["x"] for row in line.rows] == sorted(row["x"] for row in line.rows)


def test_a_value_that_is_missing_breaks_the_line_and_the_band(make, layers):
    answer = make({"day": DAYS, "visits": [10, 20, None, 40, 50]}, visits=[*SOLID[:2], HELD_BACK, *SOLID[3:]])
    actual = layers(answer.plot())
    (line,), (band,) = of_kind(actual, "line"), of_kind(actual, "area")
    for path in (line, band):
        assert path.field("detail") == "run"
        runs = [row["run"] for row in path.rows]
        assert (runs[0] == runs[1], runs[1] == runs[2], runs[2] == runs[3]) == (True, False, True)
    assert all("2025-01-03" not in row["x"] for row in line.rows)


def test_a_date_without_neighbours_keeps_its_interval_as_a_rule(make, layers):
    answer = make({"day": DAYS[:3], "visits": [10, None, 30]}, visits=[SOLID[0], HELD_BACK, SOLID[2]])
    actual = layers(answer.plot())
    assert not of_kind(actual, "area")
    assert not of_kind(actual, "line")
    (rule,) = of_kind(actual, "rule")
    assert values(rule, "lower", "upper") == [(8, 12), (28, 32)]


@pytest.mark.parametrize("ages", [[20, 30], [20.5, 30.5], [Decimal("20.5"), Decimal("30.5")]])
def test_numbers_get_points_with_rules(make, layers, ages):
    rules, dots = layers(make({"age": ages, "people": [10, 20]}, people=SOLID[:2]).plot())
    assert (rules.kind, rules.field("y"), rules.field("y2")) == ("rule", "lower", "upper")
    assert (dots.kind, dots.mark["filled"]) == ("point", True)
    assert dots.encoding["x"]["type"] == "quantitative"
    assert values(dots, "x", "value") == [(float(ages[0]), 10), (float(ages[1]), 20)]


def test_no_key_is_one_big_number_and_a_point_with_a_rule(make, layers):
    chart = make({"people": [1234]}, people=[Interval(1204, 1264)]).plot()
    number, rule, dot = layers(chart)
    assert (number.kind, number.field("text"), number.rows[0]["shown"]) == ("text", "shown", "1,234 ± 30")
    assert number.mark["fontSize"] >= 24
    assert (rule.kind, rule.field("x"), rule.field("x2")) == ("rule", "lower", "upper")
    assert values(rule, "lower", "upper") == [(1204, 1264)]
    assert (dot.kind, dot.field("x"), dot.rows[0]["value"]) == ("point", "value", 1234)
    assert chart.to_dict()["title"]["text"] == "people, 95 % intervals"


@pytest.mark.parametrize(
    ("bar", "heads"),
    [
        (OPEN_ABOVE, {"triangle-right"}),
        (OPEN_BELOW, {"triangle-left"}),
        (UNBOUNDED, {"triangle-right", "triangle-left"}),
    ],
)
def test_one_number_with_an_open_interval_has_arrows_and_is_hollow(make, layers, bar, heads):
    actual = layers(make({"r": [5.0]}, r=[bar]).plot())
    assert {layer.mark.get("shape") for layer in of_kind(actual, "point")} == {*heads, None}
    assert of_kind(actual, "point", filled=False)
    assert all("strokeDash" in layer.mark for layer in of_kind(actual, "rule"))


def test_one_number_that_was_held_back_is_said_in_words(make, layers):
    chart = make({"people": pa.array([None], pa.int64())}, people=[HELD_BACK]).plot()
    (number,) = layers(chart)
    assert number.rows[0]["shown"] == "held back"
    assert chart.to_dict()["title"]["subtitle"] == ["× held back: too few people may be behind it"]


def test_rows_without_a_key_are_numbered(make, layers):
    bars, _ = layers(make({"people": [10, 20]}, people=SOLID[:2]).plot())
    assert values(bars, "x", "value") == [("1", 10), ("2", 20)]
    assert bars.encoding["x"]["title"] == "row"


def test_each_noisy_column_has_a_panel(make, panels, layers):
    chart = make({"r": ["n", "s"], "a": [10, 20], "b": [30, 40]}, a=SOLID[:2], b=SOLID[2:4]).plot()
    actual = panels(chart)
    assert [panel["title"]["text"].split(" ")[0] for panel in actual] == ["a", "b"]
    assert [values(layers(panel)[0], "value") for panel in actual] == [[(10,), (20,)], [(30,), (40,)]]


def test_two_keys_of_words_are_bars_side_by_side_in_colour(make, layers):
    answer = make({"r": ["n", "n", "s"], "sex": ["f", "m", "f"], "a": [10, 20, 30]}, a=SOLID[:3])
    bars, rules = layers(answer.plot())
    assert (bars.field("color"), bars.field("xOffset"), rules.field("xOffset")) == ("group", "group", "group")
    assert values(bars, "x", "group") == [("n", "f"), ("n", "m"), ("s", "f")]
    assert bars.encoding["color"]["title"] == "sex"
    assert bars.encoding["color"]["scale"]["domain"] == ["f", "m"]


def test_a_date_is_the_axis_even_as_the_second_key_and_each_colour_has_its_line(make, layers):
    columns = {"r": ["n", "s", "n", "s"], "day": [DAYS[0], DAYS[0], DAYS[1], DAYS[1]], "a": TENS[:4]}
    band, line, _ = layers(make(columns, a=SOLID[:4]).plot())
    assert line.encoding["x"]["title"] == "day"
    assert line.field("color") == band.field("color") == "group"
    runs = {(row["group"], row["run"]) for row in line.rows}
    assert len(runs) == 2
    assert {group for group, _ in runs} == {"n", "s"}


def test_three_keys_are_told_apart_by_the_colour_of_the_other_two(make, layers):
    answer = make({"a": ["x", "x"], "b": ["u", "v"], "c": [True, False], "n": [10, 20]}, n=SOLID[:2])
    bars, _ = layers(answer.plot())
    assert bars.encoding["color"]["title"] == "b · c"
    assert [row["group"] for row in bars.rows] == ["u · True", "v · False"]


@pytest.mark.parametrize("keys", [["n", "s", "e"], [1, 2, 3], DAYS[:3]], ids=["words", "numbers", "dates"])
@pytest.mark.parametrize(
    ("bar", "expected"),
    [
        (OPEN_ABOVE, {"triangle-up": (1, 0)}),
        (OPEN_BELOW, {"triangle-down": (1, "height")}),
        (UNBOUNDED, {"triangle-up": (1, 0), "triangle-down": (1, "height")}),
    ],
)
def test_an_open_interval_is_a_hollow_point_with_dashes_and_arrows(make, layers, keys, bar, expected):
    actual = layers(make({"k": keys, "r": [10, 5, 30]}, r=[SOLID[0], bar, SOLID[2]]).plot())
    assert arrows(actual) == expected
    (hollow,) = of_kind(actual, "point", filled=False)
    assert values(hollow, "value") == [(5,)]
    dashed = [layer for layer in of_kind(actual, "rule") if "strokeDash" in layer.mark]
    assert [(layer.field("y"), layer.encoding["y2"]["value"]) for layer in dashed] == [
        ("lower" if bar is OPEN_ABOVE else "upper" if bar is OPEN_BELOW else "value", edge)
        for _, edge in expected.values()
    ]
    solid = [
        layer
        for layer in actual
        if layer not in dashed and layer is not hollow and layer.mark.get("shape") not in expected
    ]
    assert all(row["value"] != 5 for layer in solid for row in layer.rows)


@pytest.mark.parametrize("keys", [["n", "s"], [1, 2], DAYS[:2]], ids=["words", "numbers", "dates"])
def test_an_interval_without_width_is_a_hollow_point_with_a_note(make, layers, keys):
    chart = make({"k": keys, "a": [10, -3]}, a=[SOLID[0], ASTRAY]).plot()
    (hollow,) = of_kind(layers(chart), "point", filled=False)
    assert values(hollow, "value") == [(-3,)]
    assert chart.to_dict()["title"]["subtitle"] == ["○ the noisy value lies outside of what is possible"]


@pytest.mark.parametrize("keys", [["n", "s"], [1, 2], DAYS[:2]], ids=["words", "numbers", "dates"])
def test_what_was_held_back_is_a_cross_on_the_axis_and_never_a_zero(make, layers, keys):
    chart = make({"k": keys, "a": [10, None]}, a=[SOLID[0], HELD_BACK]).plot()
    actual = layers(chart)
    gaps = [layer for layer in actual if any("value" not in row for row in layer.rows)]
    assert gaps
    assert all(layer.encoding["y"] == {"value": "height"} for layer in gaps)
    assert all(row["shown"] == "held back" for layer in gaps for row in layer.rows)
    others = [row for layer in actual if layer not in gaps for row in layer.rows]
    assert {row["value"] for row in others} == {10}
    assert "× held back: too few people may be behind it" in chart.to_dict()["title"]["subtitle"]


def test_bars_that_were_held_back_say_so(make, layers):
    words = of_kind(layers(make({"k": ["n", "s"], "a": [10, None]}, a=[SOLID[0], HELD_BACK]).plot()), "text")
    assert [(layer.field("text"), layer.rows[0]["shown"]) for layer in words] == [("shown", "held back")]


def test_null_is_a_group_of_its_own_beside_the_text_null(make, layers):
    bars, _ = layers(make({"k": [None, "NULL", ""], "a": TENS[:3]}, a=SOLID[:3]).plot())
    assert [row["x"] for row in bars.rows] == ["NULL", "'NULL'", "''"]


def test_long_keys_that_begin_alike_stay_apart(make, layers):
    bars, _ = layers(make({"k": ["a" * 500, "a" * 501], "a": TENS[:2]}, a=SOLID[:2]).plot())
    assert len({row["x"] for row in bars.rows}) == 2


@pytest.mark.parametrize("keys", [[1, None], [DAYS[0], None]], ids=["numbers", "dates"])
def test_a_null_that_has_no_place_on_the_axis_is_mentioned(make, layers, keys):
    chart = make({"k": keys, "a": [10, 20]}, a=SOLID[:2]).plot()
    assert {row["value"] for layer in layers(chart) for row in layer.rows} == {10}
    assert chart.to_dict()["title"]["subtitle"] == ["not drawn: 1 with k NULL"]


def test_many_groups_are_cut_and_the_chart_says_so(make, layers):
    answer = make(
        {"k": [f"k{i}" for i in range(500)], "a": list(range(500))}, a=[Interval(i, i + 1) for i in range(500)]
    )
    chart = answer.plot()
    assert chart.to_dict()["title"]["subtitle"] == ["the first 60 of 500 groups are drawn"]
    assert [len(layer.rows) for layer in layers(chart)] == [60, 60]


def test_columns_can_be_chosen(make, layers):
    answer = make({"r": ["n", "s"], "day": DAYS[:2], "a": [10, 20], "b": [30, 40]}, a=SOLID[:2], b=SOLID[2:4])
    bars, _ = layers(answer.plot(x="r", y="b", colour="day"))
    assert (bars.encoding["x"]["title"], bars.encoding["color"]["title"]) == ("r", "day")
    assert values(bars, "x", "group", "value") == [("n", "2025-01-01", 30), ("s", "2025-01-02", 40)]


def test_one_noisy_column_along_another_says_that_the_axis_is_noisy(make, layers):
    chart = make({"a": [10, 20], "b": [30, 40]}, a=SOLID[:2], b=SOLID[2:4]).plot(x="a")
    assert {row["value"] for layer in layers(chart) for row in layer.rows} == {30, 40}
    assert chart.to_dict()["title"]["subtitle"] == ["a is noisy, too; its intervals are not drawn"]


def test_public_data_is_drawn_without_intervals_and_called_exact(make, layers):
    chart = make({"floor": [1, 2], "beds": [40, 50]}, receipt=None).plot()
    (dots,) = layers(chart)
    assert values(dots, "x", "value") == [(1, 40), (2, 50)]
    assert chart.to_dict()["title"]["text"] == "beds by floor, exact"


def test_an_answer_without_rows_is_an_empty_chart(make):
    chart = make({"k": pa.array([], pa.string()), "a": pa.array([], pa.int64())}).plot()
    assert chart.to_dict()["title"]["text"] == "a by k: no rows"


@pytest.mark.parametrize("options", [{"x": "no"}, {"y": "no"}, {"colour": "no"}, {"y": "r"}, {"y": []}])
def test_a_column_that_cannot_be_drawn_is_refused(make, options):
    with pytest.raises(hr.ParameterError) as caught:
        make({"r": ["n"], "a": [10]}, a=SOLID[:1]).plot(**options)
    assert caught.value.code == "bad-plot"


def test_without_altair_the_error_names_the_extra(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(hr.ParameterError, match=r"hedgerow\[plots\]"):
        make({"r": ["n"], "a": [10]}, a=SOLID[:1]).plot()


def test_a_chart_becomes_a_picture(make, tmp_path):
    path = tmp_path / "chart.png"
    make({"r": ["n", "s"], "a": [10, None]}, a=[SOLID[0], HELD_BACK]).plot().save(path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
    assert len(path.read_bytes()) > 2_000


@pytest.mark.parametrize("keys", [["n", "s", "e", "w", "c"], [1, 2, 3, 4, 5], DAYS, None])
def test_every_number_in_a_chart_was_released_or_is_the_end_of_an_interval(make, layers, keys):
    bars = [SOLID[0], OPEN_ABOVE, HELD_BACK, ASTRAY, UNBOUNDED]
    columns = {} if keys is None else {"k": keys}
    answer = make({**columns, "a": [10, 20, None, -3, 50]}, a=bars)
    ends = {end for bar in bars for end in (bar.lower, bar.upper)}
    for layer in layers(answer.plot()):
        for row in layer.rows:
            assert {row[name] for name in ("value", "lower", "upper") if name in row} <= {10, 20, -3, 50} | ends


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(1)>",
    "\"'`${x}\x1b[31m\x00",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_an_answer_can_leave_the_script_of_a_page(make, text):
    def page(word):
        note = Interval(8, 12, note=f"conservative {word}")
        answer = make({f"k{word}": [word], f"c{word}": [word], f"a{word}": [10]}, **{f"a{word}": [note]})
        return answer.plot().to_html().lower()

    usual, hostile = page("x"), page(text)
    for tag in ("<script", "</script", "<!--", "<img"):
        assert hostile.count(tag) == usual.count(tag)
    assert "\x1b" not in hostile


def test_very_many_points_are_cut_and_the_chart_says_so(make, layers):
    many = list(range(6_000))
    chart = make({"k": many, "a": many}, a=[Interval(i - 1, i + 1) for i in many]).plot()
    assert chart.to_dict()["title"]["subtitle"] == ["the first 5,000 of 6,000 points are drawn"]
    assert [len(layer.rows) for layer in layers(chart)] == [5_000, 5_000]
