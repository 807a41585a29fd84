"""Connections of our own to a SQLite file: they can read, and nothing else."""

import math
import sqlite3
from pathlib import Path

from hedgerow.backends.base import failure
from hedgerow.backends.sqlite.cells import GIVEN
from hedgerow.backends.sqlite.functions import REGISTERED, register
from hedgerow.errors import BackendError
from hedgerow.limits import UNDECLARED, StatementLimits

HEADER = b"SQLite format 3\x00"
OLDEST = (3, 37)
WAIT_SECONDS = 10.0
INNOCUOUS = 0x200000
"""SQLite's mark of functions that have no effect and see nothing but their arguments."""

PRAGMAS = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = FILE",
)
MOST_CACHE = 128 << 20
"""Bytes of pages that a connection keeps, and that it sorts before it writes them to a temporary file."""

SOMETIMES_MISSING = {"floor": math.floor, "sqrt": math.sqrt}
"""Functions of SQLite that some builds lack."""

OURS = REGISTERED | {GIVEN, *SOMETIMES_MISSING}
"""Functions that we put on a connection, by their names in SQL."""

LIMITS = {sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0}
READING = frozenset(
    {"database_list", "encoding", "schema_version", "table_list", "table_xinfo", "index_list", "index_xinfo"}
)
ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_SAVEPOINT, sqlite3.SQLITE_RECURSIVE})


def is_sqlite_file(path: Path) -> bool:
    """Return True if a file is a SQLite database, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        return False


def check_version() -> None:
    """Refuse a SQLite that lacks what we need."""
    if sqlite3.sqlite_version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise BackendError(
            f"This Python comes with SQLite {sqlite3.sqlite_version}; {wanted} or newer is needed.",
            code="engine-too-old",
            hint="Use a newer build of Python.",
        )


def connect_file(path: Path, limits: StatementLimits = UNDECLARED) -> sqlite3.Connection:
    """A connection to a file that can read and nothing else."""
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro",
            uri=True,
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0,
        )
        equip(connection)
        connection.execute(f"PRAGMA cache_size = -{min(MOST_CACHE, limits.memory // 4) >> 10}")
        _lock(connection)
    except sqlite3.Error as error:
        raise _cannot_open(path, error) from None
    return connection


def equip(connection: sqlite3.Connection) -> None:
    """Put our functions on a connection, and those of SQLite that its build lacks."""
    built_in = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list").fetchall()}
    for name, body in SOMETIMES_MISSING.items():
        if name not in built_in:
            connection.create_function(name, 1, lambda value, body=body: None if value is None else body(value))
    register(connection)


def _lock(connection: sqlite3.Connection) -> None:
    """Only reading, only by SELECT, only with functions that have no effects."""
    for statement in PRAGMAS:
        connection.execute(statement)
    for limit, most in LIMITS.items():
        connection.setlimit(limit, most)
    connection.text_factory = _decoded
    harmless = connection.execute("SELECT name FROM pragma_function_list WHERE flags & ?", [INNOCUOUS]).fetchall()
    connection.set_authorizer(_Authorizer(OURS.union(name for (name,) in harmless)))


def _decoded(given: bytes) -> str:
    return given.decode(errors="replace")


class _Authorizer:
    """Allow-list of actions, pragmas and functions, which SQLite consults before it prepares a statement."""

    def __init__(self, functions: frozenset[str]) -> None:
        self._functions = functions

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        return sqlite3.SQLITE_OK if self._may(action, first, second) else sqlite3.SQLITE_DENY

    def _may(self, action: int, first: str | None, second: str | None) -> bool:
        if action == sqlite3.SQLITE_FUNCTION:
            return (second or "").lower() in self._functions
        if action == sqlite3.SQLITE_PRAGMA:
            return first in READING
        return action in ALLOWED


def _cannot_open(path: Path, error: sqlite3.Error) -> BackendError:
    """No rows have been read, but the engine's words stay out all the same."""
    reason = failure(error)
    return BackendError(
        f"{path} cannot be opened as a SQLite database (incident {reason.incident}).",
        code="not-a-database",
        hint="Check that it is a SQLite file, that it may be read, and that nobody has locked it.",
        incident=reason.incident,
    )
