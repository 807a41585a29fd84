"""Arithmetic and casts. Text is not cast to other types: engines parse it differently.

Integers become NULL outside 64 bits. Doubles that overflow become infinite, or NULL on engines without infinity: if an
overflow would be an error, it is tested beforehand, unless the types rule it out (see `reach`).
"""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.reach import WHOLE, reach
from hedgerow.dialects.untested_base.fragments import SIGNS, Fragments
from hedgerow.dialects.untested_base.functions import Writer, compared, may_be_nan
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
ZERO = Literal(0.0, Type.FLOAT)


def number(dialect: Fragments, expr: Expr, text: str) -> str:
    """A value as a double."""
    if isinstance(expr, Literal) and isinstance(expr.value, float):
        return text
    return text if isinstance(expr, Call) and expr.type is Type.FLOAT else dialect.as_double(text, expr)


def fits(text: str) -> str:
    """Condition that an exact number fits into 64 bits."""
    return f"{text} BETWEEN {INT_MIN} AND {INT_MAX}"


def _doubles(dialect: Fragments, expr: Call, texts: Sequence[str]) -> list[str]:
    return [number(dialect, a, text) for a, text in zip(expr.arguments, texts, strict=True)]


def _arithmetic(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    left, right = _doubles(dialect, expr, texts)
    plain = f"({left} {SIGNS[expr.function]} {right})"
    return plain if reach(expr) < float("inf") else dialect.unbounded(expr.function, left, right, plain)


def _divide(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    left, right = _doubles(dialect, expr, texts)
    if expr.arguments[1].type is Type.INTEGER:
        return f"({left} / NULLIF({right}, {dialect.real(0.0)}))"
    return dialect.unbounded("divide", left, right, f"({left} / NULLIF({right}, {dialect.real(0.0)}))")


def _whole(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return dialect.whole_arithmetic(expr.function.removesuffix("_whole"), texts, bounded=reach(expr) < WHOLE)


def _by_whole(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    """Division or remainder of integers; the smallest integer divided by -1 overflows."""
    divisor = expr.arguments[1]
    plain = dialect.whole_quotient(expr.function, texts[0], texts[1])
    if isinstance(divisor, Literal) and divisor.value != -1:
        return plain
    negated = dialect.whole_arithmetic("negate", texts[:1], bounded=False)
    turned = negated if expr.function == "divide_whole" else f"0 * {negated}"
    return f"CASE WHEN {texts[1]} = -1 THEN {turned} ELSE {plain} END"


def _abs_whole(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    negated = dialect.whole_arithmetic("negate", texts, bounded=reach(expr) < WHOLE)
    return f"CASE WHEN {texts[0]} < 0 THEN {negated} ELSE {texts[0]} END"


def _negate(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return f"(-{_doubles(dialect, expr, texts)[0]})"


def _function(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    return dialect.of_double[expr.function].format(_doubles(dialect, expr, texts)[0])


def _of_positive(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    """A square root or logarithm; NULL outside its domain."""
    [text] = _doubles(dialect, expr, texts)
    order = "greater_or_equal" if expr.function == "sqrt" else "greater"
    inside = compared(dialect, order, (_as_float(expr.arguments[0]), ZERO), (text, dialect.real(0.0)))
    return dialect.of_double[expr.function].format(f"CASE WHEN {inside} THEN {text} END")


def _as_float(expr: Expr) -> Expr:
    return expr if expr.type is Type.FLOAT else Call("cast_float", (expr,), Type.FLOAT)


def _sign(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    [text], value = _doubles(dialect, expr, texts), _as_float(expr.arguments[0])
    above = compared(dialect, "greater", (value, ZERO), (text, dialect.real(0.0)))
    return f"CASE WHEN {above} THEN 1 WHEN {text} < 0 THEN -1 WHEN {text} = 0 THEN 0 END"


def _clip(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    text = texts[0] if expr.function == "clip_whole" else number(dialect, expr.arguments[0], texts[0])
    low, high = texts[1:]
    missing = f"WHEN {dialect.is_nan(text)} THEN NULL " if may_be_nan(expr.arguments[0]) and dialect.has_nan else ""
    return f"CASE {missing}WHEN {text} < {low} THEN {low} WHEN {text} > {high} THEN {high} ELSE {text} END"


def _one_spelling(dialect: Fragments, _expr: Call, texts: Sequence[str]) -> str:
    return dialect.one_zero(texts[0])


def _is_there(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    [text] = _doubles(dialect, expr, texts)
    usual = f" AND NOT {dialect.is_nan(text)}" if dialect.has_nan else ""
    return f"({text} IS NOT NULL{usual})"


NUMBERS: Mapping[str, Writer] = {
    **dict.fromkeys(SIGNS, _arithmetic),
    **dict.fromkeys(("add_whole", "subtract_whole", "multiply_whole", "negate_whole"), _whole),
    **dict.fromkeys(("divide_whole", "remainder_whole"), _by_whole),
    **dict.fromkeys(("abs", "floor", "ceil"), _function),
    **dict.fromkeys(("sqrt", "ln", "log10"), _of_positive),
    **dict.fromkeys(("clip", "clip_whole"), _clip),
    "divide": _divide,
    "negate": _negate,
    "abs_whole": _abs_whole,
    "sign": _sign,
    "one_spelling": _one_spelling,
    "is_there": _is_there,
}


LOW, HIGH = -(2.0**63), 2.0**63


def rounded(text: str) -> str:
    """A double rounded to a whole number, halves to even. The fraction above the floor is exact."""
    floor, rest = f"FLOOR({text})", f"({text} - FLOOR({text}))"
    up = f"({floor} + 1)"
    even = f"{floor} / 2 = FLOOR({floor} / 2)"
    return f"CASE WHEN {rest} < 0.5 THEN {floor} WHEN {rest} > 0.5 THEN {up} WHEN {even} THEN {floor} ELSE {up} END"


def _float_to_whole(dialect: Fragments, call: Call, text: str) -> str:
    value = number(dialect, call.arguments[0], text)
    inside = f"{value} >= {dialect.real(LOW)} AND {value} < {dialect.real(HIGH)}"
    return f"CASE WHEN {inside} THEN CAST({rounded(value)} AS {dialect.whole}) END"


def _decimal_to_whole(dialect: Fragments, _call: Call, text: str) -> str:
    return dialect.rounded_decimal.format(text)


def _whole_to_whole(dialect: Fragments, _call: Call, text: str) -> str:
    return dialect.narrowed(text)


def _to_float(dialect: Fragments, call: Call, text: str) -> str:
    return number(dialect, call.arguments[0], text)


def _boolean_to(one: str, zero: str) -> "Cast":
    def write(dialect: Fragments, _call: Call, text: str) -> str:
        held = dialect.condition(text)
        return f"CASE WHEN {held} THEN {one} WHEN NOT {held} THEN {zero} END"

    return write


def _boolean_to_float(dialect: Fragments, call: Call, text: str) -> str:
    return _boolean_to(dialect.real(1.0), dialect.real(0.0))(dialect, call, text)


def _whole_to_boolean(dialect: Fragments, _call: Call, text: str) -> str:
    return dialect.predicate(f"({text} <> 0)")


def _canonical(dialect: Fragments, call: Call, text: str) -> str:
    return dialect.canonical(text, call.arguments[0].type)


def _unchanged(_dialect: Fragments, _call: Call, text: str) -> str:
    return text


def _to_midnight(dialect: Fragments, _call: Call, text: str) -> str:
    return dialect.midnight.format(text)


def _to_date(_dialect: Fragments, _call: Call, text: str) -> str:
    return f"CAST({text} AS DATE)"


def _text_to_text(dialect: Fragments, _call: Call, text: str) -> str:
    return dialect.letters(text)


Cast = Callable[[Fragments, Call, str], str]

CASTS: Mapping[tuple[Type, Type], Cast] = {
    (Type.FLOAT, Type.INTEGER): _float_to_whole,
    (Type.DECIMAL, Type.INTEGER): _decimal_to_whole,
    (Type.INTEGER, Type.INTEGER): _whole_to_whole,
    (Type.BOOLEAN, Type.INTEGER): _boolean_to("1", "0"),
    (Type.FLOAT, Type.FLOAT): _to_float,
    (Type.DECIMAL, Type.FLOAT): _to_float,
    (Type.INTEGER, Type.FLOAT): _to_float,
    (Type.BOOLEAN, Type.FLOAT): _boolean_to_float,
    (Type.INTEGER, Type.BOOLEAN): _whole_to_boolean,
    (Type.BOOLEAN, Type.BOOLEAN): _unchanged,
    (Type.TEXT, Type.TEXT): _text_to_text,
    (Type.INTEGER, Type.TEXT): _canonical,
    (Type.DATE, Type.TEXT): _canonical,
    (Type.BOOLEAN, Type.TEXT): _boolean_to("'true'", "'false'"),
    (Type.DATE, Type.DATE): _unchanged,
    (Type.TIMESTAMP, Type.DATE): _to_date,
    (Type.DATE, Type.TIMESTAMP): _to_midnight,
    (Type.TIMESTAMP, Type.TIMESTAMP): _unchanged,
    (Type.TIME, Type.TIME): _unchanged,
}


def _cast(dialect: Fragments, expr: Call, texts: Sequence[str]) -> str:
    source, target = expr.arguments[0].type, expr.type
    if source is Type.NULL:
        return f"CAST(NULL AS {dialect.types[target]})"
    if (source, target) not in CASTS:
        raise dialect.lacks(f"a cast from {source.value} to {target.value}")
    return CASTS[source, target](dialect, expr, texts[0])


TARGETS = (Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.TEXT, Type.DATE, Type.TIME, Type.TIMESTAMP)
CONVERSIONS: Mapping[str, Writer] = {
    f"{prefix}_{kind.value}": _cast for prefix in ("cast", "imposed") for kind in TARGETS
}
