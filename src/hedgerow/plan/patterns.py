"""Patterns: constants that are tried out when the query is bound, so that none can fail or run away on a row.

Privacy: regular expressions run in an engine whose time grows in proportion to the text. LIKE with several % next to
other wildcards would not, so it is written as a regular expression.
"""

import re
import threading

import duckdb
from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.plan import coerce
from hedgerow.plan.handlers import text
from hedgerow.plan.syntax import span_of

LONGEST_PATTERN = 500
MOST_REPEATS = 1_000
FEW = 2
"""So many % are looked for one after the other by LIKE itself without going back often."""

_lock = threading.Lock()
_connection: list[duckdb.DuckDBPyConnection] = []


def like(value: Expr, pattern: str, escape: str, node: exp.Like | exp.ILike) -> Expr:
    """`value LIKE pattern ESCAPE escape`; `escape` is empty or one sign."""
    items = _like_items(pattern, escape, node)
    blind = isinstance(node, exp.ILike)
    escaped = bool(escape) and escape in pattern
    hard = blind or escaped or "_" in pattern
    if (hard and items.count("%") > FEW) or (blind and escaped):
        return _as_regexp(value, items, blind=blind, node=node)
    if escaped:
        return coerce.call("like_escape", [value, text(pattern), text(escape)], span_of(node))
    return coerce.call("ilike" if blind else "like", [value, text(pattern)], span_of(node))


def _like_items(pattern: str, escape: str, node: exp.Expr) -> list[str]:
    """The pattern as wildcards `%`, `_` and literal signs, the latter marked by a leading `=`."""
    items, at = list[str](), 0
    while at < len(pattern):
        sign = pattern[at]
        if escape and sign == escape:
            at += 1
            if at == len(pattern):
                raise bad_pattern(node, "it ends in the sign that takes the meaning from the next one")
            items.append("=" + pattern[at])
        else:
            items.append(sign if sign in "%_" else "=" + sign)
        at += 1
    return items


def _as_regexp(value: Expr, items: list[str], *, blind: bool, node: exp.Expr) -> Expr:
    body = "".join({"%": ".*", "_": "."}.get(item) or re.escape(item[1:]) for item in items)
    return coerce.call("regexp_full_match", [value, text(checked(f"(?s{'i' * blind}){body}", node))], span_of(node))


def checked(pattern: str, node: exp.Expr) -> str:
    """The pattern, if the engine can read it and it is of moderate size."""
    if len(pattern) > LONGEST_PATTERN or "\x00" in pattern:
        raise bad_pattern(node, f"it is longer than {LONGEST_PATTERN} characters")
    repeats = 1
    for low, high in re.findall(r"\{(\d{1,9})(?:,(\d{0,9}))?\}", pattern):
        repeats *= max(int(low), int(high or 0), 1)
    if repeats > MOST_REPEATS:
        raise bad_pattern(node, f"its repetitions multiply to more than {MOST_REPEATS:,}")
    if any(escaped in "BC" for escaped in re.findall(r"\\(.)", pattern, re.DOTALL)):
        raise bad_pattern(node, r"\B and \C can match inside a character")
    if _tried("SELECT regexp_matches('', $1), regexp_full_match('a', $1)", [pattern]) is None:
        raise bad_pattern(node, "it is not a regular expression that can be run in linear time")
    return pattern


def groups(pattern: str) -> int:
    """How many groups a checked pattern has; more than nine cannot be named, and are not counted."""
    named = (n for n in range(9, 0, -1) if _tried("SELECT regexp_replace('', $1, $2)", [pattern, f"\\{n}"]) is not None)
    return next(named, 0)


def replacement(pattern: str, written: str, node: exp.Expr) -> str:
    """What a match is replaced by, if all groups it names exist."""
    if len(written) > 100 or _tried("SELECT regexp_replace('', $1, $2)", [pattern, written]) is None:
        raise bad_pattern(node, r"its replacement is too long, or names a group (\1, \2) that is not there")
    return written


def bad_pattern(node: exp.Expr, why: str) -> UnsupportedSQLError:
    """The refusal of a pattern."""
    return UnsupportedSQLError(
        f"This pattern cannot be used: {why}.",
        code="bad-pattern",
        hint="Patterns are RE2 regular expressions: no look-around, no references back.",
        span=span_of(node),
    )


def _tried(sql: str, values: list[str]) -> object | None:
    """The row that a query over constants gives in a database of its own; None if it fails. No data is near."""
    with _lock:
        if not _connection:
            _connection.append(duckdb.connect(":memory:", config={"enable_external_access": "false", "threads": "1"}))
        try:
            return _connection[0].execute(sql, values).fetchone()
        except duckdb.Error:
            return None
