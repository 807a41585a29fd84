"""Sums measured together are paid for once: the receipt names every noisy number, and its noise."""

import math

import pytest

from hedgerow.accounting import gaussian_mu

MOMENTS = "COUNT(x) AS n, SUM(x) AS s, AVG(x) AS a, VAR_POP(x) AS v, STDDEV(x) AS d"
BOTH = "CORR(k, m) AS r, COVAR_POP(k, m) AS c, VAR_POP(k) AS v, AVG(m) AS a, COUNT(*) AS n, REGR_SLOPE(m, k) AS s"


@pytest.fixture
def mechanisms(world):
    def receipt(query, **options):
        return world.quote(query, **options).mechanisms

    return receipt


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize(("measures", "count"), [(MOMENTS, 3), (BOTH, 6), ("COVAR_POP(k, m) AS c, AVG(k) AS a", 4)])
def test_moments_of_the_same_rows_are_one_gaussian_release(mechanisms, measures, count, rows):
    """All coordinates share one unit of norm, so each has the noise that a single count would have."""
    name = "one" if rows == 1 else "many"
    built = mechanisms(f"SELECT {measures} FROM {name}", mechanism="gaussian", epsilon=1, delta=1e-8)
    assert len(built) == count
    sigma = rows / gaussian_mu(1, 1e-8)
    assert all(math.isclose(release.scale, sigma, rel_tol=1e-4) for release in built)
    assert {release.sensitivity for release in built} == {rows}


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize(("measures", "count"), [(MOMENTS, 3), ("COVAR_POP(k, m) AS c, AVG(k) AS a", 4)])
def test_moments_of_the_same_rows_are_one_laplace_release(mechanisms, measures, count, rows):
    name = "one" if rows == 1 else "many"
    built = mechanisms(f"SELECT {measures} FROM {name}", mechanism="laplace", epsilon=0.5)
    assert len(built) == count
    assert all(math.isclose(release.scale, rows / 0.5, rel_tol=1e-4) for release in built)


def test_three_statements_would_have_three_times_the_variance(mechanisms):
    together = mechanisms(f"SELECT {MOMENTS} FROM one", mechanism="gaussian", epsilon=1, delta=1e-8)
    apart = mechanisms(
        "SELECT VAR_POP(x), VAR_POP(y), VAR_POP(k) FROM one", mechanism="gaussian", epsilon=1, delta=1e-8
    )
    assert len(apart) == 9
    assert math.isclose(apart[0].scale, math.sqrt(3) * together[0].scale, rel_tol=1e-4)


@pytest.mark.parametrize(
    ("measures", "count"),
    [
        ("VAR_POP(x), VAR_POP(y), CORR(x, y)", 12),
        ("VAR_POP(x), COUNT(*)", 4),
        ("VAR_POP(k), COUNT(*)", 3),
        ("VAR_POP(x), AVG(x) FILTER (WHERE b)", 5),
        ("VAR_POP(x), VAR_POP(x + 0)", 6),
    ],
)
def test_other_rows_are_another_release(mechanisms, measures, count):
    """A column that may be NULL or NaN has a support of its own; a filter, too. Their counts are never shared."""
    assert len(mechanisms(f"SELECT {measures} FROM many", mechanism="gaussian")) == count


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("bins", [2, 30])
def test_all_bins_of_a_histogram_cost_one_count(mechanisms, mechanism, bins):
    edges = list(range(bins + 1))
    whole = mechanisms("SELECT COUNT(*) FROM many", mechanism=mechanism)
    built = mechanisms(f"SELECT HISTOGRAM(k, {edges}) AS h FROM many", mechanism=mechanism)
    assert len(built) == bins
    assert all(math.isclose(release.scale, whole[0].scale, rel_tol=1e-5) for release in built)


def test_a_mode_costs_one_count(mechanisms):
    whole, built = (mechanisms(f"SELECT {text} FROM many", mechanism="gaussian") for text in ("COUNT(*)", "MODE(c)"))
    assert len(built) == 3
    assert all(math.isclose(release.scale, whole[0].scale, rel_tol=1e-6) for release in built)


def test_every_quantile_is_paid_for(mechanisms):
    """The second is not free: epsilon of each is less, so its scale (an error in rank) is more."""
    query = "SELECT QUANTILE_DISC(k, 0.2) AS a{} FROM many"
    one = mechanisms(query.format(""), mechanism="laplace", epsilon=1)
    two = mechanisms(query.format(", MEDIAN(k) AS b"), mechanism="laplace", epsilon=1)
    again = mechanisms(query.format(", QUANTILE_DISC(k, 0.2) + 1 AS b"), mechanism="laplace", epsilon=1)
    assert [release.kind for release in two] == ["exponential"] * 2
    assert math.isclose(two[0].scale, 2 * one[0].scale, rel_tol=1e-6)
    assert again == one


def test_an_extreme_brings_its_count(mechanisms):
    built = mechanisms("SELECT MIN(k), MAX(k), COUNT(*) FROM many", mechanism="laplace")
    assert [release.kind for release in built] == ["laplace", "exponential", "exponential"]
    assert [release.measure for release in built] == ["rows", "smallest of k", "largest of k"]


def test_the_receipt_says_what_was_measured(world, ask):
    answer = ask(world, "SELECT VAR_POP(k) AS v, MEDIAN(k) AS q, COUNT(DISTINCT c) AS d FROM many")
    assert [release.measure for release in answer.receipt.mechanisms] == [
        "moments of k (1 of 3)",
        "moments of k (2 of 3)",
        "moments of k (3 of 3)",
        "quantile 0.5 of k",
        "different values of c, 1 of a person",
    ]


def test_plain_bezier_moments_are_wider(world):
    """At the same price: equal noise costs where values lie evenly over their range."""
    query = "SELECT VAR_POP(k) AS v FROM one"
    lean, plain = (
        world.quote(query, mechanism="gaussian", epsilon=1, moments=moments).errors["v"][10_000]
        for moments in ("lambda", "bezier")
    )
    assert 1.9 <= (plain / lean) ** 2 <= 2.6, "2.33 by the closed forms: 0.16667 against 0.07168"
