"""A charge is on the disk before a row is read, and stays there whatever happens next."""

import shutil
import signal
import sqlite3
from contextlib import contextmanager

import pytest

import hedgerow as hr

from ...internals import session_of

COUNT = "SELECT COUNT(*) FROM people"
NO_ROWS = "WHERE 1 = 0"
"""Endings of statements that look whether tables can be read, before the charge."""


@pytest.fixture
def before_reading():
    """Do something at the moment when the engine is about to read rows; the engine then goes on as ever."""

    def intercept(db, action):
        open_snapshot = session_of(db).backend.snapshot

        @contextmanager
        def snapshot():
            with open_snapshot() as opened:
                read = opened.run

                def run(query):
                    if not query.sql.endswith(NO_ROWS):
                        action()
                    return read(query)

                opened.run = run
                yield opened

        session_of(db).backend.snapshot = snapshot

    return intercept


def kinds_in(file):
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return [kind for (kind,) in connection.execute("SELECT kind FROM entries ORDER BY sequence")]
    finally:
        connection.close()


def test_another_connection_sees_the_charge_before_the_first_row_is_read(town, before_reading):
    db, seen = town.connect(), []
    before_reading(db, lambda: seen.append(kinds_in(town.ledger)))
    db.sql(COUNT)
    assert seen == [["opened", "charged"]]
    assert kinds_in(town.ledger) == ["opened", "charged", "answered"]


def test_the_one_file_alone_has_the_charge_before_the_first_row_is_read(town, before_reading):
    db, copy = town.connect(), town.folder / "copy.ledger"
    before_reading(db, lambda: shutil.copyfile(town.ledger, copy))
    db.sql(COUNT)
    assert [entry.status for entry in town.look(copy).history()] == ["opened", "charged"]
    assert town.look(copy).verify().charges == 1


@pytest.mark.parametrize(
    ("query", "options"),
    [("SELECT income FROM people", {}), ("SELECT SUM(id) FROM people", {}), (COUNT, {"epsilon": 4.0})],
)
def test_what_is_refused_reads_nothing_and_costs_nothing(town, before_reading, query, options):
    db, reads = town.connect(), []
    before_reading(db, lambda: reads.append(1))
    with pytest.raises((hr.QueryError, hr.BudgetError)):
        db.sql(query, **options)
    assert (reads, db.budget.queries) == ([], 0)


def test_a_query_that_fails_in_the_database_stays_charged_and_carries_its_receipt(town):
    db = town.connect()
    with pytest.raises(hr.BackendError) as failed:
        db.sql("SELECT SUM(number) FROM failing")
    receipt = failed.value.receipt
    entry = db.budget.history[-1]
    assert (entry.sequence, entry.status, entry.charge["epsilon"]) == (receipt.sequence, "failed", 0.2)
    assert receipt.id == f"{town.look().id}-{receipt.sequence}"
    assert db.budget.queries == 1
    assert db.budget.used["gaussian"] == pytest.approx(receipt.share)


def test_a_query_that_failed_before_any_noise_is_asked_again_under_its_charge(town):
    db, receipts = town.connect(), set()
    for _ in range(3):
        with pytest.raises(hr.BackendError) as failed:
            db.sql("SELECT SUM(number) FROM failing")
        assert failed.value.repeatable
        assert "covered by that charge" in str(failed.value)
        receipts.add(failed.value.receipt.id)
    assert len(receipts) == 1
    assert [entry.status for entry in db.budget.history] == ["opened", "failed"]
    assert town.look().verify().charges == db.budget.queries == 1


def test_a_process_killed_before_its_answer_leaves_a_charge_without_one(town):
    town.write()
    process = town.start("killed")
    assert process.wait(30) == -signal.SIGKILL
    db = town.connect()
    assert [entry.status for entry in db.budget.history] == ["opened", "charged"]
    assert db.budget.queries == 1
    db.sql(COUNT)
    assert [entry.status for entry in db.budget.history] == ["opened", "charged", "answered"]
    assert town.look().verify().charges == 2
