"""Caps for analysts, for one statement, for a period and for a lifetime, through the whole engine."""

from datetime import UTC, datetime, timedelta

import pytest

import hedgerow as hr

COUNT = "SELECT COUNT(*) FROM people"


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now

    def advance(self, days):
        self.now += timedelta(days=days)


@pytest.fixture
def clock():
    return Clock()


def ask_until_refused(db):
    """Return the number of answers, and the code of the refusal."""
    for number in range(200):
        try:
            db.sql(COUNT, reuse=False, epsilon=0.4)
        except hr.BudgetError as error:
            return number, error.code
    return 200, None


def test_each_analyst_is_held_by_a_cap_of_their_own(town):
    town.write(budget="{epsilon: 3, delta: 1e-6, analysts: {default: {epsilon: 0.5}, alice: {epsilon: 1.0}}}")
    counts = {name: ask_until_refused(town.connect(analyst=name)) for name in ("alice", "bob", None)}
    assert {code for _, code in counts.values()} == {"budget-analyst"}
    assert counts["alice"][0] > counts["bob"][0] == counts[None][0] > 0
    view = town.look().budget()
    assert {name: analyst.limit.epsilon for name, analyst in view.analysts.items()} == {
        "alice": 1.0,
        "bob": 0.5,
        "default": 0.5,
    }
    assert view.spent.epsilon < 3.0


def test_the_caps_of_all_analysts_together_do_not_widen_the_total(town):
    town.write(budget="{epsilon: 1, delta: 1e-6, analysts: {default: {epsilon: 0.9}}}")
    runs = [ask_until_refused(town.connect(analyst=name)) for name in ("alice", "bob", "carol")]
    assert [code for _, code in runs] == ["budget-analyst", "budget-gaussian", "budget-gaussian"]
    alone, _ = runs[0]
    assert sum(number for number, _ in runs) < 2 * alone


def test_an_analyst_whose_cap_is_spent_still_sees_what_others_paid_for(town):
    town.write(budget="{epsilon: 3, delta: 1e-6, analysts: {default: {epsilon: 2.0}, bob: {epsilon: 0.01}}}")
    paid = town.connect(analyst="alice").sql(COUNT)
    bob = town.connect(analyst="bob")
    with pytest.raises(hr.BudgetError, match="analyst"):
        bob.sql(COUNT, reuse=False)
    seen = bob.sql(COUNT)
    assert (list(seen), seen.receipt.reused) == (list(paid), True)


def test_one_statement_may_not_state_more_than_the_owner_allows(town):
    db = town.connect(budget="{epsilon: 3, delta: 1e-6, per_query: {epsilon: 0.3}}")
    with pytest.raises((hr.BudgetError, hr.PolicyError)):
        db.sql(COUNT, epsilon=0.31)
    assert db.budget.queries == 0
    db.sql(COUNT, epsilon=0.3)
    assert db.budget.queries == 1


def test_a_period_refreshes_the_budget_until_the_lifetime_is_spent(town, clock):
    db = town.connect(budget="{epsilon: 1, delta: 1e-6, refresh: 30d, lifetime: {epsilon: 2}}", clock=clock)
    first, code = ask_until_refused(db)
    assert code == "budget-gaussian"
    assert first > 0
    clock.advance(29)
    assert ask_until_refused(db) == (0, "budget-gaussian")
    clock.advance(1)
    periods = [first]
    while (count_and_code := ask_until_refused(db))[1] == "budget-gaussian":
        periods.append(count_and_code[0])
        clock.advance(30)
    assert count_and_code[1] == "budget-lifetime"
    assert set(periods) == {first}
    assert len(periods) > 1
    clock.advance(365)
    assert ask_until_refused(db) == (0, "budget-lifetime")


def test_setting_the_clock_back_reopens_no_period(town, clock):
    db = town.connect(budget="{epsilon: 1, delta: 1e-6, refresh: 30d}", clock=clock)
    ask_until_refused(db)
    clock.advance(30)
    fresh, _ = ask_until_refused(db)
    assert fresh > 0
    clock.advance(-30)
    assert ask_until_refused(db) == (0, "budget-gaussian")
