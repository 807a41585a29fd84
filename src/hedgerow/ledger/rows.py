"""The tables of a SQLite ledger, and its rows as entries and releases."""

import json
import sqlite3
from pathlib import Path

from hedgerow.ledger import faults
from hedgerow.ledger.entries import FORMAT, Account, Entry, digest
from hedgerow.ledger.store import StoredRelease

APPLICATION_ID = 0x48454447
"""Marks the file as ours."""

PAGE = 500
"""Entries read at a time: a long look must not keep writers waiting."""

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    time TEXT NOT NULL,
    analyst TEXT,
    refers INTEGER REFERENCES entries (sequence),
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE releases (
    sequence INTEGER PRIMARY KEY REFERENCES entries (sequence),
    charge INTEGER NOT NULL UNIQUE,
    fingerprint TEXT NOT NULL,
    version TEXT,
    noise TEXT NOT NULL,
    payload BLOB NOT NULL
);
CREATE INDEX charges_by_analyst ON entries (analyst, sequence) WHERE kind = 'charged';
CREATE UNIQUE INDEX outcomes_by_charge ON entries (refers) WHERE refers IS NOT NULL;
CREATE INDEX terms ON entries (sequence) WHERE kind IN ('opened', 'raised');
CREATE INDEX releases_by_question ON releases (fingerprint, sequence);
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""

_ENTRY = "SELECT sequence, kind, time, analyst, refers, state, body, previous, hash FROM entries"
_RELEASE = "SELECT charge, fingerprint, version, noise, payload FROM releases"
_QUESTION = "fingerprint = ? AND version IS ?"
_LATEST = "ORDER BY sequence DESC"


class SQLiteRows:
    """Entries and releases, as rows of one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def first(self) -> Entry:
        """The entry that opened the ledger."""
        return self._required(f"{_ENTRY} WHERE sequence = 0")

    def last(self) -> Entry:
        """The latest entry, with the running totals."""
        return self._required(f"{_ENTRY} ORDER BY sequence DESC LIMIT 1")

    def last_terms(self) -> Entry:
        """The latest entry that states terms."""
        return self._required(f"{_ENTRY} WHERE kind IN ('opened', 'raised') ORDER BY sequence DESC LIMIT 1")

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""
        return self._one(f"{_ENTRY} WHERE sequence = ?", sequence)

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge."""
        return self._one(f"{_ENTRY} WHERE kind = 'charged' AND analyst = ? ORDER BY sequence DESC LIMIT 1", analyst)

    def outcome_of(self, sequence: int) -> Entry | None:
        """The entry that follows from this one, if there is one."""
        return self._one(f"{_ENTRY} WHERE refers IS NOT NULL AND refers = ?", sequence)

    def analysts(self) -> list[str]:
        """Everybody who was ever charged."""
        rows = self._connection.execute("SELECT DISTINCT analyst FROM entries WHERE kind = 'charged' ORDER BY analyst")
        return [str(name) for (name,) in rows]

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Some entries (or charges of one analyst) in order, from the first one behind `after`."""
        where = "sequence > ?" if analyst is None else "sequence > ? AND kind = 'charged' AND analyst = ?"
        values = (after,) if analyst is None else (after, analyst)
        rows = self._connection.execute(f"{_ENTRY} WHERE {where} ORDER BY sequence LIMIT {PAGE}", values)
        return [self._read(row) for row in rows]

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question about one version of the data, the latest first."""
        rows = self._connection.execute(
            f"{_RELEASE} WHERE {_QUESTION} AND length(payload) > 0 {_LATEST}", (fingerprint, version)
        )
        return [StoredRelease(*row) for row in rows]

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""
        noted = f"SELECT sequence FROM releases WHERE {_QUESTION} AND length(payload) = 0"
        rows = self._connection.execute(f"{_ENTRY} WHERE sequence IN ({noted}) {_LATEST}", (fingerprint, version))
        return [self._read(row) for row in rows]

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""
        row = self._connection.execute(f"{_RELEASE} WHERE sequence = ?", (sequence,)).fetchone()
        return None if row is None else StoredRelease(*row)

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        self._connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                entry.sequence,
                entry.kind,
                entry.time,
                entry.analyst,
                entry.refers,
                entry.state_text,
                entry.body_text,
                entry.previous,
                entry.hash,
            ),
        )
        if release is not None:
            self._connection.execute(
                "INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?)",
                (entry.sequence, release.charge, release.fingerprint, release.version, release.noise, release.payload),
            )

    def tip(self) -> tuple[int, str]:
        """The number and hash of the last entry."""
        sequence, found = self._connection.execute(
            "SELECT sequence, hash FROM entries ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return sequence, found

    def hash_of(self, sequence: int) -> str | None:
        """The stored hash of one entry."""
        row = self._connection.execute("SELECT hash FROM entries WHERE sequence = ?", (sequence,)).fetchone()
        return None if row is None else str(row[0])

    def _required(self, sql: str) -> Entry:
        if (found := self._one(sql)) is None:
            raise faults.damaged(self._path)
        return found

    def _one(self, sql: str, *values: str | int) -> Entry | None:
        row = self._connection.execute(sql, values).fetchone()
        return None if row is None else self._read(row)

    def _read(self, row: tuple[int, str, str, str | None, int | None, str, str, str, str]) -> Entry:
        """The entry of a row, if the row still hashes to what it says."""
        sequence, kind, time, analyst, refers, state_text, body_text, previous, stored = row
        if digest(sequence, kind, time, analyst, refers, state_text, body_text, previous) != stored:
            raise faults.damaged(self._path)
        state, body = json.loads(state_text), json.loads(body_text)
        own = None if state["own"] is None else Account.from_dict(state["own"])
        return Entry(sequence, kind, time, analyst, refers, Account.from_dict(state["total"]), own, body, previous)
