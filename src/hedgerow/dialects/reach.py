"""The largest magnitude of a number, by its type and the functions applied to it: where doubles cannot overflow.

Bounds that the owner declares do not count: stored values may lie outside. A value with a finite reach, read as a
double, is neither infinite nor NaN.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal

from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type, decimal_size

MAXIMUM = 1e300
"""A larger reach counts as infinite."""

WHOLE = float(2**63)


def reach(expr: Expr) -> float:
    """Return the largest magnitude that `expr` can have; infinity if unknown."""
    magnitude = _reach(expr)
    return magnitude if magnitude <= MAXIMUM else math.inf


def _reach(expr: Expr) -> float:
    if expr.type is Type.BOOLEAN:
        return 1.0
    if isinstance(expr, Literal):
        return abs(float(expr.value)) if isinstance(expr.value, int | float | Decimal) else math.inf
    if isinstance(expr, Call) and expr.function in RULES:
        return RULES[expr.function]([reach(a) for a in expr.arguments], expr)
    if expr.type is Type.INTEGER:
        return WHOLE
    return _digits(expr.native) if isinstance(expr, Column) else math.inf


def _digits(native: str) -> float:
    """Reach of a decimal column, from its digits before the point."""
    size = decimal_size(native)
    return 10.0 ** (size[0] - size[1]) if size else math.inf


Rule = Callable[[Sequence[float], Call], float]


def _product(sizes: Sequence[float], _call: Call) -> float:
    return 0.0 if 0.0 in sizes else math.prod(sizes)


def _quotient(sizes: Sequence[float], call: Call) -> float:
    """Reach of a quotient: a nonzero integer divisor is at least one."""
    return sizes[0] if call.arguments[1].type is Type.INTEGER else math.inf


def _branches(sizes: Sequence[float], _call: Call) -> float:
    return max((*sizes[1::2], sizes[-1]))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("add", "subtract", "add_whole", "subtract_whole"), lambda sizes, _: sum(sizes)),
    **dict.fromkeys(("multiply", "multiply_whole"), _product),
    **dict.fromkeys(("negate", "negate_whole", "abs", "abs_whole", "one_spelling"), lambda sizes, _: sizes[0]),
    **dict.fromkeys(("cast_float", "imposed_float", "nullif", "divide_whole"), lambda sizes, _: sizes[0]),
    **dict.fromkeys(("floor", "ceil", "sqrt"), lambda sizes, _: sizes[0] + 1.0),
    **dict.fromkeys(("coalesce", "least", "greatest"), lambda sizes, _: max(sizes)),
    **dict.fromkeys(("clip", "clip_whole"), lambda sizes, _: max(sizes[1:])),
    **dict.fromkeys(("indicator", "sign"), lambda _sizes, _: 1.0),
    "case": _branches,
    "divide": _quotient,
}
"""Reach of a call, by its function, from the reaches of its arguments. Other calls are unknown, or 64-bit integers."""
