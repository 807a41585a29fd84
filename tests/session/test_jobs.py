"""Statements in the background, each cancelled by itself, from threads and from asyncio."""

import asyncio
import threading
from concurrent.futures import wait

import duckdb
import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.backends.results import stop_after
from hedgerow.cancellation import Cancellation, active_cancellation
from hedgerow.session import job as job_module
from hedgerow.session.job import wait_for

CATALOG = """
dataset: d
budget: {epsilon: 10, delta: 1e-6}
defaults: {delta: 1e-8, min_frequency: 1}
tables:
  t: {unit: u, unit_unique: true, columns: {x: {lower: 0, upper: 1}}}
"""
QUICK = "SELECT COUNT(*) AS n FROM t"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "c.yaml").write_text(CATALOG)
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT i AS u, i * 1e-3 AS x FROM range(900) r(i)")
    return tmp_path


@pytest.fixture
def db(folder):
    with hr.connect(folder / "t.duckdb", catalog=folder / "c.yaml") as db:
        yield db


class Gate:
    """Holds the first statement that was charged until it may go on."""

    def __init__(self):
        self.reached, self.opened = threading.Event(), threading.Event()


@pytest.fixture
def gate(db, monkeypatch):
    """Statements of `db` stop at this gate, each right after its charge is durable."""
    gate, charge = Gate(), session_of(db).ledger.charge

    def held(*words, **options):
        receipt = charge(*words, **options)
        if not gate.reached.is_set():
            gate.reached.set()
            gate.opened.wait()
        return receipt

    monkeypatch.setattr(session_of(db).ledger, "charge", held)
    yield gate
    gate.opened.set()


def test_a_job_gives_the_answer_and_its_error(db):
    job = db.submit(QUICK, epsilon=1)
    assert job.result().columns == ["n"]
    assert job.done()
    assert repr(job) == "<hedgerow.Job: done>"
    with pytest.raises(hr.QueryError):
        db.submit("SELECT * FROM t").result()


def test_parameters_and_options_are_passed_on(db):
    job = db.submit("SELECT COUNT(*) AS n FROM t WHERE x < :x", params={"x": 0.5}, epsilon=1, confidence=0.9)
    assert job.result().confidence == 0.9
    assert db.budget.history[-1].params == {"x": 0.5}


def test_one_statement_is_cancelled_and_the_others_go_on(db, gate):
    job = db.submit(QUICK, epsilon=1)
    gate.reached.wait()
    with pytest.raises(TimeoutError):
        job.result(timeout=0)
    other = db.submit("SELECT SUM(x) AS s FROM t", epsilon=1)
    job.cancel()
    assert repr(job) == "<hedgerow.Job: cancelled, still stopping>"
    gate.opened.set()
    assert other.result()["s"]
    with pytest.raises(hr.BackendError) as caught:
        job.result()
    error = caught.value
    assert error.code == "cancelled"
    assert error.receipt is not None
    assert error.repeatable
    assert "had been charged" in str(error)
    assert db.budget.queries == 2


def test_a_question_that_was_cancelled_after_its_charge_is_covered_by_it(db, gate):
    job = db.submit(QUICK, epsilon=1)
    gate.reached.wait()
    job.cancel()
    gate.opened.set()
    wait([job.future])
    assert db.sql(QUICK, epsilon=1)["n"]
    assert db.budget.queries == 1


def test_what_runs_in_the_engine_is_stopped_when_its_statement_is_cancelled():
    cancellation, stopped = Cancellation(), threading.Event()

    def run():
        with cancellation.active(), stop_after(3600, stopped.set):
            cancellation.request()
            stopped.wait()
            raise RuntimeError("interrupted; the engine's own words")

    with pytest.raises(hr.BackendError) as caught:
        run()
    assert caught.value.code == "cancelled"
    assert "engine's own words" not in str(caught.value)


def test_an_engine_that_is_stopped_too_early_is_stopped_again():
    cancellation, stops = Cancellation(), []
    again = threading.Event()

    def stop():
        stops.append(None)
        if len(stops) == 2:
            again.set()

    with cancellation.active(), stop_after(3600, stop):
        cancellation.request()
        again.wait()


def test_a_job_that_has_ended_keeps_its_answer(db):
    job = db.submit(QUICK, epsilon=1)
    answer = job.result()
    job.cancel()
    assert job.result() is answer


def test_what_is_cancelled_before_the_charge_costs_nothing(db):
    cancellation = Cancellation()
    cancellation.request()
    with cancellation.active(), pytest.raises(hr.BackendError) as caught:
        db.sql(QUICK, epsilon=1)
    assert caught.value.code == "cancelled"
    assert "Nothing was charged." in str(caught.value)
    assert db.budget.queries == 0


def test_a_job_that_waits_for_the_same_question_can_be_cancelled(db, gate):
    first = db.submit(QUICK, epsilon=1)
    gate.reached.wait()
    second = db.submit(QUICK, epsilon=1)
    second.cancel()
    with pytest.raises(hr.BackendError) as caught:
        second.result()
    assert (caught.value.code, caught.value.receipt) == ("cancelled", None)
    assert not first.done()
    gate.opened.set()
    assert first.result()["n"]


def test_a_database_answers_asyncio(folder):
    async def ask():
        async with hr.aconnect(folder / "t.duckdb", catalog=folder / "c.yaml") as db:
            answers = await asyncio.gather(db.sql(QUICK, epsilon=1), db.sql("SELECT SUM(x) AS s FROM t", epsilon=1))
            quote = await db.quote(QUICK, epsilon=1)
            explained = await db.explain(QUICK, epsilon=1)
            described = await db.describe(QUICK, epsilon=1)
            seen = await db.as_analyst("other").budget()
            return answers, quote, explained, described, seen, db.tables

    answers, quote, explained, described, seen, tables = asyncio.run(ask())
    assert [answer.columns for answer in answers] == [["n"], ["s"]]
    assert quote.reused
    assert explained.columns == ("n",)
    assert described.columns[0].noisy
    assert seen.queries == 2
    assert tables[0].name == "t"


def test_a_connection_can_be_awaited_and_closed(folder):
    async def ask():
        db = await hr.aconnect(folder / "t.duckdb", catalog=folder / "c.yaml")
        async with db:
            await db.sql(QUICK, epsilon=1)
        return db

    with pytest.raises(hr.HedgerowError):
        asyncio.run(ask()).sync.sql(QUICK, epsilon=2)


@pytest.mark.parametrize(("reused", "said"), [(False, "had been charged"), (True, "asked again, it is free")])
def test_cancelling_a_task_tells_what_became_of_the_charge(db, gate, monkeypatch, reused, said):
    if reused:  # the statement does not hear of it before it has ended
        monkeypatch.setattr(Cancellation, "request", lambda _: None)

    async def ask():
        task = asyncio.create_task(hr.AsyncDatabase(db).sql(QUICK, epsilon=1))
        await asyncio.to_thread(gate.reached.wait)
        task.cancel()
        asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, gate.opened.set)
        try:
            await task
        except asyncio.CancelledError as error:
            return error.__notes__

    (note,) = asyncio.run(ask())
    assert said in note
    assert db.budget.queries == 1


@pytest.mark.parametrize("begun", [True, False])
def test_an_interrupt_while_the_thread_begins_stops_the_statement_first(monkeypatch, begun):
    """The main thread waits for a new thread to begin, and a signal may come just then."""
    ended = []

    class Interrupted(threading.Thread):
        def start(self):
            if begun:
                super().start()
            raise KeyboardInterrupt

    def ask():
        stopped = threading.Event()
        with active_cancellation().calling(stopped.set):
            assert stopped.wait(60)
        ended.append(True)

    monkeypatch.setattr(job_module.threading, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        wait_for(ask)
    assert ended == [True] * begun
