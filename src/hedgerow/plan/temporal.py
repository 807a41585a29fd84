"""Binding dates: EXTRACT, DATE_TRUNC, DATE_DIFF, and arithmetic with intervals and dates."""

from collections.abc import Callable

from sqlglot import exp

from hedgerow.expressions.functions.temporal import PARTS, UNITS
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.syntax import span_of

Bind = Callable[[exp.Expr], Expr]


def bind(node: exp.Expr, scalar: Bind) -> Expr | None:
    """The expression, if `node` is about dates; None otherwise."""
    if isinstance(node, exp.Extract):
        return _extract(_unit(node.this), scalar(node.expression), node)
    if (
        isinstance(node, exp.Anonymous)
        and str(node.this).lower() in {"date_part", "datepart"}
        and len(node.expressions) == 2
    ):
        return _extract(_unit(node.expressions[0]), scalar(node.expressions[1]), node)
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return _trunc(_unit(node.args.get("unit")), scalar(node.this), node)
    if isinstance(node, exp.DateDiff | exp.TimestampDiff):
        return _difference(_unit(node.args.get("unit")) or "day", scalar(node.expression), scalar(node.this), node)
    if isinstance(node, exp.Add | exp.Sub):
        return _shift(node, scalar)
    return None


def _unit(node: exp.Expr | None) -> str:
    return "" if node is None else str(node.name).lower().removesuffix("s")


def _extract(part: str, value: Expr, node: exp.Expr) -> Expr | None:
    name = {"dow": "dayofweek", "doy": "dayofyear"}.get(part, part)
    return coerce.call(f"extract_{name}", [value], span_of(node)) if name in PARTS else None


def _trunc(unit: str, value: Expr, node: exp.Expr) -> Expr | None:
    if unit not in UNITS:
        return None
    truncated = coerce.call(f"trunc_{unit}", [value], span_of(node))
    return coerce.call("cast_date", [truncated]) if value.type is Type.DATE else truncated


def _difference(unit: str, start: Expr, end: Expr, node: exp.Expr) -> Expr | None:
    return coerce.call(f"difference_{unit}", [start, end], span_of(node)) if unit in UNITS else None


def _shift(node: exp.Add | exp.Sub, scalar: Bind) -> Expr | None:
    """Date plus or minus an interval, and date minus date."""
    if isinstance(node.expression, exp.Interval):
        return _by_interval(scalar(node.this), node.expression, 1 if isinstance(node, exp.Add) else -1, node)
    if isinstance(node, exp.Sub):
        sides = scalar(node.this), scalar(node.expression)
        if all(side.type is Type.DATE for side in sides):
            return coerce.call("days_between", sides, span_of(node))
    return None


def _by_interval(value: Expr, interval: exp.Interval, sign: int, node: exp.Expr) -> Expr | None:
    text, unit = str(interval.this.name if interval.this else ""), _unit(interval.args.get("unit"))
    if " " in text.strip() and not unit:
        text, unit = text.split(maxsplit=1)
        unit = unit.lower().removesuffix("s")
    if unit not in UNITS or not text.strip().lstrip("-").isdigit() or len(text) > 9:
        return None
    shifted = coerce.call(f"shift_{unit}", [value, Literal(sign * int(text), Type.INTEGER)], span_of(node))
    keeps_date = value.type is Type.DATE and unit in {"year", "quarter", "month", "week", "day"}
    return Call("cast_date", (shifted,), Type.DATE) if keeps_date else shifted
