"""Casts, from each type to each other, as DuckDB's TRY_CAST has them: what cannot be read is NULL.

The usual spellings of numbers and dates are read here; unusual ones are asked of DuckDB.
"""

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from hedgerow.backends.sqlite.functions import reference
from hedgerow.backends.sqlite.functions.calendar import days_of, in_zone
from hedgerow.backends.sqlite.functions.numbers import halves_away
from hedgerow.backends.sqlite.functions.total import of_moment, of_texts, remembered, total
from hedgerow.backends.sqlite.functions.values import (
    DAY,
    FAR,
    INFINITE,
    INFINITE_DAYS,
    LAST_DAY,
    MOST,
    Body,
    Stored,
    bounded,
    civil,
    day,
    fitting,
    iso,
    moment,
    number,
    real,
    whole,
)
from hedgerow.expressions.zones import DEFAULT, OFFSET

WHOLE = re.compile(r"-?[0-9]{1,18}")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
MOMENT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?Z?)?")
ISO = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
NUMERIC, TEMPORAL = frozenset("0123456789"), frozenset("0123456789infepochINFEPOCH")
READ_DATE = "TRY_CAST($1 AS DATE)"
DAYS = f"CAST(date_diff('day', DATE '1970-01-01', {READ_DATE}) AS VARCHAR)"
WITH_OFFSET = re.compile(OFFSET)
BOOLEANS = {"true": 1, "t": 1, "1": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "0": 0, "no": 0, "n": 0}


@remembered
def text_as_integer(value: str) -> Stored:
    """Digits; fractions are rounded, halves away from zero."""
    if WHOLE.fullmatch(value):
        return int(value)
    return reference.asked("TRY_CAST($1 AS BIGINT)", value) if NUMERIC.intersection(value) else None


@remembered
def text_as_float(value: str) -> Stored:
    """A number with or without a fraction and an exponent; `nan` and `inf`."""
    if NUMBER.fullmatch(value):
        return float(value)
    if not NUMERIC.intersection(value) and not re.search("nan|inf", value, re.IGNORECASE):
        return None
    found = reference.asked("TRY_CAST($1 AS DOUBLE)", value)
    return real(found) if isinstance(found, float) else None


@remembered
def text_as_date(value: str) -> Stored:
    """A date, perhaps with a time of day that is left out."""
    if ISO.fullmatch(value) and day(value) is not None:
        return value
    if not TEMPORAL.intersection(value):
        return None
    found = reference.asked(f"CASE WHEN isfinite({READ_DATE}) THEN {DAYS} ELSE CAST({READ_DATE} AS VARCHAR) END", value)
    return iso(int(found)) if isinstance(found, str) and found not in FAR else found


@remembered
def text_as_timestamp(value: str) -> Stored:
    """A date, perhaps with a time of day."""
    found = MOMENT.fullmatch(value)
    if found and (found[4] or "00") < "24":
        return _moment(found)
    return asked_moment("TRY_CAST($1 AS TIMESTAMP)", value) if TEMPORAL.intersection(value) else None


def read_instant(value: str, zone: str) -> Stored:
    """A point in time at UTC from ISO 8601; without an offset, of a date and time in the zone."""
    found = WITH_OFFSET.fullmatch(value)
    at = text_as_timestamp(value if found is None else found[1])
    if not isinstance(at, int) or at in INFINITE:
        return at
    if found is None:
        return in_zone(at, zone, DEFAULT)
    seconds = (int(found[3] or 0) * 60 + int(found[4] or 0)) * 60
    return bounded(at + (seconds if found[2] == "-" else -seconds) * 1_000_000)


def _moment(found: re.Match[str]) -> Stored:
    try:
        days = days_of(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
    if found[4] is None:
        return days * DAY
    clock = _clock(found[4], found[5], found[6], found[7])
    return None if clock is None else days * DAY + clock


def _clock(hour: str, minute: str, second: str, fraction: str | None) -> int | None:
    """Microseconds since midnight."""
    if minute > "59" or second > "59":
        return None
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
    return seconds * 1_000_000 + int((fraction or "").ljust(6, "0"))


@remembered
def text_as_time(value: str) -> Stored:
    """A time of day."""
    found = CLOCK.fullmatch(value)
    if found and found[1] < "24":
        return _clock(found[1], found[2], found[3], found[4])
    return reference.asked("epoch_us(TRY_CAST($1 AS TIME))", value) if TEMPORAL.intersection(value) else None


def asked_moment(expression: str, *values: str | float) -> Stored:
    """A timestamp that DuckDB makes of an expression."""
    far = f"CASE WHEN {expression} > TIMESTAMP '1970-01-01' THEN {MOST} ELSE -{MOST} END"
    return reference.asked(
        f"CASE WHEN isfinite({expression}) THEN epoch_us({expression}) WHEN isinf({expression}) THEN {far} END", *values
    )


def float_as_integer(value: Stored) -> Stored:
    """The nearest integer; of two, the even one."""
    given = number(value)
    return None if given is None or not -(2.0**63) <= given < 2.0**63 else fitting(round(given))


def decimal_as_integer(value: Stored) -> Stored:
    """The nearest integer; halves go away from zero."""
    if isinstance(value, int):
        return value
    given = number(value)
    if given is None or not -(2.0**63) <= given < 2.0**63:
        return None
    return fitting(int(halves_away(given)))


def decimal_as_text(value: Stored, scale: Stored) -> Stored:
    """All digits after the point, as many as the type has."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return f"{Decimal(value) if isinstance(value, int) else value + 0.0:.{whole(scale)}f}"


def float_as_text(value: Stored) -> Stored:
    """The shortest digits that mean the number."""
    given = number(value)
    return None if given is None else repr(given)


def date_as_text(value: Stored) -> Stored:
    """As ISO writes it, and far dates as DuckDB does."""
    found = day(value)
    if found in INFINITE_DAYS:
        return "infinity" if found == LAST_DAY else "-infinity"
    return None if found is None else written(found)


def written(days: int) -> str:
    """A date of any year."""
    year, month, at = civil(days)
    era = "" if year > 0 else " (BC)"
    return f"{year if year > 0 else 1 - year:04d}-{month:02d}-{at:02d}{era}"


def time_as_text(value: Stored) -> Stored:
    """Hours, minutes and seconds, with a fraction where there is one."""
    return clock_text(value) if isinstance(value, int) else None


def clock_text(value: int) -> str:
    """Microseconds since midnight as text."""
    seconds, rest = divmod(value, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def timestamp_as_text(value: Stored) -> Stored:
    """Date and time."""
    given = moment(value)
    if given is None:
        return None
    if given in INFINITE:
        return "infinity" if given > 0 else "-infinity"
    days, clock = divmod(given, DAY)
    return f"{written(days)} {clock_text(clock)}"


def timestamp_as_date(value: Stored) -> Stored:
    """Without the time of day."""
    given = moment(value)
    if given is None:
        return None
    if given in INFINITE:
        return "infinity" if given > 0 else "-infinity"
    return iso(given // DAY)


FUNCTIONS: Mapping[str, Body] = {
    "text_as_boolean": of_texts(lambda value: BOOLEANS.get(value.lower())),
    "text_as_integer": of_texts(text_as_integer),
    "text_as_float": of_texts(text_as_float),
    "text_as_date": of_texts(text_as_date),
    "text_as_time": of_texts(text_as_time),
    "text_as_timestamp": of_texts(text_as_timestamp),
    "read_instant": of_texts(read_instant),
    "float_as_integer": total(float_as_integer),
    "float_as_text": total(float_as_text),
    "decimal_as_integer": total(decimal_as_integer),
    "decimal_as_text": total(decimal_as_text),
    "date_as_text": total(date_as_text),
    "date_as_timestamp": total(moment),
    "time_as_text": total(time_as_text),
    "timestamp_as_text": total(timestamp_as_text),
    "timestamp_as_date": total(timestamp_as_date),
    "timestamp_as_time": of_moment(lambda value: value % DAY),
}
"""Named by the two types; what is not here is the value itself, a cast that SQLite has, or NULL."""
