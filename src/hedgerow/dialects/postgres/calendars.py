"""Dates made, written, read, and named. Formats are constants in the letters of `strftime`."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.numbers import bigint, no_windows
from hedgerow.dialects.postgres.reading_times import made_day, valid_day
from hedgerow.dialects.postgres.times import EPOCH, INSIDE, moments, year_of
from hedgerow.expressions.nodes import Call, Literal

if TYPE_CHECKING:
    from hedgerow.dialects.postgres.dialect import PostgresDialect, Writer

DIRECTIVE = re.compile(r"%(-?.)")
NAMED = {"a": "Dy", "A": "FMDay", "b": "Mon", "B": "FMMonth", "p": "AM"}
PADDED = {"d": "DD", "H": "HH24", "I": "HH12", "j": "DDD", "m": "MM", "M": "MI", "S": "SS", "y": "YY", "V": "IW"}
SUNDAYS = "CAST((EXTRACT(doy FROM {0}) - 1 + 7 - EXTRACT(dow FROM {0})) AS INTEGER) / 7"
MONDAYS = "CAST((EXTRACT(doy FROM {0}) - 1 + 7 - (EXTRACT(isodow FROM {0}) - 1)) AS INTEGER) / 7"


def _inside(body: str, expr: Call, texts: Sequence[str]) -> str:
    return shared(f"CASE WHEN {INSIDE} THEN {body} END", expr.arguments[:1], moments(expr, texts))


def _simple(body: str) -> "Writer":
    return lambda _dialect, expr, texts: _inside(body, expr, texts)


def _year(text: str) -> str:
    """Four digits, or more; before Christ with a minus."""
    return f"CASE WHEN {text} BETWEEN 0 AND 9999 THEN lpad(CAST({text} AS TEXT), 4, '0') ELSE CAST({text} AS TEXT) END"


def _written(directive: str) -> str:
    """One directive of a format, of a moment."""
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


def _format(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    pattern = expr.arguments[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise dialect.lacks("a format that is not a constant")
    pieces, at = list[str](), 0
    for found in DIRECTIVE.finditer(pattern.value):
        if found.start() > at:
            pieces.append(_quoted(dialect, pattern.value[at : found.start()]))
        pieces.append(_written(found[1]))
        at = found.end()
    if at < len(pattern.value) or not pieces:
        pieces.append(_quoted(dialect, pattern.value[at:]))
    body = " || ".join(f"({piece})" for piece in pieces)
    endless = "WHEN NOT isfinite({0}) THEN CAST({0} AS TEXT)"
    return shared(f"CASE WHEN {INSIDE} THEN {body} {endless} END", expr.arguments[:1], moments(expr, texts))


def _quoted(dialect: "PostgresDialect", text: str) -> str:
    """A text inside a template."""
    return dialect.string(text).replace("{", "{{").replace("}", "}}")


def _small(expr: Call, texts: Sequence[str], place: int) -> str:
    """A whole number that fits into 32 bits."""
    value = bigint(expr.arguments[place], texts[place])
    return shared(
        "CASE WHEN {0} BETWEEN -2147483648 AND 2147483647 THEN CAST({0} AS INTEGER) END",
        (expr.arguments[place],),
        (value,),
    )


def _make_date(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    no_windows(dialect, expr)
    named = ", ".join(f"{_small(expr, texts, i)} AS {name}" for i, name in enumerate("ymd"))
    made = f"CASE WHEN {valid_day('p.y', 'p.m', 'p.d')} THEN {made_day('p.y', 'p.m', 'p.d')} END"
    return f"(SELECT {made} FROM (SELECT {named} OFFSET 0) AS p)"


def _make_moment(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """Seconds are rounded to microseconds, halves away from zero; together they are at most a day."""
    no_windows(dialect, expr)
    seconds = dialect.as_double(texts[5], expr.arguments[5])
    named = ", ".join([*(f"{_small(expr, texts, i)} AS {name}" for i, name in enumerate("ymdhn")), f"{seconds} AS s"])
    valid = (
        f"{valid_day('p.y', 'p.m', 'p.d')} AND p.h BETWEEN 0 AND 24 AND p.n BETWEEN 0 AND 59 AND p.s >= 0 AND p.s <= 60"
    )
    clock = "(p.h * 3600 + p.n * 60) * FLOAT8 '1000000' + trunc(p.s * 1000000 + 0.5)"
    moment = f"CAST({made_day('p.y', 'p.m', 'p.d')} AS TIMESTAMP) + ({clock}) * INTERVAL '1 microsecond'"
    made = (
        f"CASE WHEN {valid} AND p.y <= 294246 THEN CASE WHEN p.h < 24 OR {clock} <= 86400000000 THEN {moment} END END"
    )
    return f"(SELECT {made} FROM (SELECT {named} OFFSET 0) AS p)"


def _from_epoch(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """Seconds since 1970, rounded to microseconds, halves to even."""
    no_windows(dialect, expr)
    seconds = dialect.as_double(texts[0], expr.arguments[0])
    whole = "CASE WHEN abs(n.x) > 1e-20 THEN CAST(n.x * FLOAT8 '1000000' AS BIGINT) ELSE 0 END"
    micros = f"CASE WHEN n.x BETWEEN -2.1e11 AND 9.2233e12 THEN {whole} END"
    days, seconds_left = "CAST(s.q / 86400000000 AS INTEGER)", "(s.q % 86400000000) / FLOAT8 '1000000'"
    made = f"{EPOCH} + make_interval(days => {days}, secs => {seconds_left})"
    held = f"CASE WHEN s.q <= 9223372036854775806 THEN {made} END"
    return f"(SELECT {held} FROM (SELECT {seconds} AS x OFFSET 0) AS n, LATERAL (SELECT {micros} AS q OFFSET 0) AS s)"


CALENDARS: Mapping[str, "Writer"] = {
    "last_day": _simple("CAST(date_trunc('month', {0}) + INTERVAL '1 month - 1 day' AS DATE)"),
    "month_name": _simple("to_char({0}, 'FMMonth')"),
    "day_name": _simple("to_char({0}, 'FMDay')"),
    "epoch": _simple("date_part('epoch', {0})"),
    "seconds": _simple("CAST(EXTRACT(microseconds FROM {0}) AS FLOAT8) / FLOAT8 '1000000'"),
    "week_from_sunday": _simple(f"CAST({SUNDAYS} AS BIGINT)"),
    "format_time": _format,
    "make_date": _make_date,
    "make_timestamp": _make_moment,
    "from_epoch": _from_epoch,
}
