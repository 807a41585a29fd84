"""Numbers that no rule covers: simulated, labelled, one for each key."""

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.propagation.simulation import (
    BIASED,
    FARTHER,
    LEAST_DRAWS,
    SIMULATED,
    SimulatedNumber,
    around,
    draws_for,
)

ANSWERS = 50
FALSE_ALARM = 1e-9
COVERAGE = 0.95
"""Share of tables for which a simulated interval at 0.95 holds, or none is given."""

LEAST = binom.ppf(FALSE_ALARM, ANSWERS, COVERAGE)

MIDDLE = "WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT MEDIAN(n) AS middle FROM r"
BY_KEY = """
WITH r AS (SELECT g, h, COUNT(*) AS n FROM t GROUP BY g, h)
SELECT h, MEDIAN(n) AS middle, COUNT(*) AS cells FROM r GROUP BY h HAVING MEDIAN(n) > -1000 ORDER BY 2 DESC LIMIT 1"""
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
@pytest.mark.parametrize("query", [MIDDLE, CURVED])
def test_simulated_intervals_are_labelled_and_about_right(town, ask, query, mechanism):
    result = town.owner.execute(query)
    names, truth = [column[0] for column in result.description], result.fetchone()
    held = 0
    for _ in range(ANSWERS):
        answer = ask(town, query, epsilon=2.0, delta=1e-5, mechanism=mechanism)
        for name, interval in answer.intervals[0].items():
            assert interval.kind == "approximate"
            if name == names[-1]:
                held += interval.lower <= truth[-1] <= interval.upper
    assert held >= LEAST


def test_every_key_has_an_interval_though_having_and_limit_pick_rows(town, ask):
    answer = ask(town, BY_KEY, epsilon=2.0, delta=1e-5)
    assert answer.intervals[0]["middle"].kind == "approximate"
    assert "h" not in answer.intervals[0]


def test_a_value_that_some_draws_lack_has_no_interval(town, ask):
    """NULLIF of a difference that is zero in some draws, under a function without a rule."""
    query = "SELECT g, SIN(NULLIF(COUNT(*), 60)) AS s FROM t GROUP BY g ORDER BY g"
    answer = ask(town, query, epsilon=1.0, delta=1e-5)
    assert answer.intervals[0]["s"].kind == "none"
    assert answer.intervals[2]["s"].kind in {"approximate", "none"}


def test_extreme_confidence_takes_more_draws_and_too_many_are_not_tried(town, ask):
    answer = ask(town, MIDDLE, epsilon=2.0, delta=1e-5, confidence=0.999)
    assert answer.intervals[0]["middle"].kind == "approximate"
    answer = ask(town, MIDDLE, epsilon=2.0, delta=1e-5, confidence=1 - 1e-9)
    assert answer.intervals[0]["middle"].kind == "none"


def test_the_number_of_draws_grows_with_confidence():
    assert draws_for(0.05, []) == LEAST_DRAWS
    assert draws_for(0.001, []) == 100_000
    assert draws_for(1e-9, []) is None


def test_an_interval_is_the_hull_of_both_readings():
    assert around(5.0, SimulatedNumber(4.0, 9.0, -1.0, 5.1), Interval()) == Interval.of(0.75, 9.25, SIMULATED)
    assert around(5.0, SimulatedNumber(1.0, 11.0, 0.0, 5.2), Interval()) == Interval.of(0.0, 11.5, SIMULATED)
    assert around(None, SimulatedNumber(4.0, 9.0, 0.0, 5.0), Interval()) == Interval()
    assert around(5.0, None, Interval()) == Interval()


def test_the_shift_of_the_draws_widens_the_interval_or_leaves_none():
    assert around(5.0, SimulatedNumber(4.0, 9.0, -1.0, 5.25), Interval()) == Interval.of(0.25, 9.75, SIMULATED)
    shifted = around(5.0, SimulatedNumber(4.0, 9.0, -1.0, 6.0), Interval())
    assert (shifted.kind, shifted.reason) == ("none", BIASED.reason)


FUNCTIONS = {
    "standard deviation": lambda cells: cells.std(axis=-1),
    "largest": lambda cells: cells.max(axis=-1),
    "sum of absolute values": lambda cells: np.abs(cells).sum(axis=-1),
    "second largest": lambda cells: np.sort(cells, axis=-1)[..., -2],
    "median": lambda cells: np.median(cells, axis=-1),
    "product": lambda cells: cells[..., 0] * cells[..., 1],
    "root": lambda cells: np.sqrt(np.abs(cells[..., 0])),
    "logarithm": lambda cells: np.log(np.maximum(cells[..., 0], 0.5)),
    "power": lambda cells: np.abs(cells[..., 0]) ** 1.5,
    "sine": lambda cells: np.sin(cells[..., 0] / 20),
    "entropy": lambda cells: -np.sum(np.abs(cells) / 1000 * np.log(np.abs(cells) / 1000 + 1e-9), axis=-1),
}
TABLES, DRAWN, CONFIDENCE = 100, 2_000, 0.95
CELLS = {"equal and small": np.full(40, 0.0), "equal": np.full(40, 30.0), "apart": np.linspace(10, 400, 40)}


def simulated(function, cells, laplace):
    """The intervals of many tables of cells with noise of standard deviation 5, through the code that reads draws."""
    random = np.random.default_rng()

    def noise(*shape):
        return random.laplace(0, 5 / np.sqrt(2), shape) if laplace else random.normal(0, 5, shape)

    intervals = []
    for _ in range(TABLES):
        noisy = cells + noise(len(cells))
        draws = function(noisy + noise(DRAWN, len(cells)))
        tail = (1 - CONFIDENCE) / 2 / FARTHER
        low, high = np.quantile(draws, [tail, 1 - tail])
        drawn = SimulatedNumber(float(low), float(high), float(draws.min()), float(draws.mean()))
        intervals.append(around(float(function(noisy)), drawn, Interval()))
    return intervals


@pytest.mark.parametrize("laplace", [False, True], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_that_noise_shifts_are_covered_or_have_no_interval(function, laplace):
    for cells in CELLS.values():
        truth = float(FUNCTIONS[function](cells))
        intervals = simulated(FUNCTIONS[function], cells, laplace)
        held = sum(interval.lower <= truth <= interval.upper for interval in intervals)
        assert binom.cdf(held, TABLES, COVERAGE) > FALSE_ALARM


def test_a_standard_deviation_of_equal_cells_has_no_simulated_interval():
    intervals = simulated(FUNCTIONS["standard deviation"], CELLS["equal"], laplace=False)
    assert {interval.reason for interval in intervals} == {BIASED.reason}
