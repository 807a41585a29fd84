"""Comparisons, logic and choices. Text is compared byte by byte, whatever collation a column has."""

from collections.abc import Mapping, Sequence

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.expressions.functions.numbers import COMPARISONS, case_text
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type

EQUALITIES = frozenset({"equal", "unequal", "is_distinct", "is_not_distinct", "in", "nullif"})
BYTES, DETERMINED = "TEXT", "TEXT WITH COLLATION"
"""Text whose collation compares bytes; and text with another order whose equality is that of its bytes."""


def collated(text: str) -> str:
    """A text that is compared byte by byte."""
    return f'({text} COLLATE "C")'


def _is_determined(expr: Expr) -> bool:
    """Return True if the column's own collation is deterministic: equality can then use its indexes."""
    return isinstance(expr, Column) and expr.native.upper() in {BYTES, DETERMINED}


def _sides(expr: Call, texts: Sequence[str]) -> Sequence[str]:
    """The arguments, with a collation on text where the comparison depends on it."""
    if all(a.type not in {Type.TEXT, Type.NULL} for a in expr.arguments):
        return texts
    columns = [a for a in expr.arguments if not isinstance(a, Literal)]
    if expr.function in EQUALITIES and len(columns) == 1 and _is_determined(columns[0]):
        return texts
    return [collated(t) if a.type is Type.TEXT else t for a, t in zip(expr.arguments, texts, strict=True)]


def _values(expr: Call, texts: Sequence[str]) -> Sequence[str]:
    """The values to choose among. A privacy unit keeps the column's nondeterministic collation, which identifies it."""
    if any(isinstance(a, Column) and a.type is Type.TEXT and not _is_determined(a) for a in expr.arguments):
        return texts
    return [collated(t) if a.type is Type.TEXT else t for a, t in zip(expr.arguments, texts, strict=True)]


def _compared(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    left, right = _sides(expr, texts)
    return f"({left} {COMPARISONS[expr.function]} {right})"


def _same_text(_dialect: Dialect, _expr: Call, texts: Sequence[str]) -> str:
    return f"({collated(texts[0])} = {collated(texts[1])})"


def _in(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    first, *rest = _sides(expr, texts)
    return f"({first} IN ({', '.join(rest)}))"


def _nullif(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return f"NULLIF({', '.join(_sides(expr, texts))})"


def _listed(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """COALESCE, LEAST or GREATEST. The latter two ignore NULL, as in DuckDB."""
    values = _values(expr, texts) if expr.function == "coalesce" else _sides(expr, texts)
    return f"{expr.function.upper()}({', '.join(values)})"


def _infix(symbol: str) -> Writer:
    return lambda _dialect, _expr, texts: "(" + f" {symbol} ".join(texts) + ")"


LOGIC: Mapping[str, Writer] = {
    **dict.fromkeys(COMPARISONS, _compared),
    "same_text": _same_text,
    "in": _in,
    "nullif": _nullif,
    **dict.fromkeys(("coalesce", "least", "greatest"), _listed),
    "case": lambda _dialect, expr, texts: case_text(_values(expr, texts)),
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": lambda _dialect, _expr, texts: f"(NOT {texts[0]})",
    "is_null": lambda _dialect, _expr, texts: f"({texts[0]} IS NULL)",
}
