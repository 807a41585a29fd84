"""DuckDB, asked for one value at a time.

DuckDB says what every function means. Python computes the usual cases as it does, and quickly. What is left over
(clusters of characters, dates in unusual spellings) is rare and is asked of DuckDB itself, in a database without any
tables; what it said of a value is remembered.
"""

import threading
from functools import lru_cache

import duckdb

from hedgerow.backends.sqlite.functions.values import REMEMBERED, SHORT, Stored

_lock = threading.Lock()
_connection: list[duckdb.DuckDBPyConnection] = []
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "lock_configuration": "true",
    "threads": "1",
}


def asked(expression: str, *values: str | float) -> Stored:
    """Return DuckDB's value of an expression of `$1`, `$2` …; None where it fails."""
    short = all(not isinstance(value, str) or len(value) <= SHORT for value in values)
    return _kept(expression, *values) if short else _asked(expression, *values)


def _asked(expression: str, *values: str | float) -> Stored:
    with _lock:
        if not _connection:
            _connection.append(duckdb.connect(":memory:", config=SETTINGS))
        try:
            rows = _connection[0].execute(f"SELECT {expression}", list(values)).fetchall()
        except duckdb.Error:
            return None
    return rows[0][0] if rows else None


_kept = lru_cache(REMEMBERED)(_asked)


def column(expression: str) -> list[Stored]:
    """All values of a query over no tables, in order."""
    with duckdb.connect(":memory:", config=SETTINGS) as connection:
        return [value for (value,) in connection.execute(expression).fetchall()]
