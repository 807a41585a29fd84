"""Casts between all types, as DuckDB's TRY_CAST: text that cannot be parsed is NULL.

Common forms of numbers and dates are parsed here; unusual ones by DuckDB.
"""

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from hedgerow.backends.sqlite.functions.calendar import days_of, in_zone
from hedgerow.backends.sqlite.functions.numbers import halves_away
from hedgerow.backends.sqlite.functions.texts import ask_duckdb
from hedgerow.backends.sqlite.functions.values import (
    DAY,
    FAR,
    INFINITE,
    INFINITE_DAYS,
    INT_MAX,
    LAST_DAY,
    Body,
    Stored,
    bounded,
    cached,
    civil,
    day,
    fitting,
    iso,
    number,
    of_texts,
    of_timestamp,
    real,
    timestamp,
    total,
    whole,
)
from hedgerow.expressions.zones import DEFAULT, OFFSET

WHOLE = re.compile(r"-?[0-9]{1,18}")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?Z?)?"
)
ISO = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
CLOCK = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
NUMERIC, TEMPORAL = frozenset("0123456789"), frozenset("0123456789infepochINFEPOCH")
READ_DATE = "TRY_CAST($1 AS DATE)"
DAYS = f"CAST(date_diff('day', DATE '1970-01-01', {READ_DATE}) AS VARCHAR)"
WITH_OFFSET = re.compile(OFFSET)
BOOLEANS = {"true": 1, "t": 1, "1": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "0": 0, "no": 0, "n": 0}


@cached
def text_as_integer(value: str) -> Stored:
    """Read an integer; fractions are rounded, halves away from zero."""
    if WHOLE.fullmatch(value):
        return int(value)
    return ask_duckdb("TRY_CAST($1 AS BIGINT)", value) if NUMERIC.intersection(value) else None


@cached
def text_as_float(value: str) -> Stored:
    """Read a number with an optional fraction and exponent, `nan` or `inf`."""
    if NUMBER.fullmatch(value):
        return float(value)
    if not NUMERIC.intersection(value) and not re.search("nan|inf", value, re.IGNORECASE):
        return None
    parsed = ask_duckdb("TRY_CAST($1 AS DOUBLE)", value)
    return real(parsed) if isinstance(parsed, float) else None


@cached
def text_as_date(value: str) -> Stored:
    """Read a date, with an optional time of day that is dropped."""
    if ISO.fullmatch(value) and day(value) is not None:
        return value
    if not TEMPORAL.intersection(value):
        return None
    parsed = ask_duckdb(f"CASE WHEN isfinite({READ_DATE}) THEN {DAYS} ELSE CAST({READ_DATE} AS VARCHAR) END", value)
    return iso(int(parsed)) if isinstance(parsed, str) and parsed not in FAR else parsed


@cached
def text_as_timestamp(value: str) -> Stored:
    """Read a date with an optional time of day."""
    match = TIMESTAMP.fullmatch(value)
    if match and (match[4] or "00") < "24":
        return _timestamp(match)
    return asked_timestamp("TRY_CAST($1 AS TIMESTAMP)", value) if TEMPORAL.intersection(value) else None


@cached
def read_instant(value: str, zone: str) -> Stored:
    """Read a timestamp at UTC from ISO 8601; text without an offset is in the zone."""
    match = WITH_OFFSET.fullmatch(value)
    at = text_as_timestamp(value if match is None else match[1])
    if not isinstance(at, int) or at in INFINITE:
        return at
    if match is None:
        return in_zone(at, zone, DEFAULT)
    seconds = (int(match[3] or 0) * 60 + int(match[4] or 0)) * 60
    return bounded(at + (seconds if match[2] == "-" else -seconds) * 1_000_000)


def _timestamp(match: re.Match[str]) -> Stored:
    try:
        days = days_of(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    if match[4] is None:
        return days * DAY
    clock = _clock(match[4], match[5], match[6], match[7])
    return None if clock is None else days * DAY + clock


def _clock(hour: str, minute: str, second: str, fraction: str | None) -> int | None:
    """Return microseconds since midnight."""
    if minute > "59" or second > "59":
        return None
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
    return seconds * 1_000_000 + int((fraction or "").ljust(6, "0"))


@cached
def text_as_time(value: str) -> Stored:
    """Read a time of day."""
    match = CLOCK.fullmatch(value)
    if match and match[1] < "24":
        return _clock(match[1], match[2], match[3], match[4])
    return ask_duckdb("epoch_us(TRY_CAST($1 AS TIME))", value) if TEMPORAL.intersection(value) else None


def asked_timestamp(expression: str, *values: str | float) -> Stored:
    """Return DuckDB's timestamp of an expression."""
    far = f"CASE WHEN {expression} > TIMESTAMP '1970-01-01' THEN {INT_MAX} ELSE -{INT_MAX} END"
    return ask_duckdb(
        f"CASE WHEN isfinite({expression}) THEN epoch_us({expression}) WHEN isinf({expression}) THEN {far} END", *values
    )


def float_as_integer(value: Stored) -> Stored:
    """Round to an integer, halves to even."""
    given = number(value)
    return None if given is None or not -(2.0**63) <= given < 2.0**63 else fitting(round(given))


def decimal_as_integer(value: Stored) -> Stored:
    """Round to an integer, halves away from zero."""
    if isinstance(value, int):
        return value
    given = number(value)
    if given is None or not -(2.0**63) <= given < 2.0**63:
        return None
    return fitting(int(halves_away(given)))


def decimal_as_text(value: Stored, scale: Stored) -> Stored:
    """Write a decimal with all digits of its scale."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return f"{Decimal(value) if isinstance(value, int) else value + 0.0:.{whole(scale)}f}"


def float_as_text(value: Stored) -> Stored:
    """Write the shortest digits that round-trip."""
    given = number(value)
    return None if given is None else repr(given)


def date_as_text(value: Stored) -> Stored:
    """Write a date in ISO 8601, or as DuckDB writes far dates."""
    days = day(value)
    if days in INFINITE_DAYS:
        return "infinity" if days == LAST_DAY else "-infinity"
    return None if days is None else written(days)


def written(days: int) -> str:
    """Write a date of any year."""
    year, month, at = civil(days)
    era = "" if year > 0 else " (BC)"
    return f"{year if year > 0 else 1 - year:04d}-{month:02d}-{at:02d}{era}"


def time_as_text(value: Stored) -> Stored:
    """Write hours, minutes and seconds, with a fraction if there is one."""
    return clock_text(value) if isinstance(value, int) else None


def clock_text(value: int) -> str:
    """Write microseconds since midnight as a time of day."""
    seconds, rest = divmod(value, 1_000_000)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


def timestamp_as_text(value: Stored) -> Stored:
    """Write date and time."""
    given = timestamp(value)
    if given is None:
        return None
    if given in INFINITE:
        return "infinity" if given > 0 else "-infinity"
    days, clock = divmod(given, DAY)
    return f"{written(days)} {clock_text(clock)}"


def timestamp_as_date(value: Stored) -> Stored:
    """Return the date of a timestamp."""
    given = timestamp(value)
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
    "date_as_timestamp": total(timestamp),
    "time_as_text": total(time_as_text),
    "timestamp_as_text": total(timestamp_as_text),
    "timestamp_as_date": total(timestamp_as_date),
    "timestamp_as_time": of_timestamp(lambda value: value % DAY),
}
"""Casts by both types; other casts return the value itself, are SQLite's own, or give NULL."""
