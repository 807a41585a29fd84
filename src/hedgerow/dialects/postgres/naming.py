"""Guards name an argument several times; what is long is computed once, so that nesting does not double it.

Arrays are constants: one text, however many elements, which PostgreSQL reads faster than a list of rows.
"""

import math
from collections.abc import Sequence

from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Window, walk


def array(values: Sequence[object]) -> str:
    """An array as a quoted text; it still needs its type."""
    return "'{" + ",".join("NULL" if value is None else _element(value) for value in values) + "}'"


def _element(value: object) -> str:
    written = _written(value)
    if "\x00" in written:
        raise InternalError("A text with a NUL character came from somewhere else.")
    escaped = written.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''")
    return f'"{escaped}"'


def _written(value: object) -> str:
    """Numbers, dates and truth values as PostgreSQL reads them."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
    return str(value)


SHORT = 90
"""So many characters of a cast column are written again rather than named."""


def shared(template: str, arguments: Sequence[Expr], texts: Sequence[str]) -> str:
    """`template` with `{0}`, `{1}` … for the arguments, each computed once.

    A name costs about as much as ten comparisons for each row, so columns and constants are just repeated. A window
    function is repeated, too: it would look at other rows inside a query of its own. OFFSET keeps the planner from
    writing the arguments back into the places where they are named.
    """
    if all(map(_is_short, arguments, texts)) or any(isinstance(p, Window) for a in arguments for p in walk(a)):
        return template.format(*texts)
    places = [
        text if isinstance(a, Literal) else f"v.a{i}" for i, (a, text) in enumerate(zip(arguments, texts, strict=True))
    ]
    named = [f"{text} AS a{i}" for i, text in enumerate(texts) if places[i] != text]
    return f"(SELECT {template.format(*places)} FROM (SELECT {', '.join(named)} OFFSET 0) AS v)"


def chained(first: Sequence[str], second: Sequence[str], result: str) -> str:
    """A value in stages: `a0`, `a1` … from texts, then `b0`, `b1` … from those, then the result from all of them."""
    one = ", ".join(f"{text} AS a{i}" for i, text in enumerate(first))
    two = ", ".join(f"{text} AS b{i}" for i, text in enumerate(second))
    return f"(SELECT {result} FROM (SELECT {one} OFFSET 0) AS v, LATERAL (SELECT {two} OFFSET 0) AS w)"


def has_window(arguments: Sequence[Expr]) -> bool:
    """Return True if a window function stands anywhere in the arguments."""
    return any(isinstance(part, Window) for argument in arguments for part in walk(argument))


def _is_short(expr: Expr, text: str) -> bool:
    if isinstance(expr, Column | Literal):
        return True
    cast = isinstance(expr, Call) and expr.function.startswith(("cast_", "imposed_"))
    return cast and isinstance(expr.arguments[0], Column) and len(text) <= SHORT
