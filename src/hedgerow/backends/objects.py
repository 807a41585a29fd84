"""Python objects in columns of data frames, written as text.

A column of Python objects has no type of its own. pandas keeps dates, decimals, times, UUIDs and, before version 3,
text in such columns. It is read as a column of a CSV file is: as text, and the catalog says what it is (`type: date`).

Privacy: the type does not depend on what is in the column, and no object makes the reading fail. What is not of a kind
listed here is a missing value.
"""

import math
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import numpy as np
import pyarrow as pa

LONGEST_INTEGER = 128
"""In bits. Python refuses to write integers of several thousand digits."""

LONGEST_DECIMAL = 38
"""Digits before and after the point that are written out; what is beyond them has an exponent."""


def text_column(values: Iterable[object]) -> pa.Array:
    """Return the objects of a column as text, one for each."""
    return pa.array([text_of(value) for value in values], type=pa.string())


def text_of(value: object) -> str | None:
    """Return the text of an object, as DuckDB reads it back; None for what is missing or of another kind."""
    for kind, write in WRITERS:
        if isinstance(value, kind):
            try:
                return write(value)
            except Exception:  # noqa: BLE001 - a subclass may do anything; see Privacy above
                return None
    return None


def _text(value: str) -> str:
    """Text that can be stored: encoding fails for half of a surrogate pair."""
    value.encode()
    return str.__str__(value)


def _boolean(value: object) -> str:
    return "true" if value else "false"


def _integer(value: int) -> str | None:
    return str(int(value)) if int(value).bit_length() <= LONGEST_INTEGER else None


def _float(value: float) -> str | None:
    """NaN is a missing value, as in every other column of pandas."""
    return None if math.isnan(value) else repr(float(value))


def _decimal(value: Decimal) -> str | None:
    if value.is_nan():
        return None
    return f"{value:f}" if abs(value.adjusted()) <= LONGEST_DECIMAL else str(value)


def _datetime(value: datetime) -> str | None:
    """An instant is written in UTC. `NaT` is a datetime that is not equal to itself."""
    if value != value:  # noqa: PLR0124 - see above
        return None
    shown = value if value.tzinfo is None else value.astimezone(UTC)
    return shown.isoformat(sep=" ")


def _time(value: time) -> str:
    return value.replace(tzinfo=None).isoformat()


WRITERS: tuple[tuple[type | tuple[type, ...], Callable[..., str | None]], ...] = (
    (str, _text),
    ((bool, np.bool_), _boolean),
    ((int, np.integer), _integer),
    ((float, np.floating), _float),
    (Decimal, _decimal),
    (datetime, _datetime),
    (date, date.isoformat),
    (time, _time),
    (UUID, str),
)
"""Writers by kind, the narrower kind first: a truth value is an integer to Python, and a datetime is a date."""
