"""Values inside SQLite, and how Python reads them.

    BOOLEAN     0 and 1
    INTEGER     an integer
    DECIMAL     an integer or a double
    FLOAT       a double; NaN, which SQLite does not have, is the empty text, greater than every number
    TEXT        text, handed to functions as bytes: what a file holds need not be UTF-8
    DATE        text, `YYYY-MM-DD`; before the year 1 and after 9999 a text that sorts before or after these
    TIME        microseconds since midnight
    TIMESTAMP   microseconds since 1970

SQLite lets any value stand in any column. Whatever is not of the form above is read as None, and no function fails.
"""

import math
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final

Stored = int | float | str | bytes | None
"""Types of the arguments and results of a function in SQLite."""

Body = Callable[..., Stored]

NAN: Final = ""
MOST: Final = 2**63 - 1
"""The largest integer of 64 bits, and as a timestamp infinity."""

INFINITE: Final = frozenset({MOST, -MOST})
DAY: Final = 86_400_000_000
FIRST_MOMENT: Final = -106_751_991 * DAY
"""The first day of which every microsecond has a number of 64 bits."""

LAST_DAY: Final = 2**31 - 1
INFINITE_DAYS: Final = frozenset({LAST_DAY, -LAST_DAY})
FAR: Final = {"infinity": LAST_DAY, "-infinity": -LAST_DAY}
"""Dates without end: `-` sorts before digits, and `i` after them."""

SHIFTS: Final = {"a": 0, "/": -9_999_999}
"""Prefixes of years after 9999 and before 1, and where they are counted from."""

LONGEST_DATE: Final = 14
FIRST_DAY: Final = date(1970, 1, 1).toordinal()
START: Final = date(2000, 1, 1).toordinal()
CYCLE: Final = 146_097
"""The days of 400 years, after which the calendar begins anew."""

REMEMBERED: Final = 65_536
"""How many of the values that were read last are kept in mind with what they mean."""

SHORT: Final = 100
"""No longer text is kept in mind: memory must not run out on some rows."""


def number(value: Stored) -> float | None:
    """A number as a double."""
    if value.__class__ is float:
        return value
    if value.__class__ is int:
        return float(value)
    return math.nan if value == NAN else None


def whole(value: Stored) -> int | None:
    """An integer."""
    return value if isinstance(value, int) else None


def text(value: Stored) -> str | None:
    """Text; None where bytes are no UTF-8."""
    try:
        return value.decode() if value.__class__ is bytes else value if value.__class__ is str else None
    except UnicodeDecodeError:
        return None


def moment(value: Stored) -> int | None:
    """Microseconds since 1970, of a timestamp or of a date."""
    if value.__class__ is int:
        return value
    found = instant(value)
    return found if found in INFINITE else None if found is None else bounded(found)


def instant(value: Stored) -> int | None:
    """Likewise, for dates that are too far away to be timestamps, too."""
    if value.__class__ is int:
        return value
    found = day(value)
    if found in INFINITE_DAYS:
        return MOST if found == LAST_DAY else -MOST
    return None if found is None else found * DAY


def bounded(value: int) -> int | None:
    """A finite timestamp, if there is such a one."""
    return value if FIRST_MOMENT <= value < MOST else None


def day(value: Stored) -> int | None:
    """Days since 1970, of a date."""
    return _day(value) if isinstance(value, str | bytes) and len(value) <= LONGEST_DATE else None


@lru_cache(REMEMBERED)
def _day(written: str | bytes) -> int | None:
    given = written.decode("ascii", "replace") if isinstance(written, bytes) else written
    if given in FAR:
        return FAR[given]
    try:
        found = date.fromisoformat(given) if len(given) == 10 else None
    except ValueError:
        return None
    if found is None:
        return _far_day(given)
    return found.toordinal() - FIRST_DAY if found.isoformat() == given else None


def _far_day(given: str) -> int | None:
    """A date of a far year, as `iso` writes it."""
    if len(given) != LONGEST_DATE or given[0] not in SHIFTS or not given[1:8].isdigit():
        return None
    cycles, year = divmod(int(given[1:8]) + SHIFTS[given[0]] - 2000, 400)
    return date.fromisoformat(f"{2000 + year}{given[8:]}").toordinal() - FIRST_DAY + cycles * CYCLE


@lru_cache(REMEMBERED)
def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970, in a calendar that has always been as it is now."""
    cycles, rest = divmod(days + FIRST_DAY - START, CYCLE)
    found = date.fromordinal(START + rest)
    return found.year + 400 * cycles, found.month, found.day


def iso(days: int) -> str:
    """A date as text that sorts by time."""
    year, month, at = civil(days)
    if 1 <= year <= 9999:
        return f"{year:04d}-{month:02d}-{at:02d}"
    mark = "a" if year > 0 else "/"
    return f"{mark}{year - SHIFTS[mark]:07d}-{month:02d}-{at:02d}"


def real(value: float) -> float | str:
    """A double as SQLite can hold it."""
    return value if value == value else NAN  # noqa: PLR0124 - NaN


def fitting(value: int) -> int | None:
    """An integer of 64 bits."""
    return value if -MOST - 1 <= value <= MOST else None
