"""Functions that SQLite lacks, or has in a form that can fail, written in Python and registered on a connection.

Each is deterministic and total. Their names in SQL begin with `hedgerow_`.
"""

import sqlite3
from collections.abc import Mapping

from hedgerow.backends.sqlite.functions import calendar, casts, exact_aggregates, formats, numbers, texts
from hedgerow.backends.sqlite.functions.exact_aggregates import EXACT_AGGREGATES
from hedgerow.backends.sqlite.functions.values import Body
from hedgerow.dialects.sqlite import PREFIX

FUNCTIONS: Mapping[str, Body] = {
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **texts.PATTERNS,
    **calendar.FUNCTIONS,
    **casts.FUNCTIONS,
    **formats.FUNCTIONS,
    **exact_aggregates.FUNCTIONS,
}

REGISTERED = frozenset(f"{PREFIX}{name}" for name in (*FUNCTIONS, *EXACT_AGGREGATES))
"""Names of our functions in SQL: the allow-list of a connection."""


def register(connection: sqlite3.Connection) -> None:
    """Register all functions and exact aggregates on a connection."""
    for name, body in FUNCTIONS.items():
        connection.create_function(f"{PREFIX}{name}", -1, body, deterministic=True)
    for name, (arity, aggregate) in EXACT_AGGREGATES.items():
        connection.create_window_function(f"{PREFIX}{name}", arity, aggregate)  # type: ignore[arg-type]  # of any arity


__all__ = ["EXACT_AGGREGATES", "FUNCTIONS", "REGISTERED", "register"]
