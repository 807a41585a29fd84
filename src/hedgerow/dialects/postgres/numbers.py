"""Functions of numbers. Doubles follow IEEE 754; integers become NULL on overflow.

Rounding to decimal places and WIDTH_BUCKET perform the same operations in the same order as DuckDB.
"""

import math
from collections.abc import Mapping, Sequence

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.dialects.postgres.doubles import (
    GUARDED,
    HALF,
    INFINITE,
    LARGEST,
    NAN,
    WHOLE,
    ZERO,
    Size,
    added,
    arithmetic,
    half_away,
    multiplied,
    never_fails,
    power,
    real,
    size,
)
from hedgerow.dialects.postgres.naming import chained, has_window, shared
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

INT_MIN, INT_MAX = "CAST('-9223372036854775808' AS BIGINT)", "9223372036854775807"
IN_RANGE = f"BETWEEN {INT_MIN} AND {INT_MAX}"
LARGEST_EXPONENT, SMALLEST_EXPONENT = 709.782712893384, -744.0
"""Arguments beyond which `exp` overflows, or underflows."""

ONE_DEGREE = 0.017453292519943295
SMALL, LARGE = 1e-300, LARGEST * ONE_DEGREE * (1 - 2**-50)


def doubles(dialect: Dialect, expr: Call, texts: Sequence[str]) -> list[str]:
    """The arguments as doubles."""
    return [dialect.as_double(text, a) for a, text in zip(expr.arguments, texts, strict=True)]


def no_windows(dialect: Dialect, expr: Call) -> None:
    """Refuse a window function as an argument where the SQL contains a subquery."""
    if has_window(expr.arguments):
        raise dialect.lacks(f"{expr.function.replace('_', ' ')} of a window function")


def wholes(expr: Call, texts: Sequence[str]) -> list[str]:
    """The arguments as 64-bit integers."""
    return [bigint(a, text) for a, text in zip(expr.arguments, texts, strict=True)]


def bigint(expr: Expr, text: str) -> str:
    """An integer in 64 bits."""
    wide = isinstance(expr, Column) and expr.native.upper() == "BIGINT"
    return text if wide else f"CAST({text} AS BIGINT)"


def _arithmetic(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return arithmetic(expr.function, expr.arguments, doubles(dialect, expr, texts))


# Whole numbers

_ADDED = (
    f"CASE WHEN CASE WHEN {{1}} >= 0 THEN {{0}} <= {INT_MAX} - {{1}} ELSE {{0}} >= {INT_MIN} - {{1}} END "
    "THEN {0} + {1} END"
)
_SUBTRACTED = (
    f"CASE WHEN CASE WHEN {{1}} >= 0 THEN {{0}} >= {INT_MIN} + {{1}} ELSE {{0}} <= {INT_MAX} + {{1}} END "
    "THEN {0} - {1} END"
)
_MULTIPLIED = f"CASE WHEN CAST({{0}} AS NUMERIC) * {{1}} {IN_RANGE} THEN {{0}} * {{1}} END"
_WHOLE = {
    "add_whole": ("({0} + {1})", _ADDED),
    "subtract_whole": ("({0} - {1})", _SUBTRACTED),
    "multiply_whole": ("({0} * {1})", _MULTIPLIED),
}


def _whole(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    sizes = [size(argument) for argument in expr.arguments]
    total = multiplied(sizes) if expr.function == "multiply_whole" else added(sizes)
    plain, guarded = _WHOLE[expr.function]
    if total.maximum < WHOLE.maximum:
        return plain.format(*wholes(expr, texts))
    return shared(guarded, expr.arguments, wholes(expr, texts))


def _whole_quotient(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Division or remainder. The smallest integer divided by -1 overflows."""
    sides = wholes(expr, texts)
    plain = f"{{0}} {'/' if expr.function == 'divide_whole' else '%'} NULLIF({{1}}, 0)"
    if size(expr.arguments[0]).maximum < WHOLE.maximum or _is_not_minus_one(expr.arguments[1]):
        return f"({plain})".format(*sides)
    return shared(f"CASE WHEN {{0}} <> {INT_MIN} OR {{1}} <> -1 THEN {plain} END", expr.arguments, sides)


def _is_not_minus_one(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value != -1


def _opposite(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    [text] = wholes(expr, texts)
    within = text if size(expr.arguments[0]).maximum < WHOLE.maximum else f"NULLIF({text}, {INT_MIN})"
    return f"abs({within})" if expr.function == "abs_whole" else f"(-{within})"


# Remainders of doubles

_MANTISSA = "(('x' || encode(float8send({0}), 'hex'))::BIT(64)::BIGINT)"
_BITS = f"({_MANTISSA} & 4503599627370495)"
_EXPONENT = f"CAST(({_MANTISSA} >> 52) & 2047 AS INTEGER)"


def _parts(text: str) -> tuple[str, str]:
    """Mantissa and exponent of a finite double, without its sign, as integers."""
    bits, exponent = _BITS.format(text), _EXPONENT.format(text)
    whole = f"CASE WHEN {exponent} = 0 THEN {bits} ELSE {bits} + 4503599627370496 END"
    return whole, f"GREATEST({exponent}, 1) - 1075"


def _remainder(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Exact remainder of two doubles, with the sign of the dividend.

    Both are scaled to integers by a common power of two. Whole doubles are divided as integers, and a dividend smaller
    than the divisor is the remainder itself.
    """
    no_windows(dialect, expr)
    (m0, e0), (m1, e1) = _parts("x.a"), _parts("x.b")
    low = "LEAST(y.e0, y.e1)"
    scaled = [f"y.m{i} * power(CAST(2 AS NUMERIC), y.e{i} - {low})" for i in (0, 1)]
    exact = f"CAST(mod({scaled[0]}, {scaled[1]}) AS FLOAT8) * power(FLOAT8 '2', {low})"
    taken = (
        f"(SELECT sign(x.a) * {exact} FROM (SELECT {{0}} AS a, {{1}} AS b OFFSET 0) AS x, "
        f"LATERAL (SELECT {m0} AS m0, {e0} AS e0, {m1} AS m1, {e1} AS e1 OFFSET 0) AS y)"
    )
    whole = " AND ".join(f"abs({{{i}}}) < {power(53)} AND {{{i}}} = trunc({{{i}}})" for i in (0, 1))
    template = (
        f"CASE WHEN {{1}} = 0 THEN NULL WHEN {whole} "
        "THEN CAST(CAST({0} AS BIGINT) % CAST({1} AS BIGINT) AS FLOAT8) "
        f"WHEN abs({{0}}) > {real(LARGEST)} OR {{1}} = {NAN} THEN {{0}} - {{0}} + {{1}} - {{1}} "
        f"WHEN abs({{0}}) < abs({{1}}) THEN {{0}} ELSE {taken} END"
    )
    return shared(template, expr.arguments, doubles(dialect, expr, texts))


# Functions of one double

_FINITE = f"abs({{0}}) <= {real(LARGEST)}"
_TEMPLATES = {
    "sqrt": "CASE WHEN {0} >= 0 THEN sqrt({0}) END",
    "ln": "CASE WHEN {0} > 0 THEN ln({0}) END",
    "log10": "CASE WHEN {0} > 0 THEN log({0}) END",
    "log2": f"CASE WHEN {{0}} > 0 THEN ln({{0}}) / {real(math.log(2))} END",
    "exp": f"CASE WHEN {{0}} = {NAN} THEN {{0}} WHEN {{0}} > {real(LARGEST_EXPONENT)} THEN {INFINITE} "
    f"WHEN {{0}} < {real(SMALLEST_EXPONENT)} THEN {ZERO} ELSE exp({{0}}) END",
    **{
        name: f"CASE WHEN {_FINITE} THEN {name}({{0}}) WHEN {{0}} IS NOT NULL THEN {NAN} END"
        for name in ("sin", "cos", "tan")
    },
    **{name: f"CASE WHEN {{0}} BETWEEN -1 AND 1 THEN {name}({{0}}) END" for name in ("asin", "acos")},
    "atan": "atan({0})",
    "cbrt": "cbrt({0})",
    "radians": f"CASE WHEN abs({{0}}) <= {real(SMALL)} THEN {ZERO} ELSE radians({{0}}) END",
    "degrees": f"CASE WHEN abs({{0}}) > {real(LARGE)} THEN sign({{0}}) * {INFINITE} ELSE degrees({{0}}) END",
    **{name: f"{name}({{0}})" for name in ("floor", "ceil", "trunc", "abs")},
    "negate": "(-{0})",
    "sign": "CASE WHEN {0} > 0 THEN 1 WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0 END",
    "is_nan": f"({{0}} = {NAN})",
    "is_infinite": f"(abs({{0}}) = {INFINITE})",
    "is_finite": f"({_FINITE})",
    "is_there": f"COALESCE({{0}} <> {NAN}, FALSE)",
    "one_spelling": f"({{0}} + {ZERO})",
}


def _of_double(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return shared(_TEMPLATES[expr.function], expr.arguments, doubles(dialect, expr, texts))


def _atan2(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return "atan2({}, {})".format(*doubles(dialect, expr, texts))


def _power(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Power, with the special cases of IEEE 754, and without overflow or underflow errors.

    A result near the limits of doubles is computed as the guarded square of its root. Special cases: x^0 and 1^y are 1;
    a negative base requires a whole exponent; zero and infinity give zero or infinity, with the sign of the base.
    """
    no_windows(dialect, expr)
    one, grows, room = real(1.0), "(abs({0}) > 1) = ({1} > 0)", "abs({1} * ln(abs({0})))"
    odd_number = f"{{1}} = trunc({{1}}) AND {{1}} <> 2 * trunc({{1}} * {HALF})"
    odd = f"CASE WHEN abs({{1}}) BETWEEN 1 AND {power(53)} THEN {odd_number} ELSE FALSE END"
    sign = f"CASE WHEN {{0}} < 0 AND {odd} THEN {real(-1.0)} ELSE {one} END"
    zero_sign = f"CASE WHEN CAST({{0}} AS TEXT) = '-0' AND {odd} THEN {real(-1.0)} ELSE {one} END"
    squared = arithmetic("multiply", (expr, expr), ("s.r", "s.r"))
    root = f"(SELECT {squared} FROM (SELECT power(abs({{0}}), {{1}} * {HALF}) AS r OFFSET 0) AS s)"
    template = (
        f"CASE WHEN {{0}} IS NULL OR {{1}} IS NULL THEN NULL WHEN {{1}} = 0 OR {{0}} = 1 THEN {one} "
        f"WHEN {{0}} = {NAN} OR {{1}} = {NAN} THEN {NAN} "
        f"WHEN {{0}} = 0 THEN CASE WHEN {{1}} < 0 THEN {zero_sign} * {INFINITE} ELSE {ZERO} END "
        f"WHEN abs({{0}}) = {INFINITE} THEN CASE WHEN {{1}} > 0 THEN {sign} * {INFINITE} ELSE {ZERO} END "
        f"WHEN abs({{1}}) > {real(1e20)} THEN CASE WHEN abs({{0}}) = 1 THEN {one} WHEN {grows} THEN {INFINITE} "
        f"ELSE {ZERO} END WHEN {{0}} < 0 AND {{1}} <> trunc({{1}}) THEN {NAN} WHEN abs({{0}}) = 1 THEN {sign} "
        f"WHEN abs({{1}}) < {real(1e-30)} THEN {one} WHEN {room} < 700 THEN power({{0}}, {{1}}) "
        f"WHEN {room} < 744 THEN {sign} * {root} "
        f"WHEN {grows} THEN {sign} * {INFINITE} ELSE {ZERO} END"
    )
    return shared(template, expr.arguments, doubles(dialect, expr, texts))


def _clip(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Clamp with functions that return NULL for NULL."""
    if expr.function == "clip_whole":
        return "int8smaller(int8larger({}, {}), {})".format(*wholes(expr, texts))
    value, low, high = doubles(dialect, expr, texts)
    return f"float8smaller(float8larger(NULLIF({value}, {NAN}), {low}), {high})"


def _bits(symbol: str) -> Writer:
    def write(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
        return f"({f' {symbol} '.join(wholes(expr, texts))})"

    return write


def _indicator(_dialect: Dialect, _expr: Call, texts: Sequence[str]) -> str:
    return f"CAST({texts[0]} AS INTEGER)"


NUMBERS: Mapping[str, Writer] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), _arithmetic),
    **dict.fromkeys(_WHOLE, _whole),
    **dict.fromkeys(("divide_whole", "remainder_whole"), _whole_quotient),
    **dict.fromkeys(("abs_whole", "negate_whole"), _opposite),
    "remainder": _remainder,
    **dict.fromkeys(_TEMPLATES, _of_double),
    "atan2": _atan2,
    "power": _power,
    **dict.fromkeys(("clip", "clip_whole"), _clip),
    "bit_and": _bits("&"),
    "bit_or": _bits("|"),
    "bit_xor": _bits("#"),
    "indicator": _indicator,
}


FARTHEST = 300


def _places(expr: Expr) -> int | None:
    """A constant number of decimal places, clamped; None if it is not a constant."""
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        return max(-FARTHEST, min(expr.value, FARTHEST))
    return None


def _cut(text: str, function: str) -> str:
    """A number rounded to a whole one, halves away from zero, or truncated."""
    return f"trunc({text})" if function == "trunc_places" else half_away(text)


def _at_places(value: str, expr: Expr, places: int, function: str) -> str:
    """Round to a constant number of decimal places: scale by a power of ten, round, scale back.

    If an intermediate result is not finite, the value is returned unchanged.
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
    finite = f"CASE WHEN abs(s.z) <= {real(LARGEST)} THEN s.z ELSE v.a0 END"
    return chained((value, ten), (whole,), f"(SELECT {finite} FROM (SELECT {back} AS z OFFSET 0) AS s)")


def _round(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
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


def _fixed(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    precision, scale = (argument.value for argument in expr.arguments[1:] if isinstance(argument, Literal))
    rounded = _round(dialect, Call("round", (expr.arguments[0], expr.arguments[2]), Type.FLOAT), (texts[0], texts[2]))
    limit = real(10.0 ** (int(str(precision)) - int(str(scale))))
    return shared(f"CASE WHEN abs({{0}}) < {limit} THEN {{0}} END", (expr,), (rounded,))


def _width_bucket(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """WIDTH_BUCKET with constant bounds and a constant number of bins."""
    no_windows(dialect, expr)
    value, low, high, _ = doubles(dialect, expr, texts)
    bounds = [float(str(a.value)) for a in expr.arguments[1:3] if isinstance(a, Literal)]
    bins, wide = texts[3], Literal(bounds[1] - bounds[0], Type.FLOAT)
    if not math.isfinite(bounds[1] - bounds[0]):
        raise dialect.lacks("WIDTH_BUCKET with bounds whose difference overflows")
    above = Call("subtract", (expr.arguments[0], expr.arguments[1]), Type.FLOAT)
    share = arithmetic("divide", (above, wide), (f"({{0}} - {low})", real(bounds[1] - bounds[0])))
    bin_index = arithmetic(
        "multiply", (Call("divide", (above, wide), Type.FLOAT), expr.arguments[3]), (share, f"CAST({bins} AS FLOAT8)")
    )
    inside = f"CAST(LEAST(floor({bin_index}), {bins} - 1) AS BIGINT) + 1"
    ends = f"WHEN {{0}} < {low} THEN 0 WHEN {{0}} >= {high} THEN {bins} + 1"
    template = f"CASE WHEN {{0}} IS NULL OR {{0}} = {NAN} THEN NULL {ends} ELSE {inside} END"
    return shared(template, expr.arguments[:1], (value,))


ROUNDING: Mapping[str, Writer] = {
    **dict.fromkeys(("round", "trunc_places"), _round),
    "fixed": _fixed,
    "width_bucket": _width_bucket,
}
