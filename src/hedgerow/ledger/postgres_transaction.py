"""Transactions of a ledger in PostgreSQL: bounded in time, durable at the end, undone by anything else."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hedgerow.ledger import postgres_faults as faults
from hedgerow.ledger.postgres_address import driver

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg.errors import Diagnostic

Statement = tuple[str, Sequence[Any]]
"""SQL, and its values."""

IDLE = 60_000
"""Milliseconds after which the server ends a transaction whose program has gone silent."""

_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply'"
)
"""On the disk, and on that of synchronous standbys, when COMMIT returns, whatever the session's setting."""


def begin_reading(patience: float) -> list[Statement]:
    """How to begin a look at one consistent state."""
    return _begin(patience, "REPEATABLE READ READ ONLY")


def begin_writing(patience: float, *names: str) -> list[Statement]:
    """How to begin to write alone: whoever names the same things waits until this transaction ends.

    Each statement after the lock sees what was committed before the lock was given, so READ COMMITTED is right here.
    """
    turn = ("SELECT pg_advisory_xact_lock(%s)", (_key(*names),))
    return [*_begin(patience, "READ COMMITTED"), (_DURABLE, ()), turn]


def _begin(patience: float, mode: str) -> list[Statement]:
    """The beginning of a transaction that cannot wait, or keep others waiting, without a bound."""
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
    """PostgreSQL's errors in the ledger's words."""
    try:
        yield
    except driver().Error as error:
        raise faults.translated(error, place, writing=writing) from None


def together(connection: "Connection", statements: Iterable[Statement]) -> "Cursor":
    """Run some statements in one trip to the server, in order, up to the first that fails; the last one's result.

    The values become literals on this side, which is how several statements can be one message.
    """
    texts, values = zip(*statements, strict=True)
    cursor: Cursor = driver().ClientCursor(connection)
    cursor.execute("; ".join(texts), [value for each in values for value in each])
    while cursor.nextset():
        pass
    return cursor


@contextmanager
def finishing(connection: "Connection", place: object) -> Iterator[list[Statement]]:
    """Commit at the end, together with the statements that were put off until then; undo after anything else.

    A commit counts only without a warning: a server commits, and warns, also where a standby did not confirm.
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
        raise faults.failed(place)


def undo(connection: "Connection") -> None:
    """Roll back; without a connection the server does it by itself."""
    if connection.closed:
        return
    try:
        connection.execute("ROLLBACK")
    except driver().Error:
        connection.close()
