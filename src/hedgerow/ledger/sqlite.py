"""A ledger in one SQLite file.

The file is the whole ledger: it has a rollback journal (DELETE) with synchronous=EXTRA, not a write-ahead log, which
keeps recent charges in a side file that a copy forgets. Only SQLite opens the file: closing any other descriptor of it
in this process would drop the locks that SQLite holds.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hedgerow.ledger import errors
from hedgerow.ledger.entries import CONTINUED, FORMAT, Entry
from hedgerow.ledger.store import Rows, StoredRelease, Value, indexes, inserted_rows, watch

PATIENCE = 30.0
"""Seconds that a writer waits for the others."""

SMALL = 32 * 2**20
"""Up to this size, opening a ledger checks every page."""

APPLICATION_ID = 0x48454447
"""Application id of our files."""

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
{indexes()}
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""


class SQLiteRows(Rows):
    """Entries and releases of a file, in one transaction."""

    same_version = "version IS ?"

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(path, "entries WHERE true", "releases WHERE true")
        self._connection = connection
        self.tip = (-1, "")
        """The number and hash of the last entry, once `hash_of` or `append` was called."""

    def select(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self._connection.execute(sql, values).fetchall()

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        for table, values in inserted_rows(entry, release):
            marks = ", ".join("?" * len(values))
            self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)
        self.tip = entry.sequence, entry.hash
        if entry.kind == CONTINUED:
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")  # older programs refuse the file from now on

    def hash_of(self, sequence: int) -> str | None:
        """Return the stored hash of one entry, and note the last one as the tip."""
        end = "SELECT sequence, hash FROM entries ORDER BY sequence DESC LIMIT 1"
        both = f"SELECT tip.*, (SELECT hash FROM entries WHERE sequence = ?) FROM ({end}) AS tip"
        if not (rows := self.select(both, sequence)):
            return None
        *tip, stored = rows[0]
        self.tip = (tip[0], tip[1])
        return None if stored is None else str(stored)


class SQLiteStore:
    """A book of entries in one SQLite file, shared by threads and processes.

    Args:
        path: The file, which must exist.
        patience: Seconds to wait for other writers.
    """

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self.turn = threading.RLock()
        self._closed = False
        self._connect()
        watch(self)

    def _connect(self) -> None:
        self._process = os.getpid()
        self._identity = _identity(self._path)
        self._connection = _connection(self._path, self._patience)
        try:
            _check_kind(self._connection, self._path)
            _check_pages(self._connection, self._path)
            last = SQLiteRows(self._connection, self._path).last()
            self._seen = (last.sequence, last.hash)
        except sqlite3.Error as error:
            self._connection.close()
            raise errors.from_sqlite(error, self._path) from None
        except BaseException:
            self._connection.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @contextmanager
    def read(self) -> Iterator[SQLiteRows]:
        """Read one consistent state of the book."""
        with self._block("BEGIN") as rows:
            yield rows

    @contextmanager
    def write(self) -> Iterator[SQLiteRows]:
        """Write to the book: durable when the block ends, undone if it raises."""
        with self._block("BEGIN IMMEDIATE") as rows:
            yield rows

    @contextmanager
    def _block(self, begin: str) -> Iterator[SQLiteRows]:
        turn = self.turn
        if not turn.acquire(timeout=self._patience):
            raise errors.locked(self._path)
        try:
            if self._closed:
                raise errors.closed(self._path)
            if self._process != os.getpid():
                self._connect()
            with _translating(self._path), committing(self._connection, begin):
                rows = SQLiteRows(self._connection, self._path)
                self._check_continuity(rows)
                yield rows
            self._seen = rows.tip
        finally:
            turn.release()

    def _check_continuity(self, rows: SQLiteRows) -> None:
        """Refuse a file that was replaced, or that lost entries we have seen."""
        if _identity(self._path) != self._identity:
            raise errors.lost(self._path)
        _check_kind(self._connection, self._path)
        if rows.hash_of(self._seen[0]) != self._seen[1]:
            raise errors.lost(self._path)

    def check(self) -> None:
        """Compare every page and every index with the tables."""
        with self._block("BEGIN"):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise errors.damaged(self._path)

    def close(self) -> None:
        """Close the file."""
        with self.turn:
            self._closed = True
            self._connection.close()


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into the ledger's."""
    try:
        yield
    except sqlite3.Error as error:
        raise errors.from_sqlite(error, path) from None


@contextmanager
def committing(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """One transaction: committed at the end, rolled back by an exception."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _identity(path: Path) -> tuple[int, int]:
    """Device and number of the file at `path`, whatever its name."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise errors.lost(path) from None
    except OSError:
        raise errors.unreachable(path) from None
    if status.st_size == 0:
        raise errors.empty(path)
    return status.st_dev, status.st_ino


def _connection(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that commits durably, to a file that exists."""
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=rw",
            uri=True,
            timeout=patience,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise errors.from_sqlite(error, path) from None
    try:
        (journal,) = settle(connection)
    except sqlite3.Error as error:
        connection.close()
        raise errors.from_sqlite(error, path) from None
    if journal != "delete":
        connection.close()
        raise errors.locked(path)
    return connection


def settle(connection: sqlite3.Connection) -> tuple[str]:
    """Apply the settings that make COMMIT durable, including the journal mode, which others may have changed."""
    mode: tuple[str] = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return mode


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the file is a ledger, and not from a newer version."""
    header = "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
    application, version = connection.execute(header).fetchone()
    if application != APPLICATION_ID:
        raise errors.foreign(path)
    if version > FORMAT:
        raise errors.newer(path)


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Check every page of a file of moderate size."""
    if path.stat().st_size > SMALL:
        return
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise errors.damaged(path)


def write_new(path: Path, opening: Entry) -> None:
    """Create a ledger at `path`, completely or not at all; `FileExistsError` if something is there.

    It is written under another name and then linked, so that no reader ever sees an unfinished one.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        with _translating(path):
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                settle(connection)
                connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
                SQLiteRows(connection, path).append(opening)
            finally:
                connection.close()
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        raise errors.unreachable(path) from None
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where folders can be synchronised."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
