"""How deep SQL may be nested: SQLite's parser has room for a hundred open places, and gives up beyond.

Privacy: the refusal comes before the charge, and depends on the text alone.
"""

import sqlite3
from contextlib import closing

FAULTS = ("parser stack overflow", "Expression tree is too large")
AROUND = 30
"""Room that is kept for what a statement puts around an expression."""

SHALLOW = 12
"""No text with so few brackets can be too deep."""


def is_too_deep(sql: str) -> bool:
    """Return True if SQLite cannot read a query. Nothing is run, and no data is near."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            return str(error).startswith(FAULTS)
    return False


def is_expression_too_deep(text: str) -> bool:
    """Likewise for an expression, inside of a statement."""
    if text.count("(") + text.count("CASE ") <= SHALLOW:
        return False
    return is_too_deep(f"SELECT {'(' * AROUND}{text}{')' * AROUND}")
