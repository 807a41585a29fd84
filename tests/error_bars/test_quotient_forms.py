"""Arithmetic that stays a quotient of linear forms has exact intervals: neither short nor long."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, laplace, norm

from hedgerow.accounting.budget import Budget, RemainingBudget
from hedgerow.catalog.model import BudgetPolicy, Catalog, DeclaredColumn, DeclaredTable
from hedgerow.distributions import Gaussian
from hedgerow.error_bars.propagation import row_bounds, row_values
from hedgerow.error_bars.provenance.columns import single_row
from hedgerow.expressions.types import Type
from hedgerow.plan.bind import bind
from hedgerow.privacy.price import price
from hedgerow.release import Estimator
from hedgerow.release.noisy_table import NoisyTable
from hedgerow.schema import Schema, SchemaColumn, SchemaTable
from hedgerow.sql.parse import parse

FALSE_ALARM = 1e-9
TRIALS = 20_000
BETA = 0.1
CATALOG = Catalog(
    "town",
    BudgetPolicy(10.0, 1e-6),
    {
        "t": DeclaredTable(
            "t", unit="u", unit_unique=True, columns={"x": DeclaredColumn("x", 0, 10), "y": DeclaredColumn("y", 5, 9)}
        )
    },
)
COLUMNS = [SchemaColumn("u", Type.INTEGER, "BIGINT", nullable=False)] + [
    SchemaColumn(name, Type.DECIMAL, "DECIMAL(9,2)", nullable=False) for name in "xy"
]
SCHEMA = Schema({"t": SchemaTable("t", {c.name: c for c in COLUMNS}, frozenset({frozenset({"u"})}))})
REMAINING = RemainingBudget(10**6, 10**6, lambda cost: cost.gaussian * 0)


def _without_lattice(noise):
    return noise if isinstance(noise, Gaussian) else replace(noise, step=0.0)


def answered(expression, mechanism, people, mean):
    """Many imagined releases of one exact answer: the plan, and an estimator with a row for each."""
    logical = bind(parse(f"SELECT {expression} AS it FROM t").query, CATALOG, SCHEMA)
    (plan,) = price(logical, Budget(1.0, 1e-6, mechanism), REMAINING, min_frequency=1).parts
    sums = [
        people if total.grid is None else people * (mean - total.grid.offset) / total.grid.step for total in plan.sums
    ]
    noisy = []
    for coordinate in plan.noisy_sums:
        exact = sum(sums[i] * factor for i, factor in coordinate.combination) / coordinate.denominator
        noise = coordinate.noise
        law = norm(scale=noise.sigma) if isinstance(noise, Gaussian) else laplace(scale=noise.scale)
        noisy.append(exact + law.rvs(TRIALS))
    smooth = [replace(c, noise=_without_lattice(c.noise)) for c in plan.noisy_sums]
    table = NoisyTable(pa.table({"k": pa.nulls(TRIALS)}).select([]), np.ones(TRIALS, bool), None, tuple(noisy))
    return single_row(logical.root).columns[0], Estimator(table, replace(plan, noisy_sums=tuple(smooth)))


CASES = [
    ("SUM(x) / COUNT(*)", 4.0),
    ("100.0 * SUM(x) / (COUNT(*) * 10)", 40.0),
    ("2 * SUM(x) - COUNT(*)", None),
    ("AVG(x) * 3 + 1", 13.0),
    ("1 - AVG(x)", -3.0),
    ("AVG(x) / 7", 4.0 / 7),
]


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("expression", "exact"), CASES)
def test_the_interval_holds_as_often_as_it_says_and_hardly_more(expression, exact, mechanism):
    people, mean = 400, 4.0
    expr, estimator = answered(expression, mechanism, people, mean)
    bounds = row_bounds(expr, estimator, BETA)
    truth = exact if exact is not None else 2 * people * mean - people
    held = int(((bounds.lower <= truth) & (truth <= bounds.upper)).sum())
    assert set(bounds.notes) == {None}
    assert binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA) <= held <= binom.isf(FALSE_ALARM, TRIALS, 1 - BETA)


@pytest.mark.parametrize("expression", ["SUM(x) / COUNT(*)", "AVG(x) / AVG(y)"])
def test_small_groups_are_covered_too(expression):
    expr, estimator = answered(expression, "gaussian", 6, 8.0)
    bounds = row_bounds(expr, estimator, BETA)
    truth = 8.0 if "SUM" in expression else 1.0
    held = int(((bounds.lower <= truth) & (truth <= bounds.upper)).sum())
    assert held >= binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA)


PRODUCTS = [
    ("SUM(x) * SUM(y)", 1600.0 * 1600.0),
    ("COUNT(*) * COUNT(*)", 400.0 * 400.0),
    ("SUM(x) * COUNT(*)", 640000.0),
]


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("expression", "exact"), PRODUCTS)
def test_a_product_holds_and_is_not_much_longer_than_needed(expression, exact, mechanism):
    expr, estimator = answered(expression, mechanism, 400, 4.0)
    bounds, values = row_bounds(expr, estimator, BETA), row_values(expr, estimator)
    held = int(((bounds.lower <= exact) & (exact <= bounds.upper)).sum())
    assert held >= binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA)
    needed = np.quantile(np.abs(values - exact), 1 - BETA)
    middle = (bounds.lower + bounds.upper) / 2
    assert np.median(bounds.upper - middle) <= 1.5 * needed
    short = int((np.abs(middle - exact) <= 0.7 * needed).sum())
    assert short < binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_count_times_its_average_is_the_sum(mechanism):
    expr, estimator = answered("COUNT(*) * AVG(x)", mechanism, 400, 4.0)
    bounds = row_bounds(expr, estimator, BETA)
    held = int(((bounds.lower <= 1600.0) & (bounds.upper >= 1600.0)).sum())
    assert set(bounds.notes) == {None}
    assert binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA) <= held <= binom.isf(FALSE_ALARM, TRIALS, 1 - BETA)


@pytest.mark.parametrize("people", [0, 2])
def test_products_of_small_numbers_hold_too(people):
    expr, estimator = answered("SUM(x) * SUM(y)", "laplace", people, 4.0)
    bounds = row_bounds(expr, estimator, BETA)
    exact = (4.0 * people) ** 2
    assert ((bounds.lower <= exact) & (exact <= bounds.upper)).sum() >= binom.isf(1 - FALSE_ALARM, TRIALS, 1 - BETA)


@pytest.mark.parametrize("expression", ["SUM(x) / SUM(y)", "SUM(x) / COUNT(*)", "SUM(x) / (SUM(y) + COUNT(*))"])
def test_quotients_with_a_zero_coefficient_are_exact_under_laplace_noise(expression):
    expr, estimator = answered(expression, "laplace", 400, 4.0)
    assert {status.kind.value for status in row_bounds(expr, estimator, BETA).statuses} == {"exact"}


def test_what_is_publicly_known_of_an_average_is_kept():
    expr, estimator = answered("AVG(x) * 2 + 1", "gaussian", 1, 4.0)
    bounds = row_bounds(expr, estimator, BETA)
    assert bounds.lower.min() >= 1 - 1e-3
    assert bounds.upper.max() <= 21 + 1e-3


def test_a_multiple_of_a_count_is_cut_at_zero():
    expr, estimator = answered("COUNT(*) * 3", "gaussian", 0, 4.0)
    assert row_bounds(expr, estimator, BETA).lower.min() >= 0


def test_an_expression_of_another_kind_is_left_to_interval_arithmetic():
    expr, estimator = answered("AVG(x) * AVG(x)", "gaussian", 400, 4.0)
    assert set(row_bounds(expr, estimator, BETA).notes) == {"conservative"}
