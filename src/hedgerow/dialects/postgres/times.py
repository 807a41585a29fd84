"""Dates and timestamps: parts, truncation, differences, shifts, formats and names.

Formats are constants in the syntax of `strftime`. PostgreSQL raises an error outside 4713 BC to 294276 AD, so every
function is computed only well inside that range and is NULL elsewhere. Truncating or shifting an infinite timestamp
leaves it infinite.
"""

import re
from collections.abc import Mapping, Sequence

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.dialects.postgres.casts import midnight
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.numbers import bigint, no_windows
from hedgerow.dialects.postgres.reading import as_date, valid_day
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.types import Type

FIRST, LAST = "TIMESTAMP '4711-01-01 BC'", "TIMESTAMP '294246-01-01'"
INSIDE = f"{{0}} BETWEEN {FIRST} AND {LAST}"
ENDLESS = "WHEN NOT isfinite({0}) THEN {0}"
EPOCH = "TIMESTAMP '1970-01-01'"
FIRST_YEAR, LAST_YEAR = -4709, 294_244
DAY = 86_400_000_000
MICROSECONDS = {"week": 7 * DAY, "day": DAY, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
MONTHS = {"year": 12, "quarter": 3, "month": 1}
OF_DAYS = frozenset({*MONTHS, "week", "day"})
UNITS = (*MONTHS, *MICROSECONDS)
CLOCK = frozenset({"hour", "minute", "second", "millisecond", "microsecond"})
FIELDS = {"dayofweek": "dow", "dayofyear": "doy", "millisecond": "milliseconds", "microsecond": "microseconds"}


def timestamps(expr: Call, texts: Sequence[str], count: int = 1) -> list[str]:
    """The first arguments as timestamps."""
    pairs = list(zip(expr.arguments, texts, strict=True))[:count]
    return [shared(midnight("{0}"), (a,), (text,)) if a.type is Type.DATE else text for a, text in pairs]


def _field(name: str, text: str) -> str:
    return f"CAST(trunc(EXTRACT({name} FROM {text})) AS BIGINT)"


def year_of(text: str) -> str:
    """Year of a finite date, in astronomical numbering (1 BC is year 0)."""
    year = _field("year", text)
    return f"CASE WHEN {year} < 0 THEN {year} + 1 ELSE {year} END"


def _part(name: str, text: str) -> str:
    """A part of a finite date or timestamp."""
    year = f"({year_of(text)})"
    if name == "year":
        return year
    if name == "isoyear":
        iso_year = _field("isoyear", text)
        return f"CASE WHEN {iso_year} < 0 THEN {iso_year} + 1 ELSE {iso_year} END"
    if name == "decade":
        return f"{year} / 10"
    if name == "century":
        return f"CASE WHEN {year} > 0 THEN ({year} - 1) / 100 + 1 ELSE {year} / 100 - 1 END"
    return _field(FIELDS.get(name, name), text)


def _extract(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    name = expr.function.removeprefix("extract_")
    clock = expr.arguments[0].type is Type.DATE and name in CLOCK
    part = "0" if clock else _part(name, "{0}")
    return shared(f"CASE WHEN isfinite({{0}}) THEN {part} END", expr.arguments, texts)


def _trunc(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("trunc_")
    template = f"CASE WHEN {INSIDE} THEN date_trunc('{unit}', {{0}}) {ENDLESS} END"
    if expr.arguments[0].type is Type.DATE:
        inside = "{0} BETWEEN DATE '4711-01-01 BC' AND DATE '294246-01-01'"
        endless = "WHEN NOT isfinite({0}) THEN CAST({0} AS TIMESTAMP)"
        template = f"CASE WHEN {inside} THEN date_trunc('{unit}', CAST({{0}} AS TIMESTAMP)) {endless} END"
    return shared(template, expr.arguments, texts)


# Distances


def micros(text: str) -> str:
    """Microseconds since 1970 of a timestamp before the year 294247."""
    return f"CAST(EXTRACT(EPOCH FROM {text}) * 1000000 AS BIGINT)"


def _floor(number: str, by: int) -> str:
    """Integer division, rounded down."""
    return f"CAST(floor(CAST({number} AS NUMERIC) / {by}) AS BIGINT)" if by > 1 else number


def _months(text: str) -> str:
    return f"({year_of(text)}) * 12 + {_field('month', text)} - 1"


def both(body: str, expr: Call, texts: Sequence[str]) -> str:
    """`body` of two timestamps; NULL where one is out of range."""
    inside = f"{INSIDE} AND {INSIDE.replace('{0}', '{1}')}"
    return shared(f"CASE WHEN {inside} THEN {body} END", expr.arguments, timestamps(expr, texts, 2))


def _days(text: str) -> str:
    return f"(CAST({text} AS DATE) - DATE '1970-01-01')"


def _difference(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Number of unit boundaries between two timestamps; for weeks, of midnights divided by seven."""
    unit = expr.function.removeprefix("difference_")
    if unit in MONTHS:
        above = 0 if unit == "quarter" else 60_000  # quarters round towards year 0, years and months round down
        sides = [f"div(CAST({_months(side)} + {above} AS NUMERIC), {MONTHS[unit]})" for side in ("{1}", "{0}")]
        return both(f"CAST({sides[0]} - {sides[1]} AS BIGINT)", expr, texts)
    if unit in {"day", "week"}:
        days = f"CAST({_days('{1}')} - {_days('{0}')} AS BIGINT)"
        return both(days if unit == "day" else f"{days} / 7", expr, texts)
    sides = [_floor(micros(side), MICROSECONDS[unit]) for side in ("{1}", "{0}")]
    return both(f"{sides[0]} - {sides[1]}", expr, texts)


def _elapsed(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Number of full units between two timestamps; a month ends on the same day and time, or with a shorter month."""
    unit = expr.function.removeprefix("elapsed_")
    if unit in MICROSECONDS:
        return both(f"({micros('{1}')} - {micros('{0}')}) / {MICROSECONDS[unit]}", expr, texts)
    forth, back = _full_months("{0}", "{1}"), _full_months("{1}", "{0}")
    months = f"CASE WHEN {{0}} <= {{1}} THEN {forth} ELSE -({back}) END"
    return both(f"({months}) / {MONTHS[unit]}", expr, texts)


def _full_months(start: str, end: str) -> str:
    """Full months from a start to an end that is not earlier."""
    last = f"CAST({end} AS DATE) = CAST(date_trunc('month', {end}) + INTERVAL '1 month - 1 day' AS DATE)"
    later = f"{_field('day', start)} > {_field('day', end)}"
    clock = f"CAST({start} AS TIME) > CAST({end} AS TIME)"
    short = (
        f"CASE WHEN {later} AND {last} THEN CASE WHEN {clock} THEN 1 ELSE 0 END WHEN {later} THEN 1 "
        f"WHEN {_field('day', start)} = {_field('day', end)} AND {clock} THEN 1 ELSE 0 END"
    )
    return f"{_months(end)} - ({_months(start)}) - ({short})"


def _days_between(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    finite = "isfinite({0}) AND isfinite({1})"
    return shared(f"CASE WHEN {finite} THEN CAST({{0}} - {{1}} AS BIGINT) END", expr.arguments, texts)


def _microseconds_between(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return both(f"{micros('{0}')} - {micros('{1}')}", expr, texts)


def _age(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return both("CAST(date_part('year', age({0}, {1})) AS BIGINT)", expr, texts)


# Moving


def _shift(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("shift_")
    number = bigint(expr.arguments[1], texts[1])
    if unit in MONTHS:
        months = f"({year_of('{0}')}) * 12 + CAST({{1}} AS BIGINT) * {MONTHS[unit]}"
        reach = f"{months} BETWEEN {FIRST_YEAR * 12} AND {LAST_YEAR * 12}"
        moved = f"{{0}} + make_interval(months => CAST({{1}} * {MONTHS[unit]} AS INTEGER))"
    else:
        seconds = MICROSECONDS[unit] // 1_000_000
        reach = f"EXTRACT(EPOCH FROM {{0}}) + {{1}} * {seconds} BETWEEN -210000000000 AND 9223000000000"
        moved = f"{{0}} + {_step(unit)}"
    minimum = -(2**31) if unit in OF_DAYS else 1 - 2**31
    small = f"{{1}} BETWEEN {minimum} AND 2147483647"
    endless = f"WHEN {small} AND NOT isfinite({{0}}) THEN {{0}}"
    template = f"CASE WHEN {INSIDE} AND {small} THEN CASE WHEN {reach} THEN {moved} END {endless} END"
    return shared(template, expr.arguments, (*timestamps(expr, texts), number))


def _step(unit: str) -> str:
    if unit in {"week", "day"}:
        return f"make_interval(days => CAST({{1}} * {7 if unit == 'week' else 1} AS INTEGER))"
    return f"make_interval(secs => CAST({{1}} * {MICROSECONDS[unit] // 1_000_000} AS FLOAT8))"


def _bucket(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """TIME_BUCKET with a constant width and origin. Buckets of months start on the first of a month."""
    unit = expr.function.removeprefix("bucket_")
    width, origin = texts[1], texts[2]
    if unit in MICROSECONDS:
        body = f"date_bin({width} * INTERVAL '1 {unit}', {{0}}, {origin})"
    else:
        wide = f"({width} * {MONTHS[unit]})"
        start = _months(origin)
        offset = f"floor(CAST({_months('{0}')} - ({start}) AS NUMERIC) / {wide}) * {wide}"
        body = f"date_trunc('month', {origin}) + make_interval(months => CAST({offset} AS INTEGER))"
    return shared(f"CASE WHEN {INSIDE} THEN {body} {ENDLESS} END", expr.arguments[:1], timestamps(expr, texts))


TIMES: Mapping[str, Writer] = {
    **{
        f"extract_{name}": _extract
        for name in (
            *("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "isoyear", "decade"),
            *("century", *CLOCK),
        )
    },
    **{f"trunc_{unit}": _trunc for unit in UNITS},
    **{f"difference_{unit}": _difference for unit in UNITS},
    **{f"elapsed_{unit}": _elapsed for unit in UNITS},
    **{f"shift_{unit}": _shift for unit in UNITS},
    **{f"bucket_{unit}": _bucket for unit in UNITS},
    "days_between": _days_between,
    "microseconds_between": _microseconds_between,
    "age_in_years": _age,
}


DIRECTIVE = re.compile(r"%(-?.)")
NAMED = {"a": "Dy", "A": "FMDay", "b": "Mon", "B": "FMMonth", "p": "AM"}
PADDED = {"d": "DD", "H": "HH24", "I": "HH12", "j": "DDD", "m": "MM", "M": "MI", "S": "SS", "y": "YY", "V": "IW"}
SUNDAYS = "CAST((EXTRACT(doy FROM {0}) - 1 + 7 - EXTRACT(dow FROM {0})) AS INTEGER) / 7"
MONDAYS = "CAST((EXTRACT(doy FROM {0}) - 1 + 7 - (EXTRACT(isodow FROM {0}) - 1)) AS INTEGER) / 7"


def _inside(body: str, expr: Call, texts: Sequence[str]) -> str:
    return shared(f"CASE WHEN {INSIDE} THEN {body} END", expr.arguments[:1], timestamps(expr, texts))


def _simple(body: str) -> Writer:
    return lambda _dialect, expr, texts: _inside(body, expr, texts)


def _year(text: str) -> str:
    """A year in four or more digits; negative before the year 0."""
    return f"CASE WHEN {text} BETWEEN 0 AND 9999 THEN lpad(CAST({text} AS TEXT), 4, '0') ELSE CAST({text} AS TEXT) END"


def _written(directive: str) -> str:
    """A timestamp in one directive of a format."""
    if directive in NAMED:
        return f"to_char({{0}}, '{NAMED[directive]}')"
    if directive in PADDED:
        return f"to_char({{0}}, '{PADDED[directive]}')"
    if directive.startswith("-"):
        return f"to_char({{0}}, 'FM{PADDED[directive[1]]}')"
    special = {
        "Y": _year(f"({year_of('{0}')})"),
        "G": "lpad(CAST(CAST(EXTRACT(isoyear FROM {0}) AS INTEGER) AS TEXT), 4, '0')",
        "U": f"lpad(CAST({SUNDAYS} AS TEXT), 2, '0')",
        "W": f"lpad(CAST({MONDAYS} AS TEXT), 2, '0')",
        "w": "CAST(CAST(EXTRACT(dow FROM {0}) AS INTEGER) AS TEXT)",
        "u": "CAST(CAST(EXTRACT(isodow FROM {0}) AS INTEGER) AS TEXT)",
        "%": "'%'",
    }
    return special[directive]


def _format(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    pattern = expr.arguments[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise dialect.lacks("a format that is not a constant")
    pieces, at = list[str](), 0
    for directive in DIRECTIVE.finditer(pattern.value):
        if directive.start() > at:
            pieces.append(_quoted(dialect, pattern.value[at : directive.start()]))
        pieces.append(_written(directive[1]))
        at = directive.end()
    if at < len(pattern.value) or not pieces:
        pieces.append(_quoted(dialect, pattern.value[at:]))
    body = " || ".join(f"({piece})" for piece in pieces)
    endless = "WHEN NOT isfinite({0}) THEN CAST({0} AS TEXT)"
    return shared(f"CASE WHEN {INSIDE} THEN {body} {endless} END", expr.arguments[:1], timestamps(expr, texts))


def _quoted(dialect: Dialect, text: str) -> str:
    """A constant text, to be put into a template."""
    return dialect.string(text).replace("{", "{{").replace("}", "}}")


def _small(expr: Call, texts: Sequence[str], index: int) -> str:
    """An argument as a 32-bit integer; NULL where it does not fit."""
    value = bigint(expr.arguments[index], texts[index])
    return shared(
        "CASE WHEN {0} BETWEEN -2147483648 AND 2147483647 THEN CAST({0} AS INTEGER) END",
        (expr.arguments[index],),
        (value,),
    )


def _make_date(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    no_windows(dialect, expr)
    named = ", ".join(f"{_small(expr, texts, i)} AS {name}" for i, name in enumerate("ymd"))
    value = f"CASE WHEN {valid_day('p.y', 'p.m', 'p.d')} THEN {as_date('p.y', 'p.m', 'p.d')} END"
    return f"(SELECT {value} FROM (SELECT {named} OFFSET 0) AS p)"


def _make_timestamp(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """MAKE_TIMESTAMP. Seconds are rounded to microseconds, halves away from zero; the time of day can be 24:00."""
    no_windows(dialect, expr)
    seconds = dialect.as_double(texts[5], expr.arguments[5])
    named = ", ".join([*(f"{_small(expr, texts, i)} AS {name}" for i, name in enumerate("ymdhn")), f"{seconds} AS s"])
    valid = (
        f"{valid_day('p.y', 'p.m', 'p.d')} AND p.h BETWEEN 0 AND 24 AND p.n BETWEEN 0 AND 59 AND p.s >= 0 AND p.s <= 60"
    )
    clock = "(p.h * 3600 + p.n * 60) * FLOAT8 '1000000' + trunc(p.s * 1000000 + 0.5)"
    timestamp = f"CAST({as_date('p.y', 'p.m', 'p.d')} AS TIMESTAMP) + ({clock}) * INTERVAL '1 microsecond'"
    within_day = f"p.h < 24 OR {clock} <= 86400000000"
    value = f"CASE WHEN {valid} AND p.y <= 294246 THEN CASE WHEN {within_day} THEN {timestamp} END END"
    return f"(SELECT {value} FROM (SELECT {named} OFFSET 0) AS p)"


def _from_epoch(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Timestamp of seconds since 1970, rounded to microseconds, halves to even."""
    no_windows(dialect, expr)
    seconds = dialect.as_double(texts[0], expr.arguments[0])
    whole = "CASE WHEN abs(n.x) > 1e-20 THEN CAST(n.x * FLOAT8 '1000000' AS BIGINT) ELSE 0 END"
    micros = f"CASE WHEN n.x BETWEEN -2.1e11 AND 9.2233e12 THEN {whole} END"
    days, seconds_left = "CAST(s.q / 86400000000 AS INTEGER)", "(s.q % 86400000000) / FLOAT8 '1000000'"
    timestamp = f"{EPOCH} + make_interval(days => {days}, secs => {seconds_left})"
    held = f"CASE WHEN s.q <= 9223372036854775806 THEN {timestamp} END"
    return f"(SELECT {held} FROM (SELECT {seconds} AS x OFFSET 0) AS n, LATERAL (SELECT {micros} AS q OFFSET 0) AS s)"


CALENDARS: Mapping[str, Writer] = {
    "last_day": _simple("CAST(date_trunc('month', {0}) + INTERVAL '1 month - 1 day' AS DATE)"),
    "month_name": _simple("to_char({0}, 'FMMonth')"),
    "day_name": _simple("to_char({0}, 'FMDay')"),
    "epoch": _simple("date_part('epoch', {0})"),
    "seconds": _simple("CAST(EXTRACT(microseconds FROM {0}) AS FLOAT8) / FLOAT8 '1000000'"),
    "week_from_sunday": _simple(f"CAST({SUNDAYS} AS BIGINT)"),
    "format_time": _format,
    "make_date": _make_date,
    "make_timestamp": _make_timestamp,
    "from_epoch": _from_epoch,
}
