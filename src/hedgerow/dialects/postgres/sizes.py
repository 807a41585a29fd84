"""How large and how small numbers can be, by their types and by what is done to them.

PostgreSQL raises an error where arithmetic with doubles overflows, or comes to nothing. Where the types rule that out
there is no guard to pay for. What the owner declares (bounds) does not count: stored values may lie outside.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
DIGIT = math.log2(10)
OVERFLOW, UNDERFLOW = 1023.0, -1070.0
"""Exponents within which arithmetic with doubles cannot fail."""


@dataclass(frozen=True, slots=True)
class Size:
    """Exponents of two: every finite value but zero has a magnitude from 2^least to 2^most."""

    least: float
    most: float


ANY = Size(-1074.0, 1024.0)
WHOLE = Size(0.0, 63.0)
NATIVES: Mapping[str, Size] = {
    "SMALLINT": Size(0.0, 15.0),
    "INTEGER": Size(0.0, 31.0),
    "REAL": Size(-149.0, 128.0),
}


def size(expr: Expr) -> Size:
    """The size of a number."""
    if isinstance(expr, Literal):
        return _of_constant(expr)
    if isinstance(expr, Column):
        return _of_column(expr)
    if isinstance(expr, Call):
        rule = RULES.get(expr.function)
        if rule is not None:
            return _within(rule([size(argument) for argument in expr.arguments]), expr.type)
        return SMALL if expr.function.startswith(("extract_", "length", "position", "sign")) else _of_type(expr.type)
    return _of_type(expr.type)


def _of_type(kind: Type) -> Size:
    if kind is Type.BOOLEAN:
        return Size(0.0, 0.0)
    return WHOLE if kind is Type.INTEGER else ANY


def _of_constant(literal: Literal) -> Size:
    value = literal.value
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return ANY
    if value == 0:
        return Size(0.0, 0.0)
    exponent = math.frexp(float(value))[1]
    return Size(exponent - 1.0, float(exponent))


def _of_column(column: Column) -> Size:
    found = DECIMAL.fullmatch(column.native.upper())
    if found is None:
        return NATIVES.get(column.native.upper()) or _of_type(column.type)
    precision, scale = int(found[1]), int(found[2])
    return Size(-math.ceil(scale * DIGIT), math.ceil((precision - scale) * DIGIT))


def _within(found: Size, kind: Type) -> Size:
    widest = _of_type(kind)
    return Size(max(found.least, widest.least), min(found.most, widest.most))


def added(sizes: Sequence[Size]) -> Size:
    """Of a sum of two: they may all but cancel, down to the last bit of the smaller."""
    return Size(min(s.least for s in sizes) - 53.0, max(s.most for s in sizes) + 1.0)


def multiplied(sizes: Sequence[Size]) -> Size:
    """Of a product."""
    return Size(sum(s.least for s in sizes), sum(s.most for s in sizes))


def divided(sizes: Sequence[Size]) -> Size:
    """Of a quotient."""
    return Size(sizes[0].least - sizes[1].most, sizes[0].most - sizes[1].least)


def hull(sizes: Sequence[Size]) -> Size:
    """Of one of several."""
    return Size(min(s.least for s in sizes), max(s.most for s in sizes))


def is_safe(found: Size) -> bool:
    """Return True if arithmetic that gives a double of this size cannot fail."""
    return found.most <= OVERFLOW and found.least >= UNDERFLOW


Rule = Callable[[Sequence[Size]], Size]
SMALL = Size(0.0, 32.0)
RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("add", "subtract", "add_whole", "subtract_whole"), added),
    **dict.fromkeys(("multiply", "multiply_whole"), multiplied),
    "divide": divided,
    **dict.fromkeys(
        ("negate", "negate_whole", "abs", "abs_whole", "one_spelling", "cast_float", "imposed_float", "nullif"),
        lambda sizes: sizes[0],
    ),
    **dict.fromkeys(("floor", "ceil", "trunc"), lambda sizes: Size(0.0, max(sizes[0].most, 0.0) + 1.0)),
    "sqrt": lambda sizes: Size(sizes[0].least / 2 - 1.0, sizes[0].most / 2 + 1.0),
    **dict.fromkeys(("coalesce", "least", "greatest"), hull),
    **dict.fromkeys(("clip", "clip_whole"), lambda sizes: Size(hull(sizes).least, hull(sizes[1:]).most)),
    "case": lambda sizes: hull([*sizes[1::2], sizes[-1]]),
    **dict.fromkeys(("indicator", "sign"), lambda _: Size(0.0, 1.0)),
    "divide_whole": lambda sizes: Size(0.0, sizes[0].most),
    "remainder_whole": lambda sizes: Size(0.0, sizes[1].most),
}
"""By function, from the sizes of the arguments."""
