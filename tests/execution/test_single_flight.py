"""One question asked by many threads at once is paid for once: whoever comes while it runs waits for it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

import hedgerow as hr
from hedgerow.execution import session

from ..conformance.engines.postgres import running, why_not

THREADS = 20
QUERY = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
CATALOG = """\
dataset: d
budget: {epsilon: 100, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 1}
tables:
  visits: {unit: person, max_rows: 3, columns: {cost: {lower: 0, upper: 10}}}
"""


def at_once(ask):
    """The results of many threads."""
    together = threading.Barrier(THREADS)

    def one(_):
        together.wait()
        return ask()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def all_alike(answers):
    return all(list(answer) == list(answers[0]) for answer in answers)


def test_many_threads_pay_for_one_question_once(town):
    db = town()
    assert all_alike(at_once(lambda: db.sql(QUERY)))
    assert db.budget.queries == 1


def test_databases_that_share_a_ledger_pay_once(town):
    one, other = town(), town(analyst="bob")
    dbs = iter([one, other] * THREADS)
    assert all_alike(at_once(lambda: next(dbs).sql(QUERY)))
    assert one.budget.queries == 1


@pytest.mark.parametrize("options", [{"within": ("abs", 200)}, {"within": 0.05}, {"bounds": "auto"}])
def test_many_threads_pay_for_a_target_or_for_bounds_once(build, options):
    def built():
        return build(
            "CREATE TABLE t AS SELECT i AS u, i % 100 AS x FROM range(20000) r(i)", "t: {unit: u, max_rows: 1}"
        )

    alone, db = built(), built()
    query = "SELECT SUM(x) AS n FROM t" if "bounds" in options else "SELECT COUNT(*) AS n FROM t"
    alone.sql(query, epsilon=20, **options)
    assert all_alike(at_once(lambda: db.sql(query, epsilon=20, **options)))
    assert db.budget.queries == alone.budget.queries


def test_many_threads_pay_once_on_postgresql(tmp_path):
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    (tmp_path / "c.yaml").write_text(CATALOG)
    with running() as url:
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("CREATE TABLE visits (person BIGINT, ward TEXT, cost DOUBLE PRECISION)")
            owner.execute("INSERT INTO visits SELECT i % 900, 'w' || i % 3, i % 10 FROM generate_series(1, 4000) t(i)")
        with hr.connect(url, catalog=tmp_path / "c.yaml") as db:
            assert all_alike(at_once(lambda: db.sql(QUERY)))
            assert db.budget.queries == 1


@pytest.fixture
def held(monkeypatch):
    """Holds the first statement back while it reads, until it is let go; it then fails if it is told to."""
    reading, let_go, fault = threading.Event(), threading.Event(), []
    original = session.first_pass

    def first_pass(*words):
        if not reading.is_set():
            reading.set()
            let_go.wait()
            if fault:
                raise fault.pop()
        return original(*words)

    monkeypatch.setattr(session, "first_pass", first_pass)
    yield reading, let_go, fault
    let_go.set()


def test_if_the_first_fails_the_next_one_tries(town, held):
    reading, let_go, fault = held
    fault.append(ValueError("the disk"))
    db = town()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(db.sql, QUERY)
        reading.wait()
        second = pool.submit(db.sql, QUERY)
        let_go.set()
        with pytest.raises(hr.BackendError) as caught:
            first.result()
        answer = second.result()
    assert answer.receipt.id == caught.value.receipt.id
    assert db.budget.queries == 1


def test_whoever_waits_can_be_cancelled(town, held):
    reading, let_go, _ = held
    db, other = town(), town()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(db.sql, QUERY)
        reading.wait()
        second = pool.submit(other.sql, QUERY)
        while not second.done():
            other.cancel()
        with pytest.raises(hr.BackendError) as caught:
            second.result()
        let_go.set()
        first.result()
    assert (caught.value.code, caught.value.receipt) == ("cancelled", None)


def test_another_question_does_not_wait(town, held):
    reading, let_go, _ = held
    db = town()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(db.sql, QUERY)
        reading.wait()
        assert db.sql("SELECT COUNT(*) AS n FROM visits")
        assert db.sql(QUERY, epsilon=2)
        let_go.set()
        first.result()
    assert db.budget.queries == 3
