"""Arithmetic, comparison, rounding and logic."""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Template
from hedgerow.dialects.spark.spelling import INFINITY, NAN, Typed, bigint, cut, double, floored, raised, real, rounded
from hedgerow.expressions.functions.numbers import case_text
from hedgerow.expressions.nodes import Call, Expr, Literal

D0, D1 = double("{0}"), double("{1}")
W0, W1 = bigint("{0}"), bigint("{1}")
PRESENT = f"({D0} IS NOT NULL AND NOT isnan({D0}))"
POSITIVE = f"CASE WHEN {D0} > 0D THEN {D0} END"
WITHIN_ONE = f"CASE WHEN {D0} BETWEEN -1D AND 1D THEN {D0} END"


def _extreme(name: str) -> Template:
    """LEAST and GREATEST ignore NULL, as in DuckDB, but require two arguments."""
    return lambda texts: f"{name}({', '.join(texts)})" if len(texts) > 1 else texts[0]


def _infix(symbol: str) -> Template:
    return lambda texts: "(" + f" {symbol} ".join(texts) + ")"


COMPARISONS = {
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
}
LIBRARY = ("exp", "sin", "cos", "tan", "atan", "cbrt", "radians", "degrees", "abs")

NUMBERS: Mapping[str, Template] = {
    "add": f"({D0} + {D1})",
    "subtract": f"({D0} - {D1})",
    "multiply": f"({D0} * {D1})",
    "divide": f"({D0} / NULLIF({D1}, 0D))",
    "remainder": f"({D0} % NULLIF({D1}, 0D))",
    "negate": f"(-{D0})",
    "add_whole": f"try_add({W0}, {W1})",
    "subtract_whole": f"try_subtract({W0}, {W1})",
    "multiply_whole": f"try_multiply({W0}, {W1})",
    # Only the smallest integer divided by -1 overflows.
    "divide_whole": f"CASE WHEN {W1} = -1L THEN try_subtract(0L, {W0}) ELSE {W0} DIV NULLIF(NULLIF({W1}, 0L), -1L) END",
    "remainder_whole": f"CASE WHEN {W1} = -1L THEN try_subtract(0L, {W0}) * 0L ELSE {W0} % NULLIF({W1}, 0L) END",
    "negate_whole": f"try_subtract(0L, {W0})",
    "abs_whole": f"CASE WHEN {W0} < 0L THEN try_subtract(0L, {W0}) ELSE {W0} END",
    **{name: f"({{0}} {symbol} {{1}})" for name, symbol in COMPARISONS.items()},
    "is_distinct": "(NOT ({0} <=> {1}))",
    "is_not_distinct": "({0} <=> {1})",
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": "(NOT {0})",
    "is_there": PRESENT,
    "is_null": "({0} IS NULL)",
    "case": case_text,
    "coalesce": lambda texts: f"COALESCE({', '.join(texts)})",
    "nullif": "NULLIF({0}, {1})",
    "least": _extreme("LEAST"),
    "greatest": _extreme("GREATEST"),
    "in": lambda texts: f"({texts[0]} IN ({', '.join(texts[1:])}))",
    "clip": f"CASE WHEN {PRESENT} THEN LEAST(GREATEST({D0}, {D1}), {double('{2}')}) END",
    "clip_whole": f"CASE WHEN {{0}} IS NOT NULL THEN LEAST(GREATEST({W0}, {W1}), {bigint('{2}')}) END",
    "indicator": "CAST({0} AS INT)",
    "same_text": "({0} = {1})",
    "one_spelling": f"CASE WHEN isnan({{0}}) THEN {NAN} ELSE {{0}} + 0D END",
    "sqrt": f"sqrt(CASE WHEN {D0} >= 0D THEN {D0} END)",
    **{name: f"{name}({POSITIVE})" for name in ("ln", "log10", "log2")},
    **{name: f"{name}({WITHIN_ONE})" for name in ("asin", "acos")},
    **{name: f"{name}({D0})" for name in LIBRARY},
    "floor": floored(D0),
    "ceil": raised(D0),
    "trunc": cut(D0),
    "sign": f"CASE WHEN {D0} > 0D THEN 1 WHEN {D0} < 0D THEN -1 WHEN {D0} = 0D THEN 0 END",
    # 1 to any power, and -1 to an infinite power, are 1; Java returns NaN.
    "power": f"CASE WHEN {D1} IS NOT NULL AND ({D0} = 1D OR ({D0} = -1D AND abs({D1}) = {INFINITY})) THEN 1D "
    f"ELSE pow({D0}, {D1}) END",
    "atan2": f"atan2({D0}, {D1})",
    "is_nan": f"({D0} = {NAN})",
    "is_infinite": f"(abs({D0}) = {INFINITY})",
    "is_finite": f"(abs({D0}) < {INFINITY})",
    "bit_and": f"({W0} & {W1})",
    "bit_or": f"({W0} | {W1})",
    "bit_xor": f"({W0} ^ {W1})",
}


Cut = Callable[[str], str]


def _power_of_ten(places: Expr, text: str) -> str:
    """Ten to the power of |places|, correctly rounded; at most 1e300."""
    if isinstance(places, Literal) and isinstance(places.value, int):
        return real(float(f"1e{min(abs(places.value), 300)}"))
    return f"CAST(concat('1e', CAST(LEAST(abs(GREATEST({text}, -300)), 300) AS STRING)) AS DOUBLE)"


def _to_places(value: str, places: Expr, text: str, cut_off: Cut) -> str:
    """Round a double to decimal places: multiply by a power of ten, round, divide; negative places the other way."""
    power = _power_of_ten(places, text)
    scaled = f"({value} * {power})"
    after = f"CASE WHEN abs({scaled}) < {INFINITY} THEN {cut_off(scaled)} / {power} ELSE {value} END"
    before = f"({cut_off(f'({value} / {power})')} * {power})"
    if isinstance(places, Literal) and isinstance(places.value, int):
        return after if places.value >= 0 else before
    return f"CASE WHEN {text} >= 0 THEN {after} WHEN {text} < 0 THEN {before} END"


def _round(call: Call, texts: Sequence[str]) -> str:
    value = double(texts[0])
    return rounded(value) if len(texts) == 1 else _to_places(value, call.arguments[1], texts[1], rounded)


def _trunc_places(call: Call, texts: Sequence[str]) -> str:
    return _to_places(double(texts[0]), call.arguments[1], texts[1], cut)


def _fixed(call: Call, texts: Sequence[str]) -> str:
    near = _to_places(double(texts[0]), call.arguments[2], texts[2], rounded)
    return f"CASE WHEN abs({near}) < pow(10D, {double(f'({texts[1]} - {texts[2]})')}) THEN {near} END"


def _width_bucket(_: Call, texts: Sequence[str]) -> str:
    value, low, high, bins = (double(text) for text in texts)
    bin_index = f"LEAST({floored(f'(({value} - {low}) / ({high} - {low}) * {bins})')}, {bins} - 1D)"
    return (
        f"CASE WHEN isnan({value}) OR {value} IS NULL THEN NULL WHEN {value} < {low} THEN 0 "
        f"WHEN {value} >= {high} THEN {bigint(texts[3])} + 1 ELSE try_cast({bin_index} AS BIGINT) + 1 END"
    )


TYPED_NUMBERS: Mapping[str, Typed] = {
    "round": _round,
    "trunc_places": _trunc_places,
    "fixed": _fixed,
    "width_bucket": _width_bucket,
}
