"""Charging: what fits is written, what does not is refused and costs nothing."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.accounting import ApproximateEvent, BoundedRangeEvent, ThresholdEvent, gaussian_epsilon
from hedgerow.accounting.budget import Charge, Spending
from hedgerow.catalog.model import Cap
from hedgerow.errors import BudgetError, InternalError, ParameterError
from hedgerow.ledger import Units

QUESTION = {"text": "SELECT COUNT(*) FROM customers", "fingerprint": "f00", "version": "2026-01", "noise": [12.5]}


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def days(count):
    return timedelta(days=count)


def refusal(ledger, charge, **more):
    before = ledger.verify()
    with pytest.raises(BudgetError) as refused:
        ledger.charge(charge, question=QUESTION, **more)
    assert ledger.verify() == before
    return refused.value


def test_a_new_ledger_has_spent_nothing(book):
    view = book(pure_epsilon=1.0).budget()
    assert view.to_dict() == {
        "dataset": "shop",
        "limit": {"epsilon": 3.0, "delta": 1e-6},
        "spent": {"epsilon": 0.0, "delta": 0.0},
        "remaining": {"epsilon": 3.0, "delta": 1e-6},
        "used": {"gaussian": 0.0, "pure": 0.0, "mass": 0.0},
        "queries": 0,
        "analysts": {},
    }


def test_a_charge_is_on_the_receipt_and_in_the_budget(book, gaussian):
    ledger = book()
    receipt = ledger.charge(gaussian(0.5, mass=Fraction(1, 10**9)), analyst="ada", question=QUESTION)
    view = ledger.budget()
    caps = ledger.caps
    spent = gaussian_epsilon(float(receipt.charge.cost.gaussian) ** 0.5, 9e-7)
    assert receipt.sequence == 1
    assert receipt.id == f"{ledger.id}-1"
    assert receipt.share == pytest.approx(max(float(receipt.charge.cost.gaussian / caps.gaussian), 0.01))
    assert receipt.remaining == view.remaining
    assert view.spent == Spending(pytest.approx(spent, rel=1e-9), pytest.approx(9.01e-7, rel=1e-9))
    assert view.remaining.epsilon == pytest.approx(3.0 - spent)
    assert view.spent.epsilon < 0.5
    assert view.queries == 1
    assert view.analysts["ada"].queries == 1
    assert view.analysts["ada"].limit is None


def test_the_largest_epsilon_that_is_named_fits_and_one_percent_more_does_not(book, gaussian):
    ledger = book(epsilon=1.0)
    ledger.charge(gaussian(0.9), question=QUESTION)
    refused = refusal(ledger, gaussian(0.9))
    assert refused.code == "budget-gaussian"
    assert refused.asked["epsilon"] == 0.9
    largest = refused.left["epsilon"]
    assert f"{largest:g}" in str(refused)
    assert refusal(ledger, gaussian(largest * 1.01)).code == "budget-gaussian"
    ledger.charge(gaussian(largest), question=QUESTION)


def test_full_caps_show_the_limit_as_spent(book, laplace):
    ledger = book(pure_epsilon=1.0)
    rest = ledger.caps
    ledger.charge(laplace(1), question=QUESTION)
    filler = Charge((ApproximateEvent(Fraction(0), rest.mass),), 0.0, 1e-7)
    ledger.charge(filler, question=QUESTION)
    cap = ledger.remaining_cost().gaussian
    low, high = Fraction(0), Fraction(10)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if BoundedRangeEvent(middle).cost.gaussian <= cap else (low, middle)
    ledger.charge(Charge((BoundedRangeEvent(low),), 2.0, 1e-7), question=QUESTION)
    view = ledger.budget()
    assert view.spent.epsilon == pytest.approx(3.0, rel=1e-5)
    assert view.spent.delta == pytest.approx(1e-6, rel=1e-9)
    assert view.used == {"gaussian": pytest.approx(1), "pure": pytest.approx(1, rel=1e-5), "mass": 1.0}


def test_laplace_noise_is_refused_without_a_part_of_epsilon_for_it(book, laplace):
    refused = refusal(book(), laplace(Fraction(1, 10)))
    assert refused.code == "budget-pure"
    assert "pure_epsilon is 0" in str(refused)
    assert "Gaussian" in str(refused)


def test_laplace_noise_may_use_its_part_to_the_last_bit(book, laplace):
    ledger = book(pure_epsilon=1.0)
    assert ledger.remaining_cost().pure == 1
    ledger.charge(laplace(Fraction(1, 4)), question=QUESTION)
    refused = refusal(ledger, laplace(Fraction(4, 5)))
    assert (refused.code, refused.left["epsilon"]) == ("budget-pure", 0.7499)
    ledger.charge(laplace(Fraction(3, 4)), question=QUESTION)
    assert ledger.remaining_cost().pure == 0


def test_a_tiny_laplace_statement_cannot_use_up_what_gaussian_noise_owes(book, laplace, gaussian):
    ledger = book()
    assert refusal(ledger, laplace(Fraction(1, 2 * 10**6))).code == "budget-pure"
    ledger.charge(gaussian(0.1), question=QUESTION)


def test_all_of_epsilon_can_go_into_one_good_answer(book, laplace, gaussian):
    ledger = book(pure_epsilon=3.0)
    ledger.charge(laplace(3), question=QUESTION)
    assert refusal(ledger, laplace(Fraction(1, 1000))).code == "budget-pure"
    assert refusal(ledger, gaussian(0.1)).code == "budget-gaussian"
    assert ledger.budget().remaining.epsilon == 0.0


def test_thresholds_that_take_too_much_mass_are_refused(book, gaussian):
    refused = refusal(book(), gaussian(0.1, mass=Fraction(11, 10**8)))
    assert refused.code == "budget-mass"
    assert refused.left["mass"] == pytest.approx(1e-7)


@pytest.mark.parametrize(("pure", "lifetime"), [(0.0, None), (0.0, Cap(4.0)), (1.5, None), (3.0, None)])
def test_mass_is_never_what_runs_out_first(book, gaussian, laplace, clock, pure, lifetime):
    ledger = book(pure_epsilon=pure, refresh=days(30), lifetime=lifetime, clock=clock)
    kinds = [gaussian(0.5, 1e-6)] * (pure < 3) + [laplace(Fraction(1, 4))] * (pure > 0)
    codes = []
    for _ in range(3):
        for kind in kinds:
            share = ThresholdEvent(ledger.fair_mass(kind.cost))
            charge = Charge((*kind.events, share), kind.epsilon, kind.delta)
            while len(codes) < 300:
                try:
                    ledger.charge(charge, question=QUESTION)
                except BudgetError as refused:
                    codes.append(refused.left)
                    break
        clock.now += days(30)
    assert len(codes) == 3 * len(kinds)
    assert all(left["mass"] > 0 for left in codes)


def test_an_analyst_without_a_name_is_the_default_one(book, gaussian):
    ledger = book(analysts={"default": Cap(0.5), "alice": Cap(1.0)})
    ledger.charge(gaussian(0.4, 1e-6), question=QUESTION)
    assert refusal(ledger, gaussian(0.4, 1e-6)).code == "budget-analyst"
    assert refusal(ledger, gaussian(0.4, 1e-6), analyst="default").code == "budget-analyst"
    ledger.charge(gaussian(0.4, 1e-6), analyst="bob", question=QUESTION)
    assert refusal(ledger, gaussian(0.4, 1e-6), analyst="bob").code == "budget-analyst"
    ledger.charge(gaussian(0.8, 1e-6), analyst="alice", question=QUESTION)
    limits = {name: view.limit.epsilon for name, view in ledger.budget().analysts.items()}
    assert limits == {"default": 0.5, "bob": 0.5, "alice": 1.0}


def test_an_analyst_with_room_is_still_bound_by_the_total(book, gaussian):
    ledger = book(epsilon=1.0, analysts={"alice": Cap(1.0), "bob": Cap(1.0)})
    ledger.charge(gaussian(0.9), analyst="alice", question=QUESTION)
    assert refusal(ledger, gaussian(0.9), analyst="bob").code == "budget-gaussian"


def test_an_analyst_sees_their_own_cap_and_their_own_history(book, gaussian):
    ledger = book(analysts={"alice": Cap(1.0)})
    ledger.charge(gaussian(0.5), analyst="alice", question=QUESTION)
    receipt = ledger.charge(gaussian(0.5), analyst="bob", question=QUESTION)
    assert receipt.remaining == ledger.budget("bob").remaining == ledger.budget().remaining
    mine = ledger.budget("alice")
    assert (mine.limit.epsilon, mine.queries, mine.analysts) == (1.0, 1, {})
    assert [entry.analyst for entry in mine.history] == ["alice"]


def test_an_analysts_part_of_the_laplace_noise_is_in_proportion(book, laplace):
    ledger = book(pure_epsilon=1.5, analysts={"alice": Cap(1.0)})
    assert ledger.remaining_cost("alice").pure == Fraction(1, 2)
    assert refusal(ledger, laplace(Fraction(51, 100)), analyst="alice").code == "budget-analyst"
    ledger.charge(laplace(Fraction(1, 2)), analyst="alice", question=QUESTION)


def test_one_statement_may_not_state_more_than_the_owner_allows(book, gaussian):
    ledger = book(per_query=Cap(0.5))
    ledger.charge(gaussian(0.5), question=QUESTION)
    assert refusal(ledger, gaussian(0.51)).code == "budget-per-query"
    strict = book(per_query=Cap(0.5, 1e-9))
    assert refusal(strict, gaussian(0.1, 1e-8)).code == "budget-per-query"


def test_a_fixed_number_of_queries_closes_the_dataset(book):
    ledger = book(queries=4)
    share = ledger.caps.gaussian / 4

    def basic(parts):
        low, high = Fraction(0), Fraction(10)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if BoundedRangeEvent(middle).cost.gaussian <= parts * share else (low, middle)
        return Charge((BoundedRangeEvent(low),), 1.0, 1e-8)

    assert refusal(ledger, basic(Fraction(101, 100))).code == "budget-queries"
    ledger.charge(basic(1), question=QUESTION)
    assert refusal(ledger, basic(1), queries=4).left == {"queries": 3}
    ledger.charge(basic(3), question=QUESTION, queries=3)
    closed = refusal(ledger, basic(Fraction(1, 1000)))
    assert closed.code == "budget-queries"
    assert "closed" in str(closed)


def test_an_open_schedule_always_has_a_next_query(book):
    ledger = book(schedule="open")
    first = ledger.remaining_cost().gaussian
    assert float(first / ledger.caps.gaussian) == pytest.approx(1 / 10.58445, rel=1e-5)
    too_much = Charge((BoundedRangeEvent(Fraction(3)),), 2.0, 1e-8)
    assert refusal(ledger, too_much).code == "budget-schedule"
    allowances = []
    for _ in range(30):
        allowances.append(ledger.remaining_cost().gaussian)
        half = Fraction(int(float(allowances[-1]) ** 0.5 * 1.5957 * 10**6), 10**6)
        ledger.charge(Charge((BoundedRangeEvent(half),), 1.0, 1e-8), question=QUESTION)
    assert min(allowances) > 0
    assert allowances[-1] < allowances[0]


def test_what_a_query_of_a_schedule_leaves_is_there_for_the_next(book, gaussian):
    frugal = book(schedule="open")
    frugal.charge(gaussian(0.001), question=QUESTION)
    left = frugal.remaining_cost().gaussian
    assert float(left / frugal.caps.gaussian) > (1 + 2**-1.1) / 10.58445 * 0.999


def test_a_new_period_refreshes_the_budget(book, gaussian, clock):
    ledger = book(epsilon=1.0, refresh=days(30), clock=clock)
    ledger.charge(gaussian(0.9), question=QUESTION)
    clock.now += days(29)
    assert refusal(ledger, gaussian(0.9)).code == "budget-gaussian"
    clock.now += days(1)
    ledger.charge(gaussian(0.9), question=QUESTION)
    assert ledger.budget().queries == 2


def test_a_clock_set_back_reopens_nothing(book, gaussian, clock):
    ledger = book(epsilon=1.0, refresh=days(30), clock=clock)
    ledger.charge(gaussian(0.5, 1e-6), question=QUESTION)
    clock.now += days(30)
    ledger.charge(gaussian(0.9, 1e-6), question=QUESTION)
    clock.now -= days(30)
    assert refusal(ledger, gaussian(0.5, 1e-6)).code == "budget-gaussian"
    clock.now -= days(3000)
    assert refusal(ledger, gaussian(0.5, 1e-6)).code == "budget-gaussian"
    clock.now += days(3000) + days(31)
    assert refusal(ledger, gaussian(0.5, 1e-6)).code == "budget-gaussian"


def test_a_lifetime_cap_holds_over_all_periods(book, gaussian, clock):
    ledger = book(epsilon=1.0, refresh=days(30), lifetime=Cap(1.5), clock=clock)
    ledger.charge(gaussian(0.9, 1e-6), question=QUESTION)
    clock.now += days(30)
    ledger.charge(gaussian(0.9, 1e-6), question=QUESTION)
    clock.now += days(30)
    assert refusal(ledger, gaussian(0.9, 1e-6)).code == "budget-lifetime"


def test_an_analysts_cap_refreshes_with_the_total(book, gaussian, clock):
    ledger = book(epsilon=3.0, refresh=days(7), analysts={"alice": Cap(0.5)}, clock=clock)
    ledger.charge(gaussian(0.4, 1e-6), analyst="alice", question=QUESTION)
    assert refusal(ledger, gaussian(0.4, 1e-6), analyst="alice").code == "budget-analyst"
    clock.now += days(7)
    ledger.charge(gaussian(0.4, 1e-6), analyst="alice", question=QUESTION)


def test_a_catalog_that_no_longer_refreshes_counts_everything(book, gaussian, clock):
    ledger = book(epsilon=1.0, refresh=days(30), clock=clock)
    ledger.charge(gaussian(0.9), question=QUESTION)
    clock.now += days(30)
    assert refusal(book(epsilon=1.0, clock=clock), gaussian(0.9)).code == "budget-gaussian"


def test_a_charge_without_an_answer_is_shown_as_such(book, gaussian):
    ledger = book()
    answered, failed, _ = (ledger.charge(gaussian(0.1), analyst="ada", question=QUESTION) for _ in range(3))
    ledger.finish(answered, b"release")
    ledger.finish(failed, None)
    shown = ledger.budget().history
    assert [entry.status for entry in shown] == ["opened", "answered", "failed", "charged"]
    assert shown[1].question == QUESTION["text"]
    assert shown[1].analyst == "ada"
    assert shown[1].charge["epsilon"] == 0.1
    assert ledger.budget().queries == 3


def test_a_stored_release_is_found_again_byte_for_byte(book, gaussian):
    ledger = book()
    for payload in (b"\x00first", b"second"):
        ledger.finish(ledger.charge(gaussian(0.1), question=QUESTION), payload)
    ledger.finish(ledger.charge(gaussian(0.1), question={"text": "no fingerprint"}), b"third")
    ledger.close()
    again = book()
    actual = again.find("f00", version="2026-01")
    assert [release.payload for release in actual] == [b"second", b"\x00first"]
    assert (actual[0].noise, actual[0].charge) == ("[12.5]", 3)
    assert again.find("f00") == again.find("f00", version="2026-02") == again.find("") == []


def test_a_charge_is_finished_once(book, gaussian):
    ledger = book()
    receipt = ledger.charge(gaussian(0.1), question=QUESTION)
    ledger.finish(receipt, b"release")
    for release in (b"another", None):
        with pytest.raises(InternalError):
            ledger.finish(receipt, release)
    ledger.verify()


def test_a_receipt_of_another_ledger_finishes_nothing(book, store, gaussian):
    ledger, other = book(), book(at=store.elsewhere())
    receipt = other.charge(gaussian(0.1), question=QUESTION)
    ledger.charge(gaussian(0.1), question=QUESTION)
    with pytest.raises(InternalError):
        ledger.finish(receipt, b"release")
    assert ledger.history()[1].status == "charged"


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "\udc80", 7])
def test_an_analyst_needs_a_name_that_can_be_shown(book, gaussian, name):
    ledger = book()
    with pytest.raises(ParameterError):
        ledger.charge(gaussian(0.1), analyst=name, question=QUESTION)
    assert ledger.budget().queries == 0


@pytest.mark.parametrize("question", [{"text": float("nan")}, {"text": object()}])
def test_a_question_that_cannot_be_written_down_is_not_charged(book, gaussian, question):
    ledger = book()
    with pytest.raises(InternalError):
        ledger.charge(gaussian(0.1), question=question)
    assert ledger.budget().queries == 0


@pytest.mark.parametrize("text", ["SELECT 'zażółć ☃'", "\udc80", "\x00"])
def test_any_text_can_be_a_question(book, gaussian, text):
    ledger = book()
    ledger.charge(gaussian(0.1), question={"text": text})
    assert ledger.history()[1].question == text
    ledger.verify()


@pytest.mark.parametrize("number", [0, -1, 1.5, True])
def test_a_query_counts_as_at_least_one(book, gaussian, number):
    with pytest.raises(ParameterError):
        book(queries=5).charge(gaussian(0.1), question=QUESTION, queries=number)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b"]), st.fractions(0, Fraction(1, 2)), st.fractions(0, 1)), max_size=25)
)
def test_no_sequence_of_charges_overspends(store, book, charges):
    ledger = book(at=store.elsewhere(), pure_epsilon=1.0, analysts={"a": Cap(1.0)})
    total, caps = Units(), ledger.caps
    for analyst, pure, ranged in charges:
        charge = Charge((ApproximateEvent(pure, pure / 10**7), BoundedRangeEvent(ranged)), 1.0, 1e-8)
        try:
            ledger.charge(charge, analyst=analyst, question={})
        except BudgetError:
            continue
        total += Units.of(charge)
    assert total.pure <= caps.pure * 2**80
    assert total.gaussian <= caps.gaussian * 2**80
    assert total.mass <= caps.mass * 2**80
    assert ledger.verify().charges == ledger.budget().queries
    assert ledger.budget().used["pure"] == float(Fraction(total.pure, 2**80) / caps.pure)
