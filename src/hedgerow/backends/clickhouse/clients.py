"""The two ways to ClickHouse: a session in this process, or a server behind HTTP.

A client does one thing, so that everything else is shared: it takes a SELECT and gives an Arrow file.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

FORMAT = "Arrow"
LONGEST_TEXT = 1 << 28
"""Bytes of SQL: the keys that were selected stand in it."""


class Client(Protocol):
    """How a statement reaches the engine."""

    def ask(self, sql: str) -> bytes:
        """Return the result of a SELECT as an Arrow file."""

    def command(self, sql: str) -> None:
        """Tell the engine something about itself, while another statement may run."""

    def close(self) -> None:
        """Let go of what we opened."""


class InProcessClient:
    """A chdb session or connection. It takes one statement after the other; `beside` is a second one, for commands."""

    def __init__(self, session: Any, beside: Any | None) -> None:  # noqa: ANN401 - chdb has no types to name
        self._session = session
        self._beside = beside
        self._turn = threading.Lock()

    def ask(self, sql: str) -> bytes:
        """Waits its turn.

        A statement that failed leaves what it had written to the next one (chdb 4.4), so one that is not looked at goes
        first. What a statement has freed stays with chdb's allocator for seconds, beside what the next one takes,
        unless it is told to give it back.
        """
        with self._turn:
            self._session.query("SELECT 1", "CSV")
            try:
                return bytes(self._session.query(sql, FORMAT).bytes())
            finally:
                with suppress(Exception):
                    self._session.query("SYSTEM JEMALLOC PURGE", "Null")

    def command(self, sql: str) -> None:
        """On the second session; without one there is nothing that could be told while the first is busy."""
        if self._beside is not None:
            self._beside.query(sql, "Null")

    def close(self) -> None:
        """Both sessions, where they are ours."""
        for session in (self._beside, self._session):
            if session is not None:
                session.close()


class ServerClient:
    """A client of clickhouse-connect. A client with a session takes one statement after the other."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - imported only where it is there
        self._client = client
        self._turn = threading.Lock()

    def ask(self, sql: str) -> bytes:
        """One request."""
        with self._in_turn():
            return bytes(self._client.raw_query(sql, fmt=FORMAT, settings={"max_query_size": LONGEST_TEXT}))

    def command(self, sql: str) -> None:
        """A client with a session refuses a second request while one runs; then it cannot be told anything."""
        self._client.command(sql)

    def close(self) -> None:
        """The client, where it is ours."""
        self._client.close()

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if not self._has_session():
            yield
            return
        with self._turn:
            yield

    def _has_session(self) -> bool:
        return bool(self._client.get_client_setting("session_id"))
