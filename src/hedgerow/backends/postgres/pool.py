"""Sources of connections: a pool with one for each statement, or the one that was handed in, in turns."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from hedgerow.backends.postgres import errors

if TYPE_CHECKING:
    from psycopg import Connection

MOST = 8
"""Connections that may be open at once, unless the URL says otherwise."""

OLDEST = 140_000
NOWHERE = logging.NullHandler()
"""Without a handler, Python would print the driver's warnings, which name host and user, to standard error."""

STEADY: dict[str, Any] = {
    "application_name": "hedgerow",
    "connect_timeout": 15,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def driver() -> ModuleType:
    """The driver, which is an extra."""
    try:
        import psycopg  # noqa: PLC0415 - the base install does without it
        import psycopg.conninfo  # noqa: PLC0415 - likewise
    except ImportError:
        raise errors.driver_missing() from None
    logging.getLogger("psycopg").addHandler(NOWHERE)
    return psycopg


class ConnectionSource(Protocol):
    """Somebody who has connections."""

    def acquire(self) -> "AbstractContextManager[Connection]":
        """A connection that nobody else uses meanwhile, outside of any transaction."""

    def close(self) -> None:
        """Let go of all of them."""


class ConnectionPool:
    """A server by its address: a pool of connections.

    Args:
        url: The address, in PostgreSQL's own form.
        most: How many connections may be open at once; further statements wait.
        patience: Seconds that a statement waits for a connection.
    """

    def __init__(self, url: str, *, most: int, patience: float) -> None:
        self._url = url
        self._most, self._patience = most, patience
        self._lock = threading.Lock()
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        """Start with no connection: those of a parent process are not ours to use or to close."""
        self._process = os.getpid()
        self._idle: list[Connection] = []
        self._free = threading.BoundedSemaphore(self._most)

    @contextmanager
    def acquire(self) -> Iterator["Connection"]:
        """Yield an idle connection, or a new one; wait while all are in use."""
        with self._lock:
            if self._process != os.getpid():
                self._inherited = self._idle
                self._begin()
        free = self._free
        if not free.acquire(timeout=self._patience):
            raise errors.pool_is_busy(self._most)
        try:
            connection = self._taken() or self._connected()
            try:
                yield connection
            finally:
                self._returned(connection)
        finally:
            free.release()

    def close(self) -> None:
        """Close those that are idle; one that runs is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _taken(self) -> "Connection | None":
        """An idle one that is still there."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if is_alive(connection):
                    return connection
                connection.close()
        return None

    def _returned(self, connection: "Connection") -> None:
        with self._lock:
            if not self._closed and is_idle(connection):
                self._idle.append(connection)
                return
        connection.close()

    def _connected(self) -> "Connection":
        psycopg = driver()
        settings = {**STEADY, **psycopg.conninfo.conninfo_to_dict(self._url)}
        problem = None
        try:
            connection: Connection = psycopg.connect(**settings, autocommit=True, prepare_threshold=None)
        except (psycopg.Error, OSError, UnicodeError) as error:
            problem = errors.unreachable(error)
        if problem is not None:  # raised out here, so that the driver's own words do not hang on to it
            raise problem
        try:
            check(connection)
        except BaseException:
            connection.close()
            raise
        return connection


class BorrowedConnection:
    """A connection handed in: statements wait for their turn, and it stays its owner's."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._checked = False

    @contextmanager
    def acquire(self) -> Iterator["Connection"]:
        """The connection, in turns."""
        with self._turn:
            if not self._connection.closed and not is_idle(self._connection):
                raise errors.in_transaction()
            if not self._checked:
                check(self._connection)
                self._checked = True
            yield self._connection

    def close(self) -> None:
        """It is not ours to close."""


def check(connection: "Connection") -> None:
    """Refuse a server that is too old, or that keeps its text otherwise."""
    if connection.info.server_version < OLDEST:
        raise errors.too_old(connection.info.server_version)
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise errors.encoding()


def is_idle(connection: "Connection") -> bool:
    """Return True if the connection is open and outside of any transaction."""
    status = connection.info.transaction_status
    return not connection.closed and status == driver().pq.TransactionStatus.IDLE


def is_alive(connection: "Connection") -> bool:
    """Return True if the server still answers; one that went away while the connection lay idle is noticed here."""
    try:
        connection.execute("")
    except driver().Error:
        return False
    return is_idle(connection)
