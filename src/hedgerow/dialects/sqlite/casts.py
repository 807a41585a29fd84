"""Casts from each type to each other, as SQL."""

from hedgerow.dialects.sqlite import reading
from hedgerow.dialects.sqlite.reading import PREFIX, argument, number, precision, sure
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type

NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
SAME = {(Type.BOOLEAN, Type.INTEGER), *((kind, kind) for kind in Type)}
"""Types whose values look alike."""

COMPUTED = {
    *((Type.TEXT, kind) for kind in (Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.DATE, Type.TIME, Type.TIMESTAMP)),
    *((kind, Type.TEXT) for kind in (Type.FLOAT, Type.DECIMAL, Type.DATE, Type.TIME, Type.TIMESTAMP)),
    *((kind, Type.INTEGER) for kind in (Type.FLOAT, Type.DECIMAL)),
    (Type.DATE, Type.TIMESTAMP),
    (Type.TIMESTAMP, Type.DATE),
    (Type.TIMESTAMP, Type.TIME),
}
"""Pairs of types for which we have a function."""


def cast(text: str, expr: Expr, kind: Type) -> str:
    """A value as one of another type; NULL where there is no such value."""
    source = expr.type
    if source in {Type.OTHER, Type.NULL}:
        whole = _known(text, Type.INTEGER, kind, certain=True)
        real = _known(text, Type.FLOAT, kind, certain=True)
        return "NULL" if source is Type.NULL else reading.untyped(text, kind, (whole, real))
    if source is Type.DECIMAL and kind is Type.TEXT:
        return f"{PREFIX}decimal_as_text({argument(text, source, certain=sure(expr))}, {precision(expr)[1]})"
    if source is Type.INTEGER and kind in {Type.FLOAT, Type.TEXT}:
        return f"CAST({number(text, expr)} AS {'REAL' if kind is Type.FLOAT else 'TEXT'})"
    if source is Type.DECIMAL and kind is Type.FLOAT:
        return f"CAST({number(text, expr)} AS REAL)"
    return _known(text, source, kind, certain=sure(expr))


def _known(text: str, source: Type, kind: Type, *, certain: bool) -> str:
    if (source, kind) in SAME:
        return text
    if (source, kind) in COMPUTED:
        return f"{PREFIX}{source.value}_as_{kind.value}({argument(text, source, certain=certain)})"
    if source in NUMBERS and kind is Type.BOOLEAN:
        return f"({text} <> 0)"
    if source is Type.BOOLEAN and kind is Type.TEXT:
        return f"CASE {text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
    if source in {Type.BOOLEAN, Type.INTEGER} and kind in {Type.FLOAT, Type.TEXT}:
        return f"CAST({text} AS {'REAL' if kind is Type.FLOAT else 'TEXT'})"
    return "NULL"
