"""The rows of a ledger in PostgreSQL as entries and releases."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.ledger import postgres_faults as faults
from hedgerow.ledger import rows as pages
from hedgerow.ledger.entries import Account, Entry, digest
from hedgerow.ledger.postgres_transaction import Statement, together
from hedgerow.ledger.store import StoredRelease

if TYPE_CHECKING:
    from psycopg import Connection

_COLUMNS = "sequence, kind, time, analyst, refers, state, body, previous, hash"
_ENTRY = f"SELECT {_COLUMNS}"
_RELEASE = "SELECT charge, fingerprint, version, noise, payload"
_QUESTION = "AND fingerprint = %s AND version IS NOT DISTINCT FROM %s::text"


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the rows of one ledger are, and what it is called in messages."""

    schema: str
    ledger: str
    place: str

    @property
    def entries(self) -> str:
        """The ledger's entries; its id is the first value."""
        return f"FROM {self.schema}.entries WHERE ledger = %s"

    @property
    def releases(self) -> str:
        """The ledger's releases, likewise."""
        return f"FROM {self.schema}.releases WHERE ledger = %s"

    def standing(self, seen: int) -> Statement:
        """How the ledger stands, and what it has as its entry `seen`."""
        known = f"SELECT hash {self.entries} AND sequence = %s"
        latest = f"{_ENTRY} {self.entries} ORDER BY sequence DESC LIMIT 1"
        sql = f"SELECT format, ({known}), latest.* FROM {self.schema}.ledgers LEFT JOIN ({latest}) latest ON true"
        return f"{sql} WHERE ledger = %s", (self.ledger, seen, self.ledger, self.ledger)

    def additions(self, entry: Entry, release: StoredRelease | None = None) -> list[Statement]:
        """How to add one entry, and the release that it answers with."""
        added = [
            self._addition(
                "entries",
                entry.sequence,
                entry.kind,
                entry.time,
                entry.analyst,
                entry.refers,
                entry.state_text,
                entry.body_text,
                entry.previous,
                entry.hash,
            )
        ]
        if release is not None:
            values = (release.charge, release.fingerprint, release.version, release.noise, release.payload)
            added.append(self._addition("releases", entry.sequence, *values))
        return added

    def _addition(self, table: str, *values: str | int | bytes | None) -> Statement:
        marks = ", ".join(["%s"] * (1 + len(values)))
        return f"INSERT INTO {self.schema}.{table} VALUES ({marks})", (self.ledger, *values)


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The format of a ledger, the hash of an entry that was asked for, and the row of its last entry."""

    format: int
    known: str | None
    latest: tuple[Any, ...]


class PostgresRows:
    """Entries and releases of one ledger, as rows of one transaction.

    What is added is put off: it goes to the server with the commit, or before the next look.
    """

    def __init__(
        self, connection: "Connection", tables: Tables, standing: LedgerState, put_off: list[Statement]
    ) -> None:
        self._connection = connection
        self._tables = tables
        self._put_off = put_off
        if standing.latest[0] is None:
            raise faults.damaged(tables.place)
        self._latest = self._read(standing.latest)

    @property
    def tip(self) -> tuple[int, str]:
        """The number and hash of the last entry."""
        return self._latest.sequence, self._latest.hash

    def first(self) -> Entry:
        """The entry that opened the ledger."""
        return self._required("AND sequence = 0")

    def last(self) -> Entry:
        """The latest entry, with the running totals."""
        self._flush()
        return self._latest

    def last_terms(self) -> Entry:
        """The latest entry that states terms."""
        return self._required("AND kind IN ('opened', 'raised') ORDER BY sequence DESC LIMIT 1")

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""
        return self._one("AND sequence = %s", sequence)

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge."""
        return self._one("AND kind = 'charged' AND analyst = %s ORDER BY sequence DESC LIMIT 1", analyst)

    def outcome_of(self, sequence: int) -> Entry | None:
        """The entry that follows from this one, if there is one."""
        return self._one("AND refers IS NOT NULL AND refers = %s", sequence)

    def analysts(self) -> list[str]:
        """Everybody who was ever charged."""
        rows = self._rows(f"SELECT DISTINCT analyst {self._tables.entries} AND kind = 'charged' ORDER BY analyst")
        return [str(name) for (name,) in rows]

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Some entries (or charges of one analyst) in order, from the first one behind `after`."""
        where = "AND sequence > %s" + ("" if analyst is None else " AND kind = 'charged' AND analyst = %s")
        values = (after,) if analyst is None else (after, analyst)
        rows = self._rows(f"{_ENTRY} {self._tables.entries} {where} ORDER BY sequence LIMIT {pages.PAGE}", *values)
        return [self._read(row) for row in rows]

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question about one version of the data, the latest first."""
        where = f"{_QUESTION} AND length(payload) > 0 ORDER BY sequence DESC"
        rows = self._rows(f"{_RELEASE} {self._tables.releases} {where}", fingerprint, version)
        return [StoredRelease(*row) for row in rows]

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""
        noted = f"SELECT sequence {self._tables.releases} {_QUESTION} AND length(payload) = 0"
        where = f"AND sequence IN ({noted}) ORDER BY sequence DESC"
        rows = self._rows(f"{_ENTRY} {self._tables.entries} {where}", self._tables.ledger, fingerprint, version)
        return [self._read(row) for row in rows]

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""
        row = self._row(f"{_RELEASE} {self._tables.releases} AND sequence = %s", sequence)
        return None if row is None else StoredRelease(*row)

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        self._put_off += self._tables.additions(entry, release)
        self._latest = entry

    def whole(self) -> bool:
        """Whether the indexes lead to every row that the tables hold."""
        indexed = self._counts(seqscan="off", indexscan="on", indexonlyscan="on", bitmapscan="on")
        return indexed == self._counts(seqscan="on", indexscan="off", indexonlyscan="off", bitmapscan="off")

    def _counts(self, **ways: str) -> tuple[Any, ...] | None:
        """How many entries and releases there are, when looked for in these ways."""
        for way, switch in ways.items():
            self._connection.execute(f"SET LOCAL enable_{way} = {switch}")
        return self._row(
            f"SELECT count(*), (SELECT count(*) {self._tables.releases}) {self._tables.entries}", self._tables.ledger
        )

    def _flush(self) -> None:
        """Say now what was put off: somebody wants to read it."""
        if self._put_off:
            together(self._connection, self._put_off)
            self._put_off.clear()

    def _rows(self, sql: str, *values: str | int | None) -> list[tuple[Any, ...]]:
        self._flush()
        return self._connection.execute(sql, (self._tables.ledger, *values)).fetchall()

    def _row(self, sql: str, *values: str | int | None) -> tuple[Any, ...] | None:
        self._flush()
        return self._connection.execute(sql, (self._tables.ledger, *values)).fetchone()

    def _required(self, which: str) -> Entry:
        if (found := self._one(which)) is None:
            raise faults.damaged(self._tables.place)
        return found

    def _one(self, which: str, *values: str | int) -> Entry | None:
        row = self._row(f"{_ENTRY} {self._tables.entries} {which}", *values)
        return None if row is None else self._read(row)

    def _read(self, row: tuple[Any, ...]) -> Entry:
        """The entry of a row, if the row still hashes to what it says."""
        sequence, kind, time, analyst, refers, state_text, body_text, previous, stored = row
        if digest(sequence, kind, time, analyst, refers, state_text, body_text, previous) != stored:
            raise faults.damaged(self._tables.place)
        state, body = json.loads(state_text), json.loads(body_text)
        own = None if state["own"] is None else Account.from_dict(state["own"])
        return Entry(sequence, kind, time, analyst, refers, Account.from_dict(state["total"]), own, body, previous)
