"""A failure that read no row costs nothing, and says so; one that did stays charged, and is asked again for nothing."""

import sqlite3
import threading
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta

import duckdb
import psycopg
import pytest

import hedgerow as hr
from hedgerow.catalog import load_catalog
from hedgerow.execution import session
from hedgerow.ledger import open_ledger

from ..conformance.engines.postgres import running, why_not
from ..internals import session_of

CATALOG = """\
dataset: d
budget: {epsilon: 100, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-8, min_frequency: 1}
tables:
  people: {unit: id, unit_unique: true, columns: {income: {lower: 0, upper: 1000}}}
  visits: {unit: person, max_rows: 3, columns: {cost: {lower: 0, upper: 10}}}
"""
ROWS = """
CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE PRECISION);
INSERT INTO people SELECT i, i % 1000 FROM generate_series(1, 500) AS t(i);
CREATE TABLE visits (person BIGINT, cost DOUBLE PRECISION);
INSERT INTO visits SELECT i % 400, i % 10 FROM generate_series(1, 900) AS t(i);
CREATE ROLE reader LOGIN;
GRANT SELECT ON people, visits TO reader;
"""
INCOME = "SELECT AVG(income) AS mean FROM people"


def refused(db, query=INCOME):
    """The error of a question that costs nothing."""
    before = db.budget.queries
    with pytest.raises(hr.BackendError) as caught:
        db.sql(query)
    assert db.budget.queries == before
    assert caught.value.receipt is None
    assert "Nothing was charged." in str(caught.value)
    said = caught.value.to_dict()
    assert (said["charged"], said["receipt"], said["repeatable"]) == (False, None, False)
    return caught.value


@pytest.fixture(scope="module")
def server():
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    with running() as url:
        yield url


@pytest.fixture
def postgres(server, tmp_path):
    """The owner's connection to a new database, and a function that connects to it as a reader."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS town WITH (FORCE)")
        admin.execute("DROP ROLE IF EXISTS reader")
        admin.execute("CREATE DATABASE town")
    url = server.replace("/postgres?", "/town?")
    (tmp_path / "c.yaml").write_text(CATALOG)
    with psycopg.connect(url, autocommit=True) as owner, ExitStack() as opened:
        owner.execute(ROWS)

        def connect(source=None):
            reader = url.replace("//postgres:", "//reader:")
            return opened.enter_context(hr.connect(source or reader, catalog=tmp_path / "c.yaml"))

        yield owner, connect


@pytest.mark.parametrize(
    "change",
    [
        "REVOKE SELECT ON people FROM reader",
        "REVOKE USAGE ON SCHEMA public FROM public",
        "ALTER TABLE people RENAME income TO wealth",
        "ALTER TABLE people DROP CONSTRAINT people_pkey",
        "DROP TABLE people",
        "ALTER TABLE people ALTER income TYPE TEXT",
    ],
)
def test_a_table_that_cannot_be_read_any_more_costs_nothing(postgres, change):
    owner, connect = postgres
    db = connect()
    owner.execute(change)
    refused(db)


def test_a_server_that_is_full_costs_nothing(postgres):
    owner, connect = postgres
    db = connect()
    owner.execute("ALTER ROLE reader CONNECTION LIMIT 0")
    owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
    for _ in range(3):
        refused(db)


def test_a_connection_that_is_dead_costs_nothing(postgres):
    owner, connect = postgres
    with psycopg.connect(owner.info.dsn, autocommit=True) as handed_in:
        db = connect(handed_in)
        assert db.sql(INCOME)
        owner.execute("SELECT pg_terminate_backend(%s)", [handed_in.info.backend_pid])
        refused(db, "SELECT SUM(cost) AS s FROM visits")
        with suppress(psycopg.Error):
            handed_in.close()
        refused(db, "SELECT SUM(cost) AS s FROM visits")


def test_a_server_that_stopped_costs_nothing(tmp_path):
    if why_not() is not None:
        pytest.skip(f"NOT TESTED: {why_not()}")
    (tmp_path / "c.yaml").write_text(CATALOG)
    with ExitStack() as stack:
        with running() as url:
            with psycopg.connect(url, autocommit=True) as owner:
                owner.execute(ROWS)
            db = stack.enter_context(hr.connect(url, catalog=tmp_path / "c.yaml"))
            first = db.sql(INCOME)
        for _ in range(3):
            refused(db, "SELECT SUM(cost) AS s FROM visits")
        assert list(db.sql(INCOME)) == list(first)
        assert db.budget.queries == 1


def test_a_sqlite_file_that_changed_costs_nothing(tmp_path):
    (tmp_path / "c.yaml").write_text(CATALOG)
    with sqlite3.connect(tmp_path / "d.sqlite") as owner:
        owner.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, income REAL)")
        owner.execute("CREATE TABLE visits (person INTEGER, cost REAL)")
    with hr.connect(tmp_path / "d.sqlite", catalog=tmp_path / "c.yaml") as db:
        owner.execute("ALTER TABLE people RENAME income TO wealth")
        refused(db)
        (tmp_path / "d.sqlite").rename(tmp_path / "elsewhere")
        refused(db)
    owner.close()


def test_a_file_of_a_folder_that_is_gone_costs_nothing(tmp_path):
    (tmp_path / "c.yaml").write_text(CATALOG)
    (tmp_path / "files").mkdir()
    with duckdb.connect() as maker:
        for name, columns in {"people": "i AS id, i AS income", "visits": "i AS person, i AS cost"}.items():
            maker.execute(f"COPY (SELECT {columns} FROM range(9) t(i)) TO '{tmp_path}/files/{name}.parquet'")
    with hr.connect(tmp_path / "files", catalog=tmp_path / "c.yaml") as db:
        (tmp_path / "files" / "people.parquet").unlink()
        refused(db)


@pytest.fixture
def town(tmp_path):
    """A DuckDB database with a view that fails as soon as a row of it is read, until the owner mends it."""
    (tmp_path / "c.yaml").write_text(CATALOG)
    with duckdb.connect(":memory:") as owner:
        owner.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE)")
        owner.execute("INSERT INTO people SELECT i, i % 1000 FROM range(500) t(i)")
        owner.execute("CREATE TABLE written AS SELECT i AS person, 'x' || i AS cost FROM range(9) t(i)")
        owner.execute("CREATE VIEW visits AS SELECT person, CAST(cost AS DOUBLE) AS cost FROM written")
        with hr.connect(owner, catalog=tmp_path / "c.yaml", ledger=tmp_path / "d.ledger") as db:
            db.owner = owner
            yield db


COSTS = "SELECT SUM(cost) AS s FROM visits"


def failed(db, query=COSTS, **options):
    """The error of a question that was charged."""
    with pytest.raises(hr.BackendError) as caught:
        db.sql(query, **options)
    return caught.value


def test_a_question_that_failed_while_rows_were_read_is_answered_under_its_charge(town):
    error = failed(town)
    assert (error.receipt.charge.epsilon, error.repeatable) == (1.0, True)
    said = error.to_dict()
    assert (said["charged"], said["receipt"], said["repeatable"]) == (True, error.receipt.id, True)
    town.owner.execute("UPDATE written SET cost = '1'")
    answer = town.sql(COSTS)
    assert answer.receipt.id == error.receipt.id
    assert town.budget.queries == 1
    assert [entry.status for entry in town.budget.history] == ["opened", "answered"]
    assert session_of(town).ledger.verify().charges == 1
    again = town.sql(COSTS)
    assert (again.receipt.reused, again.receipt.id, list(again)) == (True, error.receipt.id, list(answer))


@pytest.mark.parametrize("options", [{"epsilon": 0.5}, {"epsilon": 2}, {"max_rows": 2}, {"min_frequency": 4}])
def test_another_price_or_limit_is_another_charge(town, options):
    failed(town)
    failed(town, **options)
    assert town.budget.queries == 2


def test_a_failed_charge_is_used_once(town):
    failed(town)
    town.owner.execute("UPDATE written SET cost = '1'")
    town.sql(COSTS)
    town.sql(COSTS, reuse=False)
    assert town.budget.queries == 2


def test_many_threads_use_a_failed_charge_once(town):
    failed(town)
    town.owner.execute("UPDATE written SET cost = '1'")
    threads = [threading.Thread(target=town.sql, args=(COSTS,), kwargs={"reuse": False}) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert town.budget.queries == 8


def test_what_failed_after_noise_was_drawn_is_not_repeated(town, monkeypatch):
    """The failure may depend on the noise: which groups were selected, for one."""

    def failing(*_):
        raise ValueError("too late")

    with monkeypatch.context() as fault:
        fault.setattr(session, "release", failing)
        error = failed(town, INCOME)
    assert (error.receipt is not None, error.repeatable) == (True, False)
    assert "covered" not in str(error)
    town.sql(INCOME)
    assert [entry.status for entry in town.budget.history] == ["opened", "failed", "answered"]


def test_an_interrupt_carries_the_receipt_and_is_asked_again_for_nothing(town, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as fault:
        fault.setattr(session, "first_pass", interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            town.sql(INCOME)
    assert caught.value.repeatable
    assert town.sql(INCOME).receipt.id == caught.value.receipt.id
    assert town.budget.queries == 1


def test_a_failed_charge_of_another_period_is_not_repeated(town, tmp_path):
    text = CATALOG.replace("delta: 1e-3}", "delta: 1e-3, refresh: 30d}")
    (tmp_path / "refreshed.yaml").write_text(text)
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    policy = load_catalog(tmp_path / "refreshed.yaml").budget
    with (
        open_ledger(tmp_path / "r.ledger", dataset="d", policy=policy, clock=lambda: moment[0]) as book,
        hr.connect(town.owner, catalog=tmp_path / "refreshed.yaml", ledger=book) as db,
    ):
        failed(db)
        failed(db)
        assert db.budget.queries == 1
        moment[0] += timedelta(days=31)
        failed(db)
        assert book.verify().charges == 2
