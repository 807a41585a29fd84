"""VAR and STDDEV over released groups: exact for equal Gaussian noise, conservative otherwise."""

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.error_bars.intervals.variances import box_squares_range, squares_range

FALSE_ALARM = 1e-9
DRAWS = 3_000
CONFIDENCES = [0.5, 0.95, 0.999]
CELLS = 40
QUERY = "WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT {call} AS it FROM r"


def squares_of(exact, sigma):
    noisy = exact + np.random.default_rng().normal(0, sigma, (DRAWS, len(exact)))
    return np.square(noisy - noisy.mean(axis=1, keepdims=True)).sum(axis=1)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("width", [0.0, 1.5, 15.0, 3000.0])
@pytest.mark.parametrize("count", [2, 40, 300])
def test_the_interval_of_a_sum_of_squares_holds_as_often_as_it_says(count, width, confidence):
    exact = width * np.linspace(-1, 1, count) ** 3
    truth = float(np.square(exact - exact.mean()).sum())
    seen = 25.0 * squares_of(exact / 5.0, 1.0)
    lower, upper = squares_range(seen, count, 5.0, 1 - confidence)
    held = int(np.count_nonzero((lower <= truth + 1e-9) & (truth <= upper)))
    assert binom.cdf(held, DRAWS, confidence) > FALSE_ALARM
    if width == 15.0 and confidence < 0.99:
        assert binom.sf(held - 1, DRAWS, confidence) > FALSE_ALARM


def test_an_interval_that_is_a_third_too_short_is_rejected():
    exact = 6 * np.linspace(-1, 1, CELLS)
    truth = np.sqrt(np.square(exact - exact.mean()).sum())
    lower, upper = (np.sqrt(end) for end in squares_range(squares_of(exact, 1.0), CELLS, 1.0, 0.05))
    middle, half = (lower + upper) / 2, 0.7 * (upper - lower) / 2
    held = int(np.count_nonzero(np.abs(truth - middle) <= half))
    assert binom.cdf(held, DRAWS, 0.95) < FALSE_ALARM


def test_no_numbers_in_a_box_have_a_sum_of_squares_outside_of_its_range():
    random = np.random.default_rng()
    lower = random.normal(size=6)
    upper = lower + random.random(6)
    low, high = box_squares_range(lower, upper)
    points = lower + (upper - lower) * np.where(random.random((5000, 6)) < 0.7, random.random((5000, 6)) > 0.5, 0.4)
    squares = np.square(points - points.mean(axis=1, keepdims=True)).sum(axis=1)
    assert low <= squares.min()
    assert squares.max() <= high
    assert box_squares_range(np.array([0.0, 1.0]), np.array([1.0, np.inf])) == (0.0, np.inf)


@pytest.fixture(scope="module")
def equals(build_once):
    """Groups of one size, which have no variance but that of the noise."""
    rows = ", ".join(f"({index * 100 + i}, 'g{index:02}')" for index in range(CELLS) for i in range(40))
    keys = ", ".join(f"g{index:02}" for index in range(CELLS))
    return build_once(
        ["CREATE TABLE t (u INTEGER PRIMARY KEY, g VARCHAR NOT NULL)", f"INSERT INTO t VALUES {rows}"],
        f"t: {{unit: u, unit_unique: true, columns: {{g: {{values: [{keys}]}}}}}}",
        budget="{epsilon: 1000000, delta: 0.1, pure_epsilon: 500000}",
    )


@pytest.mark.parametrize(("mechanism", "kind"), [("gaussian", "exact"), ("laplace", "conservative")])
@pytest.mark.parametrize("call", ["STDDEV(n)", "VAR_POP(n)"])
def test_equal_counts_have_no_variance_and_the_interval_says_so(equals, ask, mechanism, kind, call):
    """The upper end alone can miss, and the lower one does where it is above zero: 12 of 12 once in 10^15."""
    held = 0
    for _ in range(12):
        answer = ask(equals, QUERY.format(call=call), mechanism=mechanism, epsilon=1.0, delta=1e-5)
        interval = answer.intervals[0]["it"]
        assert interval.kind == kind
        assert np.isfinite(interval.upper)
        held += interval.lower == 0
    assert held > 0


def test_a_variance_of_averages_and_of_chosen_groups_is_conservative(equals, ask):
    query = """WITH r AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g)
    SELECT VAR_POP(n / 2 + 1) AS scaled, STDDEV_POP(n) FILTER (WHERE n > 39) AS chosen, VAR_SAMP(LN(n)) AS curved
    FROM r"""
    answer = ask(equals, query, mechanism="gaussian", epsilon=5.0, delta=1e-5)
    kinds = {name: interval.kind for name, interval in answer.intervals[0].items()}
    assert kinds == {"scaled": "exact", "chosen": "conservative", "curved": "conservative"}
    assert all(interval.lower <= 0 + 1e-9 for interval in answer.intervals[0].values())
