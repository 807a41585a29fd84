"""A snapshot of the database that all statements read for some time, held open by a connection of its own.

PostgreSQL cannot tell whether a table changed. But a transaction can export its snapshot, and while it is open, other
transactions can import it: they all see the same rows, whatever others write meanwhile. So facts about rows hold for
as long as the snapshot is held. In the meantime the server cannot clean up rows that were deleted since.

Privacy: definitions are read in the holder's own transaction, which sees what is committed now. Statements see current
definitions, too, but rows of the snapshot; a table that was emptied or rewritten has no rows in it any more. So the
state of a table includes the file of its rows, and the position of each column: another column may get the name of one
without any change of the file.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hedgerow.backends.postgres.pool import driver
from hedgerow.expressions.table_names import full_name

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

HOLDING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY; SET LOCAL search_path = pg_catalog; "
    "SET LOCAL idle_in_transaction_session_timeout = 0"
)
LIVES_ON = "SET LOCAL transaction_timeout = 0"
TRANSACTION_TIMEOUT_SINCE = 170_000

TABLE = """
SELECT c.oid::bigint, c.relfilenode::bigint,
    (SELECT string_agg(concat_ws(' ', a.attnum, a.attname, a.atttypid, a.attcollation), ',' ORDER BY a.attnum)
    FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    (SELECT string_agg(concat_ws(' ', e.oid, e.enumlabel), ',' ORDER BY e.oid, a.attnum)
    FROM pg_attribute AS a JOIN pg_enum AS e ON e.enumtypid = a.atttypid WHERE a.attrelid = c.oid)
FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace
WHERE s.nspname = %s AND c.relname = %s
    AND c.relkind = 'r' AND NOT c.relhassubclass AND NOT c.relrowsecurity
    AND NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
"""
"""A table whose rows are stored as they are: no view, no partitions or children, no policies, no computed columns."""


class HeldSnapshot:
    """A snapshot that is held for some time, and then replaced by a newer one.

    Args:
        connected: Opens a connection.
        schema: The schema whose tables have plain names.
        seconds: Time after which a new snapshot is taken.
    """

    def __init__(self, connected: "Callable[[], Connection]", schema: str, seconds: float) -> None:
        self._connected, self._schema, self._seconds = connected, schema, seconds
        self._lock = threading.RLock()
        self._holder: Connection | None = None
        self._process, self._since = os.getpid(), 0.0
        self._exported, self._token = "", ""

    @contextmanager
    def used(self) -> Iterator[tuple[str, str]]:
        """Hold a snapshot until a transaction has imported it; yield its name on the server, and one of our own."""
        with self._lock:
            if not self._is_held() or time.monotonic() - self._since > self._seconds:
                self._renew()
            yield self._exported, self._token

    @contextmanager
    def definitions(self) -> "Iterator[Cursor[tuple[Any, ...]]]":
        """Yield a cursor that sees definitions as they are now."""
        with self._lock:
            if not self._is_held() or self._holder is None:
                self._renew()
            yield self._cursor()

    def state(self, token: str, tables: Collection[str]) -> Hashable | None:
        """Return an identity of the rows of tables in the snapshot `token`; None for rows that may still change."""
        names = [full_name(table, (self._schema,)) for table in sorted(tables)]
        with self.definitions() as cursor:
            files = [cursor.execute(TABLE, name).fetchone() for name in names]
        return None if None in files else (token, *files)

    def close(self) -> None:
        """Let go of the snapshot."""
        with self._lock:
            if self._holder is not None and self._process == os.getpid():
                self._holder.close()
            self._holder = None

    def _is_held(self) -> bool:
        """Return True if the transaction is still open: the server may have ended it."""
        if self._holder is None or self._process != os.getpid() or self._holder.closed:
            return False
        try:
            self._holder.execute("")
        except driver().Error:
            return False
        return bool(self._holder.info.transaction_status == driver().pq.TransactionStatus.INTRANS)

    def _renew(self) -> None:
        self.close()
        self._holder, self._process = self._connected(), os.getpid()
        lives_on = f"; {LIVES_ON}" if self._holder.info.server_version >= TRANSACTION_TIMEOUT_SINCE else ""
        cursor = self._cursor()
        cursor.execute(f"{HOLDING}{lives_on}")
        row = cursor.execute("SELECT pg_export_snapshot()").fetchone()
        self._exported, self._token = str(row[0] if row else ""), secrets.token_hex(16)
        self._since = time.monotonic()

    def _cursor(self) -> "Cursor[tuple[Any, ...]]":
        if self._holder is None:
            raise driver().OperationalError("The snapshot is not held.")
        return self._holder.cursor(row_factory=driver().rows.tuple_row)
