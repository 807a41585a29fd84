"""Contract of a durable store, and the common parts of SQLite and PostgreSQL: SQL text, rows, fork safety.

Another database is one more file: `Rows` that run SQL, and a `Store`.
"""

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol
from weakref import WeakSet

from hedgerow.ledger import errors
from hedgerow.ledger.entries import Account, Entry
from hedgerow.recently_used import RecentlyUsed

PAGE = 500
"""Number of entries read at a time: a long read must not keep writers waiting."""

Value = str | int | bytes | None

ENTRY = "SELECT sequence, kind, time, analyst, refers, state, body, previous, hash"
_RELEASE = "SELECT charge, fingerprint, version, noise, payload"
_LATEST = "ORDER BY sequence DESC"


def indexes(schema: str = "", key: str = "") -> str:
    """The indexes of both stores; in PostgreSQL the tables are in a schema, and `key` is the ledger's id."""
    return f"""CREATE INDEX charges_by_analyst ON {schema}entries ({key}analyst, sequence) WHERE kind = 'charged';
CREATE UNIQUE INDEX outcomes_by_charge ON {schema}entries ({key}refers) WHERE refers IS NOT NULL;
CREATE INDEX terms ON {schema}entries ({key}sequence) WHERE kind IN ('opened', 'raised');
CREATE INDEX releases_by_question ON {schema}releases ({key}fingerprint, sequence);"""


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release that was paid for, as its maker wrote it, and the questions it may answer again.

    `noise` says what was asked for, as plain JSON; two releases are compared by their noise, never by their values.
    `answers` names the other questions that it has answered, by the same names as `noise`. `parts` are the positions of
    the parts that answer a question, where the release is of a batch of several.
    """

    charge: int
    fingerprint: str
    version: str | None
    noise: str
    payload: bytes
    answers: frozenset[str] = frozenset()
    parts: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that parts of a batch's release answer: its fingerprint, its needs, and the positions of the parts."""

    fingerprint: str
    needs: str
    parts: tuple[int, ...]


class Reader(Protocol):
    """One consistent state of the book, to read."""

    def first(self) -> Entry:
        """The entry that opened it."""

    def last(self) -> Entry:
        """The latest entry, with the running totals."""

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge, with that analyst's running totals."""

    def last_terms(self) -> Entry:
        """The latest entry that states terms: the opening one, or a raise."""

    def outcome_of(self, sequence: int) -> Entry | None:
        """Return the entry that follows from this one: the outcome of a charge, or None while it is unknown."""

    def analysts(self) -> list[str]:
        """Return everybody who was ever charged."""

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Return some entries (or charges of one analyst) in order, after sequence number `after`; none at the end."""

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question about one version of the data, the latest first."""

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""

    def release_under(self, charge: int) -> StoredRelease | None:
        """The release that a charge paid for."""


class Writer(Reader, Protocol):
    """A reader with exclusive write access: nobody else writes until this is durable or undone."""

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""


class Store(Protocol):
    """A durable, append-only book of entries."""

    def read(self) -> AbstractContextManager[Reader]:
        """Read one consistent state of the book."""

    def write(self) -> AbstractContextManager[Writer]:
        """Write to the book: durable when the block ends, undone if it raises."""

    def check(self) -> None:
        """Look for damage below the level of entries, however long it takes."""

    def close(self) -> None:
        """Close it."""


_hashed: RecentlyUsed[tuple[Value, ...]] = RecentlyUsed(64)
"""Rows of entries that this process wrote: the hash in them was computed from the other values."""


def inserted_rows(entry: Entry, release: StoredRelease | None = None) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """The table and the values of each row that an entry, with the release that it answers with, adds."""
    state, body = entry.state_text, entry.body_text
    facts = (entry.sequence, entry.kind, entry.time, entry.analyst, entry.refers, state, body, entry.previous)
    row = (*facts, entry.hash)
    _hashed.keep(row, row)
    yield "entries", row
    if release is not None:
        question = (release.fingerprint, release.version, release.noise, release.payload)
        yield "releases", (entry.sequence, release.charge, *question)


class Rows(ABC):
    """Entries and releases of one ledger in a database, in one transaction.

    Args:
        place: The ledger's name in messages.
        entries: The table of entries and the condition that makes them this ledger's, as text for FROM.
        releases: The same for releases.
        scope: The values of that condition.
    """

    same_version: str
    """The condition that a row is about a version of the data, NULL included."""

    def __init__(self, place: object, entries: str, releases: str, scope: tuple[Value, ...] = ()) -> None:
        self._place = place
        self._entries = entries
        self._releases = releases
        self._scope = scope

    @abstractmethod
    def select(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """Run a query with `?` for each value."""

    @abstractmethod
    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""

    def first(self) -> Entry:
        """The entry that opened the ledger."""
        return self._required("AND sequence = 0")

    def last(self) -> Entry:
        """The latest entry, with the running totals."""
        return self._required(f"{_LATEST} LIMIT 1")

    def last_terms(self) -> Entry:
        """The latest entry that states terms: the opening one, or a raise."""
        return self._required(f"AND kind IN ('opened', 'raised') {_LATEST} LIMIT 1")

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""
        return self._one("AND sequence = ?", sequence)

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge, with that analyst's running totals."""
        return self._one(f"AND kind = 'charged' AND analyst = ? {_LATEST} LIMIT 1", analyst)

    def outcome_of(self, sequence: int) -> Entry | None:
        """Return the entry that follows from this one: the outcome of a charge, or None while it is unknown."""
        return self._one("AND refers IS NOT NULL AND refers = ?", sequence)

    def analysts(self) -> list[str]:
        """Return everybody who was ever charged."""
        names = f"SELECT DISTINCT analyst FROM {self._entries} AND kind = 'charged' ORDER BY analyst"
        return [str(name) for (name,) in self.select(names, *self._scope)]

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Return some entries (or charges of one analyst) in order, after sequence number `after`; none at the end."""
        whose, values = ("", ()) if analyst is None else ("AND kind = 'charged' AND analyst = ?", (analyst,))
        return self._all(f"AND sequence > ? {whose} ORDER BY sequence LIMIT {PAGE}", after, *values)

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question about one version of the data, the latest first."""
        where = f"AND fingerprint = ? AND {self.same_version} AND length(payload) > 0 {_LATEST}"
        rows = self.select(f"{_RELEASE} FROM {self._releases} {where}", *self._scope, fingerprint, version)
        return [StoredRelease(*row) for row in rows]

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""
        where = f"AND fingerprint = ? AND {self.same_version} AND length(payload) = 0"
        noted = f"SELECT sequence FROM {self._releases} {where}"
        return self._all(f"AND sequence IN ({noted}) {_LATEST}", *self._scope, fingerprint, version)

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""
        rows = self.select(f"{_RELEASE} FROM {self._releases} AND sequence = ?", *self._scope, sequence)
        return StoredRelease(*rows[0]) if rows else None

    def release_under(self, charge: int) -> StoredRelease | None:
        """The release that a charge paid for."""
        rows = self.select(f"{_RELEASE} FROM {self._releases} AND charge = ?", *self._scope, charge)
        return StoredRelease(*rows[0]) if rows else None

    def _required(self, where: str) -> Entry:
        if (entry := self._one(where)) is None:
            raise errors.damaged(self._place)
        return entry

    def _one(self, where: str, *values: Value) -> Entry | None:
        return next(iter(self._all(where, *values)), None)

    def _all(self, where: str, *values: Value) -> list[Entry]:
        rows = self.select(f"{ENTRY} FROM {self._entries} {where}", *self._scope, *values)
        return [self.to_entry(row) for row in rows]

    def to_entry(self, row: tuple[Any, ...]) -> Entry:
        """Return the entry of a row, if the row matches its hash. Each caller gets a copy that it may change."""
        if (entry := _checked_entry(row)) is None:
            raise errors.damaged(self._place)
        return entry.copy()


@lru_cache(maxsize=64)
def _checked_entry(row: tuple[Any, ...]) -> Entry | None:
    """Return the entry of a row; None if the row does not match its hash.

    A question reads the last entries six times. The caches are keyed by all values of the row, so a row that changes is
    checked again, and the hash of a row that stays the same is computed once, by the process that wrote it or reads it
    first.
    """
    sequence, kind, time, analyst, refers, state_text, body_text, previous, stored = row
    try:
        state, body = json.loads(state_text), json.loads(body_text)
        own = None if state["own"] is None else Account.from_dict(state["own"])
        total, salt = Account.from_dict(state["total"]), body.pop("salt", None)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    entry = Entry(sequence, kind, time, analyst, refers, total, own, body, previous, salt)
    if _hashed.get(row) is not None:
        entry.__dict__["hash"] = stored  # a cached property of a frozen class; the texts are still compared
    return entry if (entry.state_text, entry.body_text, entry.hash) == (state_text, body_text, stored) else None


class Forkable(Protocol):
    """A store with a lock that is held while a transaction is open."""

    turn: threading.RLock


_open: WeakSet[Forkable] = WeakSet()
_held: list[Forkable] = []


def watch(one: Forkable) -> None:
    """Wait for its transaction before every fork, and give the child a new, free lock.

    A parent is never forked inside a transaction, and a child uses no connection of its parent.
    """
    _open.add(one)


def _before() -> None:
    for one in list(_open):
        one.turn.acquire()
        _held.append(one)


def _in_parent() -> None:
    while _held:
        _held.pop().turn.release()


def _in_child() -> None:
    while _held:
        _held.pop().turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
