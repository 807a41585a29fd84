"""Our own connections to a SQLite file, which can only read; and cells of fixed types, from and to SQLite."""

import math
import sqlite3
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from hedgerow.backends.base import failure
from hedgerow.backends.sqlite.functions import REGISTERED, register
from hedgerow.backends.sqlite.functions.values import NAN, Stored, fitting
from hedgerow.compiled import Query
from hedgerow.dialects.sqlite import PREFIX
from hedgerow.dialects.statement import Computed, Step
from hedgerow.errors import BackendError
from hedgerow.limits import UNDECLARED, StatementLimits

Cell = Callable[[object], object]
GIVEN = f"{PREFIX}given"
"""The SQL function that returns cells of tables loaded into a snapshot: by table, column and row."""

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a time zone
MICROSECOND = timedelta(microseconds=1)


def typed_columns(rows: Sequence[Sequence[object]], query: Query) -> list[Sequence[object]]:
    """Return the columns of a result, with typed keys. Integers beyond 64 bits are digits."""
    columns: list[Sequence[object]] = list(zip(*rows, strict=True))
    for at, kind in enumerate(query.types if rows else ()):
        if not pa.types.is_string(kind) or set(map(type, columns[at])) - {str}:
            columns[at] = list(map(_reader(kind), columns[at]))
    return columns


def _reader(kind: pa.DataType) -> Cell:
    """Return the function that reads a cell of an Arrow type."""
    if pa.types.is_floating(kind):
        return _double
    if pa.types.is_decimal(kind):
        return lambda cell: _decimal(cell, kind.scale)
    if pa.types.is_string(kind):
        return lambda cell: cell if isinstance(cell, str) else None
    return _date if pa.types.is_date(kind) else _whole


def _double(cell: object) -> object:
    """Read a double; NaN is the empty text."""
    if isinstance(cell, str):
        return math.nan
    return cell if isinstance(cell, int | float) else None


def _decimal(cell: object, scale: int) -> object:
    if isinstance(cell, float):
        return f"{cell:.{scale}f}" if abs(cell) < 10.0 ** (38 - scale) else None
    return cell if isinstance(cell, int) else None


def _date(cell: object) -> object:
    try:
        return date.fromisoformat(cell) if isinstance(cell, str) else None
    except ValueError:
        return None


def _whole(cell: object) -> object:
    """Read an integer, or a boolean, time or timestamp, which are stored as integers."""
    return cell if isinstance(cell, int) else None


def stored(cell: object) -> Stored:
    """Return a Python value as SQLite stores it."""
    if isinstance(cell, datetime):
        return (cell - EPOCH) // MICROSECOND
    if isinstance(cell, time):
        return (datetime.combine(EPOCH, cell) - EPOCH) // MICROSECOND
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return int(cell) if cell == int(cell) and fitting(int(cell)) is not None else float(cell)
    if isinstance(cell, float):
        return NAN if math.isnan(cell) else cell
    return int(cell) if isinstance(cell, bool) else cell if isinstance(cell, int | str) else None


def given_steps(name: str, table: pa.Table, index: int, query: Query) -> list[Step]:
    """Return two steps with the rows of `table` under `name`: the columns that a query names.

    The cells come from the function `GIVEN`, so that the text stays short however many rows there are.
    """
    source, count = f"given{index}", len(table)
    numbers = f"SELECT 0 WHERE {count} UNION ALL SELECT i + 1 FROM {source} WHERE i < {count - 1}"
    named = [(at, column) for at, column in enumerate(table.column_names) if column in query.sql]
    columns = ", ".join(f"{GIVEN}({index}, {at}, i) AS {column}" for at, column in named)
    return [Step(f"{source}(i)", numbers), Step(name, f"SELECT {columns} FROM {source}", Computed.ONCE)]


HEADER = b"SQLite format 3\x00"
OLDEST = (3, 37)
WAIT_SECONDS = 10.0
INNOCUOUS = 0x200000
"""SQLite's flag of functions without side effects that depend only on their arguments."""

PRAGMAS = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = FILE",
)
MAX_CACHE = 128 << 20
"""Maximum bytes of pages that a connection caches, and sorts before it writes a temporary file."""

SOMETIMES_MISSING = {"floor": math.floor, "sqrt": math.sqrt}
"""Functions of SQLite that some builds lack."""

OURS = REGISTERED | {GIVEN, *SOMETIMES_MISSING}
"""Functions that we register on a connection, by their names in SQL."""

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
    """Refuse a SQLite that is too old."""
    if sqlite3.sqlite_version_info < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise BackendError(
            f"This Python has SQLite {sqlite3.sqlite_version}; {wanted} or newer is required.",
            code="engine-too-old",
            hint="Use a newer build of Python.",
        )


def connect_file(path: Path, limits: StatementLimits = UNDECLARED) -> sqlite3.Connection:
    """Open a connection to a file that can only read."""
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
        connection.execute(f"PRAGMA cache_size = -{min(MAX_CACHE, limits.memory // 4) >> 10}")
        _lock(connection)
    except sqlite3.Error as error:
        raise _cannot_open(path, error) from None
    return connection


def equip(connection: sqlite3.Connection) -> None:
    """Register our functions on a connection, and those of SQLite that its build lacks."""
    built_in = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list").fetchall()}
    for name, body in SOMETIMES_MISSING.items():
        if name not in built_in:
            connection.create_function(name, 1, lambda value, body=body: None if value is None else body(value))
    register(connection)


def _lock(connection: sqlite3.Connection) -> None:
    """Restrict a connection to SELECT and to functions without side effects."""
    for statement in PRAGMAS:
        connection.execute(statement)
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)
    connection.text_factory = _decoded
    harmless = connection.execute("SELECT name FROM pragma_function_list WHERE flags & ?", [INNOCUOUS]).fetchall()
    connection.set_authorizer(_Authorizer(OURS.union(name for (name,) in harmless)))


def _decoded(given: bytes) -> str:
    return given.decode(errors="replace")


class _Authorizer:
    """Allow-list of actions, pragmas and functions, which SQLite consults when it prepares a statement."""

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
    """Return the error without SQLite's own message, although no rows have been read."""
    reason = failure(error)
    return BackendError(
        f"{path} cannot be opened as a SQLite database (incident {reason.incident}).",
        code="not-a-database",
        hint="Check that it is a SQLite file, readable and not locked.",
        incident=reason.incident,
    )
