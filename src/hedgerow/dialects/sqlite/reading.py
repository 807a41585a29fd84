"""Reading stored values as values of a type.

SQLite stores any value in any column, whatever its declared type. So each type has one rule for reading a column: a
value of another type is NULL (NaN in a column of doubles). No rule looks at other rows, and none can fail.

Numbers, text and dates of the usual form (`YYYY-MM-DD`) are left as stored, so that joins and conditions can use
indexes. Their rule is applied when a value is printed or passed to a function; comparisons are SQLite's own.
"""

from hedgerow.expressions.nodes import Call, Column, Expr, Literal, walk
from hedgerow.expressions.types import Type, decimal_size

PREFIX = "hedgerow_"
"""Prefix of the names of our functions."""

NAN = "''"
"""NaN, which SQLite lacks: the smallest text, which sorts after every number."""

AS_STORED = frozenset({Type.INTEGER, Type.DECIMAL, Type.TEXT, Type.DATE, Type.OTHER})
"""Types whose columns are left as stored."""

PASSED_ON = frozenset({"case", "coalesce", "nullif", "least", "greatest"})
"""Functions that return an argument unchanged, as casts from a type to itself do."""


def column(name: str, kind: Type, *, whole: bool) -> str:
    """A stored column as a value; with `whole`, doubles may be stored as integers."""
    if kind is Type.FLOAT:
        number = f"min({name}, {NAN})"
        return f"CASE typeof({name}) WHEN 'integer' THEN CAST({name} AS REAL) ELSE {number} END" if whole else number
    if kind is Type.BOOLEAN:
        return f"CASE {name} WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE {of_text(name, kind)} END"
    return of_text(name, kind) if kind in {Type.TIME, Type.TIMESTAMP} else name


def of_text(name: str, kind: Type) -> str:
    """A stored text parsed as a type; NULL if it is not text."""
    return f"CASE typeof({name}) WHEN 'text' THEN {PREFIX}text_as_{kind.value}(CAST({name} AS BLOB)) END"


def untyped(name: str, kind: Type, numbers: tuple[str, str]) -> str:
    """A column without a declared type; `numbers` are the results for an integer and for a double."""
    whole, real = numbers
    text = f"{PREFIX}text_as_{kind.value}(CAST({name} AS BLOB))" if kind is not Type.TEXT else words(name)
    return f"CASE typeof({name}) WHEN 'integer' THEN {whole} WHEN 'real' THEN {real} WHEN 'text' THEN {text} END"


def is_certain(expr: Expr) -> bool:
    """Return True if a value is certain to have its type: it is computed, or its rule was applied when it was read."""
    if isinstance(expr, Call) and (expr.function in PASSED_ON or _is_identity(expr)):
        return all(is_certain(given) for given in expr.arguments)
    return isinstance(expr, Literal | Call) or expr.type not in AS_STORED


def _is_identity(expr: Call) -> bool:
    return expr.function.startswith(("cast_", "imposed_")) and expr.arguments[0].type is expr.type


def number(text: str, expr: Expr) -> str:
    """A number; NULL if anything else is stored."""
    return text if is_certain(expr) or expr.type is Type.FLOAT else f"NULLIF(min({text}, {NAN}), {NAN})"


def whole(text: str, expr: Expr) -> str:
    """An integer; NULL if anything else is stored."""
    return text if is_certain(expr) else f"CASE typeof({text}) WHEN 'integer' THEN {text} END"


def argument(text: str, kind: Type, *, certain: bool) -> str:
    """A value as an argument of our functions: text as bytes, because it may be invalid UTF-8."""
    if kind in {Type.TEXT, Type.DATE}:
        return f"CAST({text} AS BLOB)"
    return text if certain or kind not in AS_STORED else f"min({text}, {NAN})"


def words(text: str) -> str:
    """Text; NULL if anything else is stored. ASCII without NUL takes a fast path."""
    plain = f"typeof({text}) = 'text' AND length({text}) = length(CAST({text} AS BLOB))"
    strange = f"{text} GLOB '*[^' || char(1) || '-' || char(127) || ']*'"
    return f"CASE WHEN {plain} AND NOT {strange} THEN {text} ELSE {PREFIX}text(CAST({text} AS BLOB)) END"


def fixed(text: str, expr: Expr) -> str:
    """A decimal, rounded to the scale of its type; NULL if it exceeds its precision."""
    digits, scale = precision(expr)
    unit, limit = f"1{'0' * scale}.0", f"1{'0' * (digits - scale)}.0"
    rounded = f"floor({text} * {unit} + 0.5) / {unit}"
    fine = f"CASE WHEN abs({text} * {unit}) < 4503599627370496.0 THEN {rounded} ELSE {text} END"
    kinds = f"CASE typeof({text}) WHEN 'integer' THEN {text} WHEN 'real' THEN {fine} END"
    return f"CASE WHEN {text} < {limit} AND {text} > -{limit} THEN {kinds} END"


def precision(expr: Expr) -> tuple[int, int]:
    """Return precision and scale of the decimal column with the largest scale in an expression."""
    sizes = [decimal_size(part.native) for part in walk(expr) if isinstance(part, Column)]
    return max(filter(None, sizes), key=lambda size: size[1], default=(38, 0))
