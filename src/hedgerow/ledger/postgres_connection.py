"""Connections and transactions of a PostgreSQL ledger: addresses, locks, durable commits, errors in our own words."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hedgerow.errors import LedgerError
from hedgerow.ledger import errors

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg.errors import Diagnostic

SCHEMES = ("postgresql", "postgres")

SCHEMA = "hedgerow"
"""The schema of the tables, unless the URL names another (`?schema=...`)."""

_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?"
_SHOWABLE = re.compile(rf"{_HOST}(?:,{_HOST})*(?:/[\w.-]*)?")


@dataclass(frozen=True, slots=True)
class Address:
    """A schema in a PostgreSQL database. As text it shows no user, no password and no options."""

    url: str = field(repr=False)
    schema: str
    shown: str

    @classmethod
    def of(cls, location: str) -> "Address":
        """Parse a PostgreSQL URL, whose options may name a schema."""
        body, _, query = location.partition("://")[2].partition("?")
        options = query.split("&") if query else []
        kept = [option for option in options if not option.startswith("schema=")]
        schema = next((option for option in options if option not in kept), "").removeprefix("schema=") or SCHEMA
        if not _NAME.fullmatch(schema):
            raise errors.schema_name()
        url = f"postgresql://{body}?{'&'.join(kept)}" if kept else f"postgresql://{body}"
        return cls(url, schema, _shown(body, query) + ("" if schema == SCHEMA else f"?schema={schema}"))

    def __str__(self) -> str:
        return self.shown

    def connect(self, patience: float) -> "Connection":
        """Return a connection without autocommit, or raise a `LedgerError` in our own words."""
        psycopg = driver()
        failure = None
        try:
            connection: Connection = psycopg.connect(
                **_settings(self.url, patience), autocommit=True, prepare_threshold=None
            )
        except psycopg.ProgrammingError:
            failure = errors.malformed()
        except (psycopg.Error, OSError, UnicodeError):
            failure = errors.unreachable(self)
        if failure is not None:  # raised out here, so that the driver's own words do not hang on to it
            raise failure
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise errors.encoding(self)
        return connection


def is_address(location: str) -> bool:
    """Return True if a location is the URL of a PostgreSQL database."""
    scheme, colon, _ = location.partition("://")
    return bool(colon) and scheme.lower() in SCHEMES


def driver() -> ModuleType:
    """Return the driver, which is an optional dependency."""
    try:
        import psycopg  # noqa: PLC0415 - the base install does without it
        import psycopg.conninfo  # noqa: PLC0415 - likewise
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs the driver psycopg, which is not installed.",
            code="ledger-driver",
            hint="pip install hedgerow[postgres]",
        ) from None
    return psycopg


def _settings(url: str, patience: float) -> dict[str, Any]:
    """Return the settings of a connection: a vanished peer is noticed in time, unless the URL says otherwise."""
    seconds = max(2, math.ceil(patience))
    steady: dict[str, Any] = {
        "application_name": "hedgerow",
        "connect_timeout": seconds,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": seconds * 1000,
    }
    steady.update(driver().conninfo.conninfo_to_dict(url))
    return steady


def _shown(body: str, query: str) -> str:
    """Return host and database, if they certainly contain no part of a password."""
    login, slash, database = body.partition("/")
    place = f"{login.rpartition('@')[2]}{slash}{database}"
    certain = "@" not in database and "@" not in query and _SHOWABLE.fullmatch(place)
    return f"postgresql://{place}" if certain else "postgresql://…"


Statement = tuple[str, Sequence[Any]]
"""SQL, and its values."""

IDLE = 60_000
"""Milliseconds after which the server ends a transaction whose program has gone silent."""

_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply'"
)
"""Makes COMMIT wait for the disk, and for those of synchronous standbys, whatever the session's setting."""


def begin_reading(patience: float) -> list[Statement]:
    """Statements that begin to read one consistent state."""
    return _begin(patience, "REPEATABLE READ READ ONLY")


def begin_writing(patience: float, *names: str) -> list[Statement]:
    """Return statements that begin an exclusive write: others with the same lock wait until this transaction ends.

    Each statement after the lock sees what was committed before the lock was granted, so READ COMMITTED is right here.
    """
    turn = ("SELECT pg_advisory_xact_lock(%s)", (_key(*names),))
    return [*_begin(patience, "READ COMMITTED"), (_DURABLE, ()), turn]


def _begin(patience: float, mode: str) -> list[Statement]:
    """Return the beginning of a transaction that neither waits nor blocks others without a time limit."""
    return [
        (f"BEGIN ISOLATION LEVEL {mode}", ()),
        ("SET LOCAL lock_timeout = %s", (max(1, round(patience * 1000)),)),
        ("SET LOCAL idle_in_transaction_session_timeout = %s", (IDLE,)),
    ]


def _key(*names: str) -> int:
    """The number of an advisory lock."""
    return int.from_bytes(hashlib.sha256(" ".join(("hedgerow", *names)).encode()).digest()[:8], signed=True)


@contextmanager
def translating(place: object, *, writing: bool) -> Iterator[None]:
    """Translate PostgreSQL's errors into the ledger's."""
    try:
        yield
    except driver().Error as error:
        raise errors.from_postgres(error, place, writing=writing) from None


def together(connection: "Connection", statements: Iterable[Statement]) -> "Cursor":
    """Run some statements in one round trip, in order, up to the first that fails; return the last one's result.

    The client formats the values as literals, so that several statements can be one message.
    """
    texts, values = zip(*statements, strict=True)
    cursor: Cursor = driver().ClientCursor(connection)
    cursor.execute("; ".join(texts), [value for row in values for value in row])
    while cursor.nextset():
        pass
    return cursor


@contextmanager
def finishing(connection: "Connection", place: object) -> Iterator[list[Statement]]:
    """Commit at the end, together with the deferred statements; roll back after an exception.

    A commit counts only without a warning: a server also commits, and warns, if a standby did not confirm.
    """
    put_off: list[Statement] = []
    warnings: list[str | None] = []

    def listen(notice: "Diagnostic") -> None:
        if notice.severity_nonlocalized == "WARNING":
            warnings.append(notice.sqlstate)

    try:
        yield put_off
        connection.add_notice_handler(listen)
        try:
            done = together(connection, [*put_off, ("COMMIT", ())]).statusmessage
        finally:
            connection.remove_notice_handler(listen)
    except BaseException:
        undo(connection)
        raise
    if done != "COMMIT" or warnings:
        raise errors.failed(place)


def undo(connection: "Connection") -> None:
    """Roll back; without a connection the server does it by itself."""
    if connection.closed:
        return
    try:
        connection.execute("ROLLBACK")
    except driver().Error:
        connection.close()
