"""The price of a wanted error: the least, in one payment or two, and never more than was stated."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr

COUNT = "SELECT COUNT(*) AS n FROM t"
ROUNDING = 1 + 1e-12


def paid(answer):
    return [(payment.purpose, payment.charge.epsilon) for payment in answer.receipt.payments]


def charges(db):
    """Every charge in the ledger: its number, epsilon and delta."""
    built = [entry for entry in db.budget.history if entry.status == "answered"]
    return [(entry.sequence, entry.charge["epsilon"], entry.charge["delta"]) for entry in built]


def test_an_absolute_error_of_a_count_needs_no_size(world):
    answer = world().sql(COUNT, within=("abs", 100))
    (bars,) = answer.intervals
    assert answer.receipt.payments == ()
    assert 98 < (bars["n"].upper - bars["n"].lower) / 2 <= 100
    assert bars["n"].note is None


def test_a_stated_size_needs_no_estimate(world):
    answer = world().sql(COUNT, within=(0.01, 20000))
    (bars,) = answer.intervals
    assert answer.receipt.payments == ()
    assert 195 < (bars["n"].upper - bars["n"].lower) / 2 <= 200


def test_a_wider_error_and_a_larger_size_are_cheaper(world):
    db = world()
    prices = [db.quote(COUNT, within=w).charge.epsilon for w in [(0.01, 1000), (0.02, 1000), (0.02, 4000)]]
    assert prices == sorted(prices, reverse=True)
    assert prices[0] == pytest.approx(2 * prices[1], rel=0.1)


def test_a_size_estimate_and_the_answer_are_two_payments(world):
    db = world()
    answer = db.sql(COUNT, within=0.01, epsilon=1)
    (first, small), (second, large) = paid(answer)
    assert (first, second) == ("size estimate", "answer")
    assert answer.receipt.charge.epsilon == small + large <= 1
    assert answer.receipt.charge.delta == sum(p.charge.delta for p in answer.receipt.payments) <= 1e-8 * ROUNDING
    assert answer.receipt.share == sum(p.share for p in answer.receipt.payments) > 0
    assert [epsilon for _, epsilon, _ in charges(db)] == [small, large]
    assert [int(p.id.rpartition("-")[2]) for p in answer.receipt.payments] == [number for number, _, _ in charges(db)]
    assert answer.receipt.id == answer.receipt.payments[1].id
    assert db.budget.queries == 2


def test_both_payments_are_in_the_json_and_in_the_caption(world):
    answer = world().sql(COUNT, within=0.01, epsilon=1)
    document = answer.to_dict()
    assert [payment["for"] for payment in document["payments"]] == ["size estimate", "answer"]
    assert set(document["payments"][0]) == {"for", "id", "epsilon", "delta", "share"}
    assert sum(payment["epsilon"] for payment in document["payments"]) == document["charge"]["epsilon"]
    assert "(size estimate " in str(answer)
    assert "% of that)" in str(answer)


def test_one_payment_is_not_listed(world):
    assert "payments" not in world().sql(COUNT, within=("abs", 100)).to_dict()


AMOUNTS = st.floats(0.002, 0.5)
EPSILONS = st.floats(0.01, 3)
QUERIES = st.sampled_from(
    [
        "SELECT COUNT(*) AS n FROM t WHERE x > {}",
        "SELECT SUM(y) AS n FROM t WHERE x > {}",
        "SELECT g, COUNT(*) AS n FROM t WHERE x > {} GROUP BY g",
        "SELECT h, SUM(x) AS n FROM t WHERE x > {} GROUP BY h",
    ]
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(QUERIES, st.integers(0, 60), AMOUNTS, EPSILONS, st.sampled_from(["gaussian", "laplace"]), st.booleans())
def test_it_never_costs_more_than_was_stated(large_world, query, least, amount, epsilon, mechanism, absolute):
    before = large_world.budget.queries
    within = ("abs", 1000 * amount) if absolute else amount
    options = {"epsilon": epsilon, "delta": 1e-7, "mechanism": mechanism, "confidence": 0.9, "reuse": False}
    try:
        answer = large_world.sql(query.format(least), within=within, **options)
    except hr.BudgetError as error:
        code, expected = error.code, [] if error.receipt is None else [error.receipt.charge.epsilon]
    else:
        code, expected = None, [epsilon_paid for _, epsilon_paid in paid(answer)] or [answer.receipt.charge.epsilon]
    built = charges(large_world)[before:]
    assert code in {None, "within-too-dear"}
    assert [epsilon_paid for _, epsilon_paid, _ in built] == expected
    assert sum(epsilon_paid for _, epsilon_paid, _ in built) <= epsilon
    assert sum(delta for _, _, delta in built) <= 1e-7 * ROUNDING


@pytest.mark.parametrize("within", [("abs", 100), (0.005, 20000)])
def test_what_is_known_to_cost_too_much_is_refused_unspent(world, refused, within):
    db = world()
    error = refused(db.sql, COUNT, code="within-too-dear", within=within, epsilon=0.01)
    assert error.receipt is None
    assert error.asked["epsilon"] > error.left["epsilon"] == 0.01
    assert db.budget.queries == 0
    assert db.sql(COUNT, within=within, epsilon=error.asked["epsilon"]).receipt.charge.epsilon > 0.01


def test_what_no_budget_reaches_is_refused_unspent(world, refused):
    db = world(budget="{epsilon: 10, delta: 1e-5}")
    refused(db.sql, "SELECT SUM(x) FROM t", code="within-too-dear", within=("abs", 1e-6))
    assert db.budget.queries == 0


def test_a_refusal_after_a_bought_estimate_carries_its_receipt(world, refused):
    db = world()
    query = "SELECT COUNT(*) FROM t WHERE id < 50"
    error = refused(db.sql, query, code="within-too-dear", within=0.01, epsilon=0.1)
    ((number, epsilon, _),) = charges(db)
    assert error.receipt.sequence == number
    assert error.receipt.charge.epsilon == epsilon <= 0.05


def test_an_estimate_that_shows_nothing_does_not_say_that_no_budget_would_do(world, refused):
    """A larger epsilon may well show these people, as the hint says."""
    options = {"within": 0.01, "epsilon": 0.1, "min_frequency": 50}
    error = refused(world().sql, "SELECT COUNT(*) FROM t WHERE id < 5", code="within-too-dear", **options)
    assert "no budget would do" not in error.message


def test_what_is_left_is_the_limit_where_none_was_stated(world, refused):
    db = world(budget="{epsilon: 0.05, delta: 1e-6}")
    left = refused(db.sql, COUNT, code="within-too-dear", within=("abs", 10)).left["epsilon"]
    assert db.quote(COUNT, epsilon=left, delta=1e-8).fits
    assert not db.quote(COUNT, epsilon=1.01 * left, delta=1e-8).fits


def test_the_owners_cap_per_query_is_the_limit(world, refused):
    capped = "{epsilon: 100, delta: 1e-4, per_query: {epsilon: 0.05, delta: 1e-6}}"
    db = world(budget=capped)
    refused(db.sql, COUNT, code="within-too-dear", within=("abs", 50))
    assert db.sql(COUNT, within=("abs", 500)).receipt.charge.epsilon <= 0.05
    assert sum(p for _, p in paid(db.sql(COUNT + " WHERE x > 31", within=0.1))) <= 0.05
    refused(db.sql, COUNT, code="looser-epsilon", kind=hr.PolicyError, within=("abs", 50), epsilon=0.1)


@pytest.mark.parametrize(
    "budget", ["{epsilon: 5, delta: 1e-6, queries: 100}", "{epsilon: 5, delta: 1e-6, schedule: open}"]
)
def test_where_the_catalog_sets_the_price_no_error_can_be_asked_for(world, refused, budget):
    db = world(budget=budget, defaults="confidence: 0.95")
    refused(db.sql, COUNT, code="price-is-set", kind=hr.PolicyError, within=0.05)
    assert db.budget.queries == 0


def test_a_forecast_takes_prices_as_given(world, refused):
    refused(world().forecast, [COUNT], code="bad-within", kind=hr.ParameterError, within=0.05)


def test_public_data_is_exact_whatever_was_asked(world):
    answer = world().sql("SELECT a FROM public_table", within=0.05)
    assert list(answer["a"]) == [7]
    assert answer.receipt.charge.epsilon == 0


def test_laplace_noise_is_bought_where_there_is_room_for_it(world):
    db = world(budget="{epsilon: 10, delta: 1e-5, pure_epsilon: 5}")
    auto = db.quote(COUNT, within=("abs", 50))
    assert [m.kind for m in auto.mechanisms] == ["laplace"]
    gaussian = db.quote(COUNT, within=("abs", 50), mechanism="gaussian")
    assert [m.kind for m in gaussian.mechanisms] == ["gaussian"]
    assert auto.charge.epsilon < gaussian.charge.epsilon
    assert [m.kind for m in db.sql(COUNT, within=0.01, mechanism="laplace").receipt.mechanisms] == ["laplace"]
