"""Whatever a statement asks for, its events together cost what it may spend, and hardly less."""

import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.accounting import GDP, gaussian_mu

from ..internals import price_of

CHECKS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MEASURES = [
    "COUNT(*)",
    "COUNT(DISTINCT u)",
    "SUM(x)",
    "AVG(x)",
    "VAR_POP(x)",
    "STDDEV(k)",
    "COVAR_POP(x, k)",
    "CORR(k, m)",
    "REGR_SLOPE(m, k) FILTER (WHERE x > 1)",
    "MEDIAN(x)",
    "QUANTILE(k, 0.9)",
    "MIN(k)",
    "MAX(x)",
    "HISTOGRAM(k, [0, 10, 20, 49])",
    "MODE(c)",
    "COUNT(DISTINCT k)",
    "COUNT(DISTINCT x) FILTER (WHERE k > 3)",
]
LAYOUT = "(u BIGINT {}, g INTEGER, h INTEGER, x DOUBLE, k INTEGER NOT NULL, m INTEGER NOT NULL, c VARCHAR)"
COLUMNS = """
  columns:
    x: {lower: 0, upper: 9}
    k: {lower: 0, upper: 49}
    m: {lower: -5, upper: 5}
    g: {values: [1, 2, 3]}
    c: {values: [red, green]}
"""
TABLES = f"one:\n  unit: u\n  unit_unique: true{COLUMNS}many:\n  unit: u\n  max_rows: 6\n  max_groups: 2{COLUMNS}"


@pytest.fixture(scope="module")
def priced(build_once):
    db = build_once(
        [f"CREATE TABLE one {LAYOUT.format('PRIMARY KEY')}", f"CREATE TABLE many {LAYOUT.format('')}"], TABLES
    )

    def price(measures, table="many", keys="", **options):
        shown = ", ".join([*([keys] if keys else []), *(f"{text} AS v{i}" for i, text in enumerate(measures))])
        text = f"SELECT {shown} FROM {table}" + (f" GROUP BY {keys}" if keys else "")
        return price_of(db, text, **options)[1]

    return price


given_measures = given(
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=5, unique=True),
    st.sampled_from(["one", "many"]),
    st.sampled_from(["", "g"]),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from(["auto", "flow", "simple"]),
    st.sampled_from(["lambda", "bezier"]),
)


@CHECKS
@given_measures
def test_gaussian_events_make_up_the_mu_of_the_guarantee(priced, measures, table, keys, epsilon, distinct, moments):
    options = {"epsilon": epsilon, "delta": 1e-6, "distinct": distinct, "moments": moments}
    charge = priced(measures, table, keys, mechanism="gaussian", **options).charge
    mu = gaussian_mu(epsilon, 1e-6)
    assert charge.cost.gaussian <= Fraction(mu) ** 2
    assert charge.cost.gaussian >= Fraction(mu) ** 2 * Fraction(97, 100), "little is left unused"
    assert charge.cost.pure <= Fraction(1, 10**9), "but for discreteness"
    assert (charge.epsilon, charge.delta) == (epsilon, 1e-6)
    assert GDP(charge.events).epsilon(1e-6) <= epsilon


@CHECKS
@given_measures
def test_laplace_events_make_up_the_epsilon_of_the_guarantee(priced, measures, table, keys, epsilon, distinct, moments):
    options = {"epsilon": epsilon, "distinct": distinct, "moments": moments}
    charge = priced(measures, table, keys, mechanism="laplace", **options).charge
    assert charge.cost.gaussian == 0
    assert Fraction(epsilon) * Fraction(99, 100) <= charge.cost.pure <= Fraction(epsilon)
    assert charge.cost.mass == 0
    assert charge.delta == 0


@CHECKS
@given_measures
@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_with_keys_to_select_everything_together_stays_within(
    priced, mechanism, measures, table, keys, epsilon, distinct, moments
):
    options = {"epsilon": epsilon, "delta": 1e-6, "distinct": distinct, "moments": moments, "min_frequency": 5}
    charge = priced(measures, table, "h" if keys else "", mechanism=mechanism, **options).charge
    assert charge.cost.mass <= Fraction(1, 10**6)
    if mechanism == "laplace":
        assert charge.cost.pure <= Fraction(epsilon)
    else:
        assert charge.cost.gaussian <= Fraction(gaussian_mu(epsilon, 1e-6)) ** 2


@CHECKS
@given(st.lists(st.sampled_from(MEASURES[4:]), min_size=2, max_size=4, unique=True), st.sampled_from(["one", "many"]))
def test_more_measures_never_have_less_noise(priced, measures, table):
    """Every further column is paid for: no number gets more of the budget than it would have alone."""
    alone = priced(measures[:1], table, mechanism="laplace", epsilon=1.0).parts[0]
    together = priced(measures, table, mechanism="laplace", epsilon=1.0).parts[0]
    if alone.draws and not alone.noisy_sums:
        assert together.draws[0].epsilon <= alone.draws[0].epsilon
    if alone.distinct:
        assert together.distinct[0].scale >= alone.distinct[0].scale * (1 - 1e-9)
    for coordinate in alone.noisy_sums:
        same = [noisy_sum for noisy_sum in together.noisy_sums if noisy_sum.label == coordinate.label]
        assert all(noisy_sum.noise.scale >= coordinate.noise.scale * (1 - 1e-9) for noisy_sum in same)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_several_releases_share_one_guarantee(priced, build, mechanism):
    db = build(f"CREATE TABLE one {LAYOUT.format('PRIMARY KEY')}", f"one:\n  unit: u\n  unit_unique: true{COLUMNS}")
    text = (
        "SELECT (SELECT VAR_POP(x) FROM one) AS a, (SELECT MEDIAN(k) FROM one WHERE x > 1) AS b, "
        "(SELECT COUNT(DISTINCT k) FROM one WHERE x > 2) AS c"
    )
    statement = price_of(db, text, epsilon=1.0, delta=1e-6, mechanism=mechanism)[1]
    assert len(statement.parts) == 3
    cost = statement.charge.cost
    assert cost.pure <= 1
    assert math.sqrt(cost.gaussian) <= gaussian_mu(1.0, 1e-6)
    assert cost.pure + cost.gaussian > 0
