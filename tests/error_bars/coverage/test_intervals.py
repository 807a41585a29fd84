"""Intervals hold as often as they say: small, empty and large groups, both kinds of noise, and after the noise."""

import numpy as np
import pytest
from scipy import stats

CONFIDENCE = 0.9
GROUPS = 1500
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@both
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("size", [0, 1, 12, 200])
def test_counts_sums_and_averages_cover(crowd, ask, exact, assert_covers, mechanism, rows, size):
    db = crowd(GROUPS if size < 100 else 400, size, rows=rows)
    answer = ask(
        db,
        "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, COUNT(y) AS c, AVG(y) AS m FROM t GROUP BY g",
        mechanism=mechanism,
        confidence=CONFIDENCE,
        epsilon=3,
    )
    assert_covers(answer, "n", exact(db, answer, "COUNT(*)"), CONFIDENCE)
    assert_covers(answer, "c", exact(db, answer, "COUNT(y)"), CONFIDENCE)
    assert_covers(answer, "s", exact(db, answer, "SUM(x)"), CONFIDENCE, tight=True)
    if size:
        assert_covers(answer, "a", exact(db, answer, "AVG(x)"), CONFIDENCE, tight=size > 100)
        present = exact(db, answer, "AVG(y)", empty=0.5)
        assert_covers(answer, "m", [0.5 if value is None else value for value in present], CONFIDENCE)


@both
@pytest.mark.parametrize("epsilon", [0.5, 10])
def test_a_sum_alone_and_a_share_on_a_coarse_grid_cover(crowd, ask, exact, assert_covers, mechanism, epsilon):
    """Zeros and ones lie on a grid as coarse as the noise: the interval must know."""
    db = crowd(GROUPS, 30)
    for measure in ("SUM(b)", "AVG(b)", "SUM(x)", "COUNT(*) FILTER (WHERE b = 1)"):
        answer = ask(
            db,
            f"SELECT g, {measure} AS m FROM t GROUP BY g",
            mechanism=mechanism,
            confidence=CONFIDENCE,
            epsilon=epsilon,
        )
        assert_covers(answer, "m", exact(db, answer, measure), CONFIDENCE)


@both
@pytest.mark.parametrize("rows", [1, 3])
def test_groups_that_were_selected_cover(crowd, ask, exact, assert_covers, mechanism, rows):
    """Around the threshold, where the shown are those whose noise was high."""
    options = {"mechanism": mechanism, "confidence": CONFIDENCE, "epsilon": 4.0, "delta": 1e-6}
    query = "SELECT g, COUNT(DISTINCT u) AS people, AVG(x) AS a, COUNT(*) AS n FROM t GROUP BY g"
    small = crowd(2, 1, rows=rows, min_frequency=5, declared=False)
    threshold = small.quote(query, **options).mechanisms[0].threshold
    for size in (round(threshold) - 1, round(threshold) + 2):
        db = crowd(GROUPS, size, rows=rows, min_frequency=5, declared=False)
        answer = ask(db, query, **options)
        assert len(answer) > 50
        assert_covers(answer, "people", exact(db, answer, "COUNT(DISTINCT u)"), CONFIDENCE)
        assert_covers(answer, "n", exact(db, answer, "COUNT(*)"), CONFIDENCE)
        assert_covers(answer, "a", exact(db, answer, "AVG(x)"), CONFIDENCE)
        assert min(row["people"].lower for row in answer.intervals) >= 5


@both
def test_arithmetic_between_aggregates_covers(crowd, ask, exact, assert_covers, mechanism):
    db = crowd(GROUPS, 60)
    answer = ask(
        db,
        "SELECT g, SUM(x) / COUNT(*) AS q, SUM(x) - 5 * COUNT(*) AS d, SUM(x) * COUNT(y) AS p, "
        "COUNT(y) / COUNT(*) AS share, ABS(SUM(x) - 300) AS far, FLOOR(SUM(x)) AS whole FROM t GROUP BY g",
        mechanism=mechanism,
        confidence=CONFIDENCE,
        epsilon=2,
    )
    assert_covers(answer, "q", exact(db, answer, "SUM(x) / COUNT(*)"), CONFIDENCE)
    assert_covers(answer, "d", exact(db, answer, "SUM(x) - 5 * COUNT(*)"), CONFIDENCE)
    assert_covers(answer, "p", exact(db, answer, "SUM(x) * COUNT(y)"), CONFIDENCE)
    assert_covers(answer, "share", exact(db, answer, "COUNT(y) / COUNT(*)"), CONFIDENCE)
    assert_covers(answer, "far", exact(db, answer, "ABS(SUM(x) - 300)"), CONFIDENCE)
    assert_covers(answer, "whole", exact(db, answer, "FLOOR(SUM(x))"), CONFIDENCE)


@both
@pytest.mark.parametrize(
    "picked", ["HAVING COUNT(*) > 22", "HAVING AVG(x) > 5.5", "ORDER BY n DESC LIMIT 150", "ORDER BY n LIMIT 150"]
)
def test_rows_that_were_picked_by_their_noise_cover(crowd, ask, exact, assert_covers, mechanism, picked):
    """The largest of many noisy counts are too large; their intervals must still hold as often as they say."""
    db = crowd(GROUPS, 20)
    answer = ask(
        db,
        f"SELECT g, COUNT(*) AS n, AVG(x) AS a FROM t GROUP BY g {picked}",
        mechanism=mechanism,
        confidence=CONFIDENCE,
    )
    assert 50 < len(answer) < GROUPS
    assert_covers(answer, "n", exact(db, answer, "COUNT(*)"), CONFIDENCE)
    assert_covers(answer, "a", exact(db, answer, "AVG(x)"), CONFIDENCE)


@both
def test_simultaneous_intervals_hold_all_at_once(crowd, ask, exact, mechanism):
    """In each of a few tables every interval holds, nearly always; plain ones fail somewhere in each."""
    db = crowd(200, 20)
    query = "SELECT g, SUM(x) AS s FROM t GROUP BY g"
    for simultaneous in (True, False):
        wrong = 0
        for _ in range(8):
            answer = ask(db, query, mechanism=mechanism, confidence=0.95, simultaneous=simultaneous)
            truth = exact(db, answer, "SUM(x)")
            wrong += any(
                not row["s"].lower <= value <= row["s"].upper
                for row, value in zip(answer.intervals, truth, strict=True)
            )
        assert wrong < 8 if simultaneous else wrong > 0


@both
def test_a_large_table_of_one_value_is_covered(build, ask, mechanism):
    """A value between two points of the grid errs the same way in every row: the interval must allow for it."""
    people = 1_000_000
    db = build(
        [
            "CREATE TABLE t (u BIGINT UNIQUE, x DOUBLE NOT NULL)",
            f"INSERT INTO t SELECT j, 0.7 FROM range({people}) r(j)",
        ],
        "t: {unit: u, unit_unique: true, columns: {x: {lower: 0, upper: 3}}}",
        handed_in=True,
    )
    hits = 0
    for _ in range(10):
        answer = ask(db, "SELECT SUM(x) AS s FROM t", mechanism=mechanism, epsilon=40, confidence=0.99)
        interval = answer.intervals[0]["s"]
        hits += interval.lower <= 0.7 * people <= interval.upper
    assert hits >= 5


@pytest.mark.slow
@both
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1, 5, 20])
@pytest.mark.parametrize("size", [0, 1, 3, 10, 30, 100])
def test_coverage_at_scale(crowd, ask, exact, assert_covers, mechanism, epsilon, size):
    db = crowd(3000, size)
    for confidence in (0.5, 0.8, 0.95, 0.999):
        answer = ask(
            db,
            "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, SUM(y) AS t, SUM(x) / COUNT(y) AS q FROM t GROUP BY g",
            mechanism=mechanism,
            confidence=confidence,
            epsilon=epsilon,
        )
        assert_covers(answer, "n", exact(db, answer, "COUNT(*)"), confidence)
        assert_covers(answer, "s", exact(db, answer, "SUM(x)"), confidence)
        assert_covers(answer, "t", np.nan_to_num(np.array(exact(db, answer, "SUM(y)"), dtype=float)), confidence)
        if size:
            assert_covers(answer, "a", exact(db, answer, "AVG(x)"), confidence)
        if size > 3:
            assert_covers(answer, "q", exact(db, answer, "SUM(x) / COUNT(y)"), confidence)


@pytest.mark.slow
@both
def test_the_largest_variance_of_a_thousand_groups_covers(build, ask, mechanism):
    """Fifty people in each, one of whom has the greatest value: noise alone decides which group comes first."""
    keys = ", ".join(str(key) for key in range(1000))
    db = build(
        [
            "CREATE TABLE t (u BIGINT PRIMARY KEY, g INTEGER NOT NULL, x DOUBLE NOT NULL)",
            "INSERT INTO t SELECT j, j % 1000, CASE WHEN j < 1000 THEN 10 ELSE 0 END FROM range(50000) r(j)",
        ],
        f"t: {{unit: u, unit_unique: true, columns: {{x: {{lower: 0, upper: 10}}, g: {{values: [{keys}]}}}}}}",
    )
    answers, misses = 80, 0
    for _ in range(answers):
        query = "SELECT g, VAR_POP(x) AS v FROM t GROUP BY g ORDER BY v DESC LIMIT 1"
        [bars] = ask(db, query, mechanism=mechanism, epsilon=4).intervals
        misses += not bars["v"].lower <= 0.02 * 0.98 * 100 <= bars["v"].upper
    assert stats.binom.sf(misses - 1, answers, 0.05) > 1e-9
