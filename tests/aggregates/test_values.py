"""With hardly any noise every aggregate is what plain SQL says, and its interval holds that."""

import math

import pytest

MUCH = 1000
NEAR = 2
"""A count is that near, or the noise is eleven standard deviations away (Gaussian) or a thousand scales."""
MOMENTS = [
    "VAR_POP(x)",
    "VAR_SAMP(x)",
    "VARIANCE(y)",
    "STDDEV(k)",
    "STDDEV_POP(x)",
    "STDDEV_SAMP(y)",
    "COVAR_POP(x, y)",
    "COVAR_SAMP(k, m)",
    "CORR(x, y)",
    "REGR_SLOPE(y, x)",
    "REGR_INTERCEPT(y, x)",
    "REGR_R2(y, x)",
    "VAR_POP(k - m)",
    "VAR_POP(x) FILTER (WHERE b)",
    "CORR(k, m) FILTER (WHERE x > 3)",
]
RANKS = [
    "MEDIAN(x)",
    "MEDIAN(k)",
    "QUANTILE(x, 0.9)",
    "QUANTILE_CONT(y, 0.25)",
    "QUANTILE_DISC(k, 0.25)",
    "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY x)",
    "PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY k DESC)",
    "MEDIAN(k) FILTER (WHERE b)",
    "MIN(k)",
    "MAX(k)",
    "MIN(x)",
    "MAX(y)",
]
everywhere = pytest.mark.parametrize("name", ["one", "many"])
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def clamped(expression):
    """The same over values within their bounds, in DuckDB's words."""
    return expression.replace("y", "LEAST(y, 8.0)")


@both
@everywhere
@pytest.mark.parametrize("measure", MOMENTS)
def test_a_moment_is_that_of_plain_sql(world, ask, plain, name, mechanism, measure):
    answer = ask(world, f"SELECT {measure} AS v FROM {name}", epsilon=MUCH, mechanism=mechanism)
    exact, bar = plain(world, clamped(measure), name), answer.intervals[0]["v"]
    assert math.isclose(answer["v"][0], exact, rel_tol=2e-3)
    assert bar.note.startswith("conservative")
    assert bar.lower <= answer["v"][0] <= bar.upper
    assert bar.upper - bar.lower <= 0.01 * max(1.0, abs(exact))


@both
@everywhere
@pytest.mark.parametrize("measure", RANKS)
def test_a_rank_is_that_of_plain_sql(world, ask, plain, name, mechanism, measure):
    """A value between two of the data may be any; the interval holds the one that SQL names."""
    answer = ask(world, f"SELECT {measure} AS v FROM {name}", epsilon=MUCH, mechanism=mechanism, confidence=1 - 1e-9)
    exact, bar = plain(world, clamped(measure), name), answer.intervals[0]["v"]
    assert abs(answer["v"][0] - exact) <= 0.02 * 8 + (1 if "k" in measure else 0)
    assert bar.note == "conservative"
    assert bar.lower - 1e-9 <= exact <= bar.upper + 1e-9
    assert bar.upper - bar.lower <= 3


@both
@everywhere
def test_groups_have_values_of_their_own(world, ask, by_group, name, mechanism):
    measures = {
        "v": "VAR_POP(k)",
        "r": "CORR(k, m)",
        "s": "REGR_SLOPE(m, k)",
        "q": "MEDIAN(k)",
        "d": "COUNT(DISTINCT k)",
        "a": "AVG(k)",
    }
    columns = ", ".join(f"{text} AS {column}" for column, text in measures.items())
    answer = ask(world, f"SELECT g, {columns} FROM {name} GROUP BY g", epsilon=MUCH, mechanism=mechanism)
    assert answer["g"] == [0, 1, 2, 3]
    for column, text in measures.items():
        exact = by_group(world, answer, text, name)
        for actual, wanted in zip(answer[column][:3], exact[:3], strict=True):
            assert math.isclose(actual, wanted, rel_tol=0.01, abs_tol=1.0 if column in "qd" else 0.0)


@both
@everywhere
def test_bins_are_counts_of_rows_between_edges(world, ask, plain, name, mechanism):
    query = f"SELECT HISTOGRAM(k, [0, 10, 20.5, 49]) AS h, HISTOGRAM(x, [1, 2]) FILTER (WHERE b) FROM {name}"
    answer = ask(world, query, epsilon=MUCH, mechanism=mechanism)
    conditions = {
        "h [0, 10)": "k < 10",
        "h [10, 20.5)": "k BETWEEN 10 AND 20",
        "h [20.5, 49]": "k > 20",
        "histogram [1, 2]": "b AND x BETWEEN 1 AND 2",
    }
    assert answer.columns == list(conditions)
    for column, condition in conditions.items():
        assert abs(answer[column][0] - plain(world, f"COUNT(*) FILTER (WHERE {condition})", name)) <= NEAR


@both
@everywhere
def test_the_mode_is_the_most_frequent_declared_value(world, ask, plain, name, mechanism):
    for text in ("MODE(c)", "MODE() WITHIN GROUP (ORDER BY c)"):
        answer = ask(world, f"SELECT {text} AS v FROM {name}", epsilon=MUCH, mechanism=mechanism)
        assert answer["v"] == [plain(world, "MODE(c)", name)]
        assert answer.intervals == [{}]
    among = ask(world, f"SELECT MODE(c) FILTER (WHERE c <> 'red') AS v FROM {name}", epsilon=MUCH, mechanism=mechanism)
    assert among["v"] == ["green"]
    grouped = ask(world, f"SELECT g, MODE(c) AS v FROM {name} WHERE c = 'blue' GROUP BY g", epsilon=MUCH)
    assert grouped["v"][:3] == ["blue"] * 3


@both
@everywhere
@pytest.mark.parametrize("method", ["auto", "flow", "simple"])
def test_different_values_are_counted(world, ask, plain, name, mechanism, method):
    query = (
        f"SELECT COUNT(DISTINCT k) AS k, COUNT(DISTINCT c) AS c, COUNT(DISTINCT x) FILTER (WHERE b) AS x FROM {name}"
    )
    answer = ask(world, query, epsilon=MUCH, mechanism=mechanism, distinct=method)
    assert abs(answer["k"][0] - 50) <= NEAR
    assert abs(answer["c"][0] - 3) <= NEAR
    assert abs(answer["x"][0] - plain(world, "COUNT(DISTINCT x) FILTER (WHERE b)", name)) <= NEAR
    bar = answer.intervals[0]["k"]
    assert bar.lower <= 50 + NEAR
    if name == "one":
        assert (bar.upper <= 51 + NEAR, bar.note) == (True, None)
    else:
        assert 50 - NEAR <= bar.upper <= 52 + NEAR
        assert bar.kind == "conservative"


@both
def test_arithmetic_on_the_new_numbers_is_arithmetic(world, ask, mechanism):
    query = "SELECT 2 * STDDEV_POP(x) AS d, VAR_POP(x) AS v, AVG(x) AS a, STDDEV_POP(x) / AVG(x) AS c FROM many"
    answer = ask(world, query, epsilon=100, mechanism=mechanism)
    (double,), (variance,), (mean,), (relative,) = (answer[column] for column in "dvac")
    assert math.isclose(double, 2 * math.sqrt(variance))
    assert math.isclose(relative, math.sqrt(variance) / mean)
    bars = answer.intervals[0]
    assert bars["a"].kind == "exact"
    assert bars["d"].note.startswith("conservative")
    assert bars["c"].note.startswith("conservative")
    assert bars["d"].lower / 2 <= math.sqrt(bars["v"].upper)


@both
def test_ranks_and_different_values_in_arithmetic_keep_their_labels(world, ask, mechanism):
    query = "SELECT MAX(k) - MIN(k) AS width, MEDIAN(k) / 2 AS half, COUNT(DISTINCT k) * 2 AS twice FROM one"
    answer = ask(world, query, epsilon=100, mechanism=mechanism)
    bars = answer.intervals[0]
    assert bars["width"].note == bars["half"].note == "conservative"
    assert abs(answer["twice"][0] - 100) <= 20 * NEAR
    assert bars["twice"].lower <= answer["twice"][0] <= bars["twice"].upper
    assert bars["width"].lower <= answer["width"][0] <= bars["width"].upper
