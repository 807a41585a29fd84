"""The gateway that every interface of the service asks through."""

import asyncio
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.internals import session_of

from hedgerow.cancellation import active_cancellation
from hedgerow.errors import BackendError, BudgetError, InternalError, LedgerError, ParseError, UnknownNameError
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.caps import write_cap
from hedgerow.service.errors import AccessError, BusyError, http_status, sqlstate
from hedgerow.service.gateway import Gateway
from hedgerow.service.statement_queue import ServiceLimits
from hedgerow.session.database import Database

STATEMENTS = ["CREATE TABLE people AS SELECT i AS id, i % 7 AS x FROM range(900) r(i)"]
TABLES = "people: {unit: id, unit_unique: true, columns: {x: {lower: 0, upper: 7}}}"
BUDGET = "{epsilon: 10, delta: 1e-6, analysts: {ada: {epsilon: 1}}}"
COUNT = "SELECT COUNT(*) AS n FROM people"
ADA, EVE = Identity("ada"), Identity("eve", datasets=frozenset({"other"}))


@pytest.fixture
def db(build):
    return build(STATEMENTS, TABLES, budget=BUDGET, min_frequency=5, defaults="epsilon: 0.3, delta: 1e-8")


def served(db, work, **limits):
    """The result of `work`, given a gateway, and the events that the gateway reported."""
    events = []

    async def run():
        gateway = Gateway({"people": db}, None, ServiceLimits(**limits), observe=events.append)
        try:
            return await work(gateway)
        finally:
            await gateway.admission.drain(5)

    return asyncio.run(run()), events


def test_a_question_is_answered_in_the_name_of_its_analyst_and_repeats_are_free_for_others(db):
    async def work(gateway):
        first = await gateway.submit(ADA, "people", COUNT, interface="http").answer()
        other = await gateway.submit(Identity("bob"), "people", COUNT, interface="wire", dialect="postgres").answer()
        return first, other

    (first, other), events = served(db, work)
    assert list(first) == list(other)
    assert not first.receipt.reused
    assert other.receipt.reused
    assert [entry.analyst for entry in db.budget.history if entry.status == "answered"] == ["ada"]
    assert [(event.interface, event.analyst, event.outcome, event.reused) for event in events] == [
        ("http", "ada", "ok", False),
        ("wire", "bob", "ok", True),
    ]
    assert events[0].epsilon == pytest.approx(0.3)
    assert events[1].epsilon == 0


def test_a_cap_ends_what_one_analyst_can_spend_and_nobody_elses(db):
    async def work(gateway):
        with pytest.raises(BudgetError):
            await gateway.submit(ADA, "people", COUNT, interface="http", epsilon=1.5).answer()
        return await gateway.submit(Identity("bob"), "people", COUNT, interface="http", epsilon=1.5).answer()

    answer, events = served(db, work)
    assert answer.receipt.charge.epsilon == pytest.approx(1.5)
    assert events[0].outcome == "budget-analyst"


def test_an_unknown_dataset_and_a_forbidden_one_are_refused_in_the_same_words(db):
    async def work(gateway):
        errors = []
        for dataset in ("people", "nothing"):
            with pytest.raises(AccessError) as caught:
                gateway.submit(EVE, dataset, COUNT, interface="http")
            errors.append(str(caught.value).replace(dataset, "X"))
        return errors

    errors, _ = served(db, work)
    assert errors[0] == errors[1]


def test_an_auditor_reads_all_and_asks_nothing_and_an_analyst_reads_their_own(db):
    auditor = Identity("audit", Role.AUDITOR)

    async def work(gateway):
        await gateway.submit(ADA, "people", COUNT, interface="http").answer()
        await gateway.submit(Identity("bob"), "people", f"{COUNT} WHERE x > 1", interface="http").answer()
        with pytest.raises(AccessError, match="asks nothing"):
            gateway.submit(auditor, "people", COUNT, interface="http")
        every, own = [await gateway.history(who, "people", interface="http") for who in (auditor, ADA)]
        return every, own, await gateway.budget(ADA, "people", interface="http")

    (every, own, budget), _ = served(db, work)
    assert {entry.analyst for entry in every if entry.status == "answered"} == {"ada", "bob"}
    assert {entry.analyst for entry in own} == {"ada"}
    assert budget.limit.epsilon == pytest.approx(1)


class Slow:
    """A database whose statements run until they are released or cancelled."""

    owners_log = None
    _session = SimpleNamespace(ledger=None, catalog=SimpleNamespace(path=None))

    def __init__(self):
        self.going, self.begun, self.arrived = threading.Event(), [], threading.Semaphore(0)

    def as_analyst(self, _name, **_options):
        return self

    def sql(self, query, **_options):
        with active_cancellation().calling(self.going.set):
            self.begun.append(query)
            self.arrived.release()
            self.going.wait(30)
        active_cancellation().check()
        return query


async def begun(slow, number):
    """Wait until so many statements have begun."""
    await asyncio.to_thread(lambda: [slow.arrived.acquire(timeout=30) for _ in range(number)])


def test_statements_beyond_workers_and_queue_are_refused_and_one_analyst_leaves_room_for_others():
    slow = Slow()

    async def work(gateway):
        own = [gateway.submit(ADA, "people", f"ada {i}", interface="http") for i in range(3)]
        await begun(slow, 1)
        other = gateway.submit(Identity("bob"), "people", "bob", interface="http")
        await begun(slow, 1)
        assert set(slow.begun) == {"ada 0", "bob"}
        with pytest.raises(BusyError, match="You have too many"):
            await gateway.submit(ADA, "people", "more than half of the queue", interface="http").answer()
        waiting = [gateway.submit(Identity("bob"), "people", f"bob {i}", interface="http") for i in range(2)]
        with pytest.raises(BusyError, match="Too many statements are waiting"):
            await gateway.submit(Identity("cy"), "people", "too much", interface="http").answer()
        slow.going.set()
        return [await statement.answer() for statement in (*own, other, *waiting)]

    answers, events = served(slow, work, workers=2, queue=4, per_analyst=1)
    assert answers == ["ada 0", "ada 1", "ada 2", "bob", "bob 0", "bob 1"]
    assert sorted(event.outcome for event in events) == ["ok"] * 6 + ["too-busy"] * 2


def test_a_cap_that_is_written_into_the_catalog_holds_from_the_next_statement_on(db, tmp_path):
    catalog = tmp_path / "people.yaml"
    catalog.write_text(f"dataset: people\nbudget: {BUDGET}\ntables: {{{TABLES}}}\n")
    session = replace(session_of(db), catalog=replace(session_of(db).catalog, path=catalog))
    dashboard = Identity("dashboard")

    async def ask(gateway, epsilon):
        return await gateway.submit(dashboard, "people", COUNT, interface="http", epsilon=epsilon).answer()

    async def work(gateway):
        assert not await gateway.is_capped(dashboard, "people")
        await ask(gateway, 0.1)
        write_cap(catalog, "dashboard", 0.15)
        assert await gateway.is_capped(dashboard, "people")
        with pytest.raises(BudgetError) as refused:
            await ask(gateway, 0.2)
        assert refused.value.code == "budget-analyst"
        write_cap(catalog, "dashboard", 0.01)  # less than it has spent
        with pytest.raises(BudgetError) as refused:
            await ask(gateway, 0.2)
        assert refused.value.code == "budget-analyst"
        catalog.write_text("no catalog")
        with pytest.raises(BudgetError):
            await ask(gateway, 0.2)

    served(Database(session, owns_ledger=False, view=True), work)


def test_cancelling_stops_one_statement_and_no_other():
    slow, other = Slow(), Slow()

    async def work(gateway):
        await gateway.replace({"people": slow, "more": other})
        stopped = gateway.submit(ADA, "people", "stopped", interface="wire")
        kept = gateway.submit(ADA, "more", "kept", interface="wire")
        await begun(slow, 1)
        await begun(other, 1)
        stopped.cancel()
        with pytest.raises(BackendError, match="cancelled"):
            await stopped.answer()
        other.going.set()
        return await kept.answer()

    slow.close = other.close = lambda: None
    assert served(slow, work)[0] == "kept"


def until_charged(db):
    while not db.budget.queries:
        time.sleep(0.01)


def test_a_charge_without_an_answer_is_reported(build):
    """A view with rows for hours: the statement is charged, and stopped."""
    endless = "CREATE VIEW people AS SELECT i AS id, i % 7 AS x FROM range(1000000000000) r(i)"
    db = build(endless, TABLES.replace("unit_unique: true", "max_rows: 1"))

    async def work(gateway):
        statement = gateway.submit(ADA, "people", COUNT, interface="http")
        await asyncio.to_thread(until_charged, db)
        statement.cancel()
        with pytest.raises(BackendError) as stopped:
            await statement.answer()
        return stopped.value

    error, (event,) = served(db, work)
    assert error.receipt is not None
    assert (event.outcome, event.epsilon, event.reused) == ("cancelled", error.receipt.charge.epsilon, False)
    assert event.epsilon > 0


def test_a_statement_that_takes_too_long_is_stopped_and_says_so():
    slow = Slow()

    async def work(gateway):
        with pytest.raises(BackendError) as caught:
            await gateway.submit(ADA, "people", "long", interface="http", timeout=0.05).answer()
        return caught.value

    error, events = served(slow, work)
    assert error.code == "statement-timeout"
    assert (http_status(error), sqlstate(error)) == (504, "57014")
    assert events[0].outcome == "statement-timeout"


def test_draining_ends_what_runs_and_takes_nothing_new():
    slow = Slow()

    async def work(gateway):
        running = gateway.submit(ADA, "people", "running", interface="http")
        await begun(slow, 1)
        await gateway.admission.drain(0.01)
        with pytest.raises(BackendError, match="cancelled"):
            await running.answer()
        with pytest.raises(BackendError) as caught:
            await gateway.submit(ADA, "people", "late", interface="http").answer()
        return caught.value.code

    assert served(slow, work)[0] == "shutting-down"


def test_an_analyst_who_sends_too_many_statements_in_a_minute_is_refused(db):
    async def work(gateway):
        for _ in range(2):
            await gateway.quote(ADA, "people", COUNT, interface="http")
        with pytest.raises(BusyError) as caught:
            await gateway.quote(ADA, "people", COUNT, interface="http")
        await gateway.quote(Identity("bob"), "people", COUNT, interface="http")
        return caught.value

    error, _ = served(db, work, requests_per_minute=2)
    assert error.code == "too-many-requests"
    assert (http_status(error), sqlstate(error)) == (429, "53300")


def test_a_failure_that_is_not_ours_shows_nothing_of_its_message():
    slow = Slow()

    def fail(query, **options):
        raise ValueError("private value 4711")

    slow.sql = fail

    async def work(gateway):
        with pytest.raises(InternalError) as caught:
            await gateway.submit(ADA, "people", "x", interface="http").answer()
        return caught.value

    error, events = served(slow, work)
    assert "4711" not in str(error)
    assert error.__cause__ is None
    assert events[0].outcome == "internal"


@pytest.mark.parametrize(
    ("error", "status", "state"),
    [
        (ParseError("x"), 422, "42601"),
        (UnknownNameError("x", code="unknown-table"), 422, "42P01"),
        (UnknownNameError("x", code="unknown-column"), 422, "42703"),
        (BudgetError("x"), 402, "53400"),
        (LedgerError("x"), 503, "58000"),
        (BackendError("x", code="cancelled"), 409, "57014"),
        (InternalError("x"), 500, "XX000"),
    ],
)
def test_every_error_has_a_status_of_http_and_of_postgres(error, status, state):
    assert (http_status(error), sqlstate(error)) == (status, state)
