"""The store of accounts in one SQLite file, which only its owner can read.

A write-ahead log lets the service read while a command writes; both see at once what the other has committed.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hedgerow.ledger.sqlite import committing
from hedgerow.service.access.store import (
    FORMAT,
    AccessStoreError,
    Execute,
    SqlAccessStore,
    definitions,
    store_closed,
    store_foreign,
    store_newer,
    store_unreachable,
)

PATIENCE = 10.0
"""Seconds that a writer waits for the others."""

APPLICATION_ID = 0x48454143
"""Application id of our files."""

OTHERS = 0o077
"""Permissions of everybody but the file's owner."""


class SQLiteAccessStore(SqlAccessStore):
    """Accounts and approval requests in one file, shared by threads and processes of one machine.

    Args:
        path: The file; created if there is none.
        patience: Seconds to wait for other writers.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        super().__init__("")
        self._path = path
        self._turn = threading.RLock()
        try:
            try:  # for its owner alone
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                _require_private(path)
            self._connection = _connect(path, patience)
        except OSError:
            raise store_unreachable(path) from None
        try:
            with _translating(path):
                _prepare(self._connection, path)
        except BaseException:
            self._connection.close()
            raise
        self._identity = _identity(path)
        self._closed = False

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Execute]:
        """One transaction of the file."""
        with self._turn, _translating(self._path):
            if self._closed:
                raise store_closed()
            if _identity(self._path) != self._identity:
                raise _replaced(self._path)
            with committing(self._connection, "BEGIN IMMEDIATE" if writing else "BEGIN"):
                yield self._execute

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._closed = True
            self._connection.close()

    def _execute(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - values of the database
        return self._connection.execute(sql, values).fetchall()


def _require_private(path: Path) -> None:
    """Refuse a file that others can read."""
    if os.name == "posix" and path.stat().st_mode & OTHERS:
        raise AccessStoreError(
            f"Other users of this machine may read {path}, which holds the verifiers of all accounts.",
            code="access-store-permissions",
            hint=f"Run: chmod 600 {path}. If others could read it for some time, rotate every account.",
        ) from None


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    with _translating(path):
        return sqlite3.connect(
            f"file:{quote(str(path))}?mode=rw",
            uri=True,
            timeout=patience,
            isolation_level=None,
            check_same_thread=False,
        )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables that an empty file or one of an older version lacks; refuse a foreign or newer file."""
    (application,), (version,), (tables,) = (
        connection.execute(sql).fetchone()
        for sql in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
    )
    if application != APPLICATION_ID and (application or tables):
        raise store_foreign(path)
    if version > FORMAT:
        raise store_newer(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA trusted_schema = OFF")
    if application == APPLICATION_ID and version == FORMAT:
        return
    with committing(connection, "BEGIN IMMEDIATE"):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        for definition in definitions("", "BLOB"):
            connection.execute(definition)


def _identity(path: Path) -> tuple[int, int]:
    """Return device and number of the file at `path`."""
    try:
        status = path.stat()
    except OSError:
        raise _replaced(path) from None
    return status.st_dev, status.st_ino


def _replaced(path: Path) -> AccessStoreError:
    return AccessStoreError(
        f"The accounts in {path} were moved, removed or replaced while they were in use.",
        hint="Put the file back, or restart the service.",
    )


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise store_foreign(path) from None
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise AccessStoreError(
                f"Another program has locked the accounts in {path} for too long.",
                hint="Try again when it has finished.",
            ) from None
        raise store_unreachable(path) from None
