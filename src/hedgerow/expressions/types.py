"""The types an expression can have.

A deliberately small lattice: it decides what may be compared, added, grouped by and printed, and how a value is made
total in SQL. Every other type is `OTHER` and may not be used at all.
"""

from enum import Enum


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
