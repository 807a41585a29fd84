"""The functions that SQLite lacks, or has in a form that can fail: Python's, registered on a connection.

Each is deterministic and total. `hedgerow_` stands before their names in SQL.
"""

import sqlite3
from collections.abc import Mapping

from hedgerow.backends.sqlite.functions import calendar, casts, choices, formats, numbers, patterns, texts
from hedgerow.backends.sqlite.functions.summaries import SUMMARIES
from hedgerow.backends.sqlite.functions.values import Body
from hedgerow.dialects.sqlite import PREFIX

FUNCTIONS: Mapping[str, Body] = {
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **patterns.FUNCTIONS,
    **calendar.FUNCTIONS,
    **casts.FUNCTIONS,
    **formats.FUNCTIONS,
    **choices.FUNCTIONS,
}

REGISTERED = frozenset(f"{PREFIX}{name}" for name in (*FUNCTIONS, *SUMMARIES))
"""Names of our functions in SQL: the allow-list of a connection."""


def register(connection: sqlite3.Connection) -> None:
    """Put all functions and summaries on a connection."""
    for name, body in FUNCTIONS.items():
        connection.create_function(f"{PREFIX}{name}", -1, body, deterministic=True)
    for name, (arity, summary) in SUMMARIES.items():
        connection.create_window_function(f"{PREFIX}{name}", arity, summary)  # type: ignore[arg-type]  # of any arity


__all__ = ["FUNCTIONS", "REGISTERED", "SUMMARIES", "register"]
