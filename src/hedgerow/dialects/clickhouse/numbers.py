"""Arithmetic, comparisons and logic.

Integers are computed in 128 bits and become NULL outside 64 bits; doubles raise no errors. NaN equals NaN and is
greater than every number, as in DuckDB.
"""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse.spelling import (
    Writer,
    bits,
    can_be_nan,
    double,
    doubles,
    let,
    of_doubles,
    one_spelling,
    template,
    whole,
    wholes,
)
from hedgerow.expressions.functions.numbers import case_text
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

ORDERS = {"less": "<", "less_or_equal": "<=", "greater": ">", "greater_or_equal": ">="}
EQUALITIES = {
    "equal": "=",
    "unequal": "<>",
    "is_distinct": "IS DISTINCT FROM",
    "is_not_distinct": "IS NOT DISTINCT FROM",
}


def _of_doubles(expr: Call) -> bool:
    return any(argument.type is Type.FLOAT for argument in expr.arguments)


def _sides(expr: Call, texts: Sequence[str]) -> list[str]:
    """Both sides; a number compared with a double is converted to one."""
    if not _of_doubles(expr):
        return list(texts)
    pairs = zip(texts, expr.arguments, strict=True)
    return [text if argument.type in {Type.FLOAT, Type.NULL} else double(text, argument) for text, argument in pairs]


def _ordered(symbol: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        left, right = expr.arguments
        texts = _sides(expr, texts)
        if not _of_doubles(expr) or not (can_be_nan(left) or can_be_nan(right)):
            return f"({texts[0]} {symbol} {texts[1]})"
        if symbol in {"<=", ">="}:
            return f"(NOT {_less(right, left, texts[::-1], symbol[0])})"
        return _less(left, right, texts, symbol)

    return write


def _less(left: Expr, right: Expr, texts: Sequence[str], symbol: str) -> str:
    """`<` and `>`, with NaN greater than every number."""
    low, high = (0, 1) if symbol == "<" else (1, 0)
    sides = (left, right)
    plain = f"({texts[0]} {symbol} {texts[1]})"
    if not can_be_nan(sides[high]):
        return plain
    other = f" AND NOT isNaN({texts[low]})" if can_be_nan(sides[low]) else f" AND {texts[low]} IS NOT NULL"
    if _is_constant(sides[low]):
        return f"({plain} OR isNaN({texts[high]}))"
    return f"({plain} OR (isNaN({texts[high]}){other}))"


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is not None


def _equal(symbol: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        finite = any(_is_constant(argument) for argument in expr.arguments)
        if not _of_doubles(expr) or (finite and symbol in {"=", "<>"}):
            return f"({f' {symbol} '.join(_sides(expr, texts))})"
        sides = [_comparable(text, argument) for text, argument in zip(texts, expr.arguments, strict=True)]
        return f"({sides[0]} {symbol} {sides[1]})"

    return write


def _comparable(text: str, expr: Expr) -> str:
    return text if expr.type is Type.NULL else bits(double(text, expr))


def _nullif(expr: Call, texts: Sequence[str]) -> str:
    same = _equal("=")(Call("equal", expr.arguments, Type.BOOLEAN), texts)
    return f"CASE WHEN {same} THEN NULL ELSE {texts[0]} END"


def _in(expr: Call, texts: Sequence[str]) -> str:
    """IN over a list. If the list contains NULL, a value that is not in it gives NULL."""
    pairs = list(zip(expr.arguments[1:], texts[1:], strict=True))
    choices = [
        (argument, text) for argument, text in pairs if not (isinstance(argument, Literal) and argument.value is None)
    ]
    if not choices:
        return "CAST(NULL AS Nullable(Bool))"
    if all(isinstance(argument, Literal) for argument, _ in choices):
        value = f"({double(texts[0], expr.arguments[0])} + 0e0)" if expr.arguments[0].type is Type.FLOAT else texts[0]
        is_member = f"({value} IN ({', '.join(_unsigned(argument, text) for argument, text in choices)}))"
    else:
        equal = _equal("=")
        sides = [
            equal(Call("equal", (expr.arguments[0], argument), Type.BOOLEAN), (texts[0], text))
            for argument, text in choices
        ]
        is_member = f"({' OR '.join(map(str, sides))})"
    return is_member if len(choices) == len(pairs) else f"CASE WHEN {is_member} THEN TRUE ELSE NULL END"


def _unsigned(expr: Expr, text: str) -> str:
    return "0e0" if isinstance(expr, Literal) and expr.type is Type.FLOAT and expr.value == 0 else text


def _least(expr: Call, texts: Sequence[str]) -> str:
    """LEAST ignores NULL, and returns NaN only if there is no number."""
    if len(texts) == 1:
        return texts[0]
    if expr.type is not Type.FLOAT:
        return f"least({', '.join(texts)})"
    numbers = ", ".join(f"if(isNaN({text}), NULL, {text})" for text in texts)
    return f"coalesce(least({numbers}), {', '.join(texts)})"


def _greatest(expr: Call, texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    maximum = f"greatest({', '.join(texts)})"
    if expr.type is not Type.FLOAT:
        return maximum
    return f"if({' OR '.join(f'isNaN({text})' for text in texts)}, nan, {maximum})"


COMPARISONS: dict[str, Writer] = {
    **{name: _ordered(symbol) for name, symbol in ORDERS.items()},
    **{name: _equal(symbol) for name, symbol in EQUALITIES.items()},
    "same_text": template("({0} = {1})"),
    "case": lambda _, texts: case_text(texts),
    "coalesce": lambda _, texts: f"COALESCE({', '.join(texts)})",
    "nullif": _nullif,
    "in": _in,
    "least": _least,
    "greatest": _greatest,
    "and": lambda _, texts: f"({' AND '.join(texts)})",
    "or": lambda _, texts: f"({' OR '.join(texts)})",
    "not": template("(NOT {0})"),
    "is_null": template("({0} IS NULL)"),
    "indicator": template("CAST({0} AS Int32)"),
}


LOWEST = "toInt64('-9223372036854775808')"
FARTHEST = 300
"""Maximum number of decimal places on either side of the point."""

INEXACT_POWERS = {23: "1.0000000000000001e23", 210: "1.0000000000000001e210"}
"""Powers of ten that the C library, and so DuckDB, rounds up by one unit in the last place."""


def _whole(symbol: str) -> Writer:
    return lambda _, texts: whole(f" {symbol} ".join(wholes(texts)))


def _of_whole(name: str) -> Writer:
    """Division; NULL if the divisor is zero. The value beneath a NULL must not raise an error, hence `OrZero`."""
    return lambda _, texts: whole("{}({}, nullIf({}, 0))".format(name, *wholes(texts)))


def _without_sign(name: str) -> Writer:
    """Negation or absolute value; NULL for the smallest integer, which overflows."""
    return lambda _, texts: whole(f"{name}(toInt128({texts[0]}))")


def half_away(text: str) -> str:
    """Round a double to a whole number, halves away from zero. The difference to the truncated number is exact."""
    return f"(trunc({text}) + if(abs({text} - trunc({text})) >= 0.5e0, sign({text}), 0))"


def _power_of_ten(places: int) -> str:
    return INEXACT_POWERS.get(places, f"1e{places}")


def _places(expr: Call, texts: Sequence[str]) -> tuple[str, str]:
    """Return two powers of ten to multiply and to divide by; one of them is 1."""
    given = expr.arguments[1] if len(texts) > 1 else Literal(0, Type.INTEGER)
    if isinstance(given, Literal) and isinstance(given.value, int):
        places = max(-FARTHEST, min(given.value, FARTHEST))
        return _power_of_ten(max(places, 0)), _power_of_ten(max(-places, 0))
    held = f"greatest(least(toInt64({texts[1]}), {FARTHEST}), -{FARTHEST})"
    return _read_power(f"greatest({held}, 0)"), _read_power(f"greatest(-{held}, 0)")


def _read_power(places: str) -> str:
    known = ", ".join(f"n = {at}, {power}" for at, power in INEXACT_POWERS.items())
    return let(f"multiIf({known}, toFloat64OrZero(concat('1e', toString(n))))", n=places)


def _round(expr: Call, texts: Sequence[str]) -> str:
    """Scale, round and scale back, as DuckDB does; a number too large to scale is returned unchanged."""
    return _to_places(expr, texts, half_away("s"))


def _trunc(expr: Call, texts: Sequence[str]) -> str:
    return _to_places(expr, texts, "trunc(s)")


def _to_places(expr: Call, texts: Sequence[str], cut: str) -> str:
    up, down = _places(expr, texts)
    scaled = let(f"if(u > 1, {cut} / u, {cut} * d)", s="if(u > 1, x * u, x / d)", u="u", d="d")
    held = let("if(isFinite(r), r, x)", r=scaled, x="x")
    value = let(held, x=double(texts[0], expr.arguments[0]), u=up, d=down)
    if len(texts) == 1 or isinstance(expr.arguments[1], Literal):
        return value
    return f"if(isNull({texts[1]}), NULL, {value})"


def _fixed(expr: Call, texts: Sequence[str]) -> str | None:
    precision, scale = (argument.value if isinstance(argument, Literal) else None for argument in expr.arguments[1:])
    if not isinstance(precision, int) or not isinstance(scale, int):
        return None
    rounded = _round(Call("round", (expr.arguments[0], expr.arguments[2]), Type.FLOAT), (texts[0], texts[2]))
    return let(f"if(abs(r) < {_power_of_ten(precision - scale)}, r, NULL)", r=rounded)


def _width_bucket(expr: Call, texts: Sequence[str]) -> str:
    low, high = (double(texts[at], expr.arguments[at]) for at in (1, 2))
    bin_index = f"least(floor((x - {low}) / ({high} - {low}) * {texts[3]}), toFloat64({texts[3]}) - 1)"
    inside = f"accurateCastOrNull({bin_index}, 'Int64') + 1"
    body = f"multiIf(isNull(x) OR isNaN(x), NULL, x < {low}, 0, x >= {high}, toInt64({texts[3]}) + 1, {inside})"
    return let(body, x=double(texts[0], expr.arguments[0]))


def _clip_whole(_: Call, texts: Sequence[str]) -> str:
    value = f"toInt64({texts[0]})"
    return f"multiIf({value} < {texts[1]}, {texts[1]}, {value} > {texts[2]}, {texts[2]}, {value})"


def _power(expr: Call, texts: Sequence[str]) -> str:
    """Power. ClickHouse is wrong where the result is far out of range; its logarithm decides there."""
    odd = "abs(y) < 9007199254740992 AND y = trunc(y) AND y / 2 <> trunc(y / 2)"
    sign = f"if(reinterpretAsUInt64(x) >= {2**63} AND {odd}, -1, 1)"
    real = "x >= 0 OR y = trunc(y)"
    far = f"l > 1030 AND ({real}), {sign} * inf, l < -1100 AND ({real}), 0e0"
    tiny = f"abs(x) < 2.3e-308 AND l < 1100 AND ({real}), {sign} * exp2(l)"
    body = let(
        f"multiIf({far}, {tiny}, pow(x, y))",
        l="y * log2(abs(x))",
        x="x",
        y="y",
    )
    return let(body, **dict(zip("xy", doubles(expr, texts), strict=True)))


def _remainder(expr: Call, texts: Sequence[str]) -> str:
    """Exact remainder, as in the C library: of both numbers as integer multiples of a power of two.

    a * 2^d is reduced in steps of 2^64. Each remainder is below 2^53, so the next product has at most 117 bits.
    """
    steps = f"arrayFold((r, i) -> moduloOrZero(r * toInt128('{2**64}'), b), range(toUInt64(intDiv(d, 64))), {{}})"
    first = "moduloOrZero(bitShiftLeft(a, d % 64), b)"
    above = let(steps.format(first), a="a", b="b", d="greatest(f - g, 0)")
    below = "if(g - f > 64, a, moduloOrZero(a, bitShiftLeft(b, least(greatest(g - f, 0), 64))))"
    whole = f"if(f >= g, {above}, {below})"
    power = "reinterpretAsFloat64(toUInt64(bitShiftLeft(toUInt64({} + 1023), 52)))"
    scaled = let(
        f"toFloat64(r) * {power.format('greatest(e, -1022)')} * {power.format('least(e + 1022, 0)')}", r="r", e="e"
    )
    size = let(scaled, r=whole, e="least(f, g)")
    parts = {"a": _mantissa("x"), "f": _binary_power("x"), "b": _mantissa("y"), "g": _binary_power("y")}
    exact = let(f"if(x < 0, -1, 1) * {size}", x="x", **parts)
    body = f"multiIf(y = 0, NULL, isNaN(x) OR isNaN(y) OR isInfinite(x), nan, isInfinite(y), x, {exact})"
    named = dict(zip("xy", doubles(expr, texts), strict=True))
    return let(f"if(isNull(x) OR isNull(y), NULL, {body})", **named)


def _bits_of_power(name: str) -> str:
    return f"toInt64(bitAnd(bitShiftRight(reinterpretAsUInt64(assumeNotNull({name})), 52), 2047))"


def _mantissa(name: str) -> str:
    """Mantissa of a double as an integer below 2^53."""
    fraction = f"toInt128(bitAnd(reinterpretAsUInt64(assumeNotNull({name})), {2**52 - 1}))"
    return f"({fraction} + if({_bits_of_power(name)} = 0, 0, {2**52}))"


def _binary_power(name: str) -> str:
    """Exponent of the power of two that belongs to `_mantissa`."""
    return f"(greatest({_bits_of_power(name)}, 1) - 1075)"


WRITERS: dict[str, Writer] = {
    **{f"{name}_whole": _whole(symbol) for name, symbol in (("add", "+"), ("subtract", "-"), ("multiply", "*"))},
    **{
        name: of_doubles(f"({{0}} {symbol} {{1}})")
        for name, symbol in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    },
    "divide": of_doubles("({0} / nullIf({1}, 0e0))"),
    "divide_whole": _of_whole("intDivOrZero"),
    "remainder_whole": template(
        "if({0} = " + LOWEST + " AND {1} = -1, NULL, moduloOrZero(toInt64({0}), nullIf(toInt64({1}), 0)))"
    ),
    "remainder": _remainder,
    "negate": of_doubles("(-{0})"),
    "negate_whole": _without_sign("-"),
    "abs": of_doubles("abs({0})"),
    "abs_whole": _without_sign("abs"),
    "sign": of_doubles("multiIf({0} > 0 OR isNaN({0}), 1, {0} < 0, -1, {0} = 0, 0, NULL)"),
    "sqrt": of_doubles("if({0} < 0, NULL, sqrt({0}))"),
    "ln": of_doubles("if({0} <= 0, NULL, log({0}))"),
    "log10": of_doubles("if({0} <= 0, NULL, log10({0}))"),
    "log2": of_doubles("if({0} <= 0, NULL, log2({0}))"),
    **{name: of_doubles(f"if({{0}} >= -1 AND {{0}} <= 1, {name}({{0}}), NULL)") for name in ("asin", "acos")},
    **{
        name: of_doubles(f"{name}({{0}})")
        for name in ("sin", "cos", "tan", "exp", "atan", "cbrt", "radians", "degrees", "floor", "ceil", "trunc")
    },
    "atan2": of_doubles("atan2({0}, {1})"),
    "power": _power,
    "round": _round,
    "trunc_places": _trunc,
    "fixed": _fixed,
    "width_bucket": _width_bucket,
    "clip": lambda expr, texts: "multiIf({0} < {1}, {1}, {0} > {2}, {2}, isNaN({0}), NULL, {0})".format(
        *doubles(expr, texts)
    ),
    "clip_whole": _clip_whole,
    "is_nan": of_doubles("isNaN({0})"),
    "is_infinite": of_doubles("isInfinite({0})"),
    "is_finite": of_doubles("isFinite({0})"),
    "is_there": of_doubles("ifNull(NOT isNaN({0}), FALSE)"),
    "one_spelling": lambda _, texts: one_spelling(texts[0]),
    "bit_and": template("bitAnd(toInt64({0}), toInt64({1}))"),
    "bit_or": template("bitOr(toInt64({0}), toInt64({1}))"),
    "bit_xor": template("bitXor(toInt64({0}), toInt64({1}))"),
}
