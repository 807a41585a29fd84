"""HAVING, ORDER BY, LIMIT, quotes and targets with the new numbers; and what is refused of them, unspent."""

import math

import pytest

import hedgerow as hr

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
NEW = ["VAR_POP(x)", "STDDEV(k)", "CORR(k, m)", "REGR_SLOPE(m, k)", "COVAR_POP(k, m)", "MEDIAN(k)", "MIN(k)"]


@pytest.fixture
def unspent(world):
    """A context in which nothing may be charged."""
    before = world.budget.queries
    yield
    assert world.budget.queries == before


@both
def test_rows_are_picked_and_ordered_by_the_new_numbers(world, ask, mechanism):
    query = "SELECT g, MEDIAN(k) AS q, VAR_POP(k) AS v FROM many GROUP BY g"
    ordered = ask(world, f"{query} ORDER BY VAR_POP(k) DESC, q", mechanism=mechanism, epsilon=50)
    assert ordered["v"] == sorted(ordered["v"], reverse=True)
    assert len(ordered) == 4
    kept = ask(world, f"{query} HAVING VAR_POP(k) > 100 AND COUNT(DISTINCT k) > 25", mechanism=mechanism, epsilon=50)
    assert sorted(kept["g"]) == [0, 1, 2]
    first = ask(world, f"{query} ORDER BY q DESC LIMIT 2", mechanism=mechanism, epsilon=50)
    assert len(first) == 2
    assert all(bars["q"].note == "conservative" for bars in first.intervals), "it was bought for picked rows"


@both
def test_a_picked_row_has_the_wider_intervals(world, mechanism):
    """The same release, with and without a choice among its rows: being picked is information."""
    query = "SELECT g, VAR_POP(k) AS v FROM many WHERE g < 3 GROUP BY g HAVING g < 3"
    whole = world.sql(query, mechanism=mechanism, epsilon=30)
    picked = world.sql(f"{query} ORDER BY v DESC LIMIT 1", mechanism=mechanism, epsilon=30)
    assert picked.receipt.reused
    bars = dict(zip(whole["g"], whole.intervals, strict=True))[picked["g"][0]]["v"]
    assert picked.intervals[0]["v"].upper - picked.intervals[0]["v"].lower > bars.upper - bars.lower


@both
def test_numbers_of_several_groups_are_put_together(world, ask, mechanism):
    groups = "SELECT g, VAR_POP(k) AS v, MEDIAN(k) AS q FROM one GROUP BY g"
    answer = ask(world, f"SELECT MAX(v) AS top, SUM(q) AS total FROM ({groups}) AS s", mechanism=mechanism, epsilon=100)
    bars = answer.intervals[0]
    assert bars["top"].lower <= answer["top"][0] <= bars["top"].upper
    assert bars["total"].lower <= answer["total"][0] <= bars["total"].upper
    assert bars["total"].lower >= 0


def test_a_simultaneous_interval_is_wider_and_still_bought(world, ask):
    query = "SELECT g, MEDIAN(k) AS q, VAR_POP(k) AS v FROM many GROUP BY g"
    answer = ask(world, query, epsilon=50, simultaneous=True)
    plain = ask(world, query, epsilon=50)
    for bars, narrow in zip(answer.intervals[:3], plain.intervals[:3], strict=True):
        assert bars["q"].note == "conservative"
        assert bars["v"].upper - bars["v"].lower > narrow["v"].upper - narrow["v"].lower


@both
@pytest.mark.parametrize("keys", ["", " GROUP BY g"])
def test_a_quote_says_how_wrong_moments_would_be(world, unspent, mechanism, keys):
    for measure in ("VAR_POP(x)", "STDDEV(x)", "CORR(k, m)", "REGR_INTERCEPT(m, k)", "STDDEV(x) / AVG(x)"):
        errors = world.quote(f"SELECT {measure} AS v FROM many{keys}", mechanism=mechanism, epsilon=2).errors["v"]
        assert errors[100] >= errors[1_000] > errors[10_000] > errors[100_000] > 0
        assert math.isclose(errors[10_000] / errors[100_000], 10, rel_tol=0.05)


@both
def test_a_quote_is_near_what_comes_out(world, ask, ends, mechanism):
    """For values spread over their range, as these are: the quote's error is half of the interval's length."""
    query = "SELECT VAR_POP(k) AS v FROM one"
    quoted = world.quote(query, mechanism=mechanism, epsilon=2).errors["v"][10_000] * 10_000 / 6_000
    lower, upper = ends(ask(world, query, mechanism=mechanism, epsilon=2), "v")
    assert math.isclose((upper[0] - lower[0]) / 2, quoted, rel_tol=0.1)


@both
@pytest.mark.parametrize("measure", ["MEDIAN(k)", "MAX(k)", "COUNT(DISTINCT k)"])
def test_a_quote_promises_nothing_where_the_values_decide(world, unspent, mechanism, measure):
    quote = world.quote(f"SELECT {measure} AS v FROM many", mechanism=mechanism)
    assert set(quote.errors["v"].values()) == {math.inf}
    assert quote.charge.epsilon == 1
    assert quote.mechanisms


@pytest.mark.parametrize(
    "measure", [*NEW, "MAX(x) - 1", "COUNT(DISTINCT k)", "STDDEV(x) / AVG(x)", "AVG(x) + MEDIAN(k)"]
)
@pytest.mark.parametrize("target", [0.1, ("abs", 3), (0.05, 1000)])
def test_an_error_is_not_promised_that_cannot_be_foreseen(world, unspent, measure, target):
    for call in (world.sql, world.quote):
        with pytest.raises(hr.QueryError) as refused:
            call(f"SELECT {measure} AS v FROM many", within=target, epsilon=5)
        assert refused.value.code == "within-aggregate"


def test_an_error_of_bins_is_promised(world, ask):
    answer = ask(world, "SELECT HISTOGRAM(k, [0, 25, 49]) AS h FROM many", within=0.05, epsilon=5)
    for column, bar in answer.intervals[0].items():
        assert (bar.upper - bar.lower) / 2 <= 0.06 * answer[column][0]


@pytest.mark.parametrize("measure", [*NEW, "COUNT(DISTINCT k)", "VARIANCE(x)"])
@pytest.mark.parametrize("groups", ["ROLLUP (g)", "CUBE (g, b)"])
def test_totals_over_groups_are_for_what_adds_up(world, unspent, measure, groups):
    with pytest.raises(hr.UnsupportedSQLError) as refused:
        world.sql(f"SELECT g, {measure} FROM many GROUP BY {groups}")
    assert refused.value.code == "rollup-aggregate"


def test_bins_have_totals_over_groups(world, ask):
    answer = ask(world, "SELECT g, HISTOGRAM(k, [0, 25, 49]) AS h FROM many GROUP BY ROLLUP (g)")
    for column in ("h [0, 25)", "h [25, 49]"):
        assert answer[column][-1] == pytest.approx(sum(answer[column][:-1]), abs=3)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("moments", "cubic"),
        ("moments", None),
        ("moments", 1),
        ("distinct", "exact"),
        ("distinct", True),
        ("distinct", None),
    ],
)
def test_an_option_that_is_none_is_refused(world, unspent, option, value):
    with pytest.raises(hr.ParameterError) as refused:
        world.sql("SELECT VAR_POP(x), COUNT(DISTINCT k) FROM many", **{option: value})
    assert refused.value.code == "bad-choice"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("VAR_POP(DISTINCT k)", "distinct-column"),
        ("VAR_POP(c)", "type-mismatch"),
        ("CORR(k, c)", "type-mismatch"),
        ("STDDEV(u)", "unit-shown"),
        ("MEDIAN(u)", "unit-shown"),
        ("MODE(u)", "unit-shown"),
        ("VALUE_BIN(u, 0, 1, 2)", "unit-shown"),
        ("MEDIAN(c)", "type-mismatch"),
        ("MEDIAN(DISTINCT k)", "distinct-column"),
        ("MIN(c)", "type-mismatch"),
        ("QUANTILE(k, 1.5)", "type-mismatch"),
        ("QUANTILE(k, -0.1)", "type-mismatch"),
        ("QUANTILE(k, x)", "type-mismatch"),
        ("QUANTILE(k, NULL)", "type-mismatch"),
        ("QUANTILE(k, [0.2, 0.8])", "unsupported-expression"),
        ("PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY k, x)", "unsupported-expression"),
        ("PERCENTILE_DISC(x) WITHIN GROUP (ORDER BY k DESC)", "unsupported-expression"),
        ("MODE(k)", "mode-values"),
        ("MODE(c) WITHIN GROUP (ORDER BY k)", "unsupported-expression"),
        ("HISTOGRAM(k)", "type-mismatch"),
        ("HISTOGRAM(k, [5])", "type-mismatch"),
        ("HISTOGRAM(k, [5, 3])", "type-mismatch"),
        ("HISTOGRAM(k, [5, 5])", "type-mismatch"),
        ("HISTOGRAM(k, [0, x])", "type-mismatch"),
        ("HISTOGRAM(c, [0, 1])", "type-mismatch"),
        ("2 * HISTOGRAM(k, [0, 1])", "unsupported-expression"),
        ("HISTOGRAM_BIN(k, 3, 0, 1, 2)", "type-mismatch"),
        ("VALUE_BIN(c, 0, 1, 2)", "type-mismatch"),
        ("VALUE_BIN(k, 0, 'red')", "type-mismatch"),
        ("VALUE_BIN(k, 0, m, k)", "type-mismatch"),
        ("COUNT(DISTINCT k, m)", "unsupported-expression"),
        ("SUM(DISTINCT k)", "distinct-column"),
        ("KURTOSIS(k)", "unsupported-aggregate"),
        ("VAR_POP(MEDIAN(k))", "nested-aggregate"),
        ("MEDIAN(x) OVER ()", "window-across-people"),
    ],
)
def test_what_cannot_be_answered_is_refused_unspent(world, unspent, text, code):
    for call in (world.sql, world.quote):
        with pytest.raises(hr.QueryError) as refused:
            call(f"SELECT {text} FROM many")
        assert refused.value.code == code
