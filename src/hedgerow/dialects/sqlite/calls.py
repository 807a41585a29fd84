"""The functions of the allow-list, as SQL: SQLite's own operators where they are total, our functions elsewhere."""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.careful.reach import reach
from hedgerow.dialects.sqlite.casts import cast
from hedgerow.dialects.sqlite.reading import NAN, PREFIX, argument, number, sure, whole
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.functions.casts import NAMES
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type

Written = Callable[[Call, Sequence[str]], str]

MOST_ARGUMENTS = 100
"""SQLite's functions take up to 127 arguments."""

SYMBOLS = {
    "equal": "=",
    "unequal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "is_distinct": "IS NOT",
    "is_not_distinct": "IS",
    "and": "AND",
    "or": "OR",
}
SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}


def double(text: str, expr: Expr) -> str:
    """A number as a double."""
    return text if expr.type is Type.FLOAT else f"CAST({number(text, expr)} AS REAL)"


def called(expr: Call, texts: Sequence[str]) -> str:
    """A function of ours, by its name on the allow-list."""
    arguments = (
        text if isinstance(a, Literal) else argument(text, a.type, certain=sure(a))
        for text, a in zip(texts, expr.arguments, strict=True)
    )
    return f"{PREFIX}{expr.function}({', '.join(arguments)})"


def _infix(expr: Call, texts: Sequence[str]) -> str:
    return f"({texts[0]} {SYMBOLS[expr.function]} {texts[1]})"


def _is_tame(expr: Expr) -> bool:
    """Whether a value, read as a double, is certainly neither infinite nor NaN."""
    return reach(expr) < float("inf")


def _arithmetic(expr: Call, texts: Sequence[str]) -> str:
    """SQLite has no NaN, so its own arithmetic serves only where none can come up."""
    if not _is_tame(expr):
        return called(expr, texts)
    left, right = (double(text, a) for text, a in zip(texts, expr.arguments, strict=True))
    return f"({left} {SIGNS[expr.function]} {right})"


def _divide(expr: Call, texts: Sequence[str]) -> str:
    if not all(_is_tame(a) for a in expr.arguments):
        return called(expr, texts)
    left, right = (double(text, a) for text, a in zip(texts, expr.arguments, strict=True))
    return f"({left} / NULLIF({right}, 0.0))"


def _negate(expr: Call, texts: Sequence[str]) -> str:
    return f"(-{double(texts[0], expr.arguments[0])})" if _is_tame(expr.arguments[0]) else called(expr, texts)


def _case(_expr: Call, texts: Sequence[str]) -> str:
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(texts[:-1:2], texts[1::2], strict=True))
    return f"CASE {branches} ELSE {texts[-1]} END"


def _coalesce(_expr: Call, texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    rest = [_coalesce(_expr, texts[MOST_ARGUMENTS:])] if len(texts) > MOST_ARGUMENTS else []
    return f"COALESCE({', '.join([*texts[:MOST_ARGUMENTS], *rest])})"


def _extreme(expr: Call, texts: Sequence[str]) -> str:
    """LEAST and GREATEST, which pass over NULL, and over what is no number among numbers; a hundred at a time."""
    numeric = expr.type in {Type.INTEGER, Type.DECIMAL}
    read = [number(text, a) for text, a in zip(texts, expr.arguments, strict=True)] if numeric else texts
    if len(read) <= MOST_ARGUMENTS:
        return called(expr, read)
    first = Call(expr.function, expr.arguments[:MOST_ARGUMENTS], expr.type)
    rest = Call(expr.function, (first, *expr.arguments[MOST_ARGUMENTS:]), expr.type)
    return _extreme(rest, [called(first, read[:MOST_ARGUMENTS]), *read[MOST_ARGUMENTS:]])


def _in(_expr: Call, texts: Sequence[str]) -> str:
    return f"({texts[0]} IN ({', '.join(texts[1:])}))"


def _clip(expr: Call, texts: Sequence[str]) -> str:
    value, low, high = (double(text, a) for text, a in zip(texts, expr.arguments, strict=True))
    present = value if _is_tame(expr.arguments[0]) else f"NULLIF({value}, {NAN})"
    return f"min(max({present}, {low}), {high})"


def _clip_whole(expr: Call, texts: Sequence[str]) -> str:
    return f"min(max({whole(texts[0], expr.arguments[0])}, {texts[1]}), {texts[2]})"


def _is_there(expr: Call, texts: Sequence[str]) -> str:
    return f"(COALESCE({number(texts[0], expr.arguments[0])}, {NAN}) <> {NAN})"


def _same_text(_expr: Call, texts: Sequence[str]) -> str:
    return f"(({texts[0]} COLLATE BINARY) = ({texts[1]} COLLATE BINARY))"


def _cast(kind: Type) -> Written:
    return lambda expr, texts: cast(texts[0], expr.arguments[0], kind)


WRITTEN: Mapping[str, Written] = {
    **dict.fromkeys(SYMBOLS, _infix),
    **dict.fromkeys(SIGNS, _arithmetic),
    "divide": _divide,
    "negate": _negate,
    "not": lambda _, texts: f"(NOT {texts[0]})",
    "is_null": lambda _, texts: f"({texts[0]} IS NULL)",
    "is_there": _is_there,
    "is_nan": lambda expr, texts: f"({number(texts[0], expr.arguments[0])} = {NAN})",
    "case": _case,
    "coalesce": _coalesce,
    "nullif": lambda _, texts: f"NULLIF({texts[0]}, {texts[1]})",
    "least": _extreme,
    "greatest": _extreme,
    "in": _in,
    "clip": _clip,
    "clip_whole": _clip_whole,
    "indicator": lambda _, texts: texts[0],
    "same_text": _same_text,
    "one_spelling": lambda _, texts: f"CASE WHEN {texts[0]} = 0 THEN 0.0 ELSE {texts[0]} END",
    **{f"{who}_{kind.value}": _cast(kind) for kind in NAMES for who in ("cast", "imposed")},
}
"""What is more than a call of our function of that name."""

CALLED: frozenset[str] = frozenset(allowed()) - frozenset(WRITTEN)
"""Functions that we have registered ourselves, under their names."""
