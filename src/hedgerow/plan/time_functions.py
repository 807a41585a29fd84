"""Binding of dates and times: intervals, time zones, parts of timestamps, and arithmetic."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS, PARTS, UNITS
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals
from hedgerow.plan.handlers import Binder, Handlers, constant_text, text, unsupported, whole
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
    """True if the expression is a point in time, and not merely a date and time."""
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


OF_DAYS = frozenset({"year", "quarter", "month", "week", "day"})
WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
COUNTS_BORDERS = frozenset({"duckdb", "snowflake", "bigquery"})
COUNTS_ELAPSED = frozenset({"spark"})
"""Dialects whose DATEDIFF counts crossed unit boundaries, or full units. The others have no DATEDIFF."""

ORIGINS = {True: datetime(2000, 1, 1), False: datetime(2000, 1, 3)}  # noqa: DTZ001 - dates have no zone here
"""The origins of DuckDB's buckets: for widths in months, and for all other widths."""

WIDEST = 1_000_000
MICROSECONDS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
}


def _unit(node: exp.Expr | None) -> tuple[str, int]:
    """Return the unit, and the first weekday (0: Monday) of its weeks; an unknown unit is empty."""
    if isinstance(node, exp.WeekStart):
        name = node.this.name.upper()
        return ("week", WEEKDAYS.index(name)) if name in WEEKDAYS else ("", 0)
    name = "" if node is None else str(node.name)
    return ("week" if name.upper() == "ISOWEEK" else unit_name(name)), 0


def shifted(value: Expr, interval: Steps, node: exp.Expr) -> Expr:
    """Shift a date or timestamp by an interval. A date shifted by whole days stays a date."""
    moved = value
    for number, unit in interval:
        moved = coerce.call(f"shift_{unit}", [moved, number], span_of(node))
    keeps_date = value.type is Type.DATE and all(unit in OF_DAYS for _, unit in interval)
    return coerce.call("cast_date", [moved]) if keeps_date else moved


def _moved(value: Expr, days: int, node: exp.Expr) -> Expr:
    return value if days == 0 else shifted(value, [(whole(days), "day")], node)


def _trunc(node: exp.Expr, binder: Binder) -> Expr | None:
    unit, first = _unit(node.args.get("unit"))
    value = timestamp(binder.bind(node.this), dialect_of(node))
    if unit not in UNITS or (value.type is Type.DATE and unit not in OF_DAYS and dialect_of(node) == "bigquery"):
        return None
    to_monday = (7 - first) % 7
    monday = coerce.call(f"trunc_{unit}", [_moved(value, to_monday, node)], span_of(node))
    truncated = _moved(monday, -to_monday, node)
    return coerce.call("cast_date", [truncated]) if value.type is Type.DATE and unit in OF_DAYS else truncated


def _difference(node: exp.DateDiff | exp.TimestampDiff | exp.DatetimeDiff, binder: Binder) -> Expr | None:
    dialect = dialect_of(node)
    unit, first = _unit(node.args.get("unit") or exp.Var(this="DAY"))
    full = dialect in COUNTS_ELAPSED or (dialect == "bigquery" and isinstance(node, exp.TimestampDiff))
    if unit not in UNITS or dialect not in COUNTS_BORDERS | COUNTS_ELAPSED:
        return None
    ends = [timestamp(binder.bind(n), dialect) for n in (node.expression, node.this)]
    if node.args.get("unit") is None:
        ends = [coerce.call("cast_date", [end]) for end in ends]
    if unit == "week" and not full and dialect != "duckdb":
        return _weeks([_moved(end, (7 - first) % 7, node) for end in ends], node)
    return coerce.call(f"elapsed_{unit}" if full else f"difference_{unit}", ends, span_of(node))


def _weeks(ends: list[Expr], node: exp.Expr) -> Expr:
    """Return the number of Mondays between two dates; DuckDB itself counts full weeks."""
    mondays = [coerce.call("trunc_week", [end], span_of(node)) for end in ends]
    return coerce.call("divide_whole", [coerce.call("difference_day", mondays), whole(7)])


def elapsed(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """DuckDB's DATE_SUB('unit', start, end): full units."""
    if len(node.expressions) != 3 or dialect_of(node) != "duckdb":
        return None
    unit = unit_name(str(node.expressions[0].name))
    ends = [timestamp(binder.bind(n), "duckdb") for n in node.expressions[1:]]
    return coerce.call(f"elapsed_{unit}", ends, span_of(node)) if unit else None


def _add(sign: int, node: exp.Expr, binder: Binder) -> Expr | None:
    """Bind DATE_ADD and similar functions: an interval, or a number and a unit (days by default)."""
    value = timestamp(binder.bind(node.this), dialect_of(node))
    interval = steps(node.expression, binder, sign)
    if interval is None:
        unit = unit_name(node.args["unit"].name) if node.args.get("unit") else "day"
        interval = [(_count(binder.bind(node.expression), sign), unit)] if unit else None
    return None if interval is None else shifted(value, interval, node)


def _count(number: Expr, sign: int) -> Expr:
    if isinstance(number, Literal) and isinstance(number.value, str) and number.value.lstrip("-").isdigit():
        number = whole(int(number.value[:10]))
    if isinstance(number, Literal) and isinstance(number.value, int):
        return whole(sign * number.value)
    return number if sign > 0 else coerce.call("negate_whole", [number])


def date_add(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """Bind DATEADD('month', 3, d), which the parser does not know."""
    if len(node.expressions) != 3:
        return None
    unit = unit_name(str(node.expressions[0].name))
    value = timestamp(binder.bind(node.expressions[2]), dialect_of(node))
    return shifted(value, [(binder.bind(node.expressions[1]), unit)], node) if unit else None


def _add_months(node: exp.AddMonths, binder: Binder) -> Expr:
    return shifted(timestamp(binder.bind(node.this), dialect_of(node)), [(binder.bind(node.expression), "month")], node)


def by_interval(node: exp.Add | exp.Sub, binder: Binder) -> Expr | None:
    """Return a date plus or minus an interval; None if neither side is an interval."""
    sign = 1 if isinstance(node, exp.Add) else -1
    interval, value = steps(node.expression, binder, sign), node.this
    if interval is None and sign > 0:
        interval, value = steps(node.this, binder), node.expression
    return None if interval is None else shifted(timestamp(binder.bind(value), dialect_of(node)), interval, node)


def of_dates(node: exp.Add | exp.Sub, left: Expr, right: Expr) -> Expr | None:
    """Return a date plus or minus days, or the difference of two dates; None if neither side is a date."""
    sign = 1 if isinstance(node, exp.Add) else -1
    if left.type is Type.DATE and right.type is Type.INTEGER:
        return shifted(left, [(_count(right, sign), "day")], node)
    if sign > 0 and left.type is Type.INTEGER and right.type is Type.DATE:
        return shifted(right, [(left, "day")], node)
    if sign < 0 and (left.type.is_temporal or right.type.is_temporal):
        return _days(left, right, node)
    return None


def lengths(nodes: Sequence[exp.Expr], binder: Binder) -> list[Expr] | None:
    """Return a difference of timestamps and a constant interval, both in microseconds, for a comparison; or None."""
    inner = [node.unnest() for node in nodes]
    intervals = [steps(node, binder) if isinstance(node, exp.Interval) else None for node in inner]
    if len(inner) != 2 or not any(isinstance(node, exp.Sub) for node in inner) or not any(intervals):
        return None
    return [
        _microseconds(step) if step else _between(node, binder) for step, node in zip(intervals, inner, strict=True)
    ]


def _microseconds(interval: Steps) -> Expr:
    total = 0
    for number, unit in interval:
        if unit not in MICROSECONDS or not isinstance(number, Literal) or not isinstance(number.value, int):
            raise UnsupportedSQLError(
                "Months and years differ in length, so a difference of timestamps cannot be compared with them.",
                code="interval-result",
                hint="Compare with days, hours, minutes or seconds.",
            )
        total += number.value * MICROSECONDS[unit]
    return whole(total)


def _between(node: exp.Expr, binder: Binder) -> Expr:
    ends = [timestamp(binder.bind(n), dialect_of(node)) for n in (node.this, node.expression)]
    return coerce.call("microseconds_between", ends, span_of(node))


def _days(left: Expr, right: Expr, node: exp.Expr) -> Expr:
    ends = coerce.unify([left, right], span_of(node))
    if all(end.type is Type.DATE for end in ends):
        return coerce.call("days_between", ends, span_of(node))
    raise UnsupportedSQLError(
        "The difference of two timestamps is an interval, which cannot be a result.",
        code="interval-result",
        hint="Say the unit: DATE_DIFF('hour', start, finish).",
        span=span_of(node),
    )


def _bucket(node: exp.DateBin, binder: Binder) -> Expr | None:
    """Bind TIME_BUCKET and DATE_BIN: a constant width of one unit, and the start of the first bucket."""
    width = node.this if not isinstance(node.this, exp.Literal) else exp.Interval(this=node.this)
    widths = steps(width, binder)
    origin = node.args.get("unit") or node.args.get("origin")
    if widths is None or len(widths) != 1 or not isinstance(widths[0][0], Literal):
        return None
    start = None if origin is None else binder.bind(origin)
    if start is not None and not (isinstance(start, Literal) and isinstance(start.value, datetime)):
        return None
    return bucket(node, timestamp(binder.bind(node.expression), dialect_of(node)), widths[0], start)


def bucket(node: exp.Expr, value: Expr, width: tuple[Expr, str], origin: Expr | None) -> Expr | None:
    """Return the bucket of a timestamp; a date stays a date if the width is in days."""
    number, unit = width
    if not isinstance(number, Literal) or not isinstance(number.value, int) or not 0 < number.value <= WIDEST:
        raise unsupported(node, hint="The width of a bucket is a constant above zero, as in INTERVAL '15 minutes'.")
    start = origin or Literal(ORIGINS[unit in {"year", "quarter", "month"}], Type.TIMESTAMP)
    start_of_bucket = coerce.call(f"bucket_{unit}", [value, number, start], span_of(node))
    return (
        coerce.call("cast_date", [start_of_bucket]) if value.type is Type.DATE and unit in OF_DAYS else start_of_bucket
    )


SHIFTS = ("this", "expression", "unit")
_ARITHMETIC: Handlers = {
    **dict.fromkeys((exp.TimestampTrunc, exp.DateTrunc, exp.DatetimeTrunc), (("this", "unit"), _trunc)),
    **dict.fromkeys(
        (exp.DateDiff, exp.TimestampDiff, exp.DatetimeDiff),
        (("this", "expression", "unit", "date_part_boundary"), _difference),
    ),
    **dict.fromkeys((exp.DateAdd, exp.TimestampAdd, exp.DatetimeAdd, exp.TsOrDsAdd), (SHIFTS, partial(_add, 1))),
    **dict.fromkeys((exp.DateSub, exp.TimestampSub, exp.DatetimeSub), (SHIFTS, partial(_add, -1))),
    exp.AddMonths: (("this", "expression"), _add_months),
    exp.DateBin: (("this", "expression", "unit", "origin"), _bucket),
}

HANDLERS: Handlers = {**_PARTS, **_ARITHMETIC, **_ZONES}
