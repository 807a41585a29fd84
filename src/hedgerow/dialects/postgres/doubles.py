"""IEEE 754 arithmetic with doubles, on an engine that raises an error on overflow and underflow.

Guarded templates return infinity on overflow and zero on underflow, exact to the last bit: the guards scale operands by
powers of two, which is exact. Zero, infinity and NaN as operands raise no error.

`Size` bounds the magnitude of a number by its type and the functions applied to it, so that arithmetic that can never
fail needs no guard. Bounds that the owner declares do not count: stored values may lie outside.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hedgerow.dialects.postgres.naming import shared
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type, decimal_size

DIGIT = math.log2(10)
OVERFLOW, UNDERFLOW = 1023.0, -1070.0
"""Exponents within which arithmetic with doubles cannot fail."""


@dataclass(frozen=True, slots=True)
class Size:
    """Exponents of two: every finite nonzero value has a magnitude from 2^minimum to 2^maximum."""

    minimum: float
    maximum: float


ANY = Size(-1074.0, 1024.0)
WHOLE = Size(0.0, 63.0)
NATIVES: Mapping[str, Size] = {
    "SMALLINT": Size(0.0, 15.0),
    "INTEGER": Size(0.0, 31.0),
    "REAL": Size(-149.0, 128.0),
}


def size(expr: Expr) -> Size:
    """Return the size of a number."""
    if isinstance(expr, Literal):
        return _of_constant(expr)
    if isinstance(expr, Column):
        decimal = decimal_size(expr.native)
        if decimal is None:
            return NATIVES.get(expr.native.upper()) or _of_type(expr.type)
        precision, scale = decimal
        return Size(-math.ceil(scale * DIGIT), math.ceil((precision - scale) * DIGIT))
    if isinstance(expr, Call):
        rule = RULES.get(expr.function)
        if rule is not None:
            result, widest = rule([size(argument) for argument in expr.arguments]), _of_type(expr.type)
            return Size(max(result.minimum, widest.minimum), min(result.maximum, widest.maximum))
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


def added(sizes: Sequence[Size]) -> Size:
    """Size of a sum or difference: two numbers can cancel down to the last bit of the smaller one."""
    return Size(min(s.minimum for s in sizes) - 53.0, max(s.maximum for s in sizes) + 1.0)


def multiplied(sizes: Sequence[Size]) -> Size:
    """Size of a product."""
    return Size(sum(s.minimum for s in sizes), sum(s.maximum for s in sizes))


def divided(sizes: Sequence[Size]) -> Size:
    """Size of a quotient."""
    return Size(sizes[0].minimum - sizes[1].maximum, sizes[0].maximum - sizes[1].minimum)


def hull(sizes: Sequence[Size]) -> Size:
    """Size of one of several numbers."""
    return Size(min(s.minimum for s in sizes), max(s.maximum for s in sizes))


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
    **dict.fromkeys(("floor", "ceil", "trunc"), lambda sizes: Size(0.0, max(sizes[0].maximum, 0.0) + 1.0)),
    "sqrt": lambda sizes: Size(sizes[0].minimum / 2 - 1.0, sizes[0].maximum / 2 + 1.0),
    **dict.fromkeys(("coalesce", "least", "greatest"), hull),
    **dict.fromkeys(("clip", "clip_whole"), lambda sizes: Size(hull(sizes).minimum, hull(sizes[1:]).maximum)),
    "case": lambda sizes: hull([*sizes[1::2], sizes[-1]]),
    **dict.fromkeys(("indicator", "sign"), lambda _: Size(0.0, 1.0)),
    "divide_whole": lambda sizes: Size(0.0, sizes[0].maximum),
    "remainder_whole": lambda sizes: Size(0.0, sizes[1].maximum),
}
"""Size of a call, by its function, from the sizes of its arguments."""


LARGEST = sys.float_info.max


def real(value: float) -> str:
    """A double as a constant."""
    names = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return f"FLOAT8 '{'NaN' if math.isnan(value) else names.get(value) or repr(value)}'"


def power(exponent: int) -> str:
    """A power of two."""
    return real(math.ldexp(1.0, exponent))


NAN, INFINITE, ZERO, HALF = real(math.nan), real(math.inf), real(0.0), real(0.5)
USUAL = f"BETWEEN {real(1e-150)} AND {real(1e150)}"
UNUSUAL = f"> {real(LARGEST)}"
"""Infinite or NaN: PostgreSQL sorts NaN above every number."""

_SIGNED = f"sign({{0}}) * sign({{1}}) * {INFINITE}"


def _sum(sign: str) -> str:
    """Test for overflow, if both operands are large, by adding their halves, which is exact."""
    plain, halves = f"{{0}} {sign} {{1}}", f"{{0}} * {HALF} {sign} {{1}} * {HALF}"
    small = " AND ".join(f"abs({{{i}}}) < {real(8e307)}" for i in (0, 1))
    never = " OR ".join(f"abs({{{i}}}) NOT BETWEEN {real(1e290)} AND {real(LARGEST)}" for i in (0, 1))
    return (
        f"CASE WHEN {small} THEN {plain} WHEN {never} THEN {plain} WHEN {halves} >= {power(1023)} THEN {INFINITE} "
        f"WHEN {halves} <= {real(-math.ldexp(1.0, 1023))} THEN {real(-math.inf)} ELSE {plain} END"
    )


def _product() -> str:
    """Test for overflow on the product scaled by 2^-1024, and for underflow on the product scaled by 2^1074."""
    high = f"(abs({{0}}) * {power(-512)}) * (abs({{1}}) * {power(-512)}) >= 1"
    smaller, larger = "LEAST(abs({0}), abs({1}))", "GREATEST(abs({0}), abs({1}))"
    small = f"abs({{0}}) < 1 AND abs({{1}}) < 1 AND (abs({{0}}) < {power(-500)} OR abs({{1}}) < {power(-500)})"
    low = f"({smaller} * {power(1000)}) * ({larger} * {power(74)}) <= {HALF}"
    return (
        f"CASE WHEN abs({{0}}) {USUAL} AND abs({{1}}) {USUAL} THEN {{0}} * {{1}} "
        f"WHEN {{0}} = 0 OR {{1}} = 0 OR abs({{0}}) {UNUSUAL} OR abs({{1}}) {UNUSUAL} THEN {{0}} * {{1}} "
        f"WHEN abs({{0}}) > 1 AND abs({{1}}) > 1 THEN CASE WHEN {high} THEN {_SIGNED} ELSE {{0}} * {{1}} END "
        f"WHEN {small} THEN CASE WHEN {low} THEN {ZERO} ELSE {{0}} * {{1}} END "
        "ELSE {0} * {1} END"
    )


def _quotient() -> str:
    """Compare operands at scales where neither overflows; near the limit, compare their scaled quotient."""
    one, other = f"abs({{0}}) * {power(-512)}", f"abs({{1}}) * {power(511)}"
    far, near = f"{one} >= abs({{1}}) * {power(513)}", f"{one} >= {other}"
    beyond = f"CASE WHEN {far} THEN TRUE WHEN {near} THEN ({one}) / ({other}) >= 2 ELSE FALSE END"
    nothing = f"abs({{0}}) * {power(600)} <= abs({{1}}) * {power(-475)}"
    return (
        f"CASE WHEN abs({{0}}) {USUAL} AND abs({{1}}) {USUAL} THEN {{0}} / {{1}} WHEN {{1}} = 0 THEN NULL "
        f"WHEN {{0}} = 0 OR abs({{0}}) {UNUSUAL} OR abs({{1}}) {UNUSUAL} THEN {{0}} / {{1}} "
        f"WHEN abs({{1}}) < 1 AND abs({{0}}) > {power(-60)} THEN CASE WHEN {beyond} THEN {_SIGNED} "
        f"ELSE {{0}} / {{1}} END "
        f"WHEN abs({{1}}) > 1 AND abs({{0}}) < {power(-40)} THEN CASE WHEN {nothing} THEN {ZERO} "
        f"ELSE {{0}} / {{1}} END ELSE {{0}} / {{1}} END"
    )


GUARDED = {"add": _sum("+"), "subtract": _sum("-"), "multiply": _product(), "divide": _quotient()}
PLAIN = {"add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / NULLIF({1}, 0))"}


def arithmetic(name: str, arguments: Sequence[Expr], texts: Sequence[str]) -> str:
    """`add`, `subtract`, `multiply` or `divide` of two doubles, guarded unless the operands' sizes rule out failure."""
    if never_fails(name, [size(argument) for argument in arguments]):
        return PLAIN[name].format(*texts)
    return shared(GUARDED[name], arguments, texts)


def never_fails(name: str, sizes: Sequence[Size]) -> bool:
    """Return True if an operation on doubles of these sizes cannot fail. Sums and differences never underflow."""
    result = RULES[name](sizes)
    return result.maximum <= OVERFLOW and (name in {"add", "subtract"} or result.minimum >= UNDERFLOW)


def half_away(text: str) -> str:
    """Round a double to a whole number, halves away from zero; PostgreSQL's `round` rounds them to even."""
    half = f"abs({text} - trunc({text})) = {HALF}"
    return f"CASE WHEN {half} THEN trunc({text}) + sign({text}) ELSE round({text}) END"
