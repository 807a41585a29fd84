"""Tables without negative numbers: they add up, repeat their digits, and their error bars hold."""

from collections import Counter
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest
from scipy.stats import binom, norm

import hedgerow as hr
from hedgerow.error_bars.intervals.interval import Interval, IntervalKind, Reason
from hedgerow.errors import ParameterError
from hedgerow.execution.nonnegative import ShownColumn, _containing
from hedgerow.statistics.nearest_tables import nearest_atoms

CATALOG = """
dataset: town
budget: {epsilon: 300, delta: 1e-5}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      rooms: {lower: 0, upper: 9}
      rent: {lower: 0, upper: 20}
      debt: {lower: -9, upper: 9}
      a: {values: [a0, a1, a2, a3, a4, a5, a6, a7]}
      b: {values: [b0, b1, b2, b3, b4, b5, b6, b7]}
      c: {values: [c0, c1, c2]}
"""
TABLES = {
    "ab": "SELECT a, b, COUNT(*) AS n, SUM(rooms) AS rooms, SUM(rent) AS rent, AVG(debt) AS mean FROM people "
    "GROUP BY a, b",
    "ac": "SELECT a, c, COUNT(*) AS n FROM people GROUP BY a, c",
    "bc": "SELECT b, c, COUNT(*) AS n FROM people GROUP BY b, c",
    "b": "SELECT b, COUNT(*) AS n FROM people GROUP BY b ORDER BY n DESC",
    "all": "SELECT COUNT(*) AS n, SUM(rooms) AS rooms, SUM(rent) AS rent, SUM(debt) AS debt FROM people",
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    with duckdb.connect(str(folder / "town.duckdb")) as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 9 AS rooms, (i % 9) * 1.25 AS rent, i % 19 - 9 AS debt, "
            "'a' || (i % 3) AS a, 'b' || (i % 2) AS b, 'c' || (i % 3) AS c FROM range(200) t(i)"
        )
        owner.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
    (folder / "town.yaml").write_text(CATALOG, encoding="utf-8")
    with hr.connect(folder / "town.duckdb", catalog=folder / "town.yaml") as db:
        released = db.batch(TABLES, epsilon=0.5)
        yield SimpleNamespace(db=db, released=released, adjusted=db.batch(TABLES, epsilon=0.5, nonnegative=True))


def margin(answer, key, number="n"):
    totals = Counter()
    for row in answer:
        totals[getattr(row, key)] += getattr(row, number)
    return totals


def numbers(answer):
    """Yield the rows, the columns and the error bars of all numbers."""
    for row, bars in zip(answer, answer.intervals, strict=True):
        for name, bar in bars.items():
            yield name, getattr(row, name), bar


def test_tables_add_up_exactly(town):
    tables = town.adjusted
    assert margin(tables["ab"], "a") == margin(tables["ac"], "a")
    assert margin(tables["ab"], "b") == margin(tables["bc"], "b") == margin(tables["b"], "b")
    assert margin(tables["ac"], "c") == margin(tables["bc"], "c")
    for name in ("n", "rooms", "rent"):
        assert sum(tables["ab"][name]) == tables["all"][name][0]


def test_no_number_is_negative_and_counts_are_whole(town):
    assert min(town.released["ab"]["n"]) < 0, "of 58 cells without people one has negative noise"
    for answer in town.adjusted:
        for name, value, _ in numbers(answer):
            assert value >= 0 or name in {"mean", "debt"}
            assert value == round(value) or name in {"mean", "rent"}


def test_error_bars_contain_the_number_and_all_that_is_possible_of_the_released_interval(town):
    for released, adjusted in zip(town.released, town.adjusted, strict=True):
        for (name, _, before), (_, value, after) in zip(numbers(released), numbers(adjusted), strict=True):
            lowest = -np.inf if name in {"mean", "debt"} else 0.0
            assert after.lower <= max(before.lower, lowest)
            assert after.upper >= before.upper
            assert after.lower <= value <= after.upper or name == "mean"


def test_a_number_says_what_was_changed(town):
    raised = [
        (value, after)
        for (_, before, _), (name, value, after) in zip(
            numbers(town.released["ab"]), numbers(town.adjusted["ab"]), strict=True
        )
        if name == "n" and before < -6 and value == 0
    ]
    assert raised
    assert all(bar.reason is Reason.ADJUSTED and "raised to 0" in bar.note for _, bar in raised)
    assert any(note.kind.value == "nonnegative" for note in town.adjusted["ab"].notes)
    assert town.adjusted["ab"]["mean"] == town.released["ab"]["mean"]


def test_it_is_free_and_repeats_its_digits(town):
    spent = town.db.budget.queries
    again = town.db.batch(TABLES, epsilon=0.5, nonnegative=True)
    assert [list(answer) for answer in again] == [list(answer) for answer in town.adjusted]
    assert [answer.intervals for answer in again] == [answer.intervals for answer in town.adjusted]
    assert town.adjusted.receipt.reused
    assert town.db.budget.queries == spent


def test_totals_of_one_question_add_up(town):
    sql = "SELECT a, b, COUNT(*) AS n FROM people GROUP BY ROLLUP(a, b)"
    answer = town.db.sql(sql, epsilon=0.5, nonnegative=True)
    whole = {(row.a, row.b): row.n for row in answer}
    assert min(whole.values()) >= 0
    assert sum(n for (a, b), n in whole.items() if b is not None) == whole[None, None]
    assert sum(n for (a, b), n in whole.items() if a is not None and b is None) == whole[None, None]
    assert list(town.db.sql(sql, epsilon=0.5, nonnegative=True)) == list(answer)


def test_anything_but_a_boolean_is_refused(town):
    with pytest.raises(ParameterError, match="nonnegative must be True or False"):
        town.db.sql(TABLES["all"], nonnegative="yes")


def covered(trials, width):
    """Count the error bars that hold the exact number, of tables with a margin and a total, for a half width."""
    cells = np.eye(6)
    members = np.vstack([cells, cells.reshape(3, 2, 6).sum(axis=1), np.ones((1, 6))])
    exact = members @ np.array([0.0, 0.0, 1.0, 3.0, 12.0, 40.0])
    column = ShownColumn("n", 0, ((0, 1.0),), exact, None, 0.0, whole=True)
    generator, held = np.random.default_rng(), np.zeros(len(exact), dtype=int)
    for _ in range(trials):
        released = exact + members @ generator.normal(0.0, 4.0, 6)
        shown = members @ nearest_atoms(members, released, lowest=0.0, whole=True)
        for number, reach in enumerate(width * 4.0 * np.sqrt(members.sum(axis=1))):
            ends = max(released[number] - reach, 0.0), max(released[number] + reach, 0.0)
            bar = _containing(Interval(*ends), released[number], shown[number], column)
            assert bar.lower <= shown[number] <= bar.upper
            held[number] += bar.lower <= exact[number] <= bar.upper
    return held


def enough(held, trials):
    """Return True if no number is covered less than nominally; a false alarm has a probability below 1e-9."""
    return held.min() >= binom.ppf(1e-9 / len(held), trials, 0.95)


def test_error_bars_hold_as_often_as_before():
    assert enough(covered(300, norm.ppf(0.975)), 300)


@pytest.mark.slow
def test_error_bars_hold_as_often_as_before_in_many_trials():
    assert enough(covered(20_000, norm.ppf(0.975)), 20_000)
    assert not enough(covered(20_000, norm.ppf(0.975) / 1.3), 20_000), "a bar that is 30 % too short is noticed"


def test_a_longer_interval_is_conservative():
    column = ShownColumn("n", 0, (), np.array([]), None, 0.0, whole=True)
    bar = _containing(Interval(10.0, 20.0), 15.0, 22.0, column)
    assert (bar.lower, bar.upper, bar.kind) == (10.0, 22.0, IntervalKind.CONSERVATIVE)
    assert _containing(Interval(10.0, 20.0), 15.2, 15.0, column) == Interval(10.0, 20.0)
