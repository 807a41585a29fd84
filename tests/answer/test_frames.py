"""Answers for programs: Arrow, pandas, polars and JSON."""

import datetime as dt
import json
import math
import threading

import pyarrow as pa
import pytest

from hedgerow.answer import Answer, Summary
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, EXACT, Interval, IntervalKind, Reason, Status

HELD_BACK = Interval(note="held back: too few people may be behind it", reason="held-back")
ENDS = ["a_lower", "a_upper", "a_note"]


@pytest.fixture
def answer(make):
    bars = [Interval(8, 12), HELD_BACK, Interval(3, math.inf, "unbounded: because")]
    return make({"k": ["x", "y", "z"], "a": [10, None, 5]}, 0.9, a=bars)


def test_arrow_has_the_values_alone(answer):
    assert answer.arrow().column_names == ["k", "a"]
    assert answer.arrow().column("a").to_pylist() == [10, None, 5]


def test_arrow_says_confidence_and_kind_of_interval_for_columns_that_rest_on_noise(answer):
    schema = answer.arrow().schema
    assert schema.field("a").metadata == {b"hedgerow.confidence": b"0.9", b"hedgerow.interval": b"conservative"}
    assert schema.field("k").metadata is None
    assert schema.metadata == {b"hedgerow.receipt": b"abc-1", b"hedgerow.confidence": b"0.9"}


@pytest.mark.parametrize(
    ("bars", "kind"),
    [
        ([Interval(0, 1), Interval(0, 1)], "exact"),
        ([Interval(0, 1), Interval(0, 1, kind="conservative")], "conservative"),
        ([Interval(0, 1, kind="approximate"), Interval(0, 1, kind="conservative")], "approximate"),
        ([Interval(0, 1), Interval(note="unbounded: because")], "none"),
        ([Interval(0, 1), HELD_BACK], "exact"),
        ([HELD_BACK, HELD_BACK], "none"),
        ([Interval(0, 1), Interval(note="no value", reason="no-row")], "exact"),
        ([Interval(0, 1), Interval(note="0 stands in", reason="stands-in")], "none"),
    ],
)
def test_a_column_promises_what_the_weakest_of_its_intervals_does(make, bars, kind):
    schema = make({"a": [1, 2]}, a=bars).arrow().schema
    assert schema.field("a").metadata[b"hedgerow.interval"].decode() == kind


@pytest.mark.parametrize("stated", ["exact", "conservative"])
def test_an_interval_with_an_open_end_is_never_exact(stated):
    assert Interval(0, math.inf, kind=stated).kind == "conservative"
    assert Interval(-math.inf, 0, kind=stated).kind == "conservative"
    assert Interval(kind=stated).kind == "none"


def test_an_open_end_does_not_make_a_weak_promise_stronger():
    assert Interval(0, math.inf, kind="approximate").kind == "approximate"


def test_words_decide_nothing():
    assert Interval(0, 1, "conservative: held back").kind == "exact"
    assert Interval(0, 1, "held back: by its words alone").has_number


def test_two_statements_together_promise_what_the_weaker_does_and_keep_the_first_words():
    selected = Status(reason=Reason.SELECTED, note="a remark")
    simulated = Status(IntervalKind.APPROXIMATE, Reason.SIMULATED, "simulated")
    assert selected.joined(simulated) == Status(IntervalKind.APPROXIMATE, Reason.SELECTED, "a remark")
    assert simulated.joined(selected) == simulated
    assert EXACT.joined(simulated) == simulated.joined(EXACT) == simulated
    assert CONSERVATIVE.joined(selected) == Status(IntervalKind.CONSERVATIVE, Reason.SELECTED, "a remark")


def test_intervals_are_columns_on_request(answer):
    table = answer.arrow(intervals=True)
    assert table.column_names == ["k", "a", *ENDS]
    assert table.column("a_lower").to_pylist() == [8, -math.inf, 3]
    assert table.column("a_upper").to_pylist() == [12, math.inf, math.inf]
    assert table.column("a_note").to_pylist() == [None, HELD_BACK.note, "unbounded: because"]
    assert table.schema.field("a_lower").metadata == {b"hedgerow.part": b"lower", b"hedgerow.of": b"a"}


def test_a_name_that_is_taken_stays_and_the_new_one_gives_way(make):
    table = make({"a_lower": ["mine"], "a": [1]}, a=[Interval(0, 2)]).arrow(intervals=True)
    assert table.column_names == ["a_lower", "a", "a_lower_", "a_upper", "a_note"]
    assert table.column("a_lower").to_pylist() == ["mine"]


def test_pandas_and_polars_have_the_same_columns(answer):
    assert list(answer.df().columns) == answer.pl().columns == ["k", "a"]
    assert list(answer.df(intervals=True).columns) == answer.pl(intervals=True).columns == ["k", "a", *ENDS]
    assert answer.df(intervals=True)["a_upper"].tolist() == [12, math.inf, math.inf]
    assert answer.pl(intervals=True)["a_lower"].to_list() == [8, -math.inf, 3]


def test_an_answer_without_rows_still_has_the_columns_of_its_intervals():
    empty = pa.table({"k": pa.array([], pa.string()), "a": pa.array([], pa.int64())})
    answer = Answer(empty, [], 0.95, Summary("1", "q"), noisy=["a"])
    assert answer.arrow(intervals=True).column_names == ["k", "a", *ENDS]
    assert answer.arrow(intervals=True).schema.field("a_upper").type == pa.float64()


def test_public_data_carries_no_metadata(make):
    schema = make({"k": [1]}, receipt=None).arrow(intervals=True).schema
    assert schema.metadata is None
    assert schema.field("k").metadata is None


def test_json_has_rows_and_intervals_side_by_side_and_null_for_open_ends(answer):
    actual = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert actual["rows"] == [["x", 10], ["y", None], ["z", 5]]
    assert actual["intervals"] == [
        {"a": {"lower": 8, "upper": 12, "note": None, "kind": "exact", "reason": None}},
        {"a": {"lower": None, "upper": None, "note": HELD_BACK.note, "kind": "none", "reason": "held-back"}},
        {"a": {"lower": 3, "upper": None, "note": "unbounded: because", "kind": "conservative", "reason": None}},
    ]
    assert actual["confidence"] == 0.9


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (dt.date(2025, 1, 2), "2025-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(hours=1), "1:00:00"),
        (b"\x01\xff", "01ff"),
        (math.nan, None),
        (True, True),
    ],
)
def test_json_holds_whatever_a_key_can_be(make, value, written):
    actual = json.loads(json.dumps(make({"k": [value]}).to_dict(), allow_nan=False))
    assert actual["rows"] == [[written]]


def test_intervals_that_are_made_late_are_made_when_first_looked_at_and_then_stay():
    calls = []

    def late():
        calls.append(1)
        return [{"a": Interval(len(calls), 10)}]

    answer = Answer(pa.table({"a": [5]}), late, 0.95, Summary("1", "q"), noisy=["a"])
    assert (len(answer), answer["a"], list(answer), calls) == (1, [5], [(5,)], [])
    first = answer.intervals
    assert answer.intervals is first
    assert "±" in str(answer)
    assert calls == [1]


def test_all_threads_see_the_same_intervals():
    ready = threading.Barrier(4)

    def late():
        ready.wait(timeout=10)
        return [{"a": Interval(0, 1)}]

    answer = Answer(pa.table({"a": [5]}), late, 0.95, Summary("1", "q"))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(answer.intervals)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all(intervals is seen[0] for intervals in seen)
