"""Functions of dates, timestamps and times of day."""

from hedgerow.expressions.functions.function import DOUBLE, INTEGERS, NUMBERS, TEXTS, TIMES, TWO_TEXTS, row, within
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type

# --- Dates and times
#
# Units come from a fixed list, and every step is wrapped, for dates can be infinite. Inside TRY only the outermost
# operation may fail: an optimiser may compute its argument elsewhere, once. Formats are constants from a list in
# `hedgerow.plan.calendar_functions`; here they are text like any other. Points in time are kept at UTC; every dialect
# writes the offsets of a zone into the text (`Dialect.in_zone`), and zones are constants.

PARTS = {
    "year": EVERYTHING,
    "quarter": Range(1, 4),
    "month": Range(1, 12),
    "week": Range(1, 53),
    "day": Range(1, 31),
    "dayofweek": Range(0, 6),
    "isodow": Range(1, 7),
    "dayofyear": Range(1, 366),
    "hour": Range(0, 23),
    "minute": Range(0, 59),
    "second": Range(0, 59),
    "millisecond": Range(0, 59_999),
    "microsecond": Range(0, 59_999_999),
    "isoyear": EVERYTHING,
    "decade": EVERYTHING,
    "century": EVERYTHING,
}
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_INT = 2**31 - 1
_FARTHEST = dict.fromkeys(UNITS, _INT) | {"year": _INT // 12, "quarter": _INT // 3, "week": _INT // 7}
"""The largest number of a unit in an interval, which counts months and days in 32 bits."""

_TIMESTAMP = "TRY_CAST({0} AS TIMESTAMP)"
_TIMESTAMP_1 = "TRY_CAST({1} AS TIMESTAMP)"
_SMALL = [f"TRY_CAST({{{index}}} AS INTEGER)" for index in range(5)]
_DATES = frozenset({Type.DATE})
_TWO_TIMES = (TIMES, TIMES)

CALENDAR = (
    *(
        row(
            f"extract_{part}",
            (TIMES,),
            Type.INTEGER,
            f"TRY(CAST(date_part('{part}', {{0}}) AS BIGINT))",
            within(values.lower, values.upper),
        )
        for part, values in PARTS.items()
    ),
    *(row(f"trunc_{unit}", (TIMES,), Type.TIMESTAMP, f"TRY(date_trunc('{unit}', {_TIMESTAMP}))") for unit in UNITS),
    *(
        row(f"difference_{unit}", _TWO_TIMES, Type.INTEGER, f"TRY(date_diff('{unit}', {_TIMESTAMP}, {_TIMESTAMP_1}))")
        for unit in UNITS
    ),
    *(
        row(
            f"shift_{unit}",
            (TIMES, INTEGERS),
            Type.TIMESTAMP,
            f"TRY({_TIMESTAMP} + to_{unit}s("
            f"CASE WHEN {{1}} BETWEEN -{farthest} AND {farthest} THEN TRY_CAST({{1}} AS INTEGER) END))",
        )
        for unit, farthest in _FARTHEST.items()
    ),
    *(
        row(f"elapsed_{unit}", _TWO_TIMES, Type.INTEGER, f"TRY(date_sub('{unit}', {_TIMESTAMP}, {_TIMESTAMP_1}))")
        for unit in UNITS
    ),
    # The width and the origin are constants.
    *(
        row(
            f"bucket_{unit}",
            (TIMES, INTEGERS, TIMES),
            Type.TIMESTAMP,
            f"TRY(time_bucket(to_{unit}s(CAST({{1}} AS INTEGER)), {_TIMESTAMP}, {{2}}))",
        )
        for unit in UNITS
    ),
    row("days_between", (_DATES, _DATES), Type.INTEGER, "TRY(date_diff('day', {1}, {0}))"),
    row(
        "microseconds_between",
        _TWO_TIMES,
        Type.INTEGER,
        f"TRY(date_diff('microsecond', {_TIMESTAMP_1}, {_TIMESTAMP}))",
    ),
    row("last_day", (TIMES,), Type.DATE, f"TRY(last_day({_TIMESTAMP}))"),
    row("month_name", (TIMES,), Type.TEXT, f"TRY(monthname({_TIMESTAMP}))"),
    row("day_name", (TIMES,), Type.TEXT, f"TRY(dayname({_TIMESTAMP}))"),
    row("format_time", (TIMES, TEXTS), Type.TEXT, f"TRY(strftime({_TIMESTAMP}, {{1}}))"),
    # DuckDB reads words for special points in time under every format, as the first day of 1900.
    row(
        "read_time",
        TWO_TEXTS,
        Type.TIMESTAMP,
        "TRY(try_strptime(CASE WHEN lower(trim({0})) NOT IN ('infinity', '-infinity', 'epoch') THEN {0} END, {1}))",
    ),
    row("make_date", (INTEGERS,) * 3, Type.DATE, f"TRY(make_date({', '.join(_SMALL[:3])}))"),
    row(
        "make_timestamp",
        (*(INTEGERS,) * 5, NUMBERS),
        Type.TIMESTAMP,
        f"TRY(make_timestamp({', '.join(_SMALL)}, TRY_CAST({{5}} AS DOUBLE)))",
    ),
    row("epoch", (TIMES,), Type.FLOAT, f"TRY(epoch({_TIMESTAMP}))"),
    row(
        "from_epoch",
        (NUMBERS,),
        Type.TIMESTAMP,
        f"TRY(make_timestamp(TRY_CAST({DOUBLE} * 1000000 AS BIGINT)))",
    ),
    row(
        "seconds",
        (TIMES,),
        Type.FLOAT,
        f"TRY(CAST(date_part('microsecond', {_TIMESTAMP}) AS DOUBLE) / 1000000)",
        within(0.0, 60.0),
    ),
    # Weeks begin on Sunday; the days before the first Sunday are in week 0.
    row(
        "week_from_sunday",
        (TIMES,),
        Type.INTEGER,
        f"CASE WHEN isfinite({_TIMESTAMP}) THEN TRY_CAST(strftime({_TIMESTAMP}, '%U') AS BIGINT) END",
        within(0.0, 53.0),
    ),
    # The years in AGE(end, start): full ones, by the calendar.
    row(
        "age_in_years",
        _TWO_TIMES,
        Type.INTEGER,
        f"TRY(CAST(date_part('year', age({_TIMESTAMP}, {_TIMESTAMP_1})) AS BIGINT))",
    ),
    row(
        "in_zone",
        (frozenset({Type.TIMESTAMP}), TEXTS, TEXTS),
        Type.TIMESTAMP,
        "({0} AT TIME ZONE {1}) AT TIME ZONE {2}",
        partial=False,
    ),
    row("read_instant", TWO_TEXTS, Type.TIMESTAMP, "CAST({0} AS TIMESTAMP WITH TIME ZONE)"),
)


# --- Parts of a time of day
#
# Every part of 24:00, and of what some engines have beyond it, is NULL. Every dialect computes the parts from
# microseconds since midnight (`Dialect.clock`).

_HOUR, MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000
DAY = 24 * _HOUR
CLOCK = {
    "clock_hour": (DAY, _HOUR),
    "clock_minute": (_HOUR, MINUTE),
    "clock_second": (MINUTE, _SECOND),
    "clock_millisecond": (MINUTE, 1_000),
    "clock_microsecond": (MINUTE, 1),
}
"""For each part, the period in which it is counted and its unit, in microseconds."""

CLOCK_SECONDS = "clock_seconds"
"""Seconds with their fraction."""

_TIME_OF_DAY = (frozenset({Type.TIME}),)
_MICROSECONDS = "epoch_us({0})"

TIME_OF_DAY = (
    *(
        row(
            name,
            _TIME_OF_DAY,
            Type.INTEGER,
            f"CASE WHEN {_MICROSECONDS} < {DAY} THEN {_MICROSECONDS} % {period} // {unit} END",
            within(0.0, float(period // unit - 1)),
        )
        for name, (period, unit) in CLOCK.items()
    ),
    row(
        CLOCK_SECONDS,
        _TIME_OF_DAY,
        Type.FLOAT,
        f"CASE WHEN {_MICROSECONDS} < {DAY} THEN CAST({_MICROSECONDS} % {MINUTE} AS DOUBLE) / {_SECOND} END",
        within(0.0, 60.0),
    ),
)
