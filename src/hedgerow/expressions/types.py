"""The types an expression can have.

A deliberately small lattice: it decides what may be compared, added, grouped by and printed, and how
a value is made total when compiled. What does not fit is `OTHER` and may not be used at all.
"""

from enum import Enum


class Type(Enum):
    """What kind of value an expression yields."""

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
        """Whether arithmetic is defined on it."""
        return self in {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.NULL}

    @property
    def is_temporal(self) -> bool:
        """Whether it is a point in time."""
        return self in {Type.DATE, Type.TIMESTAMP}
