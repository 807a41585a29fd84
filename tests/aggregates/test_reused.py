"""Releases are given again: the same digits, other intervals, parts of a larger question."""

import pytest

QUERY = (
    "SELECT g, COUNT(x) AS n, AVG(x) AS a, VAR_POP(x) AS v, CORR(k, m) AS r, MEDIAN(k) AS q, MIN(k) AS low, "
    "COUNT(DISTINCT k) AS d, HISTOGRAM(k, [0, 25, 49]) AS h FROM many GROUP BY g"
)
both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


@pytest.fixture
def own(build):
    """A table for one test, with nothing stored."""
    return build(
        [
            "CREATE TABLE many (u BIGINT, g INTEGER, x DOUBLE, k INTEGER NOT NULL, m INTEGER NOT NULL)",
            "INSERT INTO many SELECT j // 3, j // 3 % 2, j % 10, j * 31 % 50, j % 29 FROM range(3000) r(j)",
        ],
        "many: {unit: u, max_rows: 3, max_groups: 1, columns: {x: {lower: 0, upper: 10}, k: {lower: 0, upper: 49}, "
        "m: {lower: 0, upper: 28}, g: {values: [0, 1, 2]}}}",
    )


@both
def test_the_same_question_has_the_same_digits_and_intervals(own, mechanism):
    first, again = (own.sql(QUERY, mechanism=mechanism, epsilon=5) for _ in range(2))
    assert (first.receipt.reused, again.receipt.reused) == (False, True)
    assert list(first) == list(again)
    assert first.intervals == again.intervals
    assert [m.measure for m in first.receipt.mechanisms] == [m.measure for m in again.receipt.mechanisms]
    assert own.budget.queries == 1


@both
@pytest.mark.parametrize(
    "measures",
    [
        "VAR_POP(x) AS v",
        "STDDEV(x) AS s, AVG(x) AS a",
        "SUM(x) AS s",
        "MEDIAN(k) AS q",
        "COUNT(DISTINCT k) AS d",
        "HISTOGRAM_BIN(k, 1, 0, 25, 49) AS h",
        "REGR_SLOPE(m, k) AS b, REGR_R2(m, k) AS c, COVAR_POP(k, m) AS d",
        "2 * VAR_POP(x) AS v",
    ],
)
def test_a_part_of_a_larger_question_is_free(own, mechanism, measures):
    """Only what was asked before is: VAR_POP and STDDEV are two questions about one release."""
    columns = "VAR_POP(x) AS v, STDDEV(x) AS s, AVG(x) AS a, SUM(x) AS t, MEDIAN(k) AS q, COUNT(DISTINCT k) AS d, "
    columns += "HISTOGRAM(k, [0, 25, 49]) AS h, REGR_SLOPE(m, k) AS b, REGR_R2(m, k) AS c, COVAR_POP(k, m) AS e"
    first = own.sql(f"SELECT g, {columns} FROM many GROUP BY g", mechanism=mechanism, epsilon=20)
    again = own.sql(f"SELECT g, {measures} FROM many GROUP BY g", mechanism=mechanism, epsilon=20)
    assert again.receipt.reused
    names = [measure.measure for measure in again.receipt.mechanisms]
    assert names == [measure.measure for measure in first.receipt.mechanisms]
    assert not any("NULL" in name for name in names)


@both
def test_intervals_are_told_at_a_lower_confidence(own, mechanism):
    first = own.sql(QUERY, mechanism=mechanism, epsilon=5)
    again = own.sql(QUERY, mechanism=mechanism, epsilon=5, confidence=0.5)
    assert again.receipt.reused
    for wide, narrow in zip(first.intervals, again.intervals, strict=True):
        for column in ("n", "a", "v", "q", "low", "d"):
            assert wide[column].lower <= narrow[column].lower
            assert narrow[column].upper <= wide[column].upper
    assert first.intervals[0]["v"].upper > again.intervals[0]["v"].upper


@both
def test_the_interval_of_a_draw_is_not_surer_than_it_was_bought(own, mechanism):
    """Those of moments follow from the release at any confidence; those of draws are draws, too."""
    query = "SELECT {} AS v FROM many"
    for text, free in (("VAR_POP(x)", True), ("COUNT(DISTINCT k)", True), ("MEDIAN(k)", False)):
        own.sql(query.format(text), mechanism=mechanism, confidence=0.9)
        assert own.sql(query.format(text), mechanism=mechanism, confidence=0.99).receipt.reused is free
        assert own.sql(query.format(text), mechanism=mechanism, confidence=0.99).receipt.reused


def test_a_picked_row_needs_a_surer_interval_of_a_draw(own):
    query = "SELECT g, MEDIAN(k) AS q FROM many GROUP BY g"
    own.sql(query, epsilon=5)
    picked = own.sql(f"{query} ORDER BY q DESC LIMIT 1", epsilon=5)
    assert not picked.receipt.reused
    assert picked.intervals[0]["q"].note == "conservative"
    assert own.sql(query, epsilon=5).receipt.reused


@pytest.mark.parametrize(("first", "second", "free"), [("simple", "flow", False), ("flow", "simple", True)])
def test_a_flow_is_not_served_by_the_simple_bound(own, first, second, free):
    query = "SELECT COUNT(DISTINCT k) AS d FROM many"
    own.sql(query, distinct=first)
    assert own.sql(query, distinct=second).receipt.reused is free


@pytest.mark.parametrize(("first", "second"), [("lambda", "bezier"), ("bezier", "lambda")])
def test_one_kind_of_moments_is_not_served_by_the_other(own, first, second):
    query = "SELECT VAR_POP(k) AS v FROM many"
    own.sql(query, moments=first, mechanism="gaussian")
    assert not own.sql(query, moments=second, mechanism="gaussian").receipt.reused
    assert own.sql(query, moments=first, mechanism="gaussian").receipt.reused


def test_moments_of_a_larger_release_serve_where_none_of_them_is_wider(own):
    """A correlation at five times the epsilon has less noise in every moment of one column."""
    own.sql("SELECT VAR_POP(k) AS v, CORR(k, m) AS r FROM many", epsilon=5, mechanism="gaussian")
    assert own.sql("SELECT VAR_POP(k) AS v FROM many", epsilon=1, mechanism="gaussian").receipt.reused
    assert not own.sql("SELECT VAR_POP(k) AS v FROM many", epsilon=9, mechanism="gaussian").receipt.reused


@pytest.mark.parametrize(
    "changed",
    [
        "SELECT g, QUANTILE(k, 0.4) AS q FROM many GROUP BY g",
        "SELECT g, MEDIAN(k) FILTER (WHERE x > 1) AS q FROM many GROUP BY g",
        "SELECT g, MEDIAN(k + 1) AS q FROM many GROUP BY g",
        "SELECT g, COUNT(DISTINCT m) AS q FROM many GROUP BY g",
        "SELECT g, HISTOGRAM(k, [0, 26, 49]) AS q FROM many GROUP BY g",
        "SELECT g, VAR_POP(m) FILTER (WHERE x > 1) AS q FROM many GROUP BY g",
        "SELECT g, MAX(k) AS q FROM many GROUP BY g",
    ],
)
def test_another_question_is_a_new_charge(own, changed):
    own.sql(QUERY)
    assert not own.sql(changed).receipt.reused
