"""The number of statements that fit, by the engine's own prices and exact arithmetic."""

import pytest

import hedgerow as hr
from hedgerow.accounting import statement_threshold
from hedgerow.ledger import Units, caps_for

from ...internals import price_of, session_of


def priced(db, query, **options):
    """The engine's own plan for a statement, with its charge."""
    return price_of(db, query, **options)[1].parts[0]


def fitting(charge, caps):
    """Return the number of such charges that the three caps hold, and the cap that is full first."""
    one = Units.of(charge)
    numbers = {
        name: getattr(caps, name) // getattr(one, name) for name in ("gaussian", "pure", "mass") if getattr(one, name)
    }
    first = min(numbers, key=numbers.get)
    assert caps.overrun(Units(*(numbers[first] * part for part in (one.gaussian, one.pure, one.mass)))) is None
    return numbers[first], first


@pytest.mark.parametrize(
    ("epsilon", "delta", "without_reserve", "admitted"),
    [(1, "1e-6", 95, 94), (1, "1e-5", 122, 121), (3, "1e-6", 716, 710), (5, "1e-6", 1778, 1764)],
)
def test_as_many_scalar_statements_fit_as_exact_composition_allows_less_the_reserve(
    town, epsilon, delta, without_reserve, admitted
):
    db = town.connect(budget=f"{{epsilon: {epsilon}, delta: {delta}}}", min_frequency=1)
    plan = priced(db, "SELECT COUNT(*) FROM people", epsilon=0.1, delta=1e-7)
    number, first = fitting(plan.charge, caps_for(float(epsilon), float(delta)))
    assert first == "gaussian"
    assert admitted <= number <= without_reserve, f"{number} of {without_reserve} fit"
    assert without_reserve - number <= 0.012 * without_reserve + 1


def test_the_ledger_admits_exactly_the_number_that_was_counted(town):
    db = town.connect(budget="{epsilon: 1, delta: 1e-6}", min_frequency=1)
    charge = priced(db, "SELECT COUNT(*) FROM people", epsilon=0.1, delta=1e-7).charge
    number, _ = fitting(charge, caps_for(1.0, 1e-6))
    for _ in range(number):
        session_of(db).ledger.charge(charge, question={"text": "SELECT COUNT(*) FROM people"})
    with pytest.raises(hr.BudgetError) as refused:
        db.sql("SELECT COUNT(*) FROM people", epsilon=0.1, delta=1e-7)
    assert refused.value.code == "budget-gaussian"
    assert db.budget.queries == number


@pytest.mark.parametrize("k", [1, 10, 100])
def test_grouped_statements_are_not_limited_by_delta(town, k):
    db = town.connect(budget="{epsilon: 3, delta: 1e-6}", min_frequency=k)
    plan = priced(db, "SELECT street, COUNT(*) FROM people GROUP BY street", epsilon=0.1, delta=1e-8)
    number, first = fitting(plan.charge, caps_for(3.0, 1e-6))
    tau, sigma = float(plan.selection.threshold), plan.selection.noise.sigma
    whole = statement_threshold(0.1, 1e-8, sigma, k)
    message = f"k = {k}: {number} fit ({first} is full first); tau is {tau:.1f}, and {whole:.1f} with all of delta"
    assert number >= 500, message
    assert first == "gaussian", message
    assert tau < k + 1.25 * (whole - k), message


def test_a_plan_of_grouped_statements_is_admitted_whole_where_delta_would_allow_forty(town):
    db = town.connect(budget="{epsilon: 3, delta: 1e-6}", min_frequency=10)
    query = "SELECT street, COUNT(*) FROM people GROUP BY street"
    actual = db.forecast([query] * 60, epsilon=0.1, delta=1e-8)
    assert actual.admitted == 60
    assert sum(charge.delta for charge in actual.charges) > 40e-8
