"""How what SQLite stores becomes a value of a type.

SQLite lets any value stand in any column, whatever its declared type. So a column is read by one rule for its type:
what is not of the type is NULL (NaN in a column of doubles). No rule looks at other rows, and none can fail.

Numbers, text and dates of the usual form (`YYYY-MM-DD`) are left as they are stored, so that indexes serve joins and
conditions; the rule is then applied where a value is computed with or printed, and they are compared as SQLite does.
"""

import re

from hedgerow.expressions.nodes import Call, Column, Expr, Literal, walk
from hedgerow.expressions.types import Type

PREFIX = "hedgerow_"
"""Prefix of the names of our functions."""

NAN = "''"
"""NaN, which SQLite does not have: the least text, and greater than every number."""

AS_STORED = frozenset({Type.INTEGER, Type.DECIMAL, Type.TEXT, Type.DATE, Type.OTHER})
"""Types whose columns are left as they are stored."""

PASSED_ON = frozenset({"case", "coalesce", "nullif", "least", "greatest"})
"""Functions that hand on what they are given; so do casts from a type to itself."""

DECIMAL = re.compile(r"DECIMAL\(\s*(\d+)\s*,\s*(\d+)\s*\)")


def column(name: str, kind: Type, *, whole: bool) -> str:
    """A stored column as a value; `whole` says that doubles may be stored as integers."""
    if kind is Type.FLOAT:
        number = f"min({name}, {NAN})"
        return f"CASE typeof({name}) WHEN 'integer' THEN CAST({name} AS REAL) ELSE {number} END" if whole else number
    if kind is Type.BOOLEAN:
        return f"CASE {name} WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE {of_text(name, kind)} END"
    return of_text(name, kind) if kind in {Type.TIME, Type.TIMESTAMP} else name


def of_text(name: str, kind: Type) -> str:
    """Value that a stored text spells; NULL for what is not text."""
    return f"CASE typeof({name}) WHEN 'text' THEN {PREFIX}text_as_{kind.value}(CAST({name} AS BLOB)) END"


def untyped(name: str, kind: Type, numbers: tuple[str, str]) -> str:
    """A column without a declared type; `numbers` is what an integer and a double become."""
    whole, real = numbers
    text = f"{PREFIX}text_as_{kind.value}(CAST({name} AS BLOB))" if kind is not Type.TEXT else words(name)
    return f"CASE typeof({name}) WHEN 'integer' THEN {whole} WHEN 'real' THEN {real} WHEN 'text' THEN {text} END"


def sure(expr: Expr) -> bool:
    """Return True if a value is certainly of its type: it was computed, or the rule is applied where it is read."""
    if isinstance(expr, Call) and (expr.function in PASSED_ON or _changes_nothing(expr)):
        return all(sure(given) for given in expr.arguments)
    return isinstance(expr, Literal | Call) or expr.type not in AS_STORED


def _changes_nothing(expr: Call) -> bool:
    return expr.function.startswith(("cast_", "imposed_")) and expr.arguments[0].type is expr.type


def number(text: str, expr: Expr) -> str:
    """A number, or NULL where something else is stored."""
    return text if sure(expr) or expr.type is Type.FLOAT else f"NULLIF(min({text}, {NAN}), {NAN})"


def whole(text: str, expr: Expr) -> str:
    """An integer, or NULL where something else is stored."""
    return text if sure(expr) else f"CASE typeof({text}) WHEN 'integer' THEN {text} END"


def argument(text: str, kind: Type, *, certain: bool) -> str:
    """A value as our functions take it: text as bytes, for what is stored need not be UTF-8."""
    if kind in {Type.TEXT, Type.DATE}:
        return f"CAST({text} AS BLOB)"
    return text if certain or kind not in AS_STORED else f"min({text}, {NAN})"


def words(text: str) -> str:
    """Text, or NULL where something else is stored. Letters from ASCII, without NUL, are seen to be text at once."""
    plain = f"typeof({text}) = 'text' AND length({text}) = length(CAST({text} AS BLOB))"
    strange = f"{text} GLOB '*[^' || char(1) || '-' || char(127) || ']*'"
    return f"CASE WHEN {plain} AND NOT {strange} THEN {text} ELSE {PREFIX}text(CAST({text} AS BLOB)) END"


def fixed(text: str, expr: Expr) -> str:
    """A decimal number, rounded to the digits of its type; NULL where it has too many."""
    digits, scale = precision(expr)
    unit, most = f"1{'0' * scale}.0", f"1{'0' * (digits - scale)}.0"
    rounded = f"floor({text} * {unit} + 0.5) / {unit}"
    fine = f"CASE WHEN abs({text} * {unit}) < 4503599627370496.0 THEN {rounded} ELSE {text} END"
    kinds = f"CASE typeof({text}) WHEN 'integer' THEN {text} WHEN 'real' THEN {fine} END"
    return f"CASE WHEN {text} < {most} AND {text} > -{most} THEN {kinds} END"


def precision(expr: Expr) -> tuple[int, int]:
    """Digits in all and after the point, of the decimal column in an expression that has the most."""
    found = [DECIMAL.fullmatch(part.native.upper()) for part in walk(expr) if isinstance(part, Column)]
    pairs = [(int(match[1]), int(match[2])) for match in found if match]
    return max(pairs, key=lambda pair: pair[1], default=(38, 0))
