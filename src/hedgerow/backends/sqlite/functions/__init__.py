"""Functions that SQLite lacks, or has in a form that can fail, written in Python and registered on a connection.

Each is deterministic and total. Their names in SQL begin with `hedgerow_`.
"""

import sqlite3
from collections.abc import Mapping

from hedgerow.backends.sqlite.functions import calendar, casts, formats, numbers, summaries, texts
from hedgerow.backends.sqlite.functions.summaries import SUMMARIES
from hedgerow.backends.sqlite.functions.values import Body
from hedgerow.dialects.sqlite import PREFIX

FUNCTIONS: Mapping[str, Body] = {
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **texts.PATTERNS,
    **calendar.FUNCTIONS,
    **casts.FUNCTIONS,
    **formats.FUNCTIONS,
    **summaries.FUNCTIONS,
}

REGISTERED = frozenset(f"{PREFIX}{name}" for name in (*FUNCTIONS, *SUMMARIES))
"""Names of our functions in SQL: the allow-list of a connection."""


def register(connection: sqlite3.Connection) -> None:
    """Register all functions and summaries on a connection."""
    for name, body in FUNCTIONS.items():
        connection.create_function(f"{PREFIX}{name}", -1, body, deterministic=True)
    for name, (arity, summary) in SUMMARIES.items():
        connection.create_window_function(f"{PREFIX}{name}", arity, summary)  # type: ignore[arg-type]  # of any arity


__all__ = ["FUNCTIONS", "REGISTERED", "SUMMARIES", "register"]
