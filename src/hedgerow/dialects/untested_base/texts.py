"""Text: patterns, pieces and concatenation.

Lengths and places count characters. Patterns and places are constants, so that each engine gets its own spelling of
them; what is not constant is refused.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.expressions.nodes import Call, Expr, Literal

if TYPE_CHECKING:
    from hedgerow.dialects.untested_base.dialect import UntestedBase, Writer

SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Characters that TRIM removes: the space separators of Unicode, and neither tabs nor line ends."""

LONGEST = 10_000
FARTHEST = 2**31 - 1


def _constant(dialect: "UntestedBase", expr: Expr, what: str) -> str:
    """The text of a constant."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise dialect.lacks(f"{what} that is not a constant")
    return expr.value


def _place(dialect: "UntestedBase", expr: Expr, least: int) -> int:
    """A constant place or length."""
    if not isinstance(expr, Literal) or not isinstance(expr.value, int) or not least <= expr.value <= FARTHEST:
        raise dialect.lacks(f"a place or length in a text that is not a constant from {least}")
    return expr.value


def like_items(pattern: str, escape: str) -> list[str]:
    """The pattern as wildcards `%`, `_` and literal signs, the latter marked by a leading `=`."""
    items, signs = list[str](), iter(pattern)
    for sign in signs:
        if escape and sign == escape:
            items.append("=" + next(signs, ""))
        else:
            items.append(sign if sign in "%_" else "=" + sign)
    return items


def _matched(dialect: "UntestedBase", text: str, items: Sequence[str]) -> str:
    return dialect.predicate(dialect.like(dialect.letters(text), items))


def _like(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    pattern = _constant(dialect, expr.arguments[1], "a pattern")
    escape = _constant(dialect, expr.arguments[2], "an escape sign") if len(expr.arguments) > 2 else ""
    return _matched(dialect, texts[0], like_items(pattern, escape))


def _affix(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    """A text that is looked for at the beginning, at the end or anywhere."""
    sought = [f"={sign}" for sign in _constant(dialect, expr.arguments[1], "a text to look for")]
    before = [] if expr.function == "starts_with" else ["%"]
    after = [] if expr.function == "ends_with" else ["%"]
    return _matched(dialect, texts[0], [*before, *sought, *after])


def _substring(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    start = 1 if expr.function == "left" else _place(dialect, expr.arguments[1], 1)
    length = _place(dialect, expr.arguments[-1], 0) if expr.function == "left" or len(texts) > 2 else FARTHEST
    return dialect.piece(texts[0], start, length)


def _concat(dialect: "UntestedBase", _expr: Call, texts: Sequence[str]) -> str:
    return dialect.piece(dialect.concatenated(texts), 1, LONGEST)


def _trim(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    signs = _constant(dialect, expr.arguments[1], "a text to trim by") if len(expr.arguments) > 1 else SPACES
    return dialect.trimmed(expr.function, texts[0], signs)


TEXTS: Mapping[str, "Writer"] = {
    **dict.fromkeys(("like", "like_escape"), _like),
    **dict.fromkeys(("starts_with", "ends_with", "contains"), _affix),
    **dict.fromkeys(("substring", "left"), _substring),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trim),
    "concat": _concat,
}
