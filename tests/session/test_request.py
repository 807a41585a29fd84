"""One strict parser for every number of a statement. What it refuses costs nothing."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from hedgerow.errors import ParameterError, PolicyError, QueryError

COUNT = "SELECT COUNT(*) FROM people"
NOT_NUMBERS = [True, False, "1", "", b"1", [1], {}, Decimal(1), Fraction(1), 1j, float]
NOT_FINITE = [math.nan, math.inf, -math.inf, 10**400, -(10**400)]
OUT_OF_REACH = [0, -1, -0.0, 5e-324, 1e-300, 1e300]


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE, *OUT_OF_REACH], ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "delta", "confidence"])
def test_a_budget_or_confidence_that_cannot_be_is_refused(shop, free, name, value):
    for ask in (shop.sql, shop.quote):
        with free(shop), pytest.raises(ParameterError) as caught:
            ask(COUNT, **{name: value})
        assert name in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("delta", 1), ("delta", 1.0), ("confidence", 1), ("confidence", 0.0)])
def test_the_ends_of_a_range_are_refused(shop, free, name, value):
    with free(shop), pytest.raises(ParameterError):
        shop.sql(COUNT, **{name: value})


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE, 0, -1, 1.0, 2.5, 10**30], ids=repr)
@pytest.mark.parametrize("name", ["min_frequency", "max_rows", "max_groups"])
def test_a_limit_that_is_no_whole_number_is_refused(shop, free, name, value):
    with free(shop), pytest.raises(ParameterError):
        shop.sql("SELECT COUNT(*) FROM visits", **{name: value})


@pytest.mark.parametrize("value", [None, True, 0, "", "none", "Gaussian", "exact", ["laplace"], math.nan], ids=repr)
def test_a_mechanism_that_does_not_exist_is_refused(shop, free, value):
    with free(shop), pytest.raises(ParameterError):
        shop.sql(COUNT, mechanism=value)


@pytest.mark.parametrize(
    "bounds",
    [
        5,
        "cost",
        [("cost", (0, 1))],
        {"cost": 1},
        {"cost": (0,)},
        {"cost": (0, 1, 2)},
        {"cost": "01"},
        {"cost": (True, 2)},
        {"cost": ("0", "1")},
        {"cost": (math.nan, 1)},
        {"cost": (0, math.inf)},
        {"cost": (0, 10**400)},
        {"cost": (1, 1)},
        {"cost": (2, 1)},
        {"cost": (0, 5e-324)},
        {"cost": (0, 1e-310)},
        {"cost": (None, 1)},
    ],
    ids=repr,
)
def test_bounds_that_cannot_be_are_refused(shop, free, bounds):
    with free(shop), pytest.raises(ParameterError):
        shop.sql("SELECT SUM(cost) FROM visits", bounds=bounds)


@pytest.mark.parametrize(
    "clip",
    [
        "CLIP(cost, 1, 1)",
        "CLIP(cost, 2, 1)",
        "CLIP(cost, 0, 5e-324)",
        "CLIP(cost, 0)",
        "CLIP(cost, NULL, 1)",
        "CLIP(cost, '0', '1')",
        "CLIP(cost, cost, 9)",
        "CLIP(cost)",
        "CLIP()",
        "CLIP(cost, 0, 1e400)",
    ],
)
def test_a_clip_that_cannot_be_is_refused(shop, free, clip):
    with free(shop), pytest.raises(QueryError):
        shop.sql(f"SELECT SUM({clip}) FROM visits")


@pytest.mark.parametrize("value", [0, 1, "yes", None, math.nan], ids=repr)
@pytest.mark.parametrize("name", ["simultaneous", "reuse"])
def test_a_switch_is_true_or_false(shop, free, name, value):
    with free(shop), pytest.raises(ParameterError):
        shop.sql(COUNT, **{name: value})


def test_an_option_that_does_not_exist_is_refused(shop, free):
    with free(shop), pytest.raises((TypeError, QueryError)):
        shop.sql(COUNT, noise=False)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("SELECT COUNT(*) FROM people", {"min_frequency": 4}),
        ("SELECT COUNT(*) FROM people", {"min_frequency": 1}),
        ("SELECT COUNT(*) FROM people", {"max_rows": 2}),
        ("SELECT region, COUNT(*) FROM people GROUP BY region", {"max_groups": 2}),
        ("SELECT COUNT(*) FROM visits", {"max_rows": 5}),
        ("SELECT place, COUNT(*) FROM visits GROUP BY place", {"max_groups": 3}),
        ("SELECT SUM(cost) FROM visits", {"bounds": {"cost": (0, 51)}}),
        ("SELECT SUM(cost) FROM visits", {"bounds": {"cost": (-1, 50)}}),
        ("SELECT SUM(cost) FROM visits", {"bounds": {"COST": (-1, 50)}}),
        ("SELECT SUM(CLIP(cost, 0, 51)) FROM visits", {}),
        ("SELECT AVG(CLIP(cost, -0.5, 10)) FROM visits", {}),
    ],
)
def test_what_the_owner_set_can_not_be_loosened(shop, free, query, options):
    with free(shop), pytest.raises(PolicyError):
        shop.sql(query, **options)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("SELECT COUNT(*) FROM people", {"min_frequency": 6}),
        ("SELECT COUNT(*) FROM visits", {"max_rows": 1}),
        ("SELECT place, COUNT(*) FROM visits GROUP BY place", {"max_groups": 1, "max_rows": 4}),
        ("SELECT SUM(cost) FROM visits", {"bounds": {"cost": (1, 2)}}),
        ("SELECT SUM(CLIP(cost, 0, 10)) FROM visits", {}),
    ],
)
def test_what_the_owner_set_can_be_tightened(shop, query, options):
    assert len(shop.sql(query, **options)) >= 0


@pytest.mark.parametrize("per_query", ["{epsilon: 0.5}", "{epsilon: 0.5, delta: 1e-9}"])
def test_one_statement_may_not_exceed_the_cap_on_statements(shop_of, free, per_query):
    db = shop_of(budget=f"{{epsilon: 10, delta: 1e-6, per_query: {per_query}}}", defaults="epsilon: 0.4, delta: 1e-10")
    with free(db), pytest.raises(PolicyError):
        db.sql(COUNT, epsilon=0.6)
    assert len(db.sql(COUNT)) == 1


@pytest.mark.parametrize(
    "params", [{"a": float}, {"a": [1]}, {"a": math.nan}, {"a": math.inf}, {"a": 10**30}, {}, [], [1], 5, "x"]
)
def test_parameters_that_cannot_be_are_refused(shop, free, params):
    with free(shop), pytest.raises(QueryError):
        shop.sql("SELECT COUNT(*) FROM people WHERE age > :a", params=params)
