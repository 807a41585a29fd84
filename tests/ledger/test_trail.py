"""The trail: nothing in it can be changed without being seen."""

import copy
import hashlib
import json

import pytest

from hedgerow.accounting import GDP, ZCDP, Basic
from hedgerow.errors import LedgerError
from hedgerow.ledger.entries import BEGINNING, Account, Entry, canonical
from hedgerow.ledger.store import Rows, inserted_rows

QUESTION = {"text": "SELECT COUNT(*) FROM customers", "fingerprint": "f00", "version": None, "noise": None}


@pytest.fixture
def filled(book, gaussian):
    ledger = book()
    for analyst in ("ada", "bob", "ada"):
        ledger.finish(ledger.charge(gaussian(0.1), analyst=analyst, question=QUESTION), b"release")
    return ledger


def tamper(store, *statements):
    """Changes by somebody who can write to the store."""
    store.unlock()
    for statement, *values in statements:
        store.execute(statement, *values)


def rehash(store, sequence):
    """Make the hash of one entry fit its content again."""
    columns = "sequence, kind, time, analyst, refers, state, body, previous"
    (row,) = store.execute(f"SELECT {columns} FROM entries WHERE sequence = ?", sequence)
    entry = dict(zip(columns.split(", "), row, strict=True))
    body = json.loads(entry.pop("body"))
    forged = hash_by_hand(entry | json.loads(entry.pop("state")) | {"salt": body.pop("salt"), "body": body})
    tamper(store, ("UPDATE entries SET hash = ? WHERE sequence = ?", forged, sequence))


def sha256(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def hash_by_hand(entry):
    """The hash of an exported entry, as docs/explanation/ledger.md describes it."""
    shown = {"charged": ["units", "queries"], "opened": ["ledger", "dataset", "format", "terms"]}
    shown |= {"continued": shown["opened"], "raised": ["terms", "from"]}
    body, salt = dict(entry["body"]), entry["salt"]
    public = {name: body.pop(name) for name in shown.get(entry["kind"], []) if name in body}
    price = {name: body.pop(name) for name in ("epsilon", "delta", "events") if name in body}
    who = {name: entry[name] for name in ("time", "analyst", "own")}
    leaves = [("price", price), ("question", body), ("who", who)]
    sealed = sha256(*(sha256(sha256(salt, name), canonical(value)) for name, value in leaves))
    numbers = [entry[name] for name in ("sequence", "kind", "refers")]
    return sha256(2, *numbers, canonical(entry["total"]), canonical(public), sealed, entry["previous"])


class MemoryRows(Rows):
    """One row of a ledger, in memory."""

    def __init__(self, **more):
        super().__init__("memory", "entries", "releases")
        nothing = Account("2026-01-01")
        body = {"ledger": "a", "dataset": "b", "format": 2, "terms": {"epsilon": 1}, **more}
        entry = Entry(0, "opened", "2026-01-01", None, None, nothing, None, body, BEGINNING, "salt")
        [(_, self.row)] = inserted_rows(entry)

    def select(self, *_):
        return [self.row]

    def append(self, *_):
        raise NotImplementedError


def broken_at(book):
    with pytest.raises(LedgerError) as refused:
        book().verify()
    return refused.value


def test_a_chain_that_holds_says_how_long_it_is_and_where_it_ends(filled):
    actual = filled.verify()
    assert (actual.entries, actual.charges) == (7, 3)
    assert actual.tip == json.loads(list(filled.export())[-1])["hash"]


def test_entries_cannot_be_changed_or_removed_in_passing(filled, store):
    for statement in ("UPDATE entries SET analyst = 'eve'", "DELETE FROM entries WHERE sequence = 6"):
        with pytest.raises(store.IntegrityError, match="append-only"):
            store.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET analyst = 'eve' WHERE sequence = 3",
        "UPDATE entries SET time = '2000-01-01T00:00:00.000000+00:00' WHERE sequence = 3",
        "UPDATE entries SET body = replace(body, '0.1', '0.2') WHERE sequence = 3",
        "UPDATE entries SET state = replace(state, '3', '2') WHERE sequence = 3",
        "UPDATE entries SET previous = hash WHERE sequence = 3",
        "UPDATE entries SET kind = 'failed', refers = NULL WHERE sequence = 4",
    ],
)
def test_a_changed_entry_is_found(filled, book, store, change):
    filled.verify()  # this process has read every entry before it changes
    filled.close()
    tamper(store, (change,))
    assert broken_at(book).code == "ledger-damaged"


def test_an_entry_that_a_reader_changes_stays_as_it_was_for_the_next_reader():
    rows = MemoryRows()
    mine = rows.first()
    before, text, tip = copy.deepcopy(mine.body), mine.body_text, mine.hash
    mine.body["terms"]["epsilon"] = 10**9
    mine.body["more"] = True
    next_one = rows.first()
    assert (next_one.body, next_one.body_text, next_one.hash) == (before, text, tip)


def test_a_row_that_changes_after_it_was_read_is_found():
    rows = MemoryRows()
    rows.first()
    rows.row = (*rows.row[:3], "eve", *rows.row[4:])
    with pytest.raises(LedgerError) as refused:
        rows.first()
    assert refused.value.code == "ledger-damaged"


def test_a_row_that_reads_differently_from_what_was_written_is_found():
    numbered = {10: "ten", 9: "nine"}  # numbers are sorted as numbers when they are written, and as text when read
    with pytest.raises(LedgerError) as refused:
        MemoryRows(numbered=numbered).first()
    assert refused.value.code == "ledger-damaged"


def test_a_changed_entry_with_a_new_hash_breaks_the_link_to_the_next(filled, book, store):
    filled.close()
    tamper(store, ("UPDATE entries SET analyst = 'eve' WHERE sequence = 3",))
    rehash(store, 3)
    refused = broken_at(book)
    assert (refused.code, "entry 4" in str(refused)) == ("ledger-chain", True)


def test_a_removed_entry_is_found(filled, book, store):
    filled.close()
    tamper(store, ("DELETE FROM releases WHERE sequence = 4",), ("DELETE FROM entries WHERE sequence = 4",))
    assert broken_at(book).code == "ledger-chain"


def less_in_all(state, body, before):
    """The entry takes nothing, and says so everywhere but in its events."""
    state["total"] = before["total"] | {"charges": before["total"]["charges"] + 1}
    body["units"] = dict.fromkeys(body["units"], "0")


def less_in_the_total(state, body, before):
    state["total"]["lifetime"] = before["total"]["lifetime"]


def less_for_the_analyst(state, body, before):
    state["own"]["lifetime"]["gaussian"] = "0"


def cheaper_events(state, body, before):
    body["events"][0]["sensitivity_squared"] = "0"


@pytest.mark.parametrize("forge", [less_in_all, less_in_the_total, less_for_the_analyst, cheaper_events])
def test_a_last_entry_that_does_not_add_up_is_found(filled, book, store, gaussian, forge):
    filled.charge(gaussian(0.1), analyst="ada", question=QUESTION)
    filled.close()
    rows = store.execute("SELECT state, body FROM entries WHERE sequence >= 6 ORDER BY sequence")
    (before, _), (state, body) = [[json.loads(text) for text in row] for row in rows]
    forge(state, body, before)
    tamper(store, ("UPDATE entries SET state = ?, body = ? WHERE sequence = 7", canonical(state), canonical(body)))
    rehash(store, 7)
    refused = broken_at(book)
    assert (refused.code, "add up" in str(refused)) == ("ledger-chain", True)


def test_a_changed_release_is_found(filled, book, store):
    filled.close()
    tamper(store, ("UPDATE releases SET payload = ? WHERE sequence = 4", b"\0"))
    refused = broken_at(book)
    assert (refused.code, "release" in str(refused)) == ("ledger-chain", True)


def test_the_exported_trail_can_be_checked_without_us(filled):
    previous = BEGINNING
    for line in filled.export():
        entry = json.loads(line)
        assert entry["previous"] == previous
        assert entry["hash"] == hash_by_hand(entry)
        previous = entry["hash"]


def test_the_sum_of_the_entries_is_the_running_total_to_the_last_bit(filled):
    entries = [json.loads(line) for line in filled.export()]
    charged = [entry for entry in entries if entry["kind"] == "charged"]
    for coordinate in ("gaussian", "pure", "mass", "deliberate"):
        total = sum(int(entry["body"]["units"][coordinate]) for entry in charged)
        assert total == int(entries[-1]["total"]["lifetime"][coordinate])
        ada = sum(int(entry["body"]["units"][coordinate]) for entry in charged if entry["analyst"] == "ada")
        assert ada == int(charged[-1]["own"]["lifetime"][coordinate])


def test_accountants_total_what_was_charged(filled, book, gaussian):
    events = list(filled.events())
    assert events == [event for _ in range(3) for event in gaussian(0.1).events]
    assert len(list(filled.events("ada"))) == 2
    assert GDP(events).epsilon(9e-7) == pytest.approx(filled.budget().spent.epsilon, rel=1e-8)
    assert GDP(events).epsilon(9e-7) < ZCDP(events).epsilon(9e-7) < Basic(events).epsilon(9e-7)


def test_a_long_trail_is_read_in_pages(book, gaussian, monkeypatch):
    monkeypatch.setattr("hedgerow.ledger.store.PAGE", 3)
    ledger = book()
    for _ in range(7):
        ledger.charge(gaussian(0.01), analyst="ada", question=QUESTION)
    assert ledger.verify().entries == len(list(ledger.export())) == len(ledger.history()) == 8
    assert len(ledger.history("ada")) == 7


def test_a_reader_who_stops_halfway_keeps_nobody_waiting(book, gaussian):
    ledger = book(patience=0.1)
    ledger.charge(gaussian(0.1), question=QUESTION)
    lines, events = ledger.export(), ledger.events()
    next(lines)
    next(events)
    other = book(patience=0.1)
    other.charge(gaussian(0.1), question=QUESTION)
    assert len(list(lines)) == 1 + 1
