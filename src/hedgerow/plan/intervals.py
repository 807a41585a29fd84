"""Reading intervals: constants in all spellings, and whole numbers of one unit."""

import re

from sqlglot import exp

from hedgerow.expressions.functions.times import UNITS
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder, whole

ALIASES = {
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
    """Our name of a unit; empty where there is none."""
    lowered = written.lower()
    for name in (lowered, lowered.removesuffix("s")):
        known = ALIASES.get(name, name)
        if known in UNITS:
            return known
    return ""


def steps(node: exp.Expr | None, binder: Binder, sign: int = 1) -> Steps | None:
    """The interval that `node` is, or None where it is none that we can read."""
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
    found = [(int(number), unit_name(name)) for number, name in PART.findall(text)]
    if not found or not all(name for _, name in found):
        return None
    ordered = sorted(found, key=lambda step: UNITS.index(step[1]))
    return [(whole(sign * number), name) for number, name in ordered]


def _span(text: str, units: str, sign: int) -> Steps | None:
    found = YEAR_MONTH.fullmatch(text.strip())
    if found is None or units != "year-month":
        return None
    sign = -sign if found[1] == "-" else sign
    return [(whole(sign * (12 * int(found[2]) + int(found[3]))), "month")]


def _of_unit(value: exp.Expr, unit: str, binder: Binder, sign: int) -> Steps | None:
    number = binder.bind(value)
    if not unit or number.type is not Type.INTEGER:
        return None
    return [(number if sign > 0 else coerce.call("negate_whole", [number]), unit)]


def _multiple(node: exp.Mul, binder: Binder, sign: int) -> Steps | None:
    """`n * INTERVAL '1 day'`, either way round."""
    for factor, interval in ((node.this, node.expression), (node.expression, node.this)):
        found = steps(interval, binder, sign)
        if found is not None and len(found) == 1:
            number = binder.bind(factor)
            if number.type is Type.INTEGER:
                return [(coerce.call("multiply_whole", [number, found[0][0]]), found[0][1])]
    return None
