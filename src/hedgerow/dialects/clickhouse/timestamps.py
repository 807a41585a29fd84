"""Dates and timestamps: parts, differences, shifts and formats.

Timestamps are computed as microseconds since 1970 and dates as days. Results before the year 1 or after 9999 are NULL:
ClickHouse would clamp them to its own range. Formats are constants with a checked list of directives (`plan.formats`).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from hedgerow.dialects.base import FIRST, LAST
from hedgerow.dialects.clickhouse.numbers import half_away
from hedgerow.dialects.clickhouse.spelling import SPACE, Writer, let, number_of, quoted
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
"""1970-01-01 was a Thursday, three days after a Monday."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_OF_YEAR = "(toInt64({d}) - toInt64(makeDate32(toYear({d}), 1, 1)) + 1)"
"""`toDayOfYear` is wrong on the last day of 2299 (ClickHouse 26.9)."""

YEARS = (1, 9999)
MAX_SHIFT = 2**31 - 1
"""Maximum number of units that can be added, as in DuckDB."""


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
    """The date of a date or timestamp."""
    return f"toDate32({text})" if expr.type is Type.DATE else f"toDate32({timestamp(text)})"


def from_micros(number: str) -> str:
    """The timestamp of microseconds since 1970 (in 64 or 128 bits); NULL outside the years 1 to 9999."""
    return let(f"if(m BETWEEN {ENDS[0]} AND {ENDS[1]}, fromUnixTimestamp64Micro(toInt64(m), 'UTC'), NULL)", m=number)


def floored(number: str, width: int) -> str:
    """A number divided by a width, rounded down."""
    return f"intDiv({number} - positiveModulo({number}, {width}), {width})"


def month_number(name: str) -> str:
    """Months since the year 0."""
    return f"(toInt64(toYear({name})) * 12 + toMonth({name}) - 1)"


def first_of(number: str) -> str:
    """The start of a month, by its number; NULL outside the years 1 to 9999."""
    start = "toDateTime64(makeDate32(toInt32(intDiv(n, 12)), toInt32(n % 12) + 1, 1), 6, 'UTC')"
    return let(f"if(n BETWEEN {YEARS[0] * 12} AND {YEARS[1] * 12 + 11}, {start}, NULL)", n=number)


def _part(body: str) -> Writer:
    """A part of the date `d`."""
    return lambda expr, texts: body.format(d=day(texts[0], expr.arguments[0]))


def _time_part(body: str) -> Writer:
    """A part of the number `m` of microseconds."""
    return lambda expr, texts: body.format(m=micros(texts[0], expr.arguments[0]))


def _within(width: int, step: int) -> Writer:
    """Number of steps since the start of a width."""
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
        return let(from_micros(back), m=micros(texts[0], argument))

    return write


def _both(expr: Call, texts: Sequence[str]) -> dict[str, str]:
    """Both timestamps in microseconds."""
    pairs = zip("ab", texts, expr.arguments, strict=True)
    return {name: micros(text, argument) for name, text, argument in pairs}


def _days(expr: Call, texts: Sequence[str]) -> dict[str, str]:
    """Both dates."""
    return {name: day(text, argument) for name, text, argument in zip("de", texts, expr.arguments, strict=True)}


def _difference(unit: str) -> Writer:
    """Number of unit boundaries between two timestamps; for weeks, of midnights divided by seven."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        if unit in MONTHS:
            ends = [f"intDiv({month_number(name)}, {MONTHS[unit]})" for name in "de"]
            return let(f"{ends[1]} - {ends[0]}", **_days(expr, texts))
        ends = [floored(name, DAY if unit == "week" else MICRO[unit]) for name in "ab"]
        between = f"{ends[1]} - {ends[0]}"
        return let(f"intDiv({between}, 7)" if unit == "week" else between, **_both(expr, texts))

    return write


def _elapsed(unit: str) -> Writer:
    """Number of full units between two timestamps."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        if unit in MONTHS:
            return f"intDiv({_months(texts, last_day=True)}, {MONTHS[unit]})"
        return let(f"intDiv(b - a, {MICRO[unit]})", **_both(expr, texts))

    return write


def _months(texts: Sequence[str], *, last_day: bool) -> str:
    """Full months from the first timestamp to the second; negative if the second is earlier.

    With `last_day`, the last day of a shorter month completes the month.
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
    """A timestamp shifted by a number of units."""

    def write(expr: Call, texts: Sequence[str]) -> str:
        count = f"if({texts[1]} BETWEEN -{MAX_SHIFT} AND {MAX_SHIFT}, toInt64({texts[1]}), NULL)"
        start = micros(texts[0], expr.arguments[0])
        if unit not in MONTHS:
            return from_micros(f"toInt128({start}) + toInt128({count}) * {MICRO[unit]}")
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
        body = from_micros(f"m - positiveModulo({since}, toInt128({size}))")
        return let(body, m=f"toInt128({micros(texts[0], expr.arguments[0])})")

    return write


def _bucket_of_months(text: str, expr: Expr, width: int, origin: datetime) -> str:
    start = origin.year * 12 + origin.month - 1
    number = month_number("d")
    return let(first_of(f"{number} - toInt64(positiveModulo({number} - {start}, {width}))"), d=day(text, expr))


def _make_date(_: Call, texts: Sequence[str]) -> str:
    return let(date_or_null("y", "m", "d"), **dict(zip("ymd", (f"toInt64({text})" for text in texts), strict=True)))


def date_or_null(year: str, month: str, day_: str) -> str:
    """The date of year, month and day; NULL if there is none."""
    inside = f"{year} BETWEEN {YEARS[0]} AND {YEARS[1]} AND {month} BETWEEN 1 AND 12 AND {day_} BETWEEN 1 AND 31"
    date = f"makeDate32(toInt32({year}), toInt32({month}), toInt32({day_}))"
    return f"if({inside} AND toDayOfMonth({date}) = {day_}, {date}, NULL)"


def _last_day(expr: Call, texts: Sequence[str]) -> str:
    return f"toLastDayOfMonth({day(texts[0], expr.arguments[0])})"


def _from_epoch(_: Call, texts: Sequence[str]) -> str:
    return from_micros(f"accurateCastOrNull(roundBankers(toFloat64({texts[0]}) * 1e6), 'Int64')")


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


MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PIECE = re.compile(r"%(-?.)|([ \t\n\v\f\r]+)|([^%\s]+)", re.DOTALL)
SPACES = SPACE.replace("*", "+")


def _named(names: Sequence[str], index: str) -> str:
    listed = ", ".join(quoted(name) for name in names)
    return f"[{listed}][{index}]"


def _steps_within(width: int, step: int) -> str:
    return f"intDiv(positiveModulo(m, {width}), {step})"


DIRECTIVES: Mapping[str, tuple[str, int]] = {
    "d": ("toDayOfMonth(d)", 2),
    "m": ("toMonth(d)", 2),
    "y": ("toYear(d) % 100", 2),
    "Y": ("toYear(d)", 4),
    "j": (DAY_OF_YEAR.format(d="d"), 3),
    "H": (_steps_within(DAY, MICRO["hour"]), 2),
    "I": (f"({_steps_within(DAY, MICRO['hour'])} + 11) % 12 + 1", 2),
    "M": (_steps_within(MICRO["hour"], MICRO["minute"]), 2),
    "S": (_steps_within(MICRO["minute"], MICRO["second"]), 2),
    "U": (f"intDiv({DAY_OF_YEAR.format(d='d')} + 6 - toDayOfWeek(d) % 7, 7)", 2),
    "W": (f"intDiv({DAY_OF_YEAR.format(d='d')} + 6 - (toDayOfWeek(d) + 6) % 7, 7)", 2),
    "V": ("toISOWeek(d)", 2),
    "G": ("toISOYear(d)", 4),
    "w": ("toDayOfWeek(d) % 7", 1),
    "u": ("toDayOfWeek(d)", 1),
}
"""Directives that write a number, with its minimum number of digits."""

WORDS_OF: Mapping[str, str] = {
    "a": f"substring({_named(WEEKDAYS, 'toDayOfWeek(d)')}, 1, 3)",
    "A": _named(WEEKDAYS, "toDayOfWeek(d)"),
    "b": f"substring({_named(MONTH_NAMES, 'toMonth(d)')}, 1, 3)",
    "B": _named(MONTH_NAMES, "toMonth(d)"),
    "p": f"if(positiveModulo(m, {DAY}) < {DAY // 2}, 'AM', 'PM')",
    "%": "'%'",
}


def _format(expr: Call, texts: Sequence[str]) -> str | None:
    given = expr.arguments[1]
    if not isinstance(given, Literal) or not isinstance(given.value, str):
        return None
    parts = [_written(match) for match in PIECE.finditer(given.value)]
    return _of_timestamp(f"concat({', '.join([*parts, quoted('')])}, '')", texts[0])


def _written(match: re.Match[str]) -> str:
    directive = match[1]
    if directive is None:
        return quoted(match[0])
    if directive in WORDS_OF:
        return WORDS_OF[directive]
    value, digits = DIRECTIVES[directive.removeprefix("-")]
    text = f"toString({value})"
    return text if directive.startswith("-") or digits == 1 else f"leftPad({text}, {digits}, '0')"


def _of_timestamp(body: str, text: str) -> str:
    """`body` of the date `d` and the microseconds `m`; NULL for NULL."""
    inner = let(body, d="toDate32(assumeNotNull(t))", m="toUnixTimestamp64Micro(assumeNotNull(t))")
    return let(f"if(isNull(t), NULL, {inner})", t=timestamp(text))


WIDTHS = {"Y": 4, "j": 3, **dict.fromkeys("dmyHIMS", 2)}
BOUNDS = {"d": (1, 31), "m": (1, 12), "j": (1, 366), "H": (0, 23), "I": (1, 12), "M": (0, 59), "S": (0, 59)}
WORDS = {"b": [name[:3] for name in MONTH_NAMES], "B": list(MONTH_NAMES), "p": ["AM", "PM"]}


def _read_format(expr: Call, texts: Sequence[str]) -> str | None:
    given = expr.arguments[1]
    if not isinstance(given, Literal) or not isinstance(given.value, str) or not given.value:
        return None
    pattern, slots = _pattern(given.value)
    groups = f"extractGroups(assumeNotNull(s), {quoted(pattern)})"
    body = let(f"if(empty(g), NULL, {_timestamp_of(slots)})", g=groups)
    return let(f"if(isNull(s), NULL, {body})", s=texts[0])


def _pattern(text: str) -> tuple[str, list[str]]:
    """Return a regular expression with a group for each directive, and the directives.

    Numbers are greedy, so a number followed by a digit must have its full width.
    """
    pieces = list(PIECE.finditer(text))
    pattern, slots = f"^{SPACE}", list[str]()
    if pieces and pieces[0][2]:
        return "^[^\\s\\S]()", []
    for at, match in enumerate(pieces):
        directive = (match[1] or "").removeprefix("-")
        if not directive or directive == "%":
            pattern += SPACES if match[2] else re.escape(match[3] or "%")
            continue
        slots.append(directive)
        if directive in WORDS:
            pattern += f"((?i:{'|'.join(WORDS[directive])}))"
        else:
            followed = at + 1 < len(pieces) and _begins_with_digit(pieces[at + 1])
            pattern += f"([0-9]{{{WIDTHS[directive]}}})" if followed else f"([0-9]{{1,{WIDTHS[directive]}}})"
    return f"{pattern}{SPACE}$" if slots else f"{pattern}(){SPACE}$", slots


def _begins_with_digit(match: re.Match[str]) -> bool:
    directive = (match[1] or "").removeprefix("-")
    return directive in WIDTHS or (match[3] or "")[:1].isdigit()


def _timestamp_of(slots: Sequence[str]) -> str:
    """The timestamp of the groups; of two groups for the same field, the last one counts."""
    last = {slot: f"g[{at}]" for at, slot in enumerate(slots, 1)}
    index = {slot: at for at, slot in enumerate(slots)}
    checks = [
        f"{number_of(f'g[{at}]')} BETWEEN {BOUNDS[slot][0]} AND {BOUNDS[slot][1]}"
        for at, slot in enumerate(slots, 1)
        if slot in BOUNDS
    ]
    year = _latest(last, index, {"Y": number_of(last.get("Y", "''")), "y": _century(last.get("y", "''"))}, "1900")
    month = _latest(
        last, index, {"m": number_of(last.get("m", "''")), **{b: _month(last.get(b, "''"), b) for b in "bB"}}, "1"
    )
    by_year_day = "j" in last and not {"m", "d", "b", "B"} & {*last}
    parts = {"y": year, "k": month, "d": number_of(last["d"]) if "d" in last else "1"}
    days = f"toInt64({date_or_null('y', 'k', 'd')})" + (f" + {number_of(last['j'])} - 1" if by_year_day else "")
    hour = _latest(last, index, {slot: number_of(last.get(slot, "''")) for slot in "HI"}, "0")
    if "p" in last:
        checks.append(f"{hour} <= 12")
        hour = f"({hour} % 12 + if(lower({last['p']}) = 'pm', 12, 0))"
    minute, second = (number_of(last[slot]) if slot in last else "0" for slot in "MS")
    time = f"toInt64({hour}) * {MICRO['hour']} + {minute} * {MICRO['minute']} + {second} * {MICRO['second']}"
    value = from_micros(f"{let(days, **{name: f'toInt64({value})' for name, value in parts.items()})} * {DAY} + {time}")
    return f"if({' AND '.join(checks)}, {value}, NULL)" if checks else value


def _latest(last: Mapping[str, str], index: Mapping[str, int], values: Mapping[str, str], otherwise: str) -> str:
    given = [slot for slot in values if slot in last]
    return values[max(given, key=index.__getitem__)] if given else otherwise


def _century(group: str) -> str:
    return f"({number_of(group)} + if({number_of(group)} < 69, 2000, 1900))"


def _month(group: str, directive: str) -> str:
    listed = ", ".join(quoted(name.lower()) for name in WORDS[directive])
    return f"indexOf([{listed}], lower({group}))"


def _make_timestamp(_: Call, texts: Sequence[str]) -> str:
    """MAKE_TIMESTAMP. Seconds can be 60 and are rounded to microseconds; midnight can be 24:00."""
    year, month, day, hour, minute = (f"accurateCastOrNull({text}, 'Int32')" for text in texts[:5])
    seconds = "w BETWEEN 0 AND 60 AND f BETWEEN 0 AND 1000000 AND w * 1000000 + f < 61000000"
    inside = f"h BETWEEN 0 AND 23 AND i BETWEEN 0 AND 59 AND {seconds}"
    midnight = "h = 24 AND i = 0 AND w = 0 AND f = 0"
    days = f"toInt64({date_or_null('y', 'm', 'd')})"
    time = f"toInt64(h) * {MICRO['hour']} + toInt64(i) * {MICRO['minute']} + w * {MICRO['second']} + f"
    body = f"if(({inside}) OR ({midnight}), {from_micros(f'{days} * {DAY} + {time}')}, NULL)"
    names = {name: name for name in "ymdhi"}
    fraction = "accurateCastOrNull(r, 'Int64')"
    parts = let(body, w="accurateCastOrNull(trunc(s), 'Int64')", f=fraction, **names)
    rounded = let(parts, s="s", r=half_away("((s - trunc(s)) * 1e6)"), **names)
    return let(rounded, y=year, m=month, d=day, h=hour, i=minute, s=f"toFloat64({texts[5]})")


FORMATS: dict[str, Writer] = {
    "format_time": _format,
    "read_time": _read_format,
    "month_name": lambda _, texts: _of_timestamp(WORDS_OF["B"], texts[0]),
    "day_name": lambda _, texts: _of_timestamp(WORDS_OF["A"], texts[0]),
    "make_timestamp": _make_timestamp,
}
