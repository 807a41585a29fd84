"""Binding of arithmetic with dates and times: shifts, differences, truncation and buckets."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.functions.times import UNITS
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder, Handlers, unsupported, whole
from hedgerow.plan.syntax import dialect_of, span_of
from hedgerow.plan.time_functions import Steps, steps, timestamp, unit_name

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
HANDLERS: Handlers = {
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
