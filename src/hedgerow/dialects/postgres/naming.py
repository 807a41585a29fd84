"""Templates that use an argument several times: long arguments are named in a subquery and computed once.

Also constants of arrays: a single quoted text, which PostgreSQL parses faster than a list of rows.
"""

import math
from collections.abc import Sequence

from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Window, walk


def array(values: Sequence[object]) -> str:
    """An array as a quoted text, to be followed by a cast to its type."""
    if all(type(value) is int for value in values):
        return "'{" + ",".join(map(str, values)) + "}'"
    return "'{" + ",".join("NULL" if value is None else _element(value) for value in values) + "}'"


def _element(value: object) -> str:
    written = _written(value)
    if "\x00" in written:
        raise InternalError("A key of PostgreSQL contains a NUL character.")
    escaped = written.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''")
    return f'"{escaped}"'


def _written(value: object) -> str:
    """A number, date or boolean as PostgreSQL reads it."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
    return str(value)


SHORT = 90
"""Maximum length of a cast column that is repeated rather than named."""


def shared(template: str, arguments: Sequence[Expr], texts: Sequence[str]) -> str:
    """Fill `{0}`, `{1}` … of `template` with the arguments, each computed once.

    A name costs about as much as ten comparisons per row, so columns and constants are repeated instead. A window
    function is repeated, too: in a subquery it would see other rows. OFFSET 0 keeps the planner from inlining the
    named arguments.
    """
    if all(map(_is_short, arguments, texts)) or has_window(arguments):
        return template.format(*texts)
    names = [
        text if isinstance(a, Literal) else f"v.a{i}" for i, (a, text) in enumerate(zip(arguments, texts, strict=True))
    ]
    named = [f"{text} AS a{i}" for i, text in enumerate(texts) if names[i] != text]
    return f"(SELECT {template.format(*names)} FROM (SELECT {', '.join(named)} OFFSET 0) AS v)"


def chained(first: Sequence[str], second: Sequence[str], result: str) -> str:
    """A value computed in stages: `v.a0`, `v.a1` … from `first`, then `w.b0`, `w.b1` … from those, then the result."""
    one = ", ".join(f"{text} AS a{i}" for i, text in enumerate(first))
    two = ", ".join(f"{text} AS b{i}" for i, text in enumerate(second))
    return f"(SELECT {result} FROM (SELECT {one} OFFSET 0) AS v, LATERAL (SELECT {two} OFFSET 0) AS w)"


def has_window(arguments: Sequence[Expr]) -> bool:
    """Return True if the arguments contain a window function."""
    return any(isinstance(part, Window) for argument in arguments for part in walk(argument))


def _is_short(expr: Expr, text: str) -> bool:
    if isinstance(expr, Column | Literal):
        return True
    cast = isinstance(expr, Call) and expr.function.startswith(("cast_", "imposed_"))
    return cast and isinstance(expr.arguments[0], Column) and len(text) <= SHORT
