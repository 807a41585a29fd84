"""Rows that count: missing and odd values, filters, empty and held-back groups, and people with too many rows."""

import math

import numpy as np
import pytest

MUCH = 1000
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
TABLE = """
t:
  unit: u
  {limits}
  columns:
    x: {{lower: 0, upper: 10}}
    y: {{lower: 0, upper: 10}}
    k: {{lower: 0, upper: 100}}
    g: {{values: [1, 2, 3]}}
"""


@pytest.fixture
def rows_of(build):
    """A table of given rows, under given limits."""

    def connect(select, limits="max_rows: 2\n  max_groups: 1", **options):
        return build(
            ["CREATE TABLE t (u BIGINT, g INTEGER, x DOUBLE, y DOUBLE, k INTEGER)", f"INSERT INTO t {select}"],
            TABLE.format(limits=limits),
            handed_in=True,
            **options,
        )

    return connect


@pytest.fixture
def odd(rows_of):
    """A thousand people with plain values, and some with odd ones, twice as many as one could overlook."""
    values = "['nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, NULL, 1e308, -0.0]"
    return rows_of(
        "SELECT j, 1, (j % 100) / 10, (j * 7 % 100) / 10, j % 90 FROM range(1000) r(j) UNION ALL "
        f"SELECT 5000 + j, 1, {values}[1 + j % 6], 5, NULL FROM range(1200) r(j)"
    )


WITHIN_BOUNDS = "CASE WHEN isnan(x) THEN NULL WHEN x > 10 THEN 10 WHEN x < 0 THEN 0 ELSE x END"


@both
@pytest.mark.parametrize(
    "measure", ["VAR_POP({})", "STDDEV_SAMP({})", "COVAR_POP({}, y)", "CORR(y, {})", "REGR_SLOPE({}, y)", "MEDIAN({})"]
)
def test_odd_values_are_missing_or_at_a_bound(odd, ask, plain, mechanism, measure):
    """NaN and NULL are no values; infinities and what is beyond a bound are the bound."""
    answer = ask(odd, f"SELECT {measure.format('x')} AS v FROM t", epsilon=MUCH, mechanism=mechanism)
    exact = plain(odd, measure.format(f"({WITHIN_BOUNDS})"), "t")
    assert math.isclose(answer["v"][0], exact, rel_tol=0.01, abs_tol=0.02)


@both
def test_a_row_without_one_of_two_values_has_neither(odd, ask, plain, mechanism):
    """COVAR and CORR leave out rows where either is missing; the variance next to them does not.

    The 95 % bar of the Gaussian covariance is ± 0.088, so 0.3 is more than six standard deviations: below 1e-9.
    """
    answer = ask(
        odd, "SELECT COVAR_POP(k, y) AS c, VAR_POP(y) AS v, COUNT(*) AS n FROM t", epsilon=MUCH, mechanism=mechanism
    )
    assert math.isclose(answer["c"][0], plain(odd, "COVAR_POP(k, y)", "t"), abs_tol=0.3)
    assert math.isclose(answer["v"][0], plain(odd, "VAR_POP(y)", "t"), rel_tol=0.01)
    assert abs(answer["n"][0] - 2200) <= 4


@both
def test_missing_values_are_not_different_values(odd, ask, plain, mechanism):
    answer = ask(odd, "SELECT COUNT(DISTINCT k) AS k, COUNT(DISTINCT g) AS g FROM t", epsilon=MUCH, mechanism=mechanism)
    assert abs(answer["k"][0] - plain(odd, "COUNT(DISTINCT k)", "t")) <= 2
    assert abs(answer["g"][0] - 1) <= 2


@both
def test_odd_values_fall_into_no_bin(odd, ask, plain, mechanism):
    answer = ask(odd, "SELECT HISTOGRAM(x, [0, 5, 10]) AS h FROM t", epsilon=MUCH, mechanism=mechanism)
    for column, condition in {"h [0, 5)": "x >= 0 AND x < 5", "h [5, 10]": "x >= 5 AND x <= 10"}.items():
        assert abs(answer[column][0] - plain(odd, f"COUNT(*) FILTER (WHERE {condition})", "t")) <= 2


@both
def test_an_empty_group_has_wide_intervals_and_no_extremes(odd, ask, mechanism):
    query = (
        "SELECT g, VAR_POP(x) AS v, CORR(x, y) AS r, MEDIAN(k) AS q, MIN(k) AS low, MAX(k) AS high, "
        "COUNT(DISTINCT k) AS d FROM t GROUP BY g"
    )
    answer = ask(odd, query, epsilon=30, mechanism=mechanism, confidence=1 - 1e-9)
    assert answer["g"] == [1, 2, 3]
    for place in (1, 2):
        bars = answer.intervals[place]
        assert (bars["v"].lower, bars["v"].upper) == (0, 25)
        assert (bars["r"].lower, bars["r"].upper) == (-1, 1)
        assert (bars["q"].lower, bars["q"].upper) == (0, 100)
        assert (answer["low"][place], answer["high"][place]) == (None, None)
        assert "too small" in bars["low"].note
        assert bars["d"].lower == 0
    assert answer["low"][0] is not None


@both
def test_groups_below_the_minimum_are_held_back(rows_of, ask, mechanism):
    db = rows_of("SELECT j, 1 + (j < 990)::INTEGER, j % 10, 5, j % 90 FROM range(1000) r(j)", min_frequency=200)
    query = (
        "SELECT g, VAR_POP(x) AS v, MEDIAN(k) AS q, MIN(k) AS low, COUNT(DISTINCT k) AS d, "
        "HISTOGRAM(k, [0, 50, 100]) AS h FROM t GROUP BY g"
    )
    answer = ask(db, query, epsilon=50, delta=1e-6, mechanism=mechanism)
    shown = dict(zip(answer["g"], answer["v"], strict=True))
    assert (shown[1], shown[3]) == (None, None)
    assert shown[2] is not None
    for column in ("v", "q", "low", "d", "h [0, 50)", "h [50, 100]"):
        assert answer[column][0] is None
        assert "held back" in answer.intervals[0][column].note


@both
def test_a_filter_narrows_what_is_drawn_and_counted(odd, ask, plain, mechanism):
    query = (
        "SELECT MEDIAN(k) FILTER (WHERE y > 5) AS q, COUNT(DISTINCT k) FILTER (WHERE k < 20) AS d FROM t WHERE x > 2"
    )
    answer = ask(odd, query, epsilon=MUCH, mechanism=mechanism)
    assert abs(answer["q"][0] - plain(odd, "MEDIAN(k) FILTER (WHERE y > 5)", "t", "WHERE x > 2")) <= 1
    assert abs(answer["d"][0] - plain(odd, "COUNT(DISTINCT k) FILTER (WHERE k < 20)", "t", "WHERE x > 2")) <= 2


@both
def test_somebody_with_many_rows_counts_as_few(rows_of, ask, mechanism):
    """One person has a thousand rows at a bound, the others one each: weighted, it is two rows, not half of all."""
    db = rows_of(
        "SELECT j, 1, 2 + j % 2, 3 + j % 3, j % 10 FROM range(1000) r(j) UNION ALL "
        "SELECT 9999, 1, 10, 10, j % 100 FROM range(1000) r(j)",
        "max_rows: 2",
    )
    query = "SELECT VAR_POP(x) AS v, AVG(x) AS a, MEDIAN(k) AS q, CORR(x, y) AS r, COUNT(DISTINCT k) AS d FROM t"
    answer = ask(db, query, epsilon=MUCH, mechanism=mechanism)
    weights = np.append(np.ones(1000), 2)
    x = np.append(2 + np.arange(1000) % 2, 10)
    mean = np.average(x, weights=weights)
    assert math.isclose(answer["a"][0], mean, rel_tol=0.01)
    assert math.isclose(answer["v"][0], np.average((x - mean) ** 2, weights=weights), rel_tol=0.05)
    assert 4 <= answer["q"][0] <= 5
    assert answer["r"][0] < 0.5
    assert 10 <= answer["d"][0] <= 10 + 2 + 2


@both
@pytest.mark.parametrize("method", ["flow", "simple"])
def test_somebody_in_many_groups_counts_in_few(rows_of, ask, mechanism, method):
    """Three hundred people in all three groups may count in one: so does a third of their weight or their values."""
    db = rows_of(
        "SELECT j, g, 4 + 2 * (j % 2), 5, 3 * j % 100 FROM range(300) r(j), range(1, 4) s(g)",
        "max_rows: 1\n  max_groups: 1",
    )
    query = "SELECT g, COUNT(*) AS n, VAR_POP(x) AS v, MEDIAN(x) AS q, COUNT(DISTINCT k) AS d FROM t GROUP BY g"
    answer = ask(db, query, epsilon=MUCH, mechanism=mechanism, distinct=method)
    weight = 300 / (3 if mechanism == "laplace" else math.sqrt(3))
    for place in range(3):
        assert math.isclose(answer["n"][place], weight, rel_tol=0.05)
        assert math.isclose(answer["v"][place], 1, rel_tol=0.1)
        assert 3.9 <= answer["q"][place] <= 6.1
    assert 100 - 4 <= sum(answer["d"]) <= 300


@both
def test_a_flow_finds_more_values_than_a_choice_by_hash(rows_of, ask, mechanism):
    """Everybody has one common value and one of their own: by hash half of those are lost."""
    db = rows_of(
        "SELECT j // 2, 1, 1, 1, CASE WHEN j % 2 = 0 THEN 0 ELSE 1 + j // 2 % 100 END FROM range(200) r(j)",
        "max_rows: 1",
    )
    counts = {
        method: ask(db, "SELECT COUNT(DISTINCT k) AS d FROM t", epsilon=MUCH, mechanism=mechanism, distinct=method)[
            "d"
        ][0]
        for method in ("flow", "simple")
    }
    assert counts["flow"] >= 99 - 2
    assert counts["simple"] <= 90
