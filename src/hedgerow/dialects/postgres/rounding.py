"""Cutting numbers to digits and sorting them into bins, operation by operation as DuckDB does it."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.postgres.doubles import GUARDED, MOST, NAN, arithmetic, half_away, never_fails, real
from hedgerow.dialects.postgres.naming import chained, shared
from hedgerow.dialects.postgres.numbers import bigint, doubles, no_windows
from hedgerow.dialects.postgres.sizes import Size, size
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.postgres.dialect import PostgresDialect, Writer

FARTHEST = 300


def _places(expr: Expr) -> int | None:
    """The number of places where it is a constant, held within reach."""
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        return max(-FARTHEST, min(expr.value, FARTHEST))
    return None


def _cut(text: str, function: str) -> str:
    """Rounded, halves away from zero, or cut, to a whole number."""
    return f"trunc({text})" if function == "trunc_places" else half_away(text)


def _at_places(value: str, expr: Expr, places: int, function: str) -> str:
    """At a constant number of places: scaled by a power of ten, made whole, and scaled back.

    What is not finite in between is the value itself, or, left of the point, as it is.
    """
    if places == 0:
        return shared(_cut("{0}", function), (expr,), (value,))
    ten = f"power(FLOAT8 '10', {abs(places)})"
    forth, back = ("multiply", "/") if places > 0 else ("divide", "*")
    if never_fails(forth, [size(expr), _of_ten(places)]):
        scaled = f"({{0}} {'*' if places > 0 else '/'} {ten})"
        return f"({shared(f'({_cut(scaled, function)}) {back} {ten}', (expr,), (value,))})"
    return _guarded(value, ten, function, left=places < 0)


def _of_ten(places: int) -> Size:
    return Size(0.0, abs(places) * 3.4)


def _guarded(value: str, ten: str, function: str, *, left: bool) -> str:
    forth = GUARDED["divide" if left else "multiply"].format("v.a0", "v.a1")
    back = GUARDED["multiply" if left else "divide"].format("w.b0", "v.a1")
    whole = f"(SELECT {_cut('s.y', function)} FROM (SELECT {forth} AS y OFFSET 0) AS s)"
    finite = f"CASE WHEN abs(s.z) <= {real(MOST)} THEN s.z ELSE v.a0 END"
    return chained((value, ten), (whole,), f"(SELECT {finite} FROM (SELECT {back} AS z OFFSET 0) AS s)")


def _round(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    value = dialect.as_double(texts[0], expr.arguments[0])
    places = 0 if len(texts) == 1 else _places(expr.arguments[1])
    if places is not None:
        if places and not never_fails("multiply", [size(expr.arguments[0]), _of_ten(places)]):
            no_windows(dialect, expr)
        return _at_places(value, expr.arguments[0], places, expr.function)
    no_windows(dialect, expr)
    held = f"CAST(int8smaller(int8larger({bigint(expr.arguments[1], texts[1])}, {-FARTHEST}), {FARTHEST}) AS INTEGER)"
    sides = [_guarded("n.x", "power(FLOAT8 '10', abs(n.p))", expr.function, left=left) for left in (False, True)]
    choice = f"CASE WHEN n.p >= 0 THEN {sides[0]} WHEN n.p < 0 THEN {sides[1]} END"
    return f"(SELECT {choice} FROM (SELECT {value} AS x, {held} AS p OFFSET 0) AS n)"


def _fixed(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    precision, scale = (argument.value for argument in expr.arguments[1:] if isinstance(argument, Literal))
    rounded = _round(dialect, Call("round", (expr.arguments[0], expr.arguments[2]), Type.FLOAT), (texts[0], texts[2]))
    most = real(10.0 ** (int(str(precision)) - int(str(scale))))
    return shared(f"CASE WHEN abs({{0}}) < {most} THEN {{0}} END", (expr,), (rounded,))


def _width_bucket(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """Bounds and number of bins are constants."""
    no_windows(dialect, expr)
    value, low, high, _ = doubles(dialect, expr, texts)
    bounds = [float(str(a.value)) for a in expr.arguments[1:3] if isinstance(a, Literal)]
    bins, wide = texts[3], Literal(bounds[1] - bounds[0], Type.FLOAT)
    if not math.isfinite(bounds[1] - bounds[0]):
        raise dialect.lacks("bins as wide as all numbers")
    above = Call("subtract", (expr.arguments[0], expr.arguments[1]), Type.FLOAT)
    share = arithmetic("divide", (above, wide), (f"({{0}} - {low})", real(bounds[1] - bounds[0])))
    place = arithmetic(
        "multiply", (Call("divide", (above, wide), Type.FLOAT), expr.arguments[3]), (share, f"CAST({bins} AS FLOAT8)")
    )
    inside = f"CAST(LEAST(floor({place}), {bins} - 1) AS BIGINT) + 1"
    ends = f"WHEN {{0}} < {low} THEN 0 WHEN {{0}} >= {high} THEN {bins} + 1"
    template = f"CASE WHEN {{0}} IS NULL OR {{0}} = {NAN} THEN NULL {ends} ELSE {inside} END"
    return shared(template, expr.arguments[:1], (value,))


ROUNDING: Mapping[str, "Writer"] = {
    **dict.fromkeys(("round", "trunc_places"), _round),
    "fixed": _fixed,
    "width_bucket": _width_bucket,
}
