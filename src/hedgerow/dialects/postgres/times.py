"""Dates and moments: what is extracted from them, where they are cut, how far apart they are, and how they are moved.

PostgreSQL holds moments from 4713 BC to 294276 AD and raises an error beyond; here that is NULL. So every function is
computed only well inside, and on finite dates: an infinite one stays infinite where it is cut or moved.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.postgres.casts import moment
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.numbers import bigint
from hedgerow.expressions.nodes import Call
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.postgres.dialect import PostgresDialect, Writer

FIRST, LAST = "TIMESTAMP '4711-01-01 BC'", "TIMESTAMP '294246-01-01'"
INSIDE = f"{{0}} BETWEEN {FIRST} AND {LAST}"
ENDLESS = "WHEN NOT isfinite({0}) THEN {0}"
EPOCH = "TIMESTAMP '1970-01-01'"
LEAST_YEAR, LAST_YEAR = -4709, 294_244
DAY = 86_400_000_000
MICROSECONDS = {"week": 7 * DAY, "day": DAY, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
MONTHS = {"year": 12, "quarter": 3, "month": 1}
OF_DAYS = frozenset({*MONTHS, "week", "day"})
UNITS = (*MONTHS, *MICROSECONDS)
CLOCK = frozenset({"hour", "minute", "second", "millisecond", "microsecond"})
FIELDS = {"dayofweek": "dow", "dayofyear": "doy", "millisecond": "milliseconds", "microsecond": "microseconds"}


def moments(expr: Call, texts: Sequence[str], count: int = 1) -> list[str]:
    """The first arguments as moments."""
    pairs = list(zip(expr.arguments, texts, strict=True))[:count]
    return [shared(moment("{0}"), (a,), (text,)) if a.type is Type.DATE else text for a, text in pairs]


def _field(name: str, text: str) -> str:
    return f"CAST(trunc(EXTRACT({name} FROM {text})) AS BIGINT)"


def year_of(text: str) -> str:
    """The year of a finite date, counted with a year 0."""
    year = _field("year", text)
    return f"CASE WHEN {year} < 0 THEN {year} + 1 ELSE {year} END"


def _part(name: str, text: str) -> str:
    """A part of a finite date or moment."""
    year = f"({year_of(text)})"
    if name == "year":
        return year
    if name == "isoyear":
        found = _field("isoyear", text)
        return f"CASE WHEN {found} < 0 THEN {found} + 1 ELSE {found} END"
    if name == "decade":
        return f"{year} / 10"
    if name == "century":
        return f"CASE WHEN {year} > 0 THEN ({year} - 1) / 100 + 1 ELSE {year} / 100 - 1 END"
    return _field(FIELDS.get(name, name), text)


def _extract(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    name = expr.function.removeprefix("extract_")
    clock = expr.arguments[0].type is Type.DATE and name in CLOCK
    part = "0" if clock else _part(name, "{0}")
    return shared(f"CASE WHEN isfinite({{0}}) THEN {part} END", expr.arguments, texts)


def _trunc(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("trunc_")
    template = f"CASE WHEN {INSIDE} THEN date_trunc('{unit}', {{0}}) {ENDLESS} END"
    if expr.arguments[0].type is Type.DATE:
        inside = "{0} BETWEEN DATE '4711-01-01 BC' AND DATE '294246-01-01'"
        endless = "WHEN NOT isfinite({0}) THEN CAST({0} AS TIMESTAMP)"
        template = f"CASE WHEN {inside} THEN date_trunc('{unit}', CAST({{0}} AS TIMESTAMP)) {endless} END"
    return shared(template, expr.arguments, texts)


# Distances


def micros(text: str) -> str:
    """Microseconds since 1970 of a moment before the year 294247."""
    return f"CAST(EXTRACT(EPOCH FROM {text}) * 1000000 AS BIGINT)"


def _floor(number: str, by: int) -> str:
    """Whole division, downwards."""
    return f"CAST(floor(CAST({number} AS NUMERIC) / {by}) AS BIGINT)" if by > 1 else number


def _months(text: str) -> str:
    return f"({year_of(text)}) * 12 + {_field('month', text)} - 1"


def both(body: str, expr: Call, texts: Sequence[str]) -> str:
    """`body` of two moments, where both lie inside."""
    inside = f"{INSIDE} AND {INSIDE.replace('{0}', '{1}')}"
    return shared(f"CASE WHEN {inside} THEN {body} END", expr.arguments, moments(expr, texts, 2))


def _days(text: str) -> str:
    return f"(CAST({text} AS DATE) - DATE '1970-01-01')"


def _difference(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """How many borders of a unit lie between; of weeks, how many times seven midnights."""
    unit = expr.function.removeprefix("difference_")
    if unit in MONTHS:
        above = 0 if unit == "quarter" else 60_000  # quarters are cut towards the year 0, years counted downwards
        sides = [f"div(CAST({_months(place)} + {above} AS NUMERIC), {MONTHS[unit]})" for place in ("{1}", "{0}")]
        return both(f"CAST({sides[0]} - {sides[1]} AS BIGINT)", expr, texts)
    if unit in {"day", "week"}:
        days = f"CAST({_days('{1}')} - {_days('{0}')} AS BIGINT)"
        return both(days if unit == "day" else f"{days} / 7", expr, texts)
    sides = [_floor(micros(place), MICROSECONDS[unit]) for place in ("{1}", "{0}")]
    return both(f"{sides[0]} - {sides[1]}", expr, texts)


def _elapsed(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """How many full units lie between. A month is full at the same day and time, or at the end of a shorter one."""
    unit = expr.function.removeprefix("elapsed_")
    if unit in MICROSECONDS:
        return both(f"({micros('{1}')} - {micros('{0}')}) / {MICROSECONDS[unit]}", expr, texts)
    forth, back = _full_months("{0}", "{1}"), _full_months("{1}", "{0}")
    months = f"CASE WHEN {{0}} <= {{1}} THEN {forth} ELSE -({back}) END"
    return both(f"({months}) / {MONTHS[unit]}", expr, texts)


def _full_months(start: str, end: str) -> str:
    """Of a start that is not after the end."""
    last = f"CAST({end} AS DATE) = CAST(date_trunc('month', {end}) + INTERVAL '1 month - 1 day' AS DATE)"
    later = f"{_field('day', start)} > {_field('day', end)}"
    clock = f"CAST({start} AS TIME) > CAST({end} AS TIME)"
    short = (
        f"CASE WHEN {later} AND {last} THEN CASE WHEN {clock} THEN 1 ELSE 0 END WHEN {later} THEN 1 "
        f"WHEN {_field('day', start)} = {_field('day', end)} AND {clock} THEN 1 ELSE 0 END"
    )
    return f"{_months(end)} - ({_months(start)}) - ({short})"


def _days_between(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    finite = "isfinite({0}) AND isfinite({1})"
    return shared(f"CASE WHEN {finite} THEN CAST({{0}} - {{1}} AS BIGINT) END", expr.arguments, texts)


def _microseconds_between(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    return both(f"{micros('{0}')} - {micros('{1}')}", expr, texts)


def _age(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    return both("CAST(date_part('year', age({0}, {1})) AS BIGINT)", expr, texts)


# Moving


def _shift(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    unit = expr.function.removeprefix("shift_")
    number = bigint(expr.arguments[1], texts[1])
    if unit in MONTHS:
        months = f"({year_of('{0}')}) * 12 + CAST({{1}} AS BIGINT) * {MONTHS[unit]}"
        reach = f"{months} BETWEEN {LEAST_YEAR * 12} AND {LAST_YEAR * 12}"
        moved = f"{{0}} + make_interval(months => CAST({{1}} * {MONTHS[unit]} AS INTEGER))"
    else:
        seconds = MICROSECONDS[unit] // 1_000_000
        reach = f"EXTRACT(EPOCH FROM {{0}}) + {{1}} * {seconds} BETWEEN -210000000000 AND 9223000000000"
        moved = f"{{0}} + {_step(unit)}"
    least = -(2**31) if unit in OF_DAYS else 1 - 2**31
    small = f"{{1}} BETWEEN {least} AND 2147483647"
    endless = f"WHEN {small} AND NOT isfinite({{0}}) THEN {{0}}"
    template = f"CASE WHEN {INSIDE} AND {small} THEN CASE WHEN {reach} THEN {moved} END {endless} END"
    return shared(template, expr.arguments, (*moments(expr, texts), number))


def _step(unit: str) -> str:
    if unit in {"week", "day"}:
        return f"make_interval(days => CAST({{1}} * {7 if unit == 'week' else 1} AS INTEGER))"
    return f"make_interval(secs => CAST({{1}} * {MICROSECONDS[unit] // 1_000_000} AS FLOAT8))"


def _bucket(_dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """Width and origin are constants. Buckets of months begin with the first of a month."""
    unit = expr.function.removeprefix("bucket_")
    width, origin = texts[1], texts[2]
    if unit in MICROSECONDS:
        body = f"date_bin({width} * INTERVAL '1 {unit}', {{0}}, {origin})"
    else:
        wide = f"({width} * {MONTHS[unit]})"
        start = _months(origin)
        place = f"floor(CAST({_months('{0}')} - ({start}) AS NUMERIC) / {wide}) * {wide}"
        body = f"date_trunc('month', {origin}) + make_interval(months => CAST({place} AS INTEGER))"
    return shared(f"CASE WHEN {INSIDE} THEN {body} {ENDLESS} END", expr.arguments[:1], moments(expr, texts))


TIMES: Mapping[str, "Writer"] = {
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
