"""The types an expression can have.

A deliberately small lattice: it decides what may be compared, added, grouped by and printed, and how a value is made
total in SQL. Every other type is `OTHER` and may not be used at all.
"""

import re
from enum import Enum

_DECIMAL = re.compile(r"DECIMAL\(\s*(\d+)\s*,\s*(\d+)\s*\)", re.IGNORECASE)


class Type(Enum):
    """Kind of value of an expression."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    NULL = "null"
    OTHER = "other"

    @property
    def is_numeric(self) -> bool:
        """True if arithmetic is defined on it."""
        return self in {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.NULL}

    @property
    def is_temporal(self) -> bool:
        """True for dates and timestamps."""
        return self in {Type.DATE, Type.TIMESTAMP}


def decimal_size(native: str) -> tuple[int, int] | None:
    """Return precision and scale of a native type such as `DECIMAL(12, 2)`; None for other types."""
    size = _DECIMAL.fullmatch(native.strip())
    return (int(size[1]), int(size[2])) if size else None
