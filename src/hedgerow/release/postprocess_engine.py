"""Post-processing as SQL over released numbers, in an isolated DuckDB."""

import threading
from collections.abc import Mapping
from contextlib import closing, suppress

import duckdb
import pyarrow as pa

from hedgerow.errors import BackendError
from hedgerow.limits import UNDECLARED, StatementLimits

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
    "threads": "1",
}

MOST_SECONDS = 60.0
"""The owner's limit applies if it is tighter."""


class PostprocessEngine:
    """An embedded DuckDB of its own: no files, no extensions, locked settings, bounded memory.

    Privacy: it reads released values only, so everything it computes is post-processing. An error here cannot depend on
    anything that was not released.
    """

    def __init__(self, limits: StatementLimits = UNDECLARED) -> None:
        self.most_rows = limits.rows
        self._seconds, self._memory = min(MOST_SECONDS, limits.seconds), limits.postprocess_memory
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()

    def run(self, sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run `sql` over released and public tables, under the names it uses for them."""
        try:
            with self._lock:
                cursor = self._open().cursor()
            with closing(cursor):
                for name, table in tables.items():
                    cursor.register(name, table)
                return _in_time(cursor, sql, self._seconds)
        except Exception:  # noqa: BLE001 - interrupts come as other exceptions; all of it is about released values
            raise BackendError(
                "Post-processing of the released numbers failed.",
                code="after-failed",
                hint="Simplify the expressions over the aggregates.",
            ) from None

    def close(self) -> None:
        """Close the engine."""
        with self._lock, suppress(duckdb.Error):
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = duckdb.connect(":memory:", config={**SETTINGS, "memory_limit": f"{self._memory}B"})
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")
        return self._connection


def _in_time(cursor: duckdb.DuckDBPyConnection, sql: str, seconds: float) -> pa.Table:
    timer = threading.Timer(seconds, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        return cursor.sql(sql).to_arrow_table()
    finally:
        timer.cancel()
