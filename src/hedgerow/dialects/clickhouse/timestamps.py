"""Dates and timestamps: their parts, their distances, and what is added to them.

A timestamp is computed with as the number of microseconds since 1970, a date as a number of days. What comes out before
the year 1 or after 9999 is NULL: ClickHouse has no dates there, and would give the nearest one that it has.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime

from hedgerow.dialects.base import FIRST, LAST
from hedgerow.dialects.clickhouse.spelling import Writer, let
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

MICRO = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
}
MONTHS = {"year": 12, "quarter": 3, "month": 1}
DAY = MICRO["day"]
MONDAY = 3 * DAY
"""1970 began on a Thursday, three days after a Monday."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_OF_YEAR = "(toInt64({d}) - toInt64(makeDate32(toYear({d}), 1, 1)) + 1)"
"""`toDayOfYear` errs on the last day of 2299 (26.9)."""

YEARS = (1, 9999)
MOST = 2**31 - 1
"""How many of a unit can be added, as in DuckDB."""

DAYS = ((date.min - EPOCH.date()).days, (date.max - EPOCH.date()).days)


def _micros(value: datetime) -> int:
    span = value.replace(tzinfo=UTC) - EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


ENDS = (_micros(FIRST), _micros(LAST))


def timestamp(text: str) -> str:
    """A date or a timestamp as a timestamp at UTC."""
    return f"toDateTime64({text}, 6, 'UTC')"


def micros(text: str, expr: Expr) -> str:
    """Microseconds since 1970."""
    if isinstance(expr, Literal) and isinstance(expr.value, datetime):
        return f"toInt64({_micros(expr.value)})"
    return f"(toInt64({text}) * {DAY})" if expr.type is Type.DATE else f"toUnixTimestamp64Micro({timestamp(text)})"


def day(text: str, expr: Expr) -> str:
    """The date."""
    return f"toDate32({text})" if expr.type is Type.DATE else f"toDate32({timestamp(text)})"


def moment(number: str) -> str:
    """The timestamp of a number of microseconds (of 128 bits, perhaps); NULL outside the years that there are."""
    return let(f"if(m BETWEEN {ENDS[0]} AND {ENDS[1]}, fromUnixTimestamp64Micro(toInt64(m), 'UTC'), NULL)", m=number)


def from_day(number: str) -> str:
    """The date of a number of days."""
    return let(f"if(n BETWEEN {DAYS[0]} AND {DAYS[1]}, toDate32(toInt32(n)), NULL)", n=number)


def floored(number: str, width: int) -> str:
    """How many widths a number is from zero, downwards."""
    return f"intDiv({number} - positiveModulo({number}, {width}), {width})"


def month_number(name: str) -> str:
    """Months since the year 0 of a date."""
    return f"(toInt64(toYear({name})) * 12 + toMonth({name}) - 1)"


def first_of(number: str) -> str:
    """The first moment of a month, by its number; NULL outside the years that there are."""
    made = "toDateTime64(makeDate32(toInt32(intDiv(n, 12)), toInt32(n % 12) + 1, 1), 6, 'UTC')"
    return let(f"if(n BETWEEN {YEARS[0] * 12} AND {YEARS[1] * 12 + 11}, {made}, NULL)", n=number)


def _part(body: str) -> Writer:
    """A part of the date `d`."""
    return lambda expr, texts: body.format(d=day(texts[0], expr.arguments[0]))


def _time_part(body: str) -> Writer:
    """A part of the number `m` of microseconds."""
    return lambda expr, texts: body.format(m=micros(texts[0], expr.arguments[0]))


def _within(width: int, step: int) -> Writer:
    """How many steps since a width began."""
    return _time_part(f"toInt64(intDiv(positiveModulo({{m}}, {width}), {step}))")


PARTS: dict[str, Writer] = {
    "year": _part("toYear({d})"),
    "quarter": _part("toQuarter({d})"),
    "month": _part("toMonth({d})"),
    "week": _part("toISOWeek({d})"),
    "day": _part("toDayOfMonth({d})"),
    "dayofweek": _part("(toDayOfWeek({d}) % 7)"),
    "isodow": _part("toDayOfWeek({d})"),
    "dayofyear": _part(DAY_OF_YEAR),
    "hour": _within(DAY, MICRO["hour"]),
    "minute": _within(MICRO["hour"], MICRO["minute"]),
    "second": _within(MICRO["minute"], MICRO["second"]),
    "millisecond": _within(MICRO["minute"], 1_000),
    "microsecond": _within(MICRO["minute"], 1),
    "isoyear": _part("toISOYear({d})"),
    "decade": _part("intDiv(toYear({d}), 10)"),
    "century": _part("(intDiv(toYear({d}) + 99, 100))"),
}


def _trunc(unit: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        argument = expr.arguments[0]
        if unit in MONTHS:
            width = MONTHS[unit]
            number = month_number("d")
            return let(first_of(f"{number} - {number} % {width}"), d=day(texts[0], argument))
        shift = MONDAY if unit == "week" else 0
        back = f"m - toInt64(positiveModulo(m + {shift}, {MICRO[unit]}))"
        return let(moment(back), m=micros(texts[0], argument))

    return write


def _both(expr: Call, texts: Sequence[str]) -> dict[str, str]:
    """The two moments in microseconds."""
    pairs = zip("ab", texts, expr.arguments, strict=True)
    return {name: micros(text, argument) for name, text, argument in pairs}


def _days(expr: Call, texts: Sequence[str]) -> dict[str, str]:
    """The two dates."""
    return {name: day(text, argument) for name, text, argument in zip("de", texts, expr.arguments, strict=True)}


def _difference(unit: str) -> Writer:
    """How many units begin between two moments; weeks are seven days each, wherever they begin."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        if unit in MONTHS:
            ends = [f"intDiv({month_number(name)}, {MONTHS[unit]})" for name in "de"]
            return let(f"{ends[1]} - {ends[0]}", **_days(expr, texts))
        ends = [floored(name, DAY if unit == "week" else MICRO[unit]) for name in "ab"]
        between = f"{ends[1]} - {ends[0]}"
        return let(f"intDiv({between}, 7)" if unit == "week" else between, **_both(expr, texts))

    return write


def _elapsed(unit: str) -> Writer:
    """How many units fit between two moments."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        if unit in MONTHS:
            return f"intDiv({_months(texts, last_day=True)}, {MONTHS[unit]})"
        return let(f"intDiv(b - a, {MICRO[unit]})", **_both(expr, texts))

    return write


def _months(texts: Sequence[str], *, last_day: bool) -> str:
    """Full months from the first moment to the second; below zero, if it is the other way round.

    With `last_day`, the last day of a month counts as that day of every longer one.
    """
    number = {name: month_number(f"toDate32({name})") for name in "xy"}
    dates = {name: f"toDayOfMonth(toDate32({name}))" for name in "xy"}
    ending = "toDayOfMonth(toDate32(y)) = toDayOfMonth(toLastDayOfMonth(toDate32(y)))"
    start = f"if({ending}, least({dates['x']}, {dates['y']}), {dates['x']})" if last_day else dates["x"]
    times = {name: f"positiveModulo(toUnixTimestamp64Micro({name}), {DAY})" for name in "xy"}
    short = f"({dates['y']}, {times['y']}) < ({start}, {times['x']})"
    full = f"({number['y']} - {number['x']} - toInt64({short}))"
    ordered = let(full, x="least(s, t)", y="greatest(s, t)")
    ends = {name: timestamp(text) for name, text in zip("st", texts, strict=True)}
    return let(f"if(isNull(s) OR isNull(t), NULL, if(s > t, -1, 1) * {ordered})", **ends)


def _shift(unit: str) -> Writer:
    """So many units later."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        count = f"if({texts[1]} BETWEEN -{MOST} AND {MOST}, toInt64({texts[1]}), NULL)"
        start = micros(texts[0], expr.arguments[0])
        if unit not in MONTHS:
            return moment(f"toInt128({start}) + toInt128({count}) * {MICRO[unit]}")
        last = "toDayOfMonth(toLastDayOfMonth(toDate32(f)))"
        later = let(
            f"fromUnixTimestamp64Micro(toUnixTimestamp64Micro(f) + (least(toDayOfMonth(d), {last}) - 1) * {DAY} "
            f"+ toInt64(positiveModulo(m, {DAY})), 'UTC')",
            f=first_of(f"{month_number('d')} + k"),
            d="d",
            m="m",
        )
        step = f"{count} * {MONTHS[unit]}"
        return let(later, d=day(texts[0], expr.arguments[0]), m=start, k=step)

    return write


def _bucket(unit: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str | None:
        width, origin = (argument.value if isinstance(argument, Literal) else None for argument in expr.arguments[1:])
        if not isinstance(width, int) or not isinstance(origin, datetime):
            return None
        if unit in MONTHS:
            return _bucket_of_months(texts[0], expr.arguments[0], width * MONTHS[unit], origin)
        start, size = _micros(origin), width * MICRO[unit]
        since = f"(m - toInt128({start}))"
        body = moment(f"m - positiveModulo({since}, toInt128({size}))")
        return let(body, m=f"toInt128({micros(texts[0], expr.arguments[0])})")

    return write


def _bucket_of_months(text: str, expr: Expr, width: int, origin: datetime) -> str:
    start = origin.year * 12 + origin.month - 1
    number = month_number("d")
    return let(first_of(f"{number} - toInt64(positiveModulo({number} - {start}, {width}))"), d=day(text, expr))


def _make_date(_: Call, texts: Sequence[str]) -> str:
    return let(made_date("y", "m", "d"), **dict(zip("ymd", (f"toInt64({text})" for text in texts), strict=True)))


def made_date(year: str, month: str, day_: str) -> str:
    """The date of three whole numbers; NULL where there is none."""
    inside = f"{year} BETWEEN {YEARS[0]} AND {YEARS[1]} AND {month} BETWEEN 1 AND 12 AND {day_} BETWEEN 1 AND 31"
    made = f"makeDate32(toInt32({year}), toInt32({month}), toInt32({day_}))"
    return f"if({inside} AND toDayOfMonth({made}) = {day_}, {made}, NULL)"


def _last_day(expr: Call, texts: Sequence[str]) -> str:
    return f"toLastDayOfMonth({day(texts[0], expr.arguments[0])})"


def _from_epoch(_: Call, texts: Sequence[str]) -> str:
    return moment(f"accurateCastOrNull(roundBankers(toFloat64({texts[0]}) * 1e6), 'Int64')")


WRITERS: dict[str, Writer] = {
    **{f"extract_{name}": writer for name, writer in PARTS.items()},
    **{f"trunc_{unit}": _trunc(unit) for unit in (*MONTHS, *MICRO)},
    **{f"difference_{unit}": _difference(unit) for unit in (*MONTHS, *MICRO)},
    **{f"elapsed_{unit}": _elapsed(unit) for unit in (*MONTHS, *MICRO)},
    **{f"shift_{unit}": _shift(unit) for unit in (*MONTHS, *MICRO)},
    **{f"bucket_{unit}": _bucket(unit) for unit in (*MONTHS, *MICRO)},
    "days_between": lambda _, texts: f"(toInt64({texts[0]}) - toInt64({texts[1]}))",
    "microseconds_between": lambda expr, texts: let("a - b", **_both(expr, texts)),
    "age_in_years": lambda _, texts: f"intDiv({_months(texts, last_day=False)}, -12)",
    "last_day": _last_day,
    "make_date": _make_date,
    "epoch": _time_part("(toFloat64({m}) / 1e6)"),
    "seconds": _time_part("(toFloat64(positiveModulo({m}, 60000000)) / 1e6)"),
    "from_epoch": _from_epoch,
    "week_from_sunday": _part("toInt64(intDiv(" + DAY_OF_YEAR + " + 6 - toDayOfWeek({d}) % 7, 7))"),
}
