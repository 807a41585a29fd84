"""Timestamps: parts, differences and shifts.

Timestamps are microseconds since 1970 in the proleptic Gregorian calendar, also before the year 1 and after 9999. All
parts of infinity are NULL.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache

from hedgerow.backends.sqlite.functions.values import (
    CACHE_SIZE,
    CYCLE,
    DAY,
    FIRST_DAY,
    INFINITE,
    INFINITE_DAYS,
    START,
    Body,
    Stored,
    bounded,
    civil,
    day,
    fitting,
    iso,
    of_instant,
    of_timestamp,
    of_timestamps,
    timestamp,
    total,
    whole,
)
from hedgerow.expressions import zones
from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS

SECOND, MINUTE, HOUR = 1_000_000, 60_000_000, 3_600_000_000
FIRST, LAST = zones.micros(zones.FIRST), zones.micros(zones.LAST)
MAX_INTEGER = 2**31 - 1
MONTHS = {"year": 12, "quarter": 3, "month": 1}
SPANS = {"week": 7 * DAY, "day": DAY, "hour": HOUR, "minute": MINUTE, "second": SECOND}
WIDTHS = {**MONTHS, "week": 7}
"""Months or days of a unit, which intervals count in 32 bits."""

NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def days_of(year: int, month: int, at: int) -> int:
    """Return days since 1970; raise ValueError if there is no such day."""
    cycles, rest = divmod(year - 2000, 400)
    return date(2000 + rest, month, at).toordinal() - FIRST_DAY + cycles * CYCLE


def month_days(year: int, month: int) -> int:
    """Return the number of days of a month."""
    following = days_of(year + month // 12, month % 12 + 1, 1)
    return following - days_of(year, month, 1)


def weekday(days: int) -> int:
    """Return the day of the week; Sunday is 0."""
    return (days + 4) % 7


@lru_cache(CACHE_SIZE)
def iso_week(days: int) -> tuple[int, int]:
    """Return the ISO year and week."""
    cycles, rest = divmod(days + FIRST_DAY - START, CYCLE)
    year, week, _ = date.fromordinal(START + rest).isocalendar()
    return year + 400 * cycles, week


def day_of_year(days: int) -> int:
    """Return the day of the year, from 1."""
    return days - days_of(civil(days)[0], 1, 1) + 1


def _century(year: int) -> int:
    return (year - 1) // 100 + 1 if year > 0 else -(-year // 100) - 1


def _towards_zero(left: int, right: int) -> int:
    return left // right if left >= 0 else -(-left // right)


PARTS: Mapping[str, Callable[[int, int], int]] = {
    "year": lambda days, _: civil(days)[0],
    "quarter": lambda days, _: (civil(days)[1] + 2) // 3,
    "month": lambda days, _: civil(days)[1],
    "week": lambda days, _: iso_week(days)[1],
    "day": lambda days, _: civil(days)[2],
    "dayofweek": lambda days, _: weekday(days),
    "isodow": lambda days, _: weekday(days) or 7,
    "dayofyear": lambda days, _: day_of_year(days),
    "hour": lambda _, clock: clock // HOUR,
    "minute": lambda _, clock: clock // MINUTE % 60,
    "second": lambda _, clock: clock // SECOND % 60,
    "millisecond": lambda _, clock: clock // 1_000 % 60_000,
    "microsecond": lambda _, clock: clock % MINUTE,
    "isoyear": lambda days, _: iso_week(days)[0],
    "decade": lambda days, _: _towards_zero(civil(days)[0], 10),
    "century": lambda days, _: _century(civil(days)[0]),
}
"""Parts of a timestamp, from days since 1970 and microseconds since midnight."""


def _part(name: str) -> Body:
    compute = PARTS[name]
    return of_instant(lambda value: compute(*divmod(value, DAY)))


def truncated(value: int, unit: str) -> int | None:
    """Truncate a timestamp to a unit."""
    if unit in MONTHS:
        year, month, _ = civil(value // DAY)
        first = 1 if unit == "year" else month - (month - 1) % MONTHS[unit]
        return bounded(days_of(year, first, 1) * DAY)
    if unit == "week":
        days = value // DAY
        return bounded((days - (weekday(days) - 1) % 7) * DAY)
    return bounded(value - value % SPANS[unit])


def shifted(value: int, unit: str, count: Stored) -> int | None:
    """Shift a timestamp by a number of units; a day that a month lacks becomes its last day."""
    given = whole(count)
    if given is None or abs(given) > MAX_INTEGER // WIDTHS.get(unit, 1):
        return None
    if value in INFINITE:
        return value
    return later_by_months(value, given * MONTHS[unit]) if unit in MONTHS else bounded(value + given * SPANS[unit])


def later_by_months(value: int, months: int) -> int | None:
    """Return the same day and time of a later month."""
    days, clock = divmod(value, DAY)
    year, month, at = civil(days)
    years, month_index = divmod(month - 1 + months, 12)
    last = month_days(year + years, month_index + 1)
    return bounded(days_of(year + years, month_index + 1, min(at, last)) * DAY + clock)


def _months(value: int) -> int:
    year, month, _ = civil(value // DAY)
    return year * 12 + month - 1


def difference(start: int, end: int, unit: str) -> int | None:
    """Return the number of unit boundaries between two timestamps; for weeks, of midnights divided by seven."""
    if unit == "year":
        return civil(end // DAY)[0] - civil(start // DAY)[0]
    if unit in MONTHS:
        width = MONTHS[unit]
        return _towards_zero(_months(end), width) - _towards_zero(_months(start), width)
    if unit == "week":
        return _towards_zero(end // DAY - start // DAY, 7)
    width = SPANS[unit]
    return end // width - start // width


def elapsed(start: int, end: int, unit: str) -> int | None:
    """Return the number of full units between two timestamps."""
    if unit not in MONTHS:
        distance = fitting(end - start)
        return None if distance is None else _towards_zero(distance, SPANS[unit])
    sign, (first, last) = (1, (start, end)) if start <= end else (-1, (end, start))
    return sign * _towards_zero(elapsed_months(first, last), MONTHS[unit])


def elapsed_months(start: int, end: int) -> int:
    """Return the full months from `start` to a later timestamp; the last day of a shorter month completes one."""
    (days, clock), (last_days, last_clock) = divmod(start, DAY), divmod(end, DAY)
    year, month, at = civil(days)
    end_year, end_month, end_at = civil(last_days)
    is_last = end_at == month_days(end_year, end_month)
    begun = (min(at, end_at), clock) if is_last else (at, clock)
    return (end_year - year) * 12 + end_month - month - ((end_at, last_clock) < begun)


def age_in_years(end: int, start: int) -> int:
    """Return the full years from one timestamp to another, by the calendar."""
    sign, (low, high) = (1, (start, end)) if start <= end else (-1, (end, start))
    (days, clock), (high_days, high_clock) = divmod(low, DAY), divmod(high, DAY)
    begun, ended = (*civil(days), clock), (*civil(high_days), high_clock)
    return sign * (ended[0] - begun[0] - (ended[1:] < begun[1:]))


def bucket(value: int, width: Stored, origin: Stored, unit: str) -> int | None:
    """Return the start of the bucket of a timestamp; buckets are a number of units wide."""
    given, start = whole(width), timestamp(origin)
    if given is None or start is None or given <= 0:
        return None
    if value in INFINITE:
        return value
    if unit in MONTHS:
        wide = given * MONTHS[unit]
        months = _months(value) - _months(start)
        return bounded(later(_months(start) + months // wide * wide))
    wide = given * SPANS[unit]
    return bounded(start + (value - start) // wide * wide)


def later(months: int) -> int:
    """Return the start of a month, counted from the year 0."""
    return days_of(months // 12, months % 12 + 1, 1) * DAY


def _with_infinity(function: Callable[..., int | None]) -> Body:
    """Make a function of a timestamp total; it also receives infinity."""

    def read(value: Stored, *others: Stored) -> Stored:
        given = timestamp(value)
        return None if given is None else function(given, *others)

    return total(read)


def _by_unit(unit: str) -> dict[str, Body]:
    return {
        f"trunc_{unit}": _with_infinity(lambda value: value if value in INFINITE else truncated(value, unit)),
        f"shift_{unit}": _with_infinity(lambda value, count: shifted(value, unit, count)),
        f"difference_{unit}": of_timestamps(lambda start, end: difference(start, end, unit)),
        f"elapsed_{unit}": of_timestamps(lambda start, end: elapsed(start, end, unit)),
        f"bucket_{unit}": _with_infinity(lambda value, width, origin: bucket(value, width, origin, unit)),
    }


def in_zone(value: int, source: Stored, target: Stored) -> int:
    """Convert a timestamp from one time zone to another."""
    shift = zones.shift(*(zone.decode() if isinstance(zone, bytes) else str(zone) for zone in (source, target)))
    if shift is None or not FIRST <= value <= LAST:
        return value
    return value + shift.offset_at(zones.EPOCH + timedelta(microseconds=value)) * SECOND


def _clock(name: str) -> Body:
    """Return the function for a part of a time of day; NULL from 24:00 on."""
    within, unit = CLOCK.get(name, (MINUTE, SECOND))

    def read(value: int) -> int | float | None:
        if not 0 <= value < DAY:
            return None
        return value % within / unit if name == CLOCK_SECONDS else value % within // unit

    return total(lambda value: read(value) if isinstance(value, int) else None)


def _days_between(end: Stored, start: Stored) -> Stored:
    last, first = day(end), day(start)
    if last is None or first is None or last in INFINITE_DAYS or first in INFINITE_DAYS:
        return None
    return last - first


def _last_day(value: int) -> str:
    year, month, _ = civil(value // DAY)
    return iso(days_of(year, month, month_days(year, month)))


FUNCTIONS: Mapping[str, Body] = {
    **{f"extract_{name}": _part(name) for name in PARTS},
    **{name: body for unit in (*MONTHS, *SPANS) for name, body in _by_unit(unit).items()},
    **{name: _clock(name) for name in (*CLOCK, CLOCK_SECONDS)},
    "in_zone": _with_infinity(in_zone),
    "days_between": total(_days_between),
    "microseconds_between": of_timestamps(lambda end, start: fitting(end - start)),
    "age_in_years": of_timestamps(age_in_years),
    "last_day": of_timestamp(_last_day),
    "month_name": of_timestamp(lambda value: NAMES[civil(value // DAY)[1] - 1]),
    "day_name": of_timestamp(lambda value: DAYS[weekday(value // DAY)]),
    "epoch": of_timestamp(lambda value: float(value) / SECOND),
    "seconds": of_timestamp(lambda value: value % MINUTE / SECOND),
}
