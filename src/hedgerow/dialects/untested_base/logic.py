"""Comparisons, logic and choices.

NaN equals NaN and is greater than every number; text is compared byte by byte. Engines that follow the floating-point
standard, or a collation, are told so here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.reach import reach
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.untested_base.dialect import UntestedBase, Writer

SYMBOLS = {
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
}
MIRRORED = {"greater": "less", "greater_or_equal": "less_or_equal"}


def compared(dialect: "UntestedBase", name: str, exprs: Sequence[Expr], texts: Sequence[str]) -> str:
    """A comparison of two values of one type, as a condition."""
    if name in MIRRORED:
        return compared(dialect, MIRRORED[name], exprs[::-1], texts[::-1])
    left, right = (worded(dialect, expr, text) for expr, text in zip(exprs, texts, strict=True))
    plain = f"({left} {SYMBOLS[name]} {right})"
    if not dialect.strict_nan:
        return plain
    one, other = (may_be_nan(expr) for expr in exprs)
    if name == "unequal" and one and other:
        return f"(NOT {compared(dialect, 'equal', exprs, texts)})"
    if name == "equal" and one and other:
        return f"({left} = {right} OR ({dialect.is_nan(left)} AND {dialect.is_nan(right)}))"
    if name == "less" and other:
        lower = f"NOT {dialect.is_nan(left)}" if one else f"{left} IS NOT NULL"
        return f"({left} < {right} OR ({lower} AND {dialect.is_nan(right)}))"
    if name == "less_or_equal" and other:
        return f"({left} <= {right} OR ({left} IS NOT NULL AND {dialect.is_nan(right)}))"
    return plain


def may_be_nan(expr: Expr) -> bool:
    """Return True if a value can be NaN."""
    return expr.type is Type.FLOAT and reach(expr) == float("inf")


def worded(dialect: "UntestedBase", expr: Expr, text: str) -> str:
    """A value to be compared: text byte by byte."""
    return dialect.binary(text) if expr.type is Type.TEXT and not isinstance(expr, Literal) else text


def _comparison(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    return dialect.predicate(compared(dialect, expr.function, expr.arguments, texts))


def _is_same(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    kinds = [a.type for a in expr.arguments if a.type is not Type.NULL]
    if not kinds:
        return dialect.boolean(expr.function == "is_not_distinct")
    if any(a.type is Type.NULL for a in expr.arguments):
        there = next(text for a, text in zip(expr.arguments, texts, strict=True) if a.type is not Type.NULL)
        return dialect.predicate(f"({there} IS {'' if expr.function == 'is_not_distinct' else 'NOT '}NULL)")
    found = f"({dialect.same(texts[0], texts[1], kinds[0])})"
    return dialect.predicate(found if expr.function == "is_not_distinct" else f"(NOT {found})")


def _joined(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    return dialect.predicate("(" + f" {expr.function.upper()} ".join(map(dialect.condition, texts)) + ")")


def _not(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return dialect.predicate(f"(NOT {dialect.condition(texts[0])})")


def _is_null(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return dialect.predicate(f"({texts[0]} IS NULL)")


def _case(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    pairs = zip(texts[:-1:2], texts[1::2], strict=True)
    branches = " ".join(f"WHEN {dialect.condition(test)} THEN {value}" for test, value in pairs)
    return f"CASE {branches} ELSE {texts[-1]} END"


def _coalesce(_dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return f"COALESCE({', '.join(texts)})" if len(texts) > 1 else texts[0]


def _nullif(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    equal = compared(dialect, "equal", expr.arguments, texts)
    return f"CASE WHEN {equal} THEN NULL ELSE {texts[0]} END"


def _extreme(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    """NULL is passed over."""
    order = "less_or_equal" if expr.function == "least" else "greater_or_equal"
    kept, text = expr.arguments[0], texts[0]
    for other, right in zip(expr.arguments[1:], texts[1:], strict=True):
        first = compared(dialect, order, (kept, other), (text, right))
        text = f"CASE WHEN {right} IS NULL OR {first} THEN {text} ELSE {right} END"
        kept = Call(expr.function, (kept, other), expr.type)
    return text


def _among(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    first, *others = expr.arguments
    if dialect.strict_nan and any(may_be_nan(other) for other in others):
        each = [compared(dialect, "equal", (first, e), (texts[0], t)) for e, t in zip(others, texts[1:], strict=True)]
        return dialect.predicate(f"({' OR '.join(each)})")
    listed = ", ".join(worded(dialect, e, t) for e, t in zip(others, texts[1:], strict=True))
    return dialect.predicate(f"({worded(dialect, first, texts[0])} IN ({listed}))")


def _indicator(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    held = dialect.condition(texts[0])
    return f"CASE WHEN {held} THEN 1 WHEN NOT {held} THEN 0 END"


def _same_text(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return dialect.predicate(f"({dialect.binary(texts[0])} = {dialect.binary(texts[1])})")


LOGIC: Mapping[str, "Writer"] = {
    **dict.fromkeys(SYMBOLS, _comparison),
    **dict.fromkeys(("is_distinct", "is_not_distinct"), _is_same),
    **dict.fromkeys(("and", "or"), _joined),
    **dict.fromkeys(("least", "greatest"), _extreme),
    "not": _not,
    "is_null": _is_null,
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "in": _among,
    "indicator": _indicator,
    "same_text": _same_text,
}
