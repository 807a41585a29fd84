"""A ledger in one SQLite file.

The one file is the whole ledger: a rollback journal (DELETE) with synchronous=EXTRA, not a write-ahead
log, which keeps fresh charges in a side file that a copy forgets. Nothing but SQLite opens the file: closing
any other descriptor of it in this process would drop the locks that SQLite holds.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from hedgerow.ledger import faults
from hedgerow.ledger.entries import FORMAT, Entry
from hedgerow.ledger.forking import watch
from hedgerow.ledger.rows import APPLICATION_ID, SCHEMA, SQLiteRows

PATIENCE = 30.0
"""Seconds that a writer waits for the others."""

SMALL = 32 * 2**20
"""Up to this size a ledger is checked page by page when it is opened."""


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
        self._seen: tuple[int, str] | None = None
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
            self._remember(SQLiteRows(self._connection, self._path).last())
        except sqlite3.Error as error:
            self._connection.close()
            raise faults.translated(error, self._path) from None
        except BaseException:
            self._connection.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @contextmanager
    def read(self) -> Iterator[SQLiteRows]:
        """Look at one consistent state of the book."""
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
            raise faults.locked(self._path)
        try:
            if self._closed:
                raise faults.closed(self._path)
            if self._process != os.getpid():
                self._connect()
            with _translating(self._path), _transaction(self._connection, begin):
                rows = SQLiteRows(self._connection, self._path)
                self._check_continuity(rows)
                yield rows
                tip = rows.tip()
            self._seen = tip
        finally:
            turn.release()

    def _check_continuity(self, rows: SQLiteRows) -> None:
        """Refuse a file that is not the one we knew, or that has forgotten what we saw in it."""
        if _identity(self._path) != self._identity:
            raise faults.lost(self._path)
        _check_kind(self._connection, self._path)
        if self._seen is not None and rows.hash_of(self._seen[0]) != self._seen[1]:
            raise faults.lost(self._path)

    def _remember(self, entry: Entry) -> None:
        self._seen = (entry.sequence, entry.hash)

    def check(self) -> None:
        """Compare every page and every index with the tables."""
        with self._block("BEGIN"):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise faults.damaged(self._path)

    def close(self) -> None:
        """Let go of the file."""
        with self.turn:
            self._closed = True
            self._connection.close()


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    """SQLite's errors in the ledger's words."""
    try:
        yield
    except sqlite3.Error as error:
        raise faults.translated(error, path) from None


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """One transaction: committed at the end, rolled back by anything else."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _identity(path: Path) -> tuple[int, int]:
    """Which file stands at `path`, whatever its name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise faults.lost(path) from None
    except OSError:
        raise faults.unreachable(path) from None
    if found.st_size == 0:
        raise faults.empty(path)
    return found.st_dev, found.st_ino


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
        raise faults.translated(error, path) from None
    try:
        (journal,) = settle(connection)
    except sqlite3.Error as error:
        connection.close()
        raise faults.translated(error, path) from None
    if journal != "delete":
        connection.close()
        raise faults.locked(path)
    return connection


def settle(connection: sqlite3.Connection) -> tuple[str]:
    """The settings that make a commit durable when it returns; the journal's mode, which others may have changed."""
    mode: tuple[str] = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return mode


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Ours, and not from the future."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise faults.foreign(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > FORMAT:
        raise faults.newer(path)


def _check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Every page in its place, where that is quick to see."""
    if path.stat().st_size > SMALL:
        return
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise faults.damaged(path)


def write_new(path: Path, opening: Entry) -> None:
    """Make a ledger at `path`, whole or not at all; `FileExistsError` if something is there.

    It is written under another name and linked into place, so that nobody ever sees an unfinished one.
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
        raise faults.unreachable(path) from None
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
