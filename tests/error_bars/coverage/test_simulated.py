"""Numbers that no rule covers: simulated, labelled, one for each key."""

import pytest
from scipy.stats import binom

from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.propagation.simulation import LEAST_DRAWS, SIMULATED, SimulatedNumber, around, draws_for

ASKED = 150
FALSE_ALARM = 1e-9
COVERAGE = 0.85
"""What simulated intervals at 0.95 reach at least in these settings; they promise nothing exact."""

LEAST = binom.ppf(FALSE_ALARM, ASKED, COVERAGE)

SPREAD = "WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT STDDEV_POP(n) AS sd, MEDIAN(n) AS middle FROM r"
BY_KEY = """
WITH r AS (SELECT g, h, COUNT(*) AS n FROM t GROUP BY g, h)
SELECT h, STDDEV_POP(n) AS sd, COUNT(*) AS cells FROM r GROUP BY h HAVING STDDEV_POP(n) > -1 ORDER BY 2 DESC LIMIT 1"""
CURVED = "SELECT g, POWER(COUNT(*), 1.5) AS curved FROM t GROUP BY g ORDER BY g"


@pytest.fixture(scope="module")
def town(build_once):
    sizes = {"a": 60, "b": 45, "c": 120, "d": 90}
    rows = [
        f"({100 * place * 2 + i}, '{g}', '{'uv'[i % 2]}')"
        for place, (g, size) in enumerate(sizes.items())
        for i in range(size)
    ]
    return build_once(
        [
            "CREATE TABLE t (u INTEGER PRIMARY KEY, g VARCHAR NOT NULL, h VARCHAR NOT NULL)",
            f"INSERT INTO t VALUES {', '.join(rows)}",
        ],
        "t: {unit: u, unit_unique: true, columns: {g: {values: [a, b, c, d]}, h: {values: [u, v]}}}",
        handed_in=True,
        budget="{epsilon: 1000000, delta: 0.1, pure_epsilon: 500000}",
    )


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("query", [SPREAD, CURVED])
def test_simulated_intervals_are_labelled_and_about_right(town, ask, query, mechanism):
    result = town.owner.execute(query)
    names, truth = [column[0] for column in result.description], result.fetchone()
    held = 0
    for _ in range(ASKED):
        answer = ask(town, query, epsilon=2.0, delta=1e-5, mechanism=mechanism)
        for name, interval in answer.intervals[0].items():
            assert interval.kind == "approximate"
            if name == names[-1]:
                held += interval.lower <= truth[-1] <= interval.upper
    assert held >= LEAST


def test_every_key_has_an_interval_though_having_and_limit_pick_rows(town, ask):
    answer = ask(town, BY_KEY, epsilon=2.0, delta=1e-5)
    assert answer.intervals[0]["sd"].kind == "approximate"
    assert "h" not in answer.intervals[0]


def test_what_cannot_be_negative_has_no_negative_end(town, ask):
    for _ in range(20):
        answer = ask(town, SPREAD, epsilon=0.2, delta=1e-5)
        assert answer.intervals[0]["sd"].lower >= 0


def test_a_value_that_some_draws_lack_has_no_interval(town, ask):
    """NULLIF of a difference that is zero in some draws, under a function without a rule."""
    query = "SELECT g, SIN(NULLIF(COUNT(*), 60)) AS s FROM t GROUP BY g ORDER BY g"
    answer = ask(town, query, epsilon=1.0, delta=1e-5)
    assert answer.intervals[0]["s"].kind == "none"
    assert answer.intervals[2]["s"].kind in {"approximate", "none"}


def test_extreme_confidence_takes_more_draws_and_too_many_are_not_tried(town, ask):
    answer = ask(town, SPREAD, epsilon=2.0, delta=1e-5, confidence=0.999)
    assert answer.intervals[0]["sd"].kind == "approximate"
    answer = ask(town, SPREAD, epsilon=2.0, delta=1e-5, confidence=1 - 1e-9)
    assert answer.intervals[0]["sd"].kind == "none"


def test_the_number_of_draws_grows_with_confidence():
    assert draws_for(0.05, []) == LEAST_DRAWS
    assert draws_for(0.001, []) == 100_000
    assert draws_for(1e-9, []) is None


def test_an_interval_is_the_hull_of_both_readings():
    assert around(5.0, SimulatedNumber(4.0, 9.0, -1.0), Interval()) == Interval.of(1.0, 9.0, SIMULATED)
    assert around(5.0, SimulatedNumber(1.0, 11.0, 0.0), Interval()) == Interval.of(0.0, 11.0, SIMULATED)
    assert around(None, SimulatedNumber(4.0, 9.0, 0.0), Interval()) == Interval()
    assert around(5.0, None, Interval()) == Interval()
