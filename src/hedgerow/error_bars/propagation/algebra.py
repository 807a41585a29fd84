"""Expressions over aggregates that are still quotients of linear forms: their intervals are exact.

Sums, differences, multiples and quotients of counts, sums and averages of one group stay in this class, and Fieller's
pivot (or its Laplace counterpart) gives their intervals with no loss. Everything else is None here, and is left to
interval arithmetic.
"""

from decimal import Decimal

import numpy as np

from hedgerow.aggregates import Form, Ratio, shared_noises
from hedgerow.distributions import Laplace
from hedgerow.error_bars.intervals import Bounds, half_width, quotient_bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.release.estimate import Estimator


def exact_bounds(expr: Expr, estimator: Estimator, beta: float) -> Bounds | None:
    """The intervals of `expr` in every row, where it is a quotient of linear forms; None where it is not."""
    found = _ratio(expr, estimator)
    if found is None:
        return None
    shown = estimator.noisy.shown
    bounds = _bounds(found, beta)
    held = estimator.held_back
    statuses = [status if ok else held for status, ok in zip(bounds.statuses, shown, strict=True)]
    return Bounds(np.where(shown, bounds.lower, -np.inf), np.where(shown, bounds.upper, np.inf), statuses)


def _bounds(ratio: Ratio, beta: float) -> Bounds:
    above, below = ratio.numerator, ratio.denominator
    if below is None:
        return Bounds.around(above.values, half_width(above.noise, beta)).within(*ratio.support)
    terms = shared_noises(above, below)
    bounds = quotient_bounds(above.values, below.values, terms, beta, ratio.support)
    boxed = len(terms) > 2 and any(isinstance(noise, Laplace) for _, _, noise in terms)
    return bounds.weakened(CONSERVATIVE) if boxed else bounds


def _ratio(expr: Expr, estimator: Estimator) -> Ratio | None:
    names = {call.name: index for index, call in enumerate(estimator.plan.release.calls)}
    if isinstance(expr, Column):
        return estimator.ratio(names[expr.name]) if not expr.table and expr.name in names else None
    if isinstance(expr, Literal):
        return _constant(expr, len(estimator.noisy.shown))
    if not isinstance(expr, Call):
        return None
    parts = [_ratio(argument, estimator) for argument in expr.arguments]
    known = [part for part in parts if part is not None]
    return _apply(expr, known) if len(known) == len(parts) else None


def _constant(literal: Literal, rows: int) -> Ratio | None:
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Ratio(Form(np.full(rows, float(value)), ()), support=(float(value), float(value)))


def _apply(call: Call, parts: list[Ratio]) -> Ratio | None:
    name = call.function.removesuffix("_whole")
    if name in {"cast_float", "nullif"}:
        return parts[0]
    if name == "negate":
        return _scaled(parts[0], -1.0)
    if name in {"add", "subtract"}:
        return _sum(parts[0], _scaled(parts[1], -1.0 if name == "subtract" else 1.0))
    if name == "multiply":
        return _product(*parts)
    return _quotient(*parts) if call.function == "divide" else None


def _scaled(ratio: Ratio, factor: float) -> Ratio:
    ends = sorted(_times(end, factor) for end in ratio.support)
    return Ratio(ratio.numerator.times(factor), ratio.denominator, (ends[0], ends[1]))


def _times(end: float, factor: float) -> float:
    return 0.0 if factor == 0 else end * factor


def _sum(left: Ratio, right: Ratio) -> Ratio | None:
    """Over one denominator; a part without noise joins any."""
    support = (left.support[0] + right.support[0], left.support[1] + right.support[1])
    for one, other in ((left, right), (right, left)):
        constant = _value(other)
        if one.denominator is not None and constant is not None:
            return Ratio(one.numerator.plus(one.denominator.times(constant)), one.denominator, support)
    if left.denominator is None and right.denominator is None:
        return Ratio(left.numerator.plus(right.numerator), None, support)
    if _same(left.denominator, right.denominator):
        return Ratio(left.numerator.plus(right.numerator), left.denominator, support)
    return None


def _product(left: Ratio, right: Ratio) -> Ratio | None:
    for one, other in ((left, right), (right, left)):
        constant = _value(other)
        if constant is not None:
            return _scaled(one, constant)
    return None


def _quotient(above: Ratio, below: Ratio) -> Ratio | None:
    constant = _value(below)
    if constant is not None:
        return _scaled(above, 1.0 / constant) if constant else None
    if below.denominator is None and above.denominator is None:
        return Ratio(above.numerator, below.numerator)
    if above.denominator is not None and _same(above.denominator, below.denominator):
        return Ratio(above.numerator, below.numerator)
    return None


def _value(ratio: Ratio) -> float | None:
    """The constant that the quotient is, if no noise is in it."""
    if ratio.denominator is not None or ratio.numerator.terms or not len(ratio.numerator.values):
        return None
    return float(ratio.numerator.values[0])


def _same(left: Form | None, right: Form | None) -> bool:
    if left is None or right is None:
        return False
    return left.terms == right.terms and np.array_equal(left.values, right.values)
