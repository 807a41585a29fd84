"""The two clients of ClickHouse: a session in this process, or a server over HTTP; and the errors of both.

A client takes a SELECT and returns an Arrow file; everything else is shared.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

BEGINNING = re.compile(r"Code: (\d+)\. DB::")
RUNNING = {
    394: "cancelled",
    734: "cancelled",
    159: "timed-out",
    241: "out-of-memory",
    396: "out-of-memory",
    60: "schema-changed",
    47: "schema-changed",
    497: "not-permitted",
}
"""Codes of errors of a statement, by number."""

OPENING = {81: "no-database", **dict.fromkeys((192, 193, 194, 516), "login-refused")}
"""Codes of errors while connecting, by number."""


def number_of(error: BaseException) -> int | None:
    """Return the number of a ClickHouse error; None if it has none.

    Privacy: a message may quote a row. The number is taken from the driver, which reads it from a header of the
    response, or from the start of the message, where nothing of a row can occur.
    """
    number = getattr(error, "code", None)
    if isinstance(number, int):
        return number
    start = BEGINNING.match(str(error))
    return int(start[1]) if start else None


def code_of(error: BaseException) -> str | None:
    """Return the code of a known error of a statement."""
    return RUNNING.get(number_of(error) or 0)


FORMAT = "Arrow"
LONGEST_TEXT = 1 << 28
"""Maximum bytes of SQL, which contains the selected keys."""


class Client(Protocol):
    """A way to send statements to the engine."""

    def ask(self, sql: str) -> bytes:
        """Return the result of a SELECT as an Arrow file."""

    def command(self, sql: str) -> None:
        """Send a command, possibly while another statement runs."""

    def close(self) -> None:
        """Close what we opened."""


class InProcessClient:
    """A chdb session or connection, which runs one statement at a time; `beside` is a second one, for commands."""

    def __init__(self, session: Any, beside: Any | None) -> None:  # noqa: ANN401 - chdb has no types to name
        self._session = session
        self._beside = beside
        self._turn = threading.Lock()

    def ask(self, sql: str) -> bytes:
        """Run a SELECT when no other statement runs.

        The partial output of a failed statement appears in the result of the next one (chdb 4.4), so a dummy statement
        goes first. chdb's allocator keeps freed memory for seconds unless it is purged.
        """
        with self._turn:
            self._session.query("SELECT 1", "CSV")
            try:
                return bytes(self._session.query(sql, FORMAT).bytes())
            finally:
                with suppress(Exception):
                    self._session.query("SYSTEM JEMALLOC PURGE", "Null")

    def command(self, sql: str) -> None:
        """Send a command on the second session; without one, do nothing."""
        if self._beside is not None:
            self._beside.query(sql, "Null")

    def close(self) -> None:
        """Close both sessions."""
        for session in (self._beside, self._session):
            if session is not None:
                session.close()


class ServerClient:
    """A client of clickhouse-connect; with a server-side session it runs one statement at a time."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - an optional import
        self._client = client
        self._turn = threading.Lock()

    def ask(self, sql: str) -> bytes:
        """Run a SELECT in one request."""
        with self._in_turn():
            return bytes(self._client.raw_query(sql, fmt=FORMAT, settings={"max_query_size": LONGEST_TEXT}))

    def command(self, sql: str) -> None:
        """Send a command; a client with a session refuses it while a statement runs."""
        self._client.command(sql)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if not self._client.get_client_setting("session_id"):
            yield
            return
        with self._turn:
            yield
