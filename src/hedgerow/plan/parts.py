"""Parts of dates: EXTRACT and the functions named after parts, as each dialect counts weeks and days."""

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.functions.times import CLOCK, CLOCK_SECONDS, PARTS
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals, zones
from hedgerow.plan.handlers import Binder, Handlers, whole
from hedgerow.plan.intervals import unit_name
from hedgerow.plan.syntax import dialect_of, span_of

ALIASES = {
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
"""Dialects in which functions of dates read text."""


def moment(expr: Expr, dialect: str) -> Expr:
    """A date or moment: text constants are read, columns of text only where the dialect does so."""
    if isinstance(expr, Literal) and isinstance(expr.value, str):
        return literals.moment(expr.value, Type.DATE if len(expr.value) <= 10 else Type.TIMESTAMP)
    return coerce.call("cast_timestamp", [expr]) if expr.type is Type.TEXT and dialect in TEXT_IS_TIME else expr


def part(written: str, value: Expr, node: exp.Expr, *, extracted: bool = True) -> Expr | None:
    """The part of that name; None where it is not known. `extracted`: by EXTRACT, not by a function of its name."""
    dialect, name = dialect_of(node), written.lower()
    known = ALIASES.get(name) or unit_name(name)
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
    found = coerce.call(f"extract_{known}", [value], span_of(node))
    if known == "dayofweek" and dialect in SUNDAY_IS_ONE:
        return coerce.call("add_whole", [found, whole(1)])
    return found


def _of_clock(known: str, value: Expr, node: exp.Expr, *, fraction: bool) -> Expr:
    """A part of a time of day."""
    name = CLOCK_SECONDS if known == "second" and fraction else f"clock_{known}"
    if name != CLOCK_SECONDS and name not in CLOCK:
        raise UnsupportedSQLError(
            "A time of day has hours, minutes and seconds, and no date.",
            code="type-mismatch",
            hint="Write EXTRACT(hour FROM …), with hour, minute or second.",
            span=span_of(node),
        )
    return coerce.call(name, [value], span_of(node))


def _epoch(name: str, value: Expr, node: exp.Expr) -> Expr | None:
    value = zones.at_utc(value)
    if name == "epoch_second":
        return coerce.call("cast_integer", [coerce.call("floor", [coerce.call("epoch", [value], span_of(node))])])
    return coerce.call("epoch", [value], span_of(node)) if name == "epoch" else None


def _extract(node: exp.Extract, binder: Binder) -> Expr | None:
    written = str(node.this.name)
    years = written.upper() in {"YEAR", "YEARS"}
    if years and isinstance(node.expression, exp.Anonymous) and str(node.expression.this).upper() == "AGE":
        return age(node.expression, binder)
    value = moment(binder.bind(node.expression), dialect_of(node))
    if written.upper() == "DATE" and dialect_of(node) == "bigquery":
        return coerce.call("cast_date", [value], span_of(node))
    return part(written, value, node)


def age(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """The full years of AGE(end, start)."""
    if len(node.expressions) != 2:
        return None
    ends = [moment(binder.bind(n), dialect_of(node)) for n in node.expressions]
    return coerce.call("age_in_years", ends, span_of(node))


def named_part(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """DATE_PART('year', d)."""
    if len(node.expressions) != 2:
        return None
    made = exp.Extract(this=exp.Var(this=node.expressions[0].name), expression=node.expressions[1])
    made.meta.update(node.meta)
    return _extract(made, binder)


def _function(name: str, node: exp.Expr, binder: Binder) -> Expr | None:
    return part(name, moment(binder.bind(node.this), dialect_of(node)), node, extracted=False)


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
"""Functions of parts that the parser does not know."""

HANDLERS: Handlers = {
    exp.Extract: (("this", "expression"), _extract),
    **{
        kind: (("this",), lambda n, b, name=name: _function(name, n, b))  # type: ignore[misc]
        for kind, name in FUNCTIONS.items()
    },
}
