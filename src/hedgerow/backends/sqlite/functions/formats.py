"""Formats."""

import math
import re
from collections.abc import Callable, Mapping
from functools import cache

from hedgerow.backends.sqlite.functions.calendar import (
    DAYS,
    HOUR,
    MINUTE,
    NAMES,
    SECOND,
    day_of_year,
    days_of,
    iso_week,
    weekday,
)
from hedgerow.backends.sqlite.functions.casts import asked_timestamp
from hedgerow.backends.sqlite.functions.numbers import halves_away
from hedgerow.backends.sqlite.functions.values import (
    DAY,
    INFINITE,
    Body,
    Stored,
    bounded,
    civil,
    iso,
    number,
    of_texts,
    of_timestamp,
    text,
    timestamp,
    total,
)

Part = Callable[[int, int], int]

DIRECTIVE = re.compile(r"%(-?)(.)")
WORDS = frozenset({"infinity", "-infinity", "epoch"})
INTEGERS = range(-(2**31), 2**31)


def _year(year: int) -> str:
    """Write a year with at least four digits, or a sign."""
    return f"{year:04d}" if year >= 0 else str(year)


def _week_from(first: int) -> Part:
    """Return the week of the year for weeks that start on a given day (Sunday is 0); 0 before the first one."""
    return lambda days, _: (day_of_year(days) + 6 - (weekday(days) - first) % 7) // 7


NUMBERS: Mapping[str, tuple[int, Part]] = {
    "d": (2, lambda days, _: civil(days)[2]),
    "m": (2, lambda days, _: civil(days)[1]),
    "y": (2, lambda days, _: abs(civil(days)[0]) % 100),
    "H": (2, lambda _, clock: clock // HOUR),
    "I": (2, lambda _, clock: (clock // HOUR - 1) % 12 + 1),
    "M": (2, lambda _, clock: clock // MINUTE % 60),
    "S": (2, lambda _, clock: clock // SECOND % 60),
    "j": (3, lambda days, _: day_of_year(days)),
    "U": (2, _week_from(0)),
    "W": (2, _week_from(1)),
    "V": (2, lambda days, _: iso_week(days)[1]),
    "w": (1, lambda days, _: weekday(days)),
    "u": (1, lambda days, _: weekday(days) or 7),
}
"""Directives that write a number: its width, and its value from the day and the microseconds since midnight."""

TEXTS: Mapping[str, Callable[[int, int], str]] = {
    "Y": lambda days, _: _year(civil(days)[0]),
    "G": lambda days, _: _year(iso_week(days)[0]),
    "a": lambda days, _: DAYS[weekday(days)][:3],
    "A": lambda days, _: DAYS[weekday(days)],
    "b": lambda days, _: NAMES[civil(days)[1] - 1][:3],
    "B": lambda days, _: NAMES[civil(days)[1] - 1],
    "p": lambda _, clock: "PM" if clock >= 12 * HOUR else "AM",
    "%": lambda *_: "%",
}


def format_time(value: Stored, written: Stored) -> Stored:
    """Format a timestamp (STRFTIME)."""
    given, form = timestamp(value), text(written)
    if given is None or form is None:
        return None
    if given in INFINITE:
        return "infinity" if given > 0 else "-infinity"
    days, clock = divmod(given, DAY)
    return DIRECTIVE.sub(lambda match: _shown(match[2], match[1], days, clock), form)


def _shown(letter: str, bare: str, days: int, clock: int) -> str:
    if letter in TEXTS:
        return TEXTS[letter](days, clock)
    width, compute = NUMBERS[letter]
    return f"{compute(days, clock):0{1 if bare else width}d}"


PLAIN = {"Y": "[0-9]{4}", "m": "[0-9]{2}", "d": "[0-9]{2}", "H": "[0-9]{2}", "M": "[0-9]{2}", "S": "[0-9]{2}"}


@cache
def _reader(form: str) -> re.Pattern[str] | None:
    """Return the pattern of a simple format; None if it has names, AM and PM or short years."""
    pieces, at = list[str](), 0
    for directive in DIRECTIVE.finditer(form):
        if directive[2] not in PLAIN or f"(?P<{directive[2]}>" in "".join(pieces):
            return None
        pieces += [re.escape(form[at : directive.start()]), f"(?P<{directive[2]}>{PLAIN[directive[2]]})"]
        at = directive.end()
    return re.compile("".join([*pieces, re.escape(form[at:])])) if pieces else None


def read_time(value: str, form: str) -> Stored:
    """Read a timestamp in a format (STRPTIME); words such as `epoch` are NULL."""
    if value.strip(" ").lower() in WORDS:
        return None
    reader = _reader(form)
    match = None if reader is None else reader.fullmatch(value)
    if match is None:
        return asked_timestamp("TRY(try_strptime($1, $2))", value, form)
    parts = {"Y": "1900", "m": "1", "d": "1", "H": "0", "M": "0", "S": "0", **match.groupdict()}
    year, month, at, hour, minute, second = (int(parts[letter]) for letter in "YmdHMS")
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        return days_of(year, month, at) * DAY + hour * HOUR + minute * MINUTE + second * SECOND
    except ValueError:
        return None


def make_date(*parts: Stored) -> Stored:
    """Return the date of year, month and day."""
    numbers = [part for part in parts if isinstance(part, int) and part in INTEGERS]
    if len(numbers) < 3:
        return None
    try:
        return iso(days_of(*numbers))
    except ValueError:
        return None


def make_timestamp(*parts: Stored) -> Stored:
    """Return the timestamp of year, month, day, hour, minute and seconds with a fraction."""
    numbers = [part for part in parts[:5] if isinstance(part, int) and part in INTEGERS]
    seconds = number(parts[5])
    if len(numbers) < 5 or seconds is None or not -1 < seconds < 61:
        return None
    year, month, at, hour, minute = numbers
    micro = int(halves_away((seconds - math.trunc(seconds)) * SECOND))
    clock = hour * HOUR + minute * MINUTE + math.trunc(seconds) * SECOND + micro
    if 0 <= hour < 24 and 0 <= minute < 60 and micro >= 0 and seconds < 59.999:
        try:
            return bounded(days_of(year, month, at) * DAY + clock)
        except ValueError:
            return None
    five = ", ".join(f"${index}::INTEGER" for index in range(1, 6))
    return asked_timestamp(f"TRY(make_timestamp({five}, $6::DOUBLE))", *numbers, seconds)


def from_epoch(value: Stored) -> Stored:
    """Return the timestamp of seconds since 1970."""
    given = number(value)
    micro = None if given is None else given * 1_000_000
    if micro is None or not -(2.0**63) <= micro < 2.0**63:
        return None
    return round(micro)


FUNCTIONS: Mapping[str, Body] = {
    "format_time": total(format_time),
    "read_time": of_texts(read_time),
    "make_date": total(make_date),
    "make_timestamp": total(make_timestamp),
    "from_epoch": total(from_epoch),
    "week_from_sunday": of_timestamp(lambda value: NUMBERS["U"][1](value // DAY, 0)),
}
