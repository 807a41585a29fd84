"""Regular expressions of RE2 as PostgreSQL writes them.

Both agree on whether a text matches, but not on how long a match is or what its groups capture: RE2 takes the first
alternative that leads to a match, PostgreSQL the longest match. They do agree if the next character always determines
how to continue, so REGEXP_EXTRACT and REGEXP_REPLACE accept only such patterns.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.postgres.logic import collated
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.deterministic import is_clear
from hedgerow.dialects.regex.tree import (
    LAST,
    WORD,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Group,
    Node,
    Ranges,
    Repeat,
    complement,
    may_be_empty,
)
from hedgerow.expressions.nodes import Call, Expr, Literal

if TYPE_CHECKING:
    from hedgerow.dialects.postgres.dialect import PostgresDialect, Writer

MAX_REPEAT = 255
ENDS = {"A": "^", "z": "$"}
LONGEST = 1_000


def _escape(code: int) -> str:
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _bracket(ranges: Ranges) -> str:
    """A set of characters. A set that contains the last code point is written negated. Text contains no NUL."""
    if ranges and ranges[-1][1] == LAST:
        others = [(max(low, 1), high) for low, high in complement(ranges) if high > 0]
        return f"[^{_listed(others)}]" if others else "(?:.|\\n)"
    shown = [(max(low, 1), high) for low, high in ranges if high > 0]
    if not shown:
        raise UnsupportedPatternError
    return _escape(shown[0][0]) if len(shown) == 1 and shown[0][0] == shown[0][1] else f"[{_listed(shown)}]"


def _listed(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(_escape(low) if low == high else f"{_escape(low)}-{_escape(high)}" for low, high in ranges)


def _edge(kind: str) -> str:
    if kind in ENDS:
        return ENDS[kind]
    if kind != "b":
        raise UnsupportedPatternError("ends of lines")
    word = _bracket(WORD)
    return f"(?:(?<!{word})(?={word})|(?<={word})(?!{word}))"


def _times(minimum: int, maximum: int | None) -> list[str]:
    """Consecutive quantifiers, none above PostgreSQL's maximum."""
    quantifiers = []
    while minimum > MAX_REPEAT:
        quantifiers.append(f"{{{MAX_REPEAT}}}")
        minimum, maximum = minimum - MAX_REPEAT, None if maximum is None else maximum - MAX_REPEAT
    if maximum is None:
        return [*quantifiers, f"{{{minimum},}}"]
    while maximum > MAX_REPEAT:
        quantifiers.append(f"{{{minimum},{MAX_REPEAT}}}")
        minimum, maximum = 0, maximum - MAX_REPEAT
    return [*quantifiers, f"{{{minimum},{maximum}}}"]


def written(node: Node, *, grouped: bool) -> str:
    """A pattern in PostgreSQL's syntax; groups capture only if `grouped`."""
    if isinstance(node, Characters):
        return _bracket(node.ranges)
    if isinstance(node, Anchor):
        return _edge(node.kind)
    if isinstance(node, Concatenation):
        return "".join(written(part, grouped=grouped) for part in node.parts)
    if isinstance(node, Alternation):
        return f"(?:{'|'.join(written(branch, grouped=grouped) for branch in node.options)})"
    if isinstance(node, Group) and node.number is None:
        return written(node.body, grouped=grouped)
    if isinstance(node, Group):
        return f"({'' if grouped else '?:'}{written(node.body, grouped=grouped)})"
    if isinstance(node, Repeat):
        return _repeated(node, grouped=grouped)
    raise UnsupportedPatternError("a step of the backtracking writer")


def _repeated(node: Repeat, *, grouped: bool) -> str:
    body = f"(?:{written(node.body, grouped=grouped)})"
    quantifiers = _times(node.minimum, node.maximum)
    if grouped and len(quantifiers) > 1:
        raise UnsupportedPatternError
    return "".join(f"{body}{quantifier}" for quantifier in quantifiers)


def _read(dialect: "PostgresDialect", expr: Expr) -> Node:
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise dialect.lacks("a regular expression that is not a constant")
    try:
        return read(expr.value)[0]
    except UnsupportedPatternError:
        raise dialect.lacks("this regular expression") from None


def _tried(pattern: str, body: str) -> str:
    """Match a constant first: a pattern too large for PostgreSQL then fails whatever the rows contain."""
    return f"CASE WHEN '' ~ {pattern} IS NOT NULL THEN {body} END"


def _matches(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    tree = _read(dialect, expr.arguments[1])
    try:
        inner = written(tree, grouped=False)
    except UnsupportedPatternError:
        raise dialect.lacks("this regular expression") from None
    pattern = dialect.string(f"^(?:{inner})$" if expr.function == "regexp_full_match" else f"(?:{inner})")
    return _tried(pattern, f"({collated(texts[0])} ~ {pattern})")


def _unambiguous(dialect: "PostgresDialect", expr: Call) -> tuple[Node, str]:
    """Return a pattern that can match in one way only, as a tree and as text with its groups."""
    tree = _read(dialect, expr.arguments[1])
    text = _with_groups(tree) if is_clear(tree) else None
    if text is None:
        what = expr.function.replace("_", " ")
        raise dialect.lacks(f"{what} with a regular expression that can match in several ways")
    return tree, text


def _with_groups(tree: Node) -> str | None:
    try:
        return written(tree, grouped=True)
    except UnsupportedPatternError:
        return None


def _extract(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """The group, or the empty text if nothing matches. The whole match is group 1 in PostgreSQL's numbering."""
    _, inner = _unambiguous(dialect, expr)
    group, pattern = expr.arguments[2], dialect.string(f"({inner})")
    if not isinstance(group, Literal) or not isinstance(group.value, int):
        raise dialect.lacks("a group that is not a constant")
    group_text = f"COALESCE((regexp_match({{0}}, {_quoted(pattern)}))[{group.value + 1}], '')"
    template = _tried(_quoted(pattern), f"CASE WHEN {{0}} IS NOT NULL THEN {group_text} END")
    return shared(template, expr.arguments[:1], (collated(texts[0]),))


def _replace(dialect: "PostgresDialect", expr: Call, texts: Sequence[str]) -> str:
    """Replace matches. Engines differ in how many empty matches a text has, so only one of them can be replaced."""
    tree, inner = _unambiguous(dialect, expr)
    every = expr.function == "regexp_replace_all"
    by = expr.arguments[2]
    if (every and may_be_empty(tree)) or not isinstance(by, Literal) or not isinstance(by.value, str):
        raise dialect.lacks("replacing all matches of a regular expression that matches the empty text")
    pattern, replacement = dialect.string(f"(?:{inner})"), dialect.string(re.sub(r"\\0", r"\\&", by.value))
    flags = ", 'g'" if every else ""
    replaced = (
        f"left(regexp_replace(left({collated(texts[0])}, {LONGEST}), {pattern}, {replacement}{flags}), {LONGEST})"
    )
    return _tried(pattern, replaced)


def _quoted(text: str) -> str:
    """A text to be put into a template."""
    return text.replace("{", "{{").replace("}", "}}")


REGEXPS: Mapping[str, "Writer"] = {
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    "regexp_extract": _extract,
    **dict.fromkeys(("regexp_replace", "regexp_replace_all"), _replace),
}
