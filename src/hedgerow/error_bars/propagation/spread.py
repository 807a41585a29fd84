"""Error bars of whatever is shown.

Of an aggregate its own; of quotients of linear forms exact ones (`algebra`); of any other arithmetic with aggregates
sound interval arithmetic: an expression over M aggregates is evaluated on their intervals at (1 - confidence) / M
each, so that all of them hold at once (docs/explanation/error-bars.md). Conservative, never short.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds, arithmetic
from hedgerow.error_bars.intervals import conditions as verdict_of
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, IntervalKind, Reason, Status
from hedgerow.error_bars.propagation.algebra import exact_bounds
from hedgerow.error_bars.provenance.noisy_columns import is_noisy
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested, Window, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.release.estimate import Estimator

NO_RULE = Status(IntervalKind.NONE, Reason.NO_RULE, "unbounded: no rule gives an interval for this expression")

Rule = Callable[..., Bounds]


def _monotone(function: Callable[..., Any], lowest: float = -np.inf) -> Rule:
    return lambda operand: arithmetic.monotone(function, operand, domain=(lowest, np.inf))


def _round(operand: Bounds, places: Bounds | None = None) -> Bounds:
    """Rounded outwards: whichever way an engine breaks ties, the rounded value lies inside."""
    digits = np.zeros(len(operand.lower)) if places is None else places.lower
    if places is not None and not np.array_equal(places.lower, places.upper):
        return Bounds.of(np.full_like(operand.lower, -np.inf), np.full_like(operand.upper, np.inf))
    scale = 10.0 ** np.clip(digits, -300, 300)
    return Bounds(np.floor(operand.lower * scale) / scale, np.ceil(operand.upper * scale) / scale, operand.statuses)


RULES: Mapping[str, Rule] = {
    "add": arithmetic.add,
    "add_whole": arithmetic.add,
    "subtract": arithmetic.subtract,
    "subtract_whole": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "multiply_whole": arithmetic.multiply,
    "divide": arithmetic.divide,
    "negate": arithmetic.negate,
    "negate_whole": arithmetic.negate,
    "abs": arithmetic.absolute,
    "abs_whole": arithmetic.absolute,
    "least": lambda *operands: _fold(arithmetic.least, operands),
    "greatest": lambda *operands: _fold(arithmetic.greatest, operands),
    "cast_float": lambda operand: operand,
    "cast_integer": _round,
    "nullif": lambda operand, _: operand,
    "floor": _monotone(np.floor),
    "ceil": _monotone(np.ceil),
    "trunc": _monotone(np.trunc),
    "round": _round,
    "sqrt": _monotone(np.sqrt, 0.0),
    "ln": _monotone(np.log, 0.0),
    "log10": _monotone(np.log10, 0.0),
    "log2": _monotone(np.log2, 0.0),
    "exp": _monotone(np.exp),
}


def _fold(rule: Rule, operands: tuple[Bounds, ...]) -> Bounds:
    result = operands[0]
    for operand in operands[1:]:
        result = rule(result, operand)
    return result


def bounds_of(expr: Expr, estimator: Estimator, released: pa.Table, beta: float) -> Bounds | None:
    """The error bars of `expr` for every released row; None where no noise is in it."""
    names = {call.name: index for index, call in enumerate(estimator.plan.release.calls)}
    if any(isinstance(part, Window) or (isinstance(part, Nested) and is_noisy(part.query)) for part in walk(expr)):
        return unknown(released.num_rows)
    used = sorted(name for table, name in columns_of(expr) if not table and name in names)
    if not used:
        return None
    exact = None if isinstance(expr, Column) else exact_bounds(expr, estimator, beta)
    if exact is not None:
        return exact
    parts = {}
    for name in used:
        found = estimator.estimate(names[name], beta / len(used))
        parts[name] = Bounds(found.lower, found.upper, list(found.statuses))
    if isinstance(expr, Column):
        return parts[expr.name]
    evaluated = _evaluate(expr, parts, released)
    return evaluated.weakened(CONSERVATIVE)


def values_of(expr: Expr, estimator: Estimator, released: pa.Table) -> NDArray[np.float64]:
    """The value of `expr` for every released row, as far as error bars can follow it; NaN elsewhere."""
    names = {call.name: index for index, call in enumerate(estimator.plan.release.calls)}
    parts = {}
    for name in {name for table, name in columns_of(expr) if not table and name in names}:
        values = estimator.estimate(names[name], 0.5).values
        parts[name] = Bounds.of(values, values)
    found = _evaluate(expr, parts, released)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(found.lower) & np.isfinite(found.upper), (found.lower + found.upper) / 2, np.nan)


def _evaluate(expr: Expr, parts: Mapping[str, Bounds], released: pa.Table) -> Bounds:
    rows = released.num_rows
    if isinstance(expr, Column) and expr.table:
        return unknown(rows)
    if isinstance(expr, Column) and expr.name in parts:
        return parts[expr.name]
    if isinstance(expr, Column) and expr.type.is_numeric:
        values = np.array(released.column(expr.name).to_pylist(), dtype=float)
        return Bounds.of(values, values)
    if (isinstance(expr, Literal) and isinstance(expr.value, int | float)) or _is_decimal(expr):
        value = np.full(rows, float(expr.value))  # type: ignore[union-attr, arg-type]
        return Bounds.of(value, value)
    if isinstance(expr, Call) and expr.function == "case":
        return _case(expr, parts, released)
    if isinstance(expr, Call) and expr.function == "coalesce":
        return first_present([_evaluate(a, parts, released) for a in expr.arguments])
    if isinstance(expr, Call) and expr.function in RULES:
        return RULES[expr.function](*(_evaluate(a, parts, released) for a in expr.arguments))
    return unknown(rows)


def _case(expr: Call, parts: Mapping[str, Bounds], released: pa.Table) -> Bounds:
    """The branches that the intervals of its conditions leave open."""
    verdicts = [_verdict(condition, parts, released) for condition in expr.arguments[:-1:2]]
    branches = [_branch(value, parts, released) for value in (*expr.arguments[1:-1:2], expr.arguments[-1])]
    return Bounds.of(*verdict_of.chosen(verdicts, branches))


def _branch(expr: Expr, parts: Mapping[str, Bounds], released: pa.Table) -> Bounds:
    if expr.type is not Type.NULL:
        return _evaluate(expr, parts, released)
    nothing = np.full(released.num_rows, np.nan)
    return Bounds.of(nothing, nothing)


def _verdict(expr: Expr, parts: Mapping[str, Bounds], released: pa.Table) -> verdict_of.Verdict:
    if isinstance(expr, Call) and expr.function == "not":
        return _verdict(expr.arguments[0], parts, released).inverted()
    if isinstance(expr, Call) and expr.function in {"and", "or"}:
        join = verdict_of.both if expr.function == "and" else verdict_of.either
        return join(*(_verdict(argument, parts, released) for argument in expr.arguments))
    if not isinstance(expr, Call) or not all(a.type.is_numeric for a in expr.arguments):
        return verdict_of.undecided(released.num_rows)
    if expr.function not in verdict_of.COMPARISONS:
        return verdict_of.undecided(released.num_rows)
    left, right = (_evaluate(a, parts, released) for a in expr.arguments)
    missing = ~present(left) | ~present(right) | np.isnan(left.lower) | np.isnan(right.lower)
    return verdict_of.compared(expr.function, left, right, missing)


def present(bounds: Bounds) -> NDArray[np.bool_]:
    """Where there is a number at all."""
    return np.array([status.has_number for status in bounds.statuses], dtype=bool)


def first_present(parts: Sequence[Bounds]) -> Bounds:
    """COALESCE: the first that has a value."""
    result = parts[-1]
    for part in reversed(parts[:-1]):
        there = present(part)
        statuses = [a if ok else b for a, b, ok in zip(part.statuses, result.statuses, there, strict=True)]
        result = Bounds(np.where(there, part.lower, result.lower), np.where(there, part.upper, result.upper), statuses)
    return result


def unknown(rows: int) -> Bounds:
    """Nothing can be said."""
    return Bounds.of(np.full(rows, -np.inf), np.full(rows, np.inf), NO_RULE)


def _is_decimal(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.type.is_numeric and expr.value is not None
