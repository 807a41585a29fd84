"""LIKE and regular expressions. The engine behind both is DuckDB's: RE2.

In ClickHouse a dot also stands for the end of a line, and a backslash takes the meaning from a wildcard of LIKE.
"""

import re
from collections.abc import Sequence

from hedgerow.dialects.clickhouse import casing
from hedgerow.dialects.clickhouse.spelling import Writer, quoted
from hedgerow.dialects.clickhouse.texts import LONGEST, constant, cut
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.tree import may_be_empty
from hedgerow.expressions.nodes import Call

LINES = "(?-s)"


def _like(expr: Call, texts: Sequence[str]) -> str | None:
    pattern = constant(expr.arguments[1])
    return f"({texts[0]} LIKE {quoted(_plain(pattern))})" if isinstance(pattern, str) else None


def _ilike(expr: Call, texts: Sequence[str]) -> str | None:
    """Both sides in small letters."""
    pattern = constant(expr.arguments[1])
    if not isinstance(pattern, str):
        return None
    return f"({casing.lower(texts[0])} LIKE {casing.lower(quoted(_plain(pattern)))})"


def _plain(pattern: str) -> str:
    return pattern.replace("\\", "\\\\")


def _like_escape(expr: Call, texts: Sequence[str]) -> str | None:
    pattern, sign = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(pattern, str) or not isinstance(sign, str):
        return None
    made, at = "", 0
    while at < len(pattern):
        taken = pattern[at] == sign and at + 1 < len(pattern)
        at += taken
        made += f"\\{pattern[at]}" if taken or pattern[at] == "\\" else pattern[at]
        at += 1
    return f"({texts[0]} LIKE {quoted(_unescaped(made))})"


def _unescaped(pattern: str) -> str:
    """A backslash stands before wildcards and itself only."""
    return re.sub(r"\\([^%_\\])", r"\1", pattern)


def _matches(expr: Call, texts: Sequence[str]) -> str | None:
    pattern = constant(expr.arguments[1])
    return f"match({texts[0]}, {quoted(LINES + pattern)})" if isinstance(pattern, str) else None


def _full_match(expr: Call, texts: Sequence[str]) -> str | None:
    pattern = constant(expr.arguments[1])
    whole = quoted(f"{LINES}\\A(?:{pattern})\\z")
    return f"match({texts[0]}, {whole})" if isinstance(pattern, str) else None


def _extract(expr: Call, texts: Sequence[str]) -> str | None:
    pattern, group = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(pattern, str) or not isinstance(group, int):
        return None
    return f"regexpExtract({texts[0]}, {quoted(f'{LINES}({pattern})')}, {group + 1})"


def _replace(name: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str | None:
        pattern, by = (constant(argument) for argument in expr.arguments[1:])
        if not isinstance(pattern, str) or not isinstance(by, str) or (name.endswith("All") and _may_be_empty(pattern)):
            return None
        made = f"{name}({cut(texts[0], LONGEST)}, {quoted(LINES + pattern)}, {quoted(by)})"
        return cut(made, LONGEST)

    return write


def _may_be_empty(pattern: str) -> bool:
    """Return True if a match may have no characters: engines differ in how often they find nothing."""
    try:
        return may_be_empty(read(pattern)[0])
    except UnsupportedPatternError:
        return True


WRITERS: dict[str, Writer] = {
    "like": _like,
    "ilike": _ilike,
    "like_escape": _like_escape,
    "regexp_matches": _matches,
    "regexp_full_match": _full_match,
    "regexp_extract": _extract,
    "regexp_replace": _replace("replaceRegexpOne"),
    "regexp_replace_all": _replace("replaceRegexpAll"),
}
