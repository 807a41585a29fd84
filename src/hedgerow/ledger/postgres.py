"""Ledgers in a PostgreSQL database, for several servers: one for each dataset in a schema.

Writers take turns by an advisory lock that ends with the transaction, so the role needs SELECT and INSERT and
nothing else. The lock keeps order; what makes two charges at once impossible is the primary key: who writes
without waiting for a turn finds the number of the next entry taken.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hedgerow.ledger import postgres_faults as faults
from hedgerow.ledger.entries import FORMAT
from hedgerow.ledger.forking import watch
from hedgerow.ledger.postgres_address import Address, driver
from hedgerow.ledger.postgres_rows import LedgerState, PostgresRows, Tables
from hedgerow.ledger.postgres_transaction import (
    Statement,
    begin_reading,
    begin_writing,
    finishing,
    together,
    translating,
    undo,
)

if TYPE_CHECKING:
    from psycopg import Connection

_inherited: list["Connection"] = []
"""Connections of a parent process: not ours to use or to close."""


class PostgresStore:
    """A book of entries in a PostgreSQL database, shared by threads, processes and servers.

    Args:
        address: The schema that it is in.
        ledger: Its id.
        connection: To that database; the store owns it, and makes a new one when it is lost.
        place: What it is called in messages.
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
        """Look at one consistent state of the book."""
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
            raise faults.damaged(self._place)

    def close(self) -> None:
        """Let go of the connection."""
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
            raise faults.locked(self._place)
        try:
            if self._closed:
                raise faults.closed(self._place)
            with translating(self._place, writing=writing):
                found = self._start([*begin, self._tables.standing(self._seen[0])])
                with finishing(self._connection, self._place) as put_off:
                    standing = self._checked(found, beginning=beginning)
                    rows = PostgresRows(self._connection, self._tables, standing, put_off)
                    yield rows
            self._seen = rows.tip
        finally:
            turn.release()

    def _start(self, begin: list[Statement]) -> LedgerState | None:
        """Begin, on a new connection where the old one is a parent's or was lost since: nothing was said on it yet."""
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

    def _checked(self, found: LedgerState | None, *, beginning: bool) -> LedgerState:
        """Refuse a ledger from the future, one that is gone, and one that has forgotten what we saw in it."""
        if found is None:
            raise faults.lost(self._place)
        if found.format > FORMAT:
            raise faults.newer(self._place)
        if not beginning and found.known != self._seen[1]:
            raise faults.lost(self._place)
        return found
