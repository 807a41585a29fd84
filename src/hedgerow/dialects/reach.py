"""How large a number can be at most, by its type and what is done to it: where arithmetic in doubles cannot overflow.

What the owner declares (bounds) does not count: stored values may lie outside. A finite reach says more than that: the
value, read as a double, is neither infinite nor NaN.
"""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

MOST = 1e300
"""Beyond this nothing is promised."""

WHOLE = float(2**63)
DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def reach(expr: Expr) -> float:
    """The largest magnitude that `expr` can have; infinity where nothing can be said."""
    found = _reach(expr)
    return found if found <= MOST else math.inf


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
    """Of a column of decimals: as many digits as stand before the point."""
    found = DECIMAL.fullmatch(native.upper())
    return 10.0 ** (int(found[1]) - int(found[2])) if found else math.inf


Rule = Callable[[Sequence[float], Call], float]


def _product(sizes: Sequence[float], _call: Call) -> float:
    return 0.0 if 0.0 in sizes else math.prod(sizes)


def _quotient(sizes: Sequence[float], call: Call) -> float:
    """Whole numbers but zero are at least one."""
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
"""By function, from the reach of the arguments; what is missing is unknown (or, where whole, within 64 bits)."""
