"""Ledgers in a PostgreSQL database, for several servers: one for each dataset in a schema.

Writers take turns by an advisory lock that ends with the transaction, so the role needs only SELECT and INSERT. The
lock keeps order; the primary key makes two simultaneous charges impossible: a writer that does not wait for its turn
finds the number of the next entry taken.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.ledger import errors
from hedgerow.ledger.entries import FORMAT, Entry
from hedgerow.ledger.postgres_connection import (
    Address,
    Statement,
    begin_reading,
    begin_writing,
    driver,
    finishing,
    together,
    translating,
    undo,
)
from hedgerow.ledger.store import ENTRY, Rows, StoredRelease, Value, indexes, inserted_rows, watch

if TYPE_CHECKING:
    from psycopg import Connection


TABLES = ("ledgers", "entries", "releases")


def definition(schema: str) -> str:
    """The tables, for all ledgers of one schema. Triggers refuse every change of a row."""
    text = 'text COLLATE "C"'
    guards = "".join(
        f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.{table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only();\n"
        for table in TABLES
    )
    return f"""
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE {schema}.ledgers (
    ledger {text} PRIMARY KEY,
    dataset {text} NOT NULL UNIQUE,
    format integer NOT NULL
);
CREATE TABLE {schema}.entries (
    ledger {text} NOT NULL,
    sequence bigint NOT NULL CHECK (sequence >= 0),
    kind {text} NOT NULL,
    time {text} NOT NULL,
    analyst {text},
    refers bigint,
    state text NOT NULL,
    body text NOT NULL,
    previous {text} NOT NULL,
    hash {text} NOT NULL,
    PRIMARY KEY (ledger, sequence)
);
CREATE TABLE {schema}.releases (
    ledger {text} NOT NULL,
    sequence bigint NOT NULL,
    charge bigint NOT NULL,
    fingerprint {text} NOT NULL,
    version {text},
    noise text NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (ledger, sequence),
    UNIQUE (ledger, charge)
);
{indexes(f"{schema}.", "ledger, ")}
CREATE FUNCTION {schema}.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = 'restrict_violation'; END $$;
{guards}"""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one ledger, and its name in messages."""

    schema: str
    ledger: str
    place: str

    def state_query(self, seen: int) -> Statement:
        """Query for the state of the ledger and for the hash of its entry `seen`."""
        mine = f"FROM {self.schema}.entries WHERE ledger = %s"
        known, latest = f"SELECT hash {mine} AND sequence = %s", f"{ENTRY} {mine} ORDER BY sequence DESC LIMIT 1"
        sql = f"SELECT format, ({known}), latest.* FROM {self.schema}.ledgers LEFT JOIN ({latest}) latest ON true"
        return f"{sql} WHERE ledger = %s", (self.ledger, seen, self.ledger, self.ledger)

    def additions(self, entry: Entry, release: StoredRelease | None = None) -> list[Statement]:
        """Statements that add one entry, and the release that it answers with."""
        return [
            (
                f"INSERT INTO {self.schema}.{table} VALUES ({', '.join(['%s'] * (1 + len(values)))})",
                (self.ledger, *values),
            )
            for table, values in inserted_rows(entry, release)
        ]


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The format of a ledger, the hash of an entry that was asked for, and the row of its last entry."""

    format: int
    known: str | None
    latest: tuple[Any, ...]


class PostgresRows(Rows):
    """Entries and releases of one ledger, in one transaction.

    An addition is deferred: it is sent to the server with the commit, or before the next query.
    """

    same_version = "version IS NOT DISTINCT FROM ?::text"

    def __init__(self, connection: "Connection", tables: Tables, state: LedgerState, put_off: list[Statement]) -> None:
        entries, releases = (f"{tables.schema}.{table} WHERE ledger = ?" for table in ("entries", "releases"))
        super().__init__(tables.place, entries, releases, (tables.ledger,))
        self._connection = connection
        self._tables = tables
        self._put_off = put_off
        if state.latest[0] is None:
            raise errors.damaged(tables.place)
        self._latest = self.to_entry(state.latest)

    @property
    def tip(self) -> tuple[int, str]:
        """The number and hash of the last entry."""
        return self._latest.sequence, self._latest.hash

    def select(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """Run a query, and before it the deferred statements."""
        self._flush()
        return self._connection.execute(sql.replace("?", "%s"), values).fetchall()

    def last(self) -> Entry:
        """Return the latest entry, with the running totals; it was read at the beginning of the transaction."""
        self._flush()
        return self._latest

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        self._put_off += self._tables.additions(entry, release)
        self._latest = entry

    def whole(self) -> bool:
        """Compare the number of rows that the indexes find with the number of rows in the tables."""
        indexed = self._counts(seqscan="off", indexscan="on", indexonlyscan="on", bitmapscan="on")
        return indexed == self._counts(seqscan="on", indexscan="off", indexonlyscan="off", bitmapscan="off")

    def _counts(self, **ways: str) -> list[tuple[Any, ...]]:
        """Return the numbers of entries and of releases, counted in these ways."""
        for way, switch in ways.items():
            self._connection.execute(f"SET LOCAL enable_{way} = {switch}")
        both = f"SELECT count(*), (SELECT count(*) FROM {self._releases}) FROM {self._entries}"
        return self.select(both, *self._scope, *self._scope)

    def _flush(self) -> None:
        if self._put_off:
            together(self._connection, self._put_off)
            self._put_off.clear()


_inherited: list["Connection"] = []
"""Connections of a parent process, which this process must not use or close."""


class PostgresStore:
    """A book of entries in a PostgreSQL database, shared by threads, processes and servers.

    Args:
        address: The schema that it is in.
        ledger: Its id.
        connection: To that database; the store owns it, and makes a new one when it is lost.
        place: Its name in messages.
        patience: Seconds to wait for other writers.
    """

    def __init__(self, address: Address, ledger: str, connection: "Connection", *, place: str, patience: float) -> None:
        self._address = address
        self._tables = Tables(address.schema, ledger, place)
        self._place = place
        self._patience = patience
        self.turn = threading.RLock()
        self._seen: tuple[int, str] = (0, "")
        self._closed = False
        self._process = os.getpid()
        self._connection = connection
        with self._block(writing=False, beginning=True) as rows:
            rows.last()
        watch(self)

    @contextmanager
    def read(self) -> Iterator[PostgresRows]:
        """Read one consistent state of the book."""
        with self._block(writing=False) as rows:
            yield rows

    @contextmanager
    def write(self) -> Iterator[PostgresRows]:
        """Write to the book: durable when the block ends, undone if it raises."""
        with self._block(writing=True) as rows:
            yield rows

    def check(self) -> None:
        """Compare the tables with what their indexes lead to."""
        with self._block(writing=False) as rows:
            whole = rows.whole()
        if not whole:
            raise errors.damaged(self._place)

    def close(self) -> None:
        """Close the connection."""
        with self.turn:
            self._closed = True
            if self._process == os.getpid():
                self._connection.close()

    @contextmanager
    def _block(self, *, writing: bool, beginning: bool = False) -> Iterator[PostgresRows]:
        wait, names = self._patience, (self._tables.schema, self._tables.ledger)
        begin = begin_writing(wait, *names) if writing else begin_reading(wait)
        turn = self.turn
        if not turn.acquire(timeout=self._patience):
            raise errors.locked(self._place)
        try:
            if self._closed:
                raise errors.closed(self._place)
            with translating(self._place, writing=writing):
                state = self._start([*begin, self._tables.state_query(self._seen[0])])
                with finishing(self._connection, self._place) as put_off:
                    state = self._checked(state, beginning=beginning)
                    rows = PostgresRows(self._connection, self._tables, state, put_off)
                    yield rows
            self._seen = rows.tip
        finally:
            turn.release()

    def _start(self, begin: list[Statement]) -> LedgerState | None:
        """Begin a transaction, on a new connection if the old one is a parent's or was lost before its first use."""
        if self._process != os.getpid():
            _inherited.append(self._connection)
            self._reconnect()
        try:
            return self._begin(begin)
        except driver().OperationalError:
            if not self._connection.closed:
                raise
        self._reconnect()
        return self._begin(begin)

    def _begin(self, begin: list[Statement]) -> LedgerState | None:
        try:
            row = together(self._connection, begin).fetchone()
        except BaseException:
            undo(self._connection)
            raise
        return None if row is None else LedgerState(row[0], row[1], row[2:])

    def _reconnect(self) -> None:
        self._connection = self._address.connect(self._patience)
        self._process = os.getpid()

    def _checked(self, state: LedgerState | None, *, beginning: bool) -> LedgerState:
        """Refuse a ledger from a newer version, one that is gone, and one that lost entries we have seen."""
        if state is None:
            raise errors.lost(self._place)
        if state.format > FORMAT:
            raise errors.newer(self._place)
        if not beginning and state.known != self._seen[1]:
            raise errors.lost(self._place)
        return state


def find(address: Address, dataset: str, ledger: str | None, patience: float) -> PostgresStore | None:
    """The ledger of a dataset; None if it has none; raise a `LedgerError` if the one in the catalog is missing."""
    place = name(address, dataset)
    connection = address.connect(patience)
    try:
        with translating(place, writing=False):
            identity = _identity(connection, address, dataset, ledger, place)
        if identity is not None:
            return PostgresStore(address, identity, connection, place=place, patience=patience)
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def name(address: Address, dataset: str) -> str:
    """The name of a ledger in messages."""
    return f"of {dataset} in {address}"


def _identity(connection: "Connection", address: Address, dataset: str, ledger: str | None, place: str) -> str | None:
    """Return the id of the ledger, if there is one."""
    ids = dict(_ledgers(connection, address, dataset, ledger)) if _has_tables(connection, address) else {}
    if ledger is None:
        return next(iter(ids), None)
    if ledger not in ids:
        raise errors.other_id(place) if ids else errors.missing(place)
    if ids[ledger] != dataset:
        raise errors.other_dataset(place)
    return ledger


def _ledgers(connection: "Connection", address: Address, dataset: str, ledger: str | None) -> list[tuple[str, str]]:
    """The ledger of the dataset and the ledger of the id, with their datasets."""
    return connection.execute(
        f"SELECT ledger, dataset FROM {address.schema}.ledgers WHERE dataset = %s OR ledger = %s::text",
        (dataset, ledger),
    ).fetchall()


def _has_tables(connection: "Connection", address: Address) -> bool:
    """Look for the tables of ledgers in the schema; refuse those of another program."""
    names = ", ".join(f"to_regclass('{address.schema}.{table}') IS NOT NULL" for table in TABLES)
    present = connection.execute(f"SELECT {names}").fetchone() or ()
    if any(present) and not all(present):
        raise errors.foreign(address)
    return all(present)


def write_new(address: Address, opening: Entry, patience: float) -> None:
    """Create a ledger, completely or not at all, and the tables if it is the first."""
    dataset, ledger = opening.body["dataset"], opening.body["ledger"]
    place = name(address, dataset)
    connection = address.connect(patience)
    try:
        with translating(place, writing=True):
            together(connection, begin_writing(patience, address.schema))
            with finishing(connection, place) as put_off:
                if not _has_tables(connection, address):
                    connection.execute(definition(address.schema))
                elif any(known == dataset for _, known in _ledgers(connection, address, dataset, None)):
                    raise errors.exists(place)
                put_off.append((f"INSERT INTO {address.schema}.ledgers VALUES (%s, %s, %s)", (ledger, dataset, FORMAT)))
                put_off.extend(Tables(address.schema, ledger, place).additions(opening))
    finally:
        connection.close()


def caution(address: Address, patience: float) -> str | None:
    """Return a warning about a server that does not write to its disk at once."""
    connection = address.connect(patience)
    try:
        with translating(address, writing=False):
            row = connection.execute("SELECT current_setting('fsync')").fetchone()
    finally:
        connection.close()
    if row == ("on",):
        return None
    return (
        f"The server of {address} runs with fsync off: unless its storage is durable by itself, it can forget charges."
    )
