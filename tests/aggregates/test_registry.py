"""Every aggregate there is, taken from the registry: its reference answer, its coverage, its neighbours.

A new one is tested by being registered; the last tests plant wrong ones and see that they are caught.
"""

import pytest
from scipy import stats

from hedgerow.aggregates import Aggregate, Estimate, lookup, names
from hedgerow.aggregates.avg import Avg
from hedgerow.aggregates.base import _AGGREGATES, aggregate
from hedgerow.expressions.types import Type

COLUMNS = {"x": "x", "y": "y", "k": "k", "b": "(k < 20)", "c": "(x < 5)"}
"""Values of the placeholders of examples in the tables `one`, `many` and `t`."""

SURE = 1 - 1e-11
"""Of each interval that is compared with its reference; there are about a hundred."""

NEAR = 0.05
"""The largest distance of a value from its reference when there is hardly any noise, relative to it or to one."""

FALSE_ALARM = 1e-9
CONFIDENCE = 0.9
"""The smallest coverage of an interval."""

GROUPS, SIZE = 400, 60
PLENTY, MODERATE = 1000, 8
"""Epsilon for each aggregate: hardly any noise, and as much as shows in the intervals."""

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
every = pytest.mark.parametrize("name", names())


def statement(functions, source):
    """A statement with one column for each aggregate."""
    columns = ", ".join(f"{lookup(name).example.format(**COLUMNS)} AS {name.lower()}" for name in functions)
    return f"SELECT {columns} FROM {source}"


def assert_is_reference(db, ask, name, source, mechanism):
    """With hardly any noise, the answer is what plain SQL says, and the interval is short and holds it."""
    known = lookup(name)
    answer = ask(db, statement([name], source), epsilon=PLENTY, mechanism=mechanism, confidence=SURE)
    (exact,) = db.owner.execute(f"SELECT {known.reference.format(**COLUMNS)} FROM {source}").fetchone()
    (value,), bar = answer[name.lower()], answer.intervals[0][name.lower()]
    reach = NEAR * max(1.0, abs(exact))
    assert abs(value - exact) <= reach
    assert bar.lower - 1e-9 <= exact <= bar.upper + 1e-9
    assert bar.lower <= value <= bar.upper
    assert bar.upper - bar.lower <= 4 * reach


def by_group(db, known):
    """The reference of each group."""
    rows = db.owner.execute(f"SELECT g, {known.reference.format(**COLUMNS)} FROM t GROUP BY g").fetchall()
    return dict(rows)


def assert_covers(db, answer, name):
    """The intervals of many groups hold as often as they say."""
    exact = by_group(db, lookup(name))
    hits = 0
    for group, row in zip(answer["g"], answer.intervals, strict=True):
        bar, value = row[name.lower()], float(exact[group])
        near = 1e-9 * max(1.0, abs(value))
        hits += bar.lower - near <= value <= bar.upper + near
    assert stats.binom.cdf(hits, len(exact), CONFIDENCE) > FALSE_ALARM, f"{hits} of {len(exact)}"


@pytest.fixture
def planted():
    """Register an aggregate for one test."""
    added = []

    def plant(cls, name, example, reference=None):
        added.append(name)
        return aggregate(name, example, reference)(cls)

    yield plant
    for name in added:
        _AGGREGATES.pop(name, None)


@both
@pytest.mark.parametrize("source", ["one", "many"])
@every
def test_it_is_what_plain_sql_says(world, ask, name, source, mechanism):
    assert_is_reference(world, ask, name, source, mechanism)


@pytest.fixture(scope="module", params=["gaussian", "laplace"])
def grouped(request, build_once):
    """One statement with every aggregate, over many groups."""
    db = crowd(build_once)
    query = statement(names(), "t GROUP BY g").replace("SELECT", "SELECT g,", 1)
    options = {"epsilon": MODERATE * len(names()), "mechanism": request.param, "confidence": CONFIDENCE}
    return db, db.sql(query, **options)


def crowd(build):
    """People with one row each in many groups of one size."""
    values = "j, j // 60, (j * 7919 % 1000) / 100, (j * 7919 % 1000) / 200 + (j % 7) / 3.0, j * 31 % 50"
    return build(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INTEGER, x DOUBLE, y DOUBLE, k INTEGER NOT NULL)",
            f"INSERT INTO t SELECT {values} FROM range({GROUPS * SIZE}) r(j)",
        ],
        f"t:\n  unit: u\n  unit_unique: true\n  columns:\n    g: {{values: [{', '.join(map(str, range(GROUPS)))}]}}\n"
        "    x: {lower: 0, upper: 10}\n    y: {lower: 0, upper: 8}\n    k: {lower: 0, upper: 49}\n",
        handed_in=True,
    )


@every
def test_its_intervals_hold_as_often_as_they_say(grouped, name):
    assert_covers(*grouped, name)


class Shifted(Aggregate):
    """AVG plus a tenth of the range, with AVG's interval around it."""

    result = Type.FLOAT

    def sums(self, arguments, *, where, distinct):
        return Avg().sums(arguments, where=where, distinct=distinct)

    def estimate(self, measured, beta):
        actual = Avg().estimate(measured, beta)
        return Estimate(actual.values + 1.0, actual.lower + 1.0, actual.upper + 1.0, actual.statuses)


class Short(Shifted):
    """AVG with an interval of half its length."""

    def estimate(self, measured, beta):
        actual = Avg().estimate(measured, beta)
        quarter = (actual.upper - actual.lower) / 4
        return Estimate(actual.values, actual.lower + quarter, actual.upper - quarter, actual.statuses)


def test_a_wrong_value_is_caught(world, ask, planted):
    planted(Shifted, "SHIFTED", "SHIFTED({x})", "AVG({x})")
    with pytest.raises(AssertionError):
        assert_is_reference(world, ask, "SHIFTED", "one", "gaussian")


def test_a_short_interval_is_caught(build_once, ask, planted):
    planted(Short, "SHORTER", "SHORTER({x})", "AVG({x})")
    db = crowd(build_once)
    query = statement(["SHORTER"], "t GROUP BY g").replace("SELECT", "SELECT g,", 1)
    answer = ask(db, query, epsilon=1, confidence=CONFIDENCE)
    with pytest.raises(AssertionError):
        assert_covers(db, answer, "SHORTER")


@pytest.mark.parametrize("known", [lookup(name) for name in names()], ids=names())
def test_a_registered_aggregate_cannot_be_subclassed(known):
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Mine", (type(known),), {})


def test_the_examples_of_all_aggregates_call_them():
    assert all(lookup(name).example.startswith(f"{name}(") for name in names())
