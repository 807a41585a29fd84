"""A free repeat sees a ledger that was closed, replaced, cut, changed, or that reached a new period."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from tests.internals import session_of

import hedgerow as hr
from hedgerow.errors import LedgerError

COUNT = "SELECT COUNT(*) AS n FROM people"
MEAN = "SELECT AVG(income) AS m FROM people"


@pytest.fixture
def session(town, store):
    """A database with its ledger in each kind of store; a repeat of COUNT is kept."""
    town.write()
    with hr.connect(town.database, catalog=town.catalog, ledger=store.location) as db:
        for _ in range(3):
            db.sql(COUNT)
        yield db


def test_a_closed_ledger_gives_no_repeat(session):
    session.close()
    with pytest.raises(LedgerError) as raised:
        session.sql(COUNT)
    assert raised.value.code == "ledger-closed"


def test_a_ledger_that_was_removed_gives_no_repeat(session, store):
    store.remove()
    with pytest.raises(LedgerError):
        session.sql(COUNT)


def test_a_ledger_of_a_newer_version_gives_no_repeat(session, store):
    store.set_format(99)
    with pytest.raises(LedgerError) as raised:
        session.sql(COUNT)
    assert raised.value.code == "ledger-newer"


@pytest.mark.parametrize("change", ["body = '{}'", "state = '{}'", "hash = previous"])
def test_a_changed_entry_is_noticed(session, store, change):
    store.unlock()
    store.execute(f"UPDATE entries SET {change} WHERE sequence = (SELECT MAX(sequence) FROM entries)")
    with pytest.raises(LedgerError):
        session.sql(COUNT)


def test_a_changed_charge_of_the_analyst_is_noticed(session, store):
    store.unlock()
    store.execute("UPDATE entries SET body = '{}' WHERE kind = 'charged'")
    with pytest.raises(LedgerError):
        session.sql(COUNT)


def test_entries_that_are_lost_are_noticed(session, store):
    store.unlock()
    store.execute("DELETE FROM releases")
    store.execute("DELETE FROM entries WHERE kind = 'answered'")
    with pytest.raises(LedgerError):
        session.sql(COUNT)


def test_a_release_that_is_lost_is_bought_again(session, store):
    store.unlock()
    store.execute("DELETE FROM releases")
    assert not session.sql(COUNT).receipt.reused
    assert session.budget.queries == 2


def test_a_file_in_place_of_the_ledger_is_noticed(town):
    db = town.connect()
    for _ in range(3):
        db.sql(COUNT)
    copy = town.folder / "copy.ledger"
    shutil.copyfile(town.ledger, copy)
    copy.replace(town.ledger)
    with pytest.raises(LedgerError):
        db.sql(COUNT)


def test_the_budget_shown_is_that_of_the_current_period(town):
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    db = town.connect(budget="{epsilon: 3, delta: 1e-6, refresh: 1d}", clock=lambda: clock[0])
    db.sql(MEAN)
    for _ in range(3):
        repeat = db.sql(COUNT)
    clock[0] += timedelta(days=2)
    later = db.sql(COUNT)
    assert later.receipt.reused
    assert list(later) == list(repeat)
    assert later.receipt.remaining == db.budget.remaining
    assert later.receipt.remaining.epsilon > repeat.receipt.remaining.epsilon


def test_a_shared_ledger_stays_open_for_other_databases(town):
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    db = town.connect(clock=lambda: clock[0])
    for _ in range(3):
        repeat = db.sql(COUNT)
    session_of(db).ledger.close()
    with pytest.raises(LedgerError):
        db.sql(COUNT)
    assert list(town.connect().sql(COUNT)) == list(repeat)
