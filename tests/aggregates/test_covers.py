"""Intervals of the new aggregates hold as often as they say: a thousand groups in a statement, both kinds of noise."""

import math

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-9
CONFIDENCE = 0.9
GROUPS = 700
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
row_limits = pytest.mark.parametrize("rows", [1, 3])
MOMENTS = {
    "v": "VAR_POP(x)",
    "w": "VAR_SAMP(x)",
    "s": "STDDEV_POP(x)",
    "c": "COVAR_POP(k, m)",
    "r": "CORR(k, m)",
    "l": "REGR_SLOPE(m, k)",
    "i": "REGR_INTERCEPT(m, k)",
    "q": "REGR_R2(m, k)",
}


def query_of(measures):
    return "SELECT g, " + ", ".join(f"{text} AS {name}" for name, text in measures.items()) + " FROM t GROUP BY g"


@both
@row_limits
@pytest.mark.parametrize("size", [8, 120])
def test_moments_cover(crowd, ask, by_group, assert_covers, mechanism, rows, size):
    db = crowd(GROUPS, size, rows=rows)
    answer = ask(db, query_of(MOMENTS), mechanism=mechanism, confidence=CONFIDENCE, epsilon=8)
    for column, text in MOMENTS.items():
        assert_covers(answer, column, by_group(db, answer, text, "t"), CONFIDENCE)


@both
def test_half_the_width_would_be_noticed(crowd, ask, by_group, ends, mechanism):
    """The intervals of large groups are not just wide: at half their length they hold far too seldom."""
    db = crowd(GROUPS, 150)
    answer = ask(db, query_of(MOMENTS), mechanism=mechanism, confidence=CONFIDENCE, epsilon=20)
    for column in "vcl":
        (lower, upper), exact = ends(answer, column), np.array(by_group(db, answer, MOMENTS[column], "t"))
        hits = int(np.sum(np.abs(exact - (lower + upper) / 2) <= (upper - lower) / 4))
        assert stats.binom.cdf(hits, GROUPS, CONFIDENCE) < FALSE_ALARM


@both
@row_limits
@pytest.mark.parametrize("size", [1, 12, 60])
def test_ranks_cover(crowd, ask, by_group, assert_covers, mechanism, rows, size):
    measures = {
        "a": "MEDIAN(x)",
        "b": "QUANTILE_CONT(x, 0.9)",
        "c": "QUANTILE_DISC(k, 0.25)",
        "d": "MEDIAN(k)",
        "e": "PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY k)",
    }
    db = crowd(GROUPS if size < 50 else 150, size, rows=rows)
    answer = ask(db, query_of(measures), mechanism=mechanism, confidence=CONFIDENCE, epsilon=5)
    for column, text in measures.items():
        assert_covers(answer, column, by_group(db, answer, text, "t"), CONFIDENCE)


@both
@row_limits
def test_the_interval_of_a_median_holds_every_value_that_may_be_called_it(crowd, ask, by_group, ends, mechanism, rows):
    """DuckDB averages the two in the middle; other engines name one of them. It holds the lower and the upper one."""
    db = crowd(300, 10, rows=rows)
    answer = ask(db, query_of({"v": "MEDIAN(x)"}), mechanism=mechanism, confidence=1 - 1e-9, epsilon=20)
    lower, upper = ends(answer, "v")
    low, high = (by_group(db, answer, f"LIST(x ORDER BY x)[{10 * rows // 2 + place}]", "t") for place in (0, 1))
    assert np.all(lower <= np.array(low) + 1e-9)
    assert np.all(upper >= np.array(high) - 1e-9)


@both
@row_limits
def test_limits_of_extremes_cover(crowd, ask, by_group, ends, assert_covers, mechanism, rows):
    """The smallest value lies at or below the upper limit, the largest at or above the lower limit."""
    db = crowd(200, 150, rows=rows)
    answer = ask(
        db, query_of({"low": "MIN(x)", "high": "MAX(x)"}), mechanism=mechanism, confidence=CONFIDENCE, epsilon=40
    )
    assert_covers(answer, "low", by_group(db, answer, "MIN(x)", "t"), CONFIDENCE)
    assert_covers(answer, "high", by_group(db, answer, "MAX(x)", "t"), CONFIDENCE)
    assert np.all(ends(answer, "low")[0] == 0)
    assert np.all(ends(answer, "high")[1] == 10)
    assert np.mean(ends(answer, "low")[1]) < 5 < np.mean(ends(answer, "high")[0])


@both
@row_limits
def test_bins_cover(crowd, ask, by_group, assert_covers, mechanism, rows):
    db = crowd(GROUPS, 12, rows=rows)
    share = "HISTOGRAM_BIN(k, 1, 0, 20, 49) / COUNT(*) AS share"
    query = f"SELECT g, HISTOGRAM(k, [0, 20, 49]) AS h, {share} FROM t GROUP BY g"
    answer = ask(db, query, mechanism=mechanism, confidence=CONFIDENCE, epsilon=2)
    assert_covers(answer, "h [0, 20)", by_group(db, answer, "COUNT(*) FILTER (WHERE k < 20)", "t"), CONFIDENCE)
    assert_covers(answer, "h [20, 49]", by_group(db, answer, "COUNT(*) FILTER (WHERE k >= 20)", "t"), CONFIDENCE)
    assert_covers(answer, "share", by_group(db, answer, "AVG((k >= 20)::INTEGER)", "t"), CONFIDENCE)


@both
@row_limits
@pytest.mark.parametrize("method", ["flow", "simple"])
def test_different_values_cover(crowd, ask, by_group, assert_covers, ends, mechanism, rows, method):
    """A count that leaves values out is a lower limit, one to which people add all of theirs an upper one, too."""
    db = crowd(GROUPS, 12, rows=rows)
    query = "SELECT g, COUNT(DISTINCT k) AS d FROM t GROUP BY g"
    answer = ask(db, query, mechanism=mechanism, confidence=CONFIDENCE, epsilon=2, distinct=method)
    assert_covers(answer, "d", by_group(db, answer, "COUNT(DISTINCT k)", "t"), CONFIDENCE)
    assert np.all(np.isfinite(ends(answer, "d")[1]))


@both
def test_ratios_of_deviations_cover(crowd, ask, by_group, assert_covers, mechanism):
    db = crowd(GROUPS, 150)
    measures = {"c": "STDDEV_POP(x) / AVG(x)", "d": "2 * STDDEV_POP(k)", "e": "AVG(x) - MEDIAN(x)"}
    answer = ask(db, query_of(measures), mechanism=mechanism, confidence=CONFIDENCE, epsilon=10)
    for column, text in measures.items():
        assert_covers(answer, column, by_group(db, answer, text, "t"), CONFIDENCE)


@both
def test_everything_holds_at_once_where_that_is_asked(crowd, ask, by_group, ends, mechanism):
    """Thirty tables of twelve numbers each, of which nine tenths have no wrong interval."""
    db = crowd(4, 80)
    measures = {"v": "VAR_POP(x)", "q": "MEDIAN(k)", "n": "COUNT(*)"}
    wrong = 0
    for _ in range(30):
        answer = ask(db, query_of(measures), mechanism=mechanism, confidence=0.9, epsilon=10, simultaneous=True)
        held = []
        for column, text in measures.items():
            (lower, upper), exact = ends(answer, column), np.array(by_group(db, answer, text, "t"))
            held.append((lower <= exact + 1e-9) & (upper >= exact - 1e-9))
        wrong += not np.all(held)
    assert stats.binom.sf(wrong - 1, 30, 1 - CONFIDENCE) > FALSE_ALARM


@both
def test_a_constant_column_has_no_spread_and_no_correlation(crowd, ask, ends, mechanism):
    db = crowd(150, 60, constant=True)
    measures = {"v": "VAR_POP(x)", "s": "STDDEV_POP(x)", "r": "CORR(x, y)", "q": "MEDIAN(x)", "k": "MEDIAN(k)"}
    answer = ask(db, query_of(measures), mechanism=mechanism, confidence=1 - 1e-9, epsilon=20)
    for column, exact in {"v": 0.0, "s": 0.0, "q": 5.0, "k": 7.0}.items():
        lower, upper = ends(answer, column)
        assert np.all(lower <= exact + 1e-9)
        assert np.all(upper >= exact - 1e-9)
    lower, upper = ends(answer, "r")
    assert np.mean((lower == -1) & (upper == 1)) > 0.5, "nothing is known of a correlation without spread"
    assert all(value is None or -1 <= value <= 1 for value in answer["r"])
    assert all(value >= 0 and math.isfinite(value) for value in answer["v"])
