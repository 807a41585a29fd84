"""Statements in the background, each cancelled by itself, from threads and from asyncio."""

import asyncio
import threading
from concurrent.futures import wait

import duckdb
import pytest

import hedgerow as hr
from hedgerow.cancellation import Cancellation

CATALOG = """
dataset: d
budget: {epsilon: 10, delta: 1e-6}
defaults: {delta: 1e-8, min_frequency: 1}
tables:
  t: {unit: u, max_rows: 3, columns: {x: {lower: 0, upper: 1}}}
"""
ENDLESS = "SELECT COUNT(*) FROM t a WHERE a.x < (SELECT SUM(b.x * c.x) FROM t b, t c WHERE b.u = a.u AND c.u = b.u)"
QUICK = "SELECT COUNT(*) AS n FROM t"


@pytest.fixture
def folder(tmp_path):
    """People with so many rows each that a question about pairs of them does not end soon."""
    (tmp_path / "c.yaml").write_text(CATALOG)
    with duckdb.connect(str(tmp_path / "t.duckdb"), config={"threads": "1"}) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 3 AS u, i * 1e-6 AS x FROM range(300000) r(i)")
    return tmp_path


@pytest.fixture
def db(folder):
    with hr.connect(folder / "t.duckdb", catalog=folder / "c.yaml") as db:
        yield db


@pytest.fixture
def charged(db, monkeypatch):
    """An event that is set once something was charged."""
    event, charge = threading.Event(), db._session.ledger.charge

    def noticed(*words, **options):
        receipt = charge(*words, **options)
        event.set()
        return receipt

    monkeypatch.setattr(db._session.ledger, "charge", noticed)
    return event


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


def test_one_statement_is_cancelled_and_the_others_go_on(db, charged):
    job = db.submit(ENDLESS, epsilon=1)
    charged.wait()
    with pytest.raises(TimeoutError):
        job.result(timeout=0)
    other = db.submit(QUICK, epsilon=1)
    job.cancel()
    assert other.result()["n"]
    with pytest.raises(hr.BackendError) as caught:
        job.result()
    error = caught.value
    assert error.code == "cancelled"
    assert error.receipt is not None
    assert "had been charged" in str(error)
    assert error.repeatable
    assert db.budget.queries == 2


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


def test_a_job_that_waits_for_the_same_question_can_be_cancelled(db, charged):
    first = db.submit(ENDLESS, epsilon=1)
    charged.wait()
    second = db.submit(ENDLESS, epsilon=1)
    second.cancel()
    with pytest.raises(hr.BackendError) as caught:
        second.result()
    assert (caught.value.code, caught.value.receipt) == ("cancelled", None)
    assert not first.done()
    first.cancel()
    wait([first.future])
    assert first.future.exception().receipt is not None


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


def test_cancelling_a_task_cancels_its_statement_and_tells_that_it_was_charged(db, charged):
    async def ask():
        task = asyncio.create_task(hr.AsyncDatabase(db).sql(ENDLESS, epsilon=1))
        await asyncio.to_thread(charged.wait)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError as error:
            return error.__notes__

    (note,) = asyncio.run(ask())
    assert "had been charged" in note
    assert db.budget.queries == 1
    assert db.sql(QUICK, epsilon=1)["n"]
