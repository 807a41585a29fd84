"""Binding of dates and times: intervals, time zones and parts of timestamps."""

import re

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS, PARTS, UNITS
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals
from hedgerow.plan.handlers import Binder, Handlers, constant_text, text, whole
from hedgerow.plan.syntax import dialect_of, span_of, text_of

UNIT_ALIASES = {
    "y": "year",
    "yr": "year",
    "mon": "month",
    "mth": "month",
    "qtr": "quarter",
    "wk": "week",
    "w": "week",
    "d": "day",
    "dd": "day",
    "h": "hour",
    "hr": "hour",
    "hh": "hour",
    "min": "minute",
    "mi": "minute",
    "sec": "second",
    "ss": "second",
    "yy": "year",
    "yyyy": "year",
    "mm": "month",
}
PART = re.compile(r"([+-]?\d{1,9})\s*([a-z]+)")
YEAR_MONTH = re.compile(r"([+-]?)(\d{1,4})-(\d{1,4})")

Steps = list[tuple[Expr, str]]
"""An interval as whole numbers of units, the largest unit first."""


def unit_name(written: str) -> str:
    """Return our name of a unit; empty if it is unknown."""
    lowered = written.lower()
    for name in (lowered, lowered.removesuffix("s")):
        known = UNIT_ALIASES.get(name, name)
        if known in UNITS:
            return known
    return ""


def steps(node: exp.Expr | None, binder: Binder, sign: int = 1) -> Steps | None:
    """Return the interval that `node` is, or None if it cannot be read as one."""
    if isinstance(node, exp.Paren):
        return steps(node.this, binder, sign)
    if isinstance(node, exp.Neg):
        return steps(node.this, binder, -sign)
    if isinstance(node, exp.Mul):
        return _multiple(node, binder, sign)
    if isinstance(node, exp.ToDays):
        return _of_unit(node.this, "day", binder, sign)
    return _interval(node, binder, sign) if isinstance(node, exp.Interval) else None


def _interval(node: exp.Interval, binder: Binder, sign: int) -> Steps | None:
    unit, value = node.args.get("unit"), node.this
    if isinstance(unit, exp.IntervalSpan):
        return _span(str(value.name), f"{unit.this.name}-{unit.expression.name}".lower(), sign)
    if isinstance(value, exp.Literal):
        return _constant(str(value.this).strip().lower(), "" if unit is None else unit_name(unit.name), sign, unit)
    return None if unit is None or value is None else _of_unit(value, unit_name(unit.name), binder, sign)


def _constant(text: str, unit: str, sign: int, written: exp.Expr | None) -> Steps | None:
    if written is not None:
        exact = re.fullmatch(r"[+-]?\d{1,9}", text)
        return [(whole(sign * int(text)), unit)] if exact and unit else None
    if PART.sub("", text).strip():
        return None
    parts = [(int(number), unit_name(name)) for number, name in PART.findall(text)]
    if not parts or not all(name for _, name in parts):
        return None
    ordered = sorted(parts, key=lambda step: UNITS.index(step[1]))
    return [(whole(sign * number), name) for number, name in ordered]


def _span(text: str, units: str, sign: int) -> Steps | None:
    match = YEAR_MONTH.fullmatch(text.strip())
    if match is None or units != "year-month":
        return None
    sign = -sign if match[1] == "-" else sign
    return [(whole(sign * (12 * int(match[2]) + int(match[3]))), "month")]


def _of_unit(value: exp.Expr, unit: str, binder: Binder, sign: int) -> Steps | None:
    number = binder.bind(value)
    if not unit or number.type is not Type.INTEGER:
        return None
    return [(number if sign > 0 else coerce.call("negate_whole", [number]), unit)]


def _multiple(node: exp.Mul, binder: Binder, sign: int) -> Steps | None:
    """Return `n * INTERVAL '1 day'`, in either order."""
    for factor, interval in ((node.this, node.expression), (node.expression, node.this)):
        inner_steps = steps(interval, binder, sign)
        if inner_steps is not None and len(inner_steps) == 1:
            number = binder.bind(factor)
            if number.type is Type.INTEGER:
                return [(coerce.call("multiply_whole", [number, inner_steps[0][0]]), inner_steps[0][1])]
    return None


UTC = zones.DEFAULT


def in_zone(value: Expr, source: str, target: str) -> Expr:
    """Convert a date and time of one zone to another zone."""
    return coerce.call("in_zone", [value, text(source), text(target)])


def is_instant(expr: Expr) -> bool:
    """Return True if the expression is a point in time, and not merely a date and time."""
    return isinstance(expr, Call) and expr.function == "in_zone"


def shown_in(expr: Call, zone: str) -> Expr:
    """A point in time in another zone."""
    source = expr.arguments[1]
    return Call("in_zone", (expr.arguments[0], source, text(zone)), Type.TIMESTAMP)


def read_instant(column: Expr, zone: str) -> Expr:
    """Read a column of points in time in a zone: as stored by the database, or from ISO 8601 text.

    Text without an offset is a date and time in the zone.
    """
    if column.type is Type.TIMESTAMP:
        return in_zone(column, UTC, zone)
    if column.type not in {Type.TEXT, Type.OTHER}:
        return in_zone(coerce.call("imposed_timestamp", [column]), UTC, zone)
    written = column if column.type is Type.TEXT else coerce.call("imposed_text", [column])
    return in_zone(coerce.call("read_instant", [written, text(zone)]), UTC, zone)


def at_utc(expr: Expr) -> Expr:
    """Return a point in time at UTC; any other expression is unchanged."""
    return shown_in(expr, UTC) if isinstance(expr, Call) and is_instant(expr) else expr


def zone_name(node: exp.Expr, binder: Binder) -> str:
    """The zone that AT TIME ZONE names."""
    name = constant_text(binder.bind(node), node, "A time zone")
    if zones.exists(name):
        return name
    raise UnsupportedSQLError(
        f"{name!r} is not the name of a time zone.",
        code="unknown-timezone",
        hint="Write a name of the IANA database, such as 'Europe/Berlin' or 'UTC'.",
        span=span_of(node),
    )


def _at_time_zone(node: exp.AtTimeZone, binder: Binder) -> Expr:
    """Bind AT TIME ZONE: a point in time becomes a local date and time, and a local date and time a point in time."""
    value, zone = binder.bind(node.this), zone_name(node.args["zone"], binder)
    if isinstance(value, Call) and is_instant(value):
        return coerce.call("cast_timestamp", [shown_in(value, zone)])
    if _is_local(value):
        return in_zone(value, zone, binder.zone)
    raise UnsupportedSQLError(
        f"{text_of(node.this)} is computed, so it is not known whether it is a point in time or a date and time.",
        code="computed-timezone",
        hint="Apply AT TIME ZONE to a column of a table first, or write CAST(… AS TIMESTAMP) for a date and time.",
        span=span_of(node),
    )


def _is_local(expr: Expr) -> bool:
    """True if the expression is a date and time: a column of a table without a time zone, a constant or a cast."""
    stored = isinstance(expr, Column) and expr.native != ""
    cast = isinstance(expr, Call) and expr.function in {"cast_timestamp", "imposed_timestamp"}
    return expr.type is Type.TIMESTAMP and (stored or cast or isinstance(expr, Literal))


_ZONES: Handlers = {exp.AtTimeZone: (("this", "zone"), _at_time_zone)}
PART_ALIASES = {
    **dict.fromkeys(("dow", "dayofweek", "weekday", "dw"), "dayofweek"),
    **dict.fromkeys(("isodow", "dayofweekiso", "dayofweek_iso", "dow_iso", "weekday_iso"), "isodow"),
    **dict.fromkeys(("doy", "dayofyear", "yearday", "dy"), "dayofyear"),
    **dict.fromkeys(("week", "weeks", "weekofyear", "isoweek", "weekiso", "week_iso"), "week"),
    **dict.fromkeys(("isoyear", "yearofweek", "yearofweekiso"), "isoyear"),
    **dict.fromkeys(("dayofmonth",), "day"),
    **dict.fromkeys(("millisecond", "milliseconds", "ms"), "millisecond"),
    **dict.fromkeys(("microsecond", "microseconds", "us"), "microsecond"),
    **dict.fromkeys(("decade", "decades"), "decade"),
    **dict.fromkeys(("century", "centuries"), "century"),
}
SUNDAY_IS_ONE = frozenset({"bigquery", "spark"})

FRACTIONS = frozenset({"postgres", "spark"})
"""Dialects in which EXTRACT(second …) has a fraction."""

EXACT_ONLY = {"millisecond": {"duckdb"}, "microsecond": {"duckdb", "postgres"}}
"""Parts that mean something else in the other dialects."""

TEXT_IS_TIME = frozenset({"sqlite", "spark"})
"""Dialects in which date functions read text."""


def timestamp(expr: Expr, dialect: str) -> Expr:
    """Return a date or timestamp: text constants are read, text columns only where the dialect reads them."""
    if isinstance(expr, Literal) and isinstance(expr.value, str):
        return literals.timestamp(expr.value, Type.DATE if len(expr.value) <= 10 else Type.TIMESTAMP)
    return coerce.call("cast_timestamp", [expr]) if expr.type is Type.TEXT and dialect in TEXT_IS_TIME else expr


def part(written: str, value: Expr, node: exp.Expr, *, extracted: bool = True) -> Expr | None:
    """Return the part of that name; None if it is unknown. `extracted`: by EXTRACT, not by a function of its name."""
    dialect, name = dialect_of(node), written.lower()
    known = PART_ALIASES.get(name) or unit_name(name)
    if name.startswith("epoch"):
        return _epoch(name, value, node)
    if value.type is Type.TIME:
        return _of_clock(known, value, node, fraction=extracted and dialect in FRACTIONS)
    if known not in PARTS or dialect not in EXACT_ONLY.get(known, {dialect}):
        return None
    if known == "second" and extracted and dialect in FRACTIONS:
        return coerce.call("seconds", [value], span_of(node))
    if name == "week" and dialect == "bigquery":
        return coerce.call("week_from_sunday", [value], span_of(node))
    if name == "weekday" and dialect == "spark":
        return coerce.call("subtract_whole", [coerce.call("extract_isodow", [value], span_of(node)), whole(1)])
    number = coerce.call(f"extract_{known}", [value], span_of(node))
    if known == "dayofweek" and dialect in SUNDAY_IS_ONE:
        return coerce.call("add_whole", [number, whole(1)])
    return number


def _of_clock(known: str, value: Expr, node: exp.Expr, *, fraction: bool) -> Expr:
    """A part of a time of day."""
    name = CLOCK_SECONDS if known == "second" and fraction else f"clock_{known}"
    if name != CLOCK_SECONDS and name not in CLOCK:
        raise UnsupportedSQLError(
            "A time of day has hours, minutes and seconds, but no date.",
            code="type-mismatch",
            hint="Write EXTRACT(hour FROM …), with hour, minute or second.",
            span=span_of(node),
        )
    return coerce.call(name, [value], span_of(node))


def _epoch(name: str, value: Expr, node: exp.Expr) -> Expr | None:
    value = at_utc(value)
    if name == "epoch_second":
        return coerce.call("cast_integer", [coerce.call("floor", [coerce.call("epoch", [value], span_of(node))])])
    return coerce.call("epoch", [value], span_of(node)) if name == "epoch" else None


def _extract(node: exp.Extract, binder: Binder) -> Expr | None:
    written = str(node.this.name)
    years = written.upper() in {"YEAR", "YEARS"}
    if years and isinstance(node.expression, exp.Anonymous) and str(node.expression.this).upper() == "AGE":
        return age(node.expression, binder)
    value = timestamp(binder.bind(node.expression), dialect_of(node))
    if written.upper() == "DATE" and dialect_of(node) == "bigquery":
        return coerce.call("cast_date", [value], span_of(node))
    return part(written, value, node)


def age(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """Return the full years of AGE(end, start)."""
    if len(node.expressions) != 2:
        return None
    ends = [timestamp(binder.bind(n), dialect_of(node)) for n in node.expressions]
    return coerce.call("age_in_years", ends, span_of(node))


def named_part(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """DATE_PART('year', d)."""
    if len(node.expressions) != 2:
        return None
    extract = exp.Extract(this=exp.Var(this=node.expressions[0].name), expression=node.expressions[1])
    extract.meta.update(node.meta)
    return _extract(extract, binder)


def _function(name: str, node: exp.Expr, binder: Binder) -> Expr | None:
    return part(name, timestamp(binder.bind(node.this), dialect_of(node)), node, extracted=False)


FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "weekofyear",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "dayofyear",
    exp.YearOfWeek: "isoyear",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}

NAMED = ("WEEKDAY", "ISOYEAR", "DECADE", "CENTURY", "MILLISECOND", "MICROSECOND", "WEEKISO", "DAYOFWEEKISO")
"""Functions of date parts that the parser does not know."""

_PARTS: Handlers = {
    exp.Extract: (("this", "expression"), _extract),
    **{
        kind: (("this",), lambda n, b, name=name: _function(name, n, b))  # type: ignore[misc]
        for kind, name in FUNCTIONS.items()
    },
}
HANDLERS: Handlers = {**_PARTS, **_ZONES}
