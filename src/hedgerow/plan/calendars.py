"""Binding dates that are made, written, read and named."""

import re
from datetime import date

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, zones
from hedgerow.plan.formats import time_format
from hedgerow.plan.handlers import Binder, Handlers, constant_text, text, unsupported, whole
from hedgerow.plan.parts import moment
from hedgerow.plan.suggestions import CONSTANT_DATE, function_name
from hedgerow.plan.syntax import dialect_of, span_of, text_of
from hedgerow.plan.temporal import shifted

EPOCH = Literal(date(1970, 1, 1), Type.DATE)
MODIFIER = re.compile(r"([+-]?\d{1,7}) (day|hour|minute|second)s?")


def _time(node: exp.Expr, binder: Binder) -> Expr:
    return moment(binder.bind(node), dialect_of(node))


def _last_day(node: exp.LastDay, binder: Binder) -> Expr | None:
    unit = node.args.get("unit")
    if unit is not None and unit.name.upper() != "MONTH":
        return None
    return coerce.call("last_day", [_time(node.this, binder)], span_of(node))


def _name(function: str, node: exp.Monthname | exp.Dayname, binder: Binder) -> Expr:
    name = coerce.call(function, [_time(node.this, binder)], span_of(node))
    return coerce.call("left", [name, whole(3)]) if node.args.get("abbreviated") else name


def _write(node: exp.TimeToStr | exp.ToChar, binder: Binder) -> Expr | None:
    value, pattern = node.this, node.args.get("format")
    if pattern is None:
        return None
    if isinstance(value, exp.Literal) and value.is_string and dialect_of(node) == "duckdb":
        value, pattern = pattern, value  # DuckDB takes them in either order
    instant = _time(value, binder)
    if instant.type.is_numeric:
        raise unsupported(node, hint="Only dates have formats here. Write CAST(x AS VARCHAR) for a number as text.")
    written = constant_text(binder.bind(pattern), node, "The format of a date")
    return coerce.call("format_time", [instant, text(time_format(written, node))], span_of(node))


def _read(kind: str, node: exp.Expr, binder: Binder) -> Expr:
    """TO_DATE and its kin; without a format as CAST."""
    value = binder.bind(node.this)
    if node.args.get("format") is None or value.type.is_temporal:
        return coerce.call(f"cast_{kind}", [moment(value, "spark")], span_of(node))
    written = constant_text(binder.bind(node.args["format"]), node, "The format of a date")
    pattern = text(time_format(written, node, reading=True))
    found = coerce.call("read_time", [value, pattern], span_of(node))
    return coerce.call("cast_date", [found]) if kind == "date" else found


def _as(kind: str, node: exp.Expr, binder: Binder) -> Expr:
    return coerce.call(f"cast_{kind}", [moment(binder.bind(node.this), "spark")], span_of(node))


def _date(node: exp.Date, binder: Binder) -> Expr | None:
    return None if node.args.get("zone") is not None or node.expressions else _as("date", node, binder)


def _made(name: str, names: tuple[str, ...], node: exp.Expr, binder: Binder) -> Expr | None:
    given = [node.args.get(n) for n in names]
    return coerce.call(name, [binder.bind(n) for n in given if n is not None], span_of(node)) if all(given) else None


def make_date(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """MAKE_DATE(year, month, day), where the parser does not know it."""
    return coerce.call("make_date", [binder.bind(n) for n in node.expressions], span_of(node))


def _since_epoch(node: exp.Expr, binder: Binder) -> Expr:
    return coerce.call("epoch", [zones.at_utc(_time(node.this, binder))], span_of(node))


def seconds_of(value: Expr, node: exp.Expr, factor: int = 1) -> Expr:
    """Whole seconds (or parts of them) since 1970."""
    seconds = coerce.call("epoch", [zones.at_utc(value)], span_of(node))
    scaled = seconds if factor == 1 else coerce.call("multiply", [seconds, whole(factor)])
    return coerce.call("cast_integer", [coerce.call("floor", [scaled])])


def _unix_date(node: exp.UnixDate, binder: Binder) -> Expr:
    return coerce.call("days_between", [coerce.call("cast_date", [_time(node.this, binder)]), EPOCH], span_of(node))


def _from_unix(node: exp.UnixToTime, binder: Binder) -> Expr | None:
    at_utc = coerce.call("from_epoch", [binder.bind(node.this)], span_of(node))
    return zones.in_zone(at_utc, zones.UTC, binder.zone)


def julian_day(value: Expr, node: exp.Expr) -> Expr:
    """SQLite's JULIANDAY."""
    days = coerce.call("divide", [coerce.call("epoch", [value], span_of(node)), whole(86_400)])
    return coerce.call("add", [days, Literal(2440587.5, Type.FLOAT)])


def modified(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """SQLite's DATE and DATETIME with modifiers: the start of a period, and days or less."""
    value = moment(binder.bind(node.expressions[0]), "sqlite")
    for written in node.expressions[1:]:
        modifier = constant_text(binder.bind(written), node, "A modifier of a date").strip().lower()
        step = MODIFIER.fullmatch(modifier)
        if modifier in {"start of day", "start of month", "start of year"}:
            value = coerce.call(f"trunc_{modifier.split()[-1]}", [value], span_of(node))
        elif step is not None:
            value = shifted(value, [(whole(int(step[1])), step[2])], node)
        else:
            return None
    return coerce.call("cast_date" if str(node.this).upper() == "DATE" else "cast_timestamp", [value])


def volatile(node: exp.Expr) -> UnsupportedSQLError:
    """The refusal of what changes while one looks."""
    return UnsupportedSQLError(
        f"{function_name(node) or text_of(node)} gives something else each time, so an answer could not be repeated.",
        code="volatile",
        hint="Leave it out." if isinstance(node, RANDOM) else CONSTANT_DATE,
        span=span_of(node),
    )


DATE_PARTS = ("year", "month", "day")
MOMENT_PARTS = ("year", "month", "day", "hour", "min", "sec")
RANDOM = (exp.Rand, exp.Randn, exp.Uuid, exp.CurrentUser)
VOLATILE = (
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime, exp.CurrentTimestampLTZ),
    *(exp.Localtime, exp.Localtimestamp, exp.Systimestamp, exp.UtcDate, exp.UtcTime, exp.UtcTimestamp),
    *RANDOM,
)
VOLATILE_NAMES = frozenset(
    {
        "NOW",
        "CURDATE",
        "GETDATE",
        "TODAY",
        "SYSDATE",
        "RANDOM",
        "GEN_RANDOM_UUID",
        "UUID",
        "GETUTCDATE",
        "GET_CURRENT_TIMESTAMP",
    }
    | {"TRANSACTION_TIMESTAMP", "STATEMENT_TIMESTAMP", "CLOCK_TIMESTAMP", "TIMEOFDAY", "CURRENT_LOCALTIMESTAMP"}
)
READ = ("this", "format", "default_year", "target_type")
HANDLERS: Handlers = {
    exp.LastDay: (("this", "unit"), _last_day),
    exp.Monthname: (("this", "abbreviated"), lambda n, b: _name("month_name", n, b)),
    exp.Dayname: (("this", "abbreviated"), lambda n, b: _name("day_name", n, b)),
    exp.TimeToStr: (("this", "format"), _write),
    exp.ToChar: (("this", "format"), _write),
    exp.StrToDate: (READ, lambda n, b: _read("date", n, b)),
    exp.TsOrDsToDate: (READ, lambda n, b: _read("date", n, b)),
    exp.StrToTime: (READ, lambda n, b: _read("timestamp", n, b)),
    exp.Date: (("this",), _date),
    exp.TsOrDsToTimestamp: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.TsOrDsToDatetime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.TimeStrToTime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.Timestamp: (("this", "with_tz"), lambda n, b: _as("timestamp", n, b)),
    exp.Datetime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.DateFromParts: (DATE_PARTS, lambda n, b: _made("make_date", DATE_PARTS, n, b)),
    exp.TimestampFromParts: (MOMENT_PARTS, lambda n, b: _made("make_timestamp", MOMENT_PARTS, n, b)),
    exp.TimeToUnix: (("this",), _since_epoch),
    exp.UnixSeconds: (("this",), lambda n, b: seconds_of(_time(n.this, b), n)),
    exp.UnixMillis: (("this",), lambda n, b: seconds_of(_time(n.this, b), n, 1000)),
    exp.StrToUnix: (("this", "format"), lambda n, b: seconds_of(_read("timestamp", n, b), n)),
    exp.UnixDate: (("this",), _unix_date),
    exp.UnixToTime: (("this",), _from_unix),
}
