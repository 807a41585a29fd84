"""Sources of connections: a pool with one connection per statement, or the owner's single connection."""

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

DEFAULT_CONNECTIONS = 8
"""Maximum number of open connections, unless the URL sets another."""

OLDEST = 140_000
NOWHERE = logging.NullHandler()
"""Without a handler, Python would print the driver's warnings, which contain host and user, to standard error."""

STEADY: dict[str, Any] = {
    "application_name": "hedgerow",
    "connect_timeout": 15,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def driver() -> ModuleType:
    """Import the driver, which is an optional dependency."""
    try:
        import psycopg  # noqa: PLC0415 - an optional dependency
        import psycopg.conninfo  # noqa: PLC0415 - likewise
    except ImportError:
        raise errors.driver_missing() from None
    logging.getLogger("psycopg").addHandler(NOWHERE)
    return psycopg


class ConnectionSource(Protocol):
    """A source of connections."""

    def acquire(self) -> "AbstractContextManager[Connection]":
        """Yield a connection for exclusive use, outside any transaction."""

    def close(self) -> None:
        """Close all connections."""


class ConnectionPool:
    """A pool of connections to a server.

    Args:
        url: The address, in PostgreSQL's own syntax.
        maximum: Maximum number of open connections; further statements wait.
        timeout: Maximum seconds that a statement waits for a connection.
    """

    def __init__(self, url: str, *, maximum: int, timeout: float) -> None:
        self._url = url
        self._maximum, self._timeout = maximum, timeout
        self._lock = threading.Lock()
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        """Start without connections: those of a parent process must be neither used nor closed."""
        self._process = os.getpid()
        self._idle: list[Connection] = []
        self._free = threading.BoundedSemaphore(self._maximum)

    @contextmanager
    def acquire(self) -> Iterator["Connection"]:
        """Yield an idle connection, or a new one; wait while all are in use."""
        with self._lock:
            if self._process != os.getpid():
                self._inherited = self._idle
                self._begin()
        free = self._free
        if not free.acquire(timeout=self._timeout):
            raise errors.pool_is_busy(self._maximum)
        try:
            connection = self._taken() or self.connected()
            try:
                yield connection
            finally:
                self._returned(connection)
        finally:
            free.release()

    def close(self) -> None:
        """Close idle connections now, and the others when they are returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _taken(self) -> "Connection | None":
        """Return an idle connection that is still alive, if there is one."""
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

    def connected(self) -> "Connection":
        """Return a new connection."""
        psycopg = driver()
        settings = {**STEADY, **psycopg.conninfo.conninfo_to_dict(self._url)}
        problem = None
        try:
            connection: Connection = psycopg.connect(**settings, autocommit=True, prepare_threshold=None)
        except (psycopg.Error, OSError, UnicodeError) as error:
            problem = errors.unreachable(error)
        if problem is not None:  # raised outside, so that the driver's error is not chained to it
            raise problem
        try:
            check(connection)
        except BaseException:
            connection.close()
            raise
        return connection


class BorrowedConnection:
    """The owner's connection: statements wait for each other, and it is never closed."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._checked = False

    @contextmanager
    def acquire(self) -> Iterator["Connection"]:
        """Yield the connection when nobody else uses it."""
        with self._turn:
            if not self._connection.closed and not is_idle(self._connection):
                raise errors.in_transaction()
            if not self._checked:
                check(self._connection)
                self._checked = True
            yield self._connection

    def close(self) -> None:
        """Do nothing: the connection is the owner's."""


def check(connection: "Connection") -> None:
    """Refuse a server that is too old or not in UTF-8."""
    if connection.info.server_version < OLDEST:
        raise errors.too_old(connection.info.server_version)
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise errors.encoding()


def is_idle(connection: "Connection") -> bool:
    """Return True if the connection is open and has no open transaction."""
    status = connection.info.transaction_status
    return not connection.closed and status == driver().pq.TransactionStatus.IDLE


def is_alive(connection: "Connection") -> bool:
    """Return True if the server still answers on an idle connection."""
    try:
        connection.execute("")
    except driver().Error:
        return False
    return is_idle(connection)
