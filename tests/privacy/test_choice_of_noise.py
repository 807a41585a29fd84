"""The automatic choice of noise, and the share of key selection, follow the predicted error."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hedgerow.accounting import PureAsGaussianEvent, ThresholdEvent, pure_mu
from hedgerow.errors import BudgetError
from hedgerow.privacy.keys import KeyRule, Keys
from hedgerow.privacy.predicted_error import SHARES, GroupSizes, best_share, half_widths, likely_sizes, mean_log_error

from ..internals import price_of

TABLES = """
  orders: {unit: customer, max_rows: 41, size: 6000000, columns: {price: {lower: 0, upper: 555285.16}}}
  visits: {unit: person, max_rows: 50, max_rows_per_group: 1}
  clicks: {unit: person, max_rows: 1000000}
  people: {unit: person, unit_unique: true, columns: {age: {lower: 0, upper: 100}}}
"""
LAYOUT = [
    "CREATE TABLE orders (customer INTEGER, status VARCHAR, price DOUBLE NOT NULL)",
    "CREATE TABLE visits (person INTEGER, page VARCHAR)",
    "CREATE TABLE clicks (person INTEGER)",
    "CREATE TABLE people (person INTEGER PRIMARY KEY, town VARCHAR, age DOUBLE NOT NULL)",
]
GROUPBY = "SELECT status, AVG(price) AS p FROM orders GROUP BY status"
ROOM_FOR_BOTH = "{epsilon: 20, delta: 1e-5, pure_epsilon: 10}"
GAUSSIAN_ONLY = "{epsilon: 20, delta: 1e-5}"


@pytest.fixture(scope="module")
def open_ledger(build_once):
    databases = {
        budget: build_once(LAYOUT, TABLES, budget=budget, min_frequency=1) for budget in (ROOM_FOR_BOTH, GAUSSIAN_ONLY)
    }

    def price(budget, text, **options):
        return price_of(databases[budget], text, delta=1e-7, **options)[1]

    return price


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_grouped_averages_of_many_rows_get_laplace_noise_where_there_is_room_for_both(open_ledger, epsilon):
    """Its error is less than half of the other's, although its threshold is higher."""
    options = {"epsilon": epsilon, "max_groups": 3}
    chosen = open_ledger(ROOM_FOR_BOTH, GROUPBY, **options)
    laplace, gaussian = (
        open_ledger(ROOM_FOR_BOTH, GROUPBY, mechanism=kind, **options).parts[0] for kind in ("laplace", "gaussian")
    )
    assert half_widths(laplace)[0] < 0.5 * half_widths(gaussian)[0]
    assert laplace.selection.threshold > gaussian.selection.threshold
    assert chosen.parts[0].mechanism == "laplace"


def test_noise_that_is_wider_than_any_group_is_compared_all_the_same(open_ledger):
    """A million rows for each person: neither kind is of use, and one is three times as narrow."""
    text = "SELECT COUNT(*) FROM clicks"
    plans = [open_ledger(ROOM_FOR_BOTH, text, epsilon=1.0, mechanism=kind).parts[0] for kind in ("laplace", "gaussian")]
    assert half_widths(plans[0])[0] < half_widths(plans[1])[0]
    assert open_ledger(ROOM_FOR_BOTH, text, epsilon=1.0).parts[0].mechanism == "laplace"


def test_statements_of_many_groups_per_person_get_gaussian_noise(open_ledger):
    statement = open_ledger(ROOM_FOR_BOTH, "SELECT page, COUNT(*) FROM visits GROUP BY page", epsilon=1.0)
    assert statement.parts[0].mechanism == "gaussian"


def test_where_the_ledger_keeps_nothing_for_laplace_noise_the_choice_is_gaussian(open_ledger):
    assert open_ledger(GAUSSIAN_ONLY, GROUPBY, epsilon=0.1, max_groups=3).parts[0].mechanism == "gaussian"


def test_the_mean_log_error_is_that_of_its_definition():
    """Integrated over group sizes: 100 % where a group is not shown or its error exceeds it."""
    likely = GroupSizes(2e2, 2e5)
    sizes = np.exp(np.linspace(math.log(likely.smallest), math.log(likely.largest), 1_000_001))
    for threshold, width in [(1.0, 3.0), (500.0, 40.0), (500.0, 9000.0), (5e3, 1e3), (1e6, 1.0), (1.0, 1e7)]:
        errors = np.where(sizes < threshold, 0.0, np.minimum(0.0, np.log(width / sizes)))
        assert mean_log_error(threshold, width, likely) == pytest.approx(float(errors.mean()), abs=1e-4)


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("measured", [0.1, 3.0, 200.0, 1e5])
def test_the_share_of_key_selection_has_the_smallest_predicted_error(power, measured):
    keys, distance = Keys(KeyRule.SELECTED), 16.0
    limits = {"minimum": 5, "distance": distance, "measured": measured, "counted": 0.0, "blocks": 1, "power": power}
    share = best_share(keys, 10**12, **limits)

    def error(tried):
        sizes = likely_sizes(keys, 10**12, 5 + distance, measured)
        return float(mean_log_error(5 + distance / tried**power, measured / (1 - tried) ** power, sizes))

    assert min(error(tried) for tried in SHARES) == error(share)


def test_the_share_of_key_selection_grows_with_what_a_threshold_costs():
    keys = Keys(KeyRule.SELECTED)
    limits = {"minimum": 1, "measured": 50.0, "counted": 0.0, "blocks": 1, "power": 1.0}
    shares = [best_share(keys, 10**12, distance=distance, **limits) for distance in (1.0, 10.0, 100.0, 1000.0)]
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] > 0.3


def test_a_total_of_a_large_table_spends_little_on_its_test():
    limits = {"minimum": 10, "distance": 16.0, "measured": 3.0, "counted": 0.0, "blocks": 1, "power": 1.0}
    large, small = (best_share(Keys(KeyRule.ONE), size, **limits) for size in (10**9, 2_000))
    assert large == SHARES[0] < small


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_more_epsilon_never_gives_more_noise_nor_a_higher_threshold(open_ledger, kind):
    """The search for an accuracy relies on it; a share moves in steps of a thousandth."""
    plans = [
        open_ledger(
            ROOM_FOR_BOTH, "SELECT town, AVG(age) AS a FROM people GROUP BY town", epsilon=e, mechanism=kind
        ).parts[0]
        for e in np.exp(np.linspace(math.log(0.05), math.log(4.0), 30))
    ]
    for lower, higher in pairwise(plans):
        assert half_widths(higher)[0] < half_widths(lower)[0]
        assert higher.selection.threshold <= lower.selection.threshold


COUNTS = "SELECT town, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY town"


def test_laplace_noise_is_charged_as_gaussian_where_only_that_has_room(open_ledger):
    charge = open_ledger(GAUSSIAN_ONLY, COUNTS, epsilon=0.5, mechanism="laplace").charge
    kinds = {type(event) for event in charge.events}
    assert kinds == {PureAsGaussianEvent, ThresholdEvent}
    assert charge.cost.pure == 0
    assert 0 < charge.cost.gaussian < Fraction(pure_mu(0.5)) ** 2, "steps are charged one by one"
    assert sum(e.epsilon for e in charge.events if isinstance(e, PureAsGaussianEvent)) <= Fraction(0.5)


def test_laplace_noise_is_charged_as_pure_epsilon_where_that_has_room(open_ledger):
    both = open_ledger(ROOM_FOR_BOTH, COUNTS, epsilon=0.5, mechanism="laplace")
    assert both.charge.cost.gaussian == 0 < both.charge.cost.pure
    alone = open_ledger(GAUSSIAN_ONLY, COUNTS, epsilon=0.5, mechanism="laplace")
    assert both.parts[0].noisy_sums == alone.parts[0].noisy_sums, "the charge does not change the noise"


def test_at_an_equal_charge_gaussian_noise_is_narrower_on_the_same_coordinates():
    """So the automatic choice never charges Laplace noise as Gaussian: up to a pure epsilon of 12 for its variance."""
    for epsilon in np.linspace(0.01, 12.0, 200):
        assert math.sqrt(2.0) / epsilon > 1.0 / pure_mu(float(epsilon))


def test_a_ledger_without_pure_epsilon_answers_with_laplace_noise(build):
    """It is paid from the sum for Gaussian noise, which refuses it when that is used up."""
    db = build(LAYOUT, TABLES, budget="{epsilon: 1, delta: 1e-6}")
    answer = db.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, mechanism="laplace", reuse=False)
    assert {mechanism.kind for mechanism in answer.receipt.mechanisms} == {"laplace"}
    used = db.budget.used
    assert used["gaussian"] == pytest.approx(pure_mu(0.1) ** 2 / 0.05546, rel=1e-3)
    assert used["pure"] == 0.0
    for _ in range(2):
        db.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, mechanism="laplace", reuse=False)
    with pytest.raises(BudgetError) as refused:
        db.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, mechanism="laplace", reuse=False)
    assert refused.value.code == "budget-pure"
