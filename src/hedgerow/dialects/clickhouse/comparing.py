"""Comparison, choice and logic. Doubles are compared as DuckDB does: NaN equals NaN and is greater than any number."""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse.spelling import Writer, bits, can_be_nan, double, template
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

ORDERS = {"less": "<", "less_or_equal": "<=", "greater": ">", "greater_or_equal": ">="}
EQUALITIES = {
    "equal": "=",
    "unequal": "<>",
    "is_distinct": "IS DISTINCT FROM",
    "is_not_distinct": "IS NOT DISTINCT FROM",
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


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


def _case(_: Call, texts: Sequence[str]) -> str:
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(texts[:-1:2], texts[1::2], strict=True))
    return f"CASE {branches} ELSE {texts[-1]} END"


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


WRITERS: dict[str, Writer] = {
    **{name: _ordered(symbol) for name, symbol in ORDERS.items()},
    **{name: _equal(symbol) for name, symbol in EQUALITIES.items()},
    "same_text": template("({0} = {1})"),
    "case": _case,
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
