"""Arithmetic with doubles as the floating-point standard has it, on an engine that raises an error instead.

What overflows is infinite and what comes to nothing is zero, to the last bit: whether it does is found by scaling with
powers of two, which is exact. Zero, infinity and NaN as operands raise nothing.
"""

import math
import sys
from collections.abc import Sequence

from hedgerow.dialects.postgres import sizes
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.sizes import Size, is_safe, size
from hedgerow.expressions.nodes import Expr

MOST = sys.float_info.max


def real(value: float) -> str:
    """A double as a constant."""
    names = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return f"FLOAT8 '{'NaN' if math.isnan(value) else names.get(value) or repr(value)}'"


def power(exponent: int) -> str:
    """A power of two."""
    return real(math.ldexp(1.0, exponent))


NAN, INFINITE, ZERO, HALF = real(math.nan), real(math.inf), real(0.0), real(0.5)
USUAL = f"BETWEEN {real(1e-150)} AND {real(1e150)}"
UNUSUAL = f"> {real(MOST)}"
"""Infinite or NaN, which is greater than every number."""

_SIGNED = f"sign({{0}}) * sign({{1}}) * {INFINITE}"


def _sum(sign: str) -> str:
    """Overflow is possible only if both operands are large; then halves are added, which is exact."""
    plain, halves = f"{{0}} {sign} {{1}}", f"{{0}} * {HALF} {sign} {{1}} * {HALF}"
    small = " AND ".join(f"abs({{{i}}}) < {real(8e307)}" for i in (0, 1))
    never = " OR ".join(f"abs({{{i}}}) NOT BETWEEN {real(1e290)} AND {real(MOST)}" for i in (0, 1))
    return (
        f"CASE WHEN {small} THEN {plain} WHEN {never} THEN {plain} WHEN {halves} >= {power(1023)} THEN {INFINITE} "
        f"WHEN {halves} <= {real(-math.ldexp(1.0, 1023))} THEN {real(-math.inf)} ELSE {plain} END"
    )


def _product() -> str:
    """With both above one, the product is looked at 2^-1024 times as large; with both below, 2^1074 times."""
    high = f"(abs({{0}}) * {power(-512)}) * (abs({{1}}) * {power(-512)}) >= 1"
    least, greatest = "LEAST(abs({0}), abs({1}))", "GREATEST(abs({0}), abs({1}))"
    small = f"abs({{0}}) < 1 AND abs({{1}}) < 1 AND (abs({{0}}) < {power(-500)} OR abs({{1}}) < {power(-500)})"
    low = f"({least} * {power(1000)}) * ({greatest} * {power(74)}) <= {HALF}"
    return (
        f"CASE WHEN abs({{0}}) {USUAL} AND abs({{1}}) {USUAL} THEN {{0}} * {{1}} "
        f"WHEN {{0}} = 0 OR {{1}} = 0 OR abs({{0}}) {UNUSUAL} OR abs({{1}}) {UNUSUAL} THEN {{0}} * {{1}} "
        f"WHEN abs({{0}}) > 1 AND abs({{1}}) > 1 THEN CASE WHEN {high} THEN {_SIGNED} ELSE {{0}} * {{1}} END "
        f"WHEN {small} THEN CASE WHEN {low} THEN {ZERO} ELSE {{0}} * {{1}} END "
        "ELSE {0} * {1} END"
    )


def _quotient() -> str:
    """Operands are compared at scales where neither overflows; close to the limit, their scaled quotient decides."""
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
RULES = {"add": sizes.added, "subtract": sizes.added, "multiply": sizes.multiplied, "divide": sizes.divided}


def arithmetic(name: str, arguments: Sequence[Expr], texts: Sequence[str]) -> str:
    """`add`, `subtract`, `multiply` or `divide` of two doubles, with a guard unless the types rule trouble out."""
    if never_fails(name, [size(argument) for argument in arguments]):
        return PLAIN[name].format(*texts)
    return shared(GUARDED[name], arguments, texts)


def never_fails(name: str, found: Sequence[Size]) -> bool:
    """Return True if an operation on doubles of these sizes cannot fail."""
    return is_safe(RULES[name](found)) if name in {"multiply", "divide"} else sizes.added(found).most <= sizes.OVERFLOW


def half_away(text: str) -> str:
    """A double rounded to a whole one, halves away from zero; `round` of PostgreSQL rounds them to even."""
    half = f"abs({text} - trunc({text})) = {HALF}"
    return f"CASE WHEN {half} THEN trunc({text}) + sign({text}) ELSE round({text}) END"
