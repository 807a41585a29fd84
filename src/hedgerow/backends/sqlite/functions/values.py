"""Values in SQLite, how Python reads them, and the wrappers that make functions total.

    BOOLEAN     0 and 1
    INTEGER     an integer
    DECIMAL     an integer or a double
    FLOAT       a double; NaN, which SQLite lacks, is the empty text, which sorts after every number
    TEXT        text, passed to functions as bytes, because it may be invalid UTF-8
    DATE        text, `YYYY-MM-DD`; before the year 1 and after 9999 a text that sorts before or after these
    TIME        microseconds since midnight
    TIMESTAMP   microseconds since 1970

SQLite stores any value in any column. A value of another form is read as None, and no function fails.

Privacy: SQLite aborts the whole statement when a function fails, and an error that depends on a row is an uncharged
answer. So every registered function has one of the wrappers below: it returns a value or NULL for all arguments.
"""

import math
from collections.abc import Callable
from datetime import date
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

Stored = int | float | str | bytes | None
"""Types of the arguments and results of a function in SQLite."""

Body = Callable[..., Stored]

NAN: Final = ""
INT_MAX: Final = 2**63 - 1
"""The largest 64-bit integer; as a timestamp it is infinity."""

INFINITE: Final = frozenset({INT_MAX, -INT_MAX})
DAY: Final = 86_400_000_000
FIRST_TIMESTAMP: Final = -106_751_991 * DAY
"""Midnight of the first day that is entirely in the range of 64 bits."""

LAST_DAY: Final = 2**31 - 1
INFINITE_DAYS: Final = frozenset({LAST_DAY, -LAST_DAY})
FAR: Final = {"infinity": LAST_DAY, "-infinity": -LAST_DAY}
"""Infinite dates: `-` sorts before digits, and `i` after them."""

SHIFTS: Final = {"a": 0, "/": -9_999_999}
"""Prefixes of years after 9999 and before 1, and their offsets."""

LONGEST_DATE: Final = 14
FIRST_DAY: Final = date(1970, 1, 1).toordinal()
START: Final = date(2000, 1, 1).toordinal()
CYCLE: Final = 146_097
"""Days of 400 years, the period of the calendar."""

CACHE_SIZE: Final = 65_536
"""Number of cached results."""

SHORT: Final = 100
"""Maximum length of cached texts, so that memory does not depend on the rows."""


def number(value: Stored) -> float | None:
    """Read a number as a double."""
    if value.__class__ is float:
        return value
    if value.__class__ is int:
        return float(value)
    return math.nan if value == NAN else None


def whole(value: Stored) -> int | None:
    """Read an integer."""
    return value if isinstance(value, int) else None


def text(value: Stored) -> str | None:
    """Read text; None for invalid UTF-8."""
    try:
        return value.decode() if value.__class__ is bytes else value if value.__class__ is str else None
    except UnicodeDecodeError:
        return None


def timestamp(value: Stored) -> int | None:
    """Read a timestamp or date as microseconds since 1970."""
    if value.__class__ is int:
        return value
    micros = instant(value)
    return micros if micros in INFINITE else None if micros is None else bounded(micros)


def instant(value: Stored) -> int | None:
    """Read a timestamp or date as microseconds since 1970, even beyond the range of timestamps."""
    if value.__class__ is int:
        return value
    days = day(value)
    if days in INFINITE_DAYS:
        return INT_MAX if days == LAST_DAY else -INT_MAX
    return None if days is None else days * DAY


def bounded(value: int) -> int | None:
    """Return a finite timestamp; None if it is out of range."""
    return value if FIRST_TIMESTAMP <= value < INT_MAX else None


def day(value: Stored) -> int | None:
    """Read a date as days since 1970."""
    return _day(value) if isinstance(value, str | bytes) and len(value) <= LONGEST_DATE else None


@lru_cache(CACHE_SIZE)
def _day(written: str | bytes) -> int | None:
    given = written.decode("ascii", "replace") if isinstance(written, bytes) else written
    if given in FAR:
        return FAR[given]
    try:
        parsed = date.fromisoformat(given) if len(given) == 10 else None
    except ValueError:
        return None
    if parsed is None:
        # Read a date of a far year, as `iso` writes it.
        if len(given) != LONGEST_DATE or given[0] not in SHIFTS or not given[1:8].isdigit():
            return None
        cycles, year = divmod(int(given[1:8]) + SHIFTS[given[0]] - 2000, 400)
        return date.fromisoformat(f"{2000 + year}{given[8:]}").toordinal() - FIRST_DAY + cycles * CYCLE
    return parsed.toordinal() - FIRST_DAY if parsed.isoformat() == given else None


@lru_cache(CACHE_SIZE)
def civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of days since 1970, in the proleptic Gregorian calendar."""
    cycles, rest = divmod(days + FIRST_DAY - START, CYCLE)
    day_of_cycle = date.fromordinal(START + rest)
    return day_of_cycle.year + 400 * cycles, day_of_cycle.month, day_of_cycle.day


def iso(days: int) -> str:
    """Write a date as text that sorts by time."""
    year, month, at = civil(days)
    if 1 <= year <= 9999:
        return f"{year:04d}-{month:02d}-{at:02d}"
    mark = "a" if year > 0 else "/"
    return f"{mark}{year - SHIFTS[mark]:07d}-{month:02d}-{at:02d}"


def real(value: float) -> float | str:
    """Return a double as SQLite stores it."""
    return value if value == value else NAN  # noqa: PLR0124 - NaN


def fitting(value: int) -> int | None:
    """Return an integer; None if it exceeds 64 bits."""
    return value if -INT_MAX - 1 <= value <= INT_MAX else None


More = ParamSpec("More")
Result = TypeVar("Result")


def cached(function: Callable[Concatenate[str, More], Result]) -> Callable[Concatenate[str, More], Result]:
    """Cache the results of a function for short texts."""
    of_short_text = lru_cache(CACHE_SIZE)(function)

    @wraps(function)
    def read(value: str, /, *others: More.args, **named: More.kwargs) -> Result:
        if len(value) > SHORT:
            return function(value, *others, **named)
        return of_short_text(value, *others, **named)  # type: ignore[arg-type]  # it can be hashed

    return read


def total(function: Body) -> Body:
    """Wrap a function: NULL where it fails."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        try:
            return function(*values)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_number(function: Callable[[float], float | None]) -> Body:
    """Wrap a function of one double."""

    @wraps(function)
    def read(value: Stored) -> Stored:
        try:
            result = function(value if value.__class__ is float else number(value))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - see above
            return None
        return result if result == result else NAN  # noqa: PLR0124 - NaN

    return read


def of_numbers(function: Callable[[float, float], float | None]) -> Body:
    """Wrap a function of two doubles; more are combined from left to right."""

    @wraps(function)
    def read(left: Stored, right: Stored, *more: Stored) -> Stored:
        try:
            if left.__class__ is right.__class__ is float:
                result = function(left, right)
            else:
                result = function(number(left), number(right))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - see above
            return None
        stored = result if result == result else NAN  # noqa: PLR0124 - NaN
        return read(stored, *more) if more else stored

    return read


def of_whole(function: Callable[..., int | None]) -> Body:
    """Wrap a function of integers: NULL if the result exceeds 64 bits."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        try:
            for value in values:
                if value.__class__ is not int:
                    return None
            result = function(*values)
            return result if result is not None and -INT_MAX - 1 <= result <= INT_MAX else None
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_whole_chain(function: Callable[[int, int], int]) -> Body:
    """Wrap a function of two integers; more are combined from left to right. NULL beyond 64 bits."""
    two = of_whole(function)

    @wraps(function)
    def read(left: Stored, right: Stored, *more: Stored) -> Stored:
        for value in (right, *more):
            left = two(left, value)
        return left

    return read


def of_texts(function: Callable[..., Stored]) -> Body:
    """Wrap a function of texts and integers: NULL if one of them is NULL."""

    @wraps(function)
    def read(*values: Stored) -> Stored:
        if None in values:
            return None
        try:
            return function(*[value.decode() if value.__class__ is bytes else value for value in values])
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_instant(function: Callable[[int], Stored]) -> Body:
    """Wrap a function of a finite date or timestamp, however far away: NULL for infinity."""

    @wraps(function)
    def read(value: Stored) -> Stored:
        try:
            micros = value if value.__class__ is int else instant(value)
            return None if micros is None or micros in INFINITE else function(micros)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_timestamp(function: Callable[..., Stored]) -> Body:
    """Wrap a function of a finite timestamp and other arguments: NULL for infinity."""

    @wraps(function)
    def read(value: Stored, *others: Stored) -> Stored:
        try:
            micros = value if value.__class__ is int else timestamp(value)
            return None if micros is None or micros in INFINITE else function(micros, *others)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read


def of_timestamps(function: Callable[[int, int], Stored]) -> Body:
    """Wrap a function of two finite timestamps: NULL for infinity."""

    @wraps(function)
    def read(left: Stored, right: Stored) -> Stored:
        try:
            first, second = timestamp(left), timestamp(right)
            if first is None or second is None or first in INFINITE or second in INFINITE:
                return None
            return function(first, second)
        except Exception:  # noqa: BLE001 - see above
            return None

    return read
