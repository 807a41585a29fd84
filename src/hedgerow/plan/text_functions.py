"""Binding of functions of text: patterns, regular expressions, pieces, and text in dialects."""

import re
import string
import threading

import duckdb
from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.functions.text import LONGEST_TEXT
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import (
    Binder,
    Handlers,
    at_least,
    constant_text,
    constant_whole,
    strict,
    text,
    unsupported,
    whole,
)
from hedgerow.plan.syntax import dialect_of, span_of

LONGEST_PATTERN = 500
MOST_REPEATS = 1_000
FEW = 2
"""Number of % wildcards up to which LIKE itself matches without much backtracking."""

_lock = threading.Lock()
_connection: list[duckdb.DuckDBPyConnection] = []


def like(value: Expr, pattern: str, escape: str, node: exp.Like | exp.ILike) -> Expr:
    """Return `value LIKE pattern ESCAPE escape`; `escape` is empty or one character."""
    items = _like_items(pattern, escape, node)
    blind = isinstance(node, exp.ILike)
    escaped = bool(escape) and escape in pattern
    hard = blind or escaped or "_" in pattern
    if (hard and items.count("%") > FEW) or (blind and escaped):
        body = "".join({"%": ".*", "_": "."}.get(item) or re.escape(item[1:]) for item in items)
        return coerce.call("regexp_full_match", [value, text(checked(f"(?s{'i' * blind}){body}", node))], span_of(node))
    if escaped:
        return coerce.call("like_escape", [value, text(pattern), text(escape)], span_of(node))
    return coerce.call("ilike" if blind else "like", [value, text(pattern)], span_of(node))


def _like_items(pattern: str, escape: str, node: exp.Expr) -> list[str]:
    """Return the pattern as wildcards `%`, `_` and literal characters, the latter marked by a leading `=`."""
    items, at = list[str](), 0
    while at < len(pattern):
        sign = pattern[at]
        if escape and sign == escape:
            at += 1
            if at == len(pattern):
                raise bad_pattern(node, "it ends in the escape character")
            items.append("=" + pattern[at])
        else:
            items.append(sign if sign in "%_" else "=" + sign)
        at += 1
    return items


def checked(pattern: str, node: exp.Expr) -> str:
    """Return the pattern, if the engine can read it and it is not too large."""
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
    """Return the number of groups of a checked pattern; groups after the ninth cannot be named and are not counted."""
    named = (n for n in range(9, 0, -1) if _tried("SELECT regexp_replace('', $1, $2)", [pattern, f"\\{n}"]) is not None)
    return next(named, 0)


def replacement(pattern: str, written: str, node: exp.Expr) -> str:
    """Return the replacement of a match, if all groups that it names exist."""
    if len(written) > 100 or _tried("SELECT regexp_replace('', $1, $2)", [pattern, written]) is None:
        raise bad_pattern(node, r"its replacement is too long, or names a group (\1, \2) that does not exist")
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
    """Return the row of a query over constants in an empty database; None if it fails. It reads no data."""
    with _lock:
        if not _connection:
            _connection.append(duckdb.connect(":memory:", config={"enable_external_access": "false", "threads": "1"}))
        try:
            return _connection[0].execute(sql, values).fetchone()
        except duckdb.Error:
            return None


LONGEST_FILL = 100
FAR = 1_000_000


def as_text(expr: Expr) -> Expr:
    """The value as text."""
    return expr if expr.type is Type.TEXT else coerce.call("cast_text", [expr])


def _concat(node: exp.Concat, binder: Binder) -> Expr:
    """Bind CONCAT, which skips NULL in some dialects; the parser says which is meant."""
    parts = [as_text(binder.bind(n)) for n in node.expressions]
    if node.args.get("coalesce"):
        return coerce.call("concat_present", parts, span_of(node))
    return _joined(parts, node)


def _joined(parts: list[Expr], node: exp.Expr) -> Expr:
    return coerce.call("concat", parts, span_of(node)) if len(parts) > 1 else parts[0]


def _concat_ws(node: exp.ConcatWs, binder: Binder) -> Expr:
    parts = [as_text(binder.bind(n)) for n in node.expressions]
    value = coerce.call("concat_joined", parts, span_of(node))
    return value if node.args.get("coalesce") else strict(parts, value)


def _pipes(node: exp.DPipe, binder: Binder) -> Expr:
    return _joined([as_text(binder.bind(n)) for n in node.flatten()], node)


def _trim(node: exp.Trim, binder: Binder) -> Expr:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    parts = [binder.bind(n) for n in (node.this, node.expression) if n is not None]
    return coerce.call(name, parts, span_of(node))


def _substring(node: exp.Substring, binder: Binder) -> Expr:
    """Bind SUBSTRING. Positions count from 1; a start below 1 has different meanings in different dialects."""
    value, start = as_text(binder.bind(node.this)), binder.bind(node.args["start"])
    length = None if node.args.get("length") is None else binder.bind(node.args["length"])
    dialect = dialect_of(node)
    if dialect not in {"duckdb", "sqlite"}:
        length = length if length is None else at_least(length, 0)
        start = _from_one(start, node, dialect, open_end=length is None)
    return coerce.call("substring", [value, start] if length is None else [value, start, length], span_of(node))


def _from_one(start: Expr, node: exp.Expr, dialect: str, *, open_end: bool) -> Expr:
    if range_of(start).lower >= 1:
        return start
    if dialect == "postgres" and open_end:
        return at_least(start, 1)
    if isinstance(start, Literal) and start.value == 0 and dialect != "postgres":
        return whole(1)
    if isinstance(start, Literal) and open_end and dialect in {"spark", "bigquery"}:
        return start
    raise unsupported(
        node, hint="Dialects differ about a start below 1: use RIGHT, or a start that is certainly 1 or more."
    )


def _end(name: str, node: exp.Left | exp.Right, binder: Binder) -> Expr:
    length = binder.bind(node.expression)
    kept = length if dialect_of(node) in {"duckdb", "postgres"} else at_least(length, 0)
    return coerce.call(name, [as_text(binder.bind(node.this)), kept], span_of(node))


def _pad(node: exp.Pad, binder: Binder) -> Expr:
    length = constant_whole(binder.bind(node.expression), node, "The length of LPAD and RPAD", 0, LONGEST_TEXT)
    given = node.args.get("fill_pattern")
    fill = " " if given is None else constant_text(binder.bind(given), node, "The fill of LPAD and RPAD")
    if not 0 < len(fill) <= LONGEST_FILL:
        raise unsupported(node, hint=f"Fill up with 1 to {LONGEST_FILL} characters.")
    name = "lpad" if node.args.get("is_left") else "rpad"
    return coerce.call(name, [as_text(binder.bind(node.this)), whole(length), text(fill)], span_of(node))


def _repeat(node: exp.Repeat, binder: Binder) -> Expr:
    times = constant_whole(binder.bind(node.args["times"]), node, "How often REPEAT repeats", 0, LONGEST_TEXT)
    return coerce.call("repeat", [binder.bind(node.this), whole(times)], span_of(node))


def _split_part(node: exp.SplitPart, binder: Binder) -> Expr:
    delimiter = constant_text(binder.bind(node.args["delimiter"]), node, "The delimiter of SPLIT_PART")
    index = constant_whole(binder.bind(node.args["part_index"]), node, "The part of SPLIT_PART", -FAR, FAR)
    if not delimiter or (index == 0 and dialect_of(node) != "snowflake"):
        raise unsupported(
            node, hint="Split by at least one character; parts are numbered from 1, or from -1 backwards."
        )
    arguments = [as_text(binder.bind(node.this)), text(delimiter), whole(index or 1)]
    return coerce.call("split_part", arguments, span_of(node))


def _position(node: exp.StrPosition, binder: Binder) -> Expr:
    arguments = [as_text(binder.bind(node.this)), binder.bind(node.args["substr"])]
    if node.args.get("position") is None:
        return coerce.call("position", arguments, span_of(node))
    start = constant_whole(binder.bind(node.args["position"]), node, "The position to begin at", 1, FAR)
    return coerce.call("position_from", [*arguments, whole(start)], span_of(node))


def _replace(node: exp.Replace, binder: Binder) -> Expr:
    replacement = node.args.get("replacement")
    by = text("") if replacement is None else binder.bind(replacement)
    return coerce.call("replace", [binder.bind(node.this), binder.bind(node.expression), by], span_of(node))


def _character(node: exp.Chr, binder: Binder) -> Expr | None:
    if len(node.expressions) != 1:
        return None
    return coerce.call("character", [binder.bind(node.expressions[0])], span_of(node))


def _like(node: exp.Like | exp.ILike, binder: Binder) -> Expr:
    escape = "\\" if dialect_of(node) in {"postgres", "spark", "bigquery"} else ""
    return _matched(node, escape, binder)


def _escaped(node: exp.Escape, binder: Binder) -> Expr:
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise unsupported(node)
    escape = constant_text(binder.bind(node.expression), node, "The sign after ESCAPE")
    if len(escape) > 1:
        raise unsupported(node, hint="ESCAPE takes a single sign, as in s LIKE '10!%' ESCAPE '!'.")
    return _matched(node.this, escape, binder)


def _matched(node: exp.Like | exp.ILike, escape: str, binder: Binder) -> Expr:
    """Bind LIKE. SQLite ignores the case of ASCII letters; elsewhere LIKE is case-sensitive and ILIKE is not."""
    value = as_text(binder.bind(node.this))
    pattern = constant_text(binder.bind(node.expression), node, "What LIKE looks for")
    if isinstance(node, exp.Like) and dialect_of(node) == "sqlite":
        letters = [text(string.ascii_uppercase), text(string.ascii_lowercase)]
        value = coerce.call("translate", [value, *letters])
        pattern = "".join(c.lower() if c.isascii() else c for c in pattern)
    matched = like(value, pattern, escape, node)
    return coerce.call("not", [matched]) if node.args.get("negate") else matched


_TEXTS: Handlers = {
    exp.Concat: (("expressions", "coalesce", "safe"), _concat),
    exp.ConcatWs: (("expressions", "coalesce", "safe", "flatten"), _concat_ws),
    exp.DPipe: (("this", "expression"), _pipes),
    exp.Trim: (("this", "expression", "position"), _trim),
    exp.Substring: (("this", "start", "length", "zero_start"), _substring),
    exp.Left: (("this", "expression", "negative_length_returns_empty"), lambda n, b: _end("left", n, b)),
    exp.Right: (("this", "expression", "negative_length_returns_empty"), lambda n, b: _end("right", n, b)),
    exp.Pad: (("this", "expression", "fill_pattern", "is_left"), _pad),
    exp.Repeat: (("this", "times"), _repeat),
    exp.SplitPart: (
        ("this", "delimiter", "part_index", "part_index_zero_as_one", "empty_delimiter_returns_whole"),
        _split_part,
    ),
    exp.StrPosition: (("this", "substr", "position", "clamp_position"), _position),
    exp.Replace: (("this", "expression", "replacement"), _replace),
    exp.Chr: (("expressions",), _character),
    exp.Like: (("this", "expression", "negate"), _like),
    exp.ILike: (("this", "expression", "negate"), _like),
    exp.Escape: (("this", "expression"), _escaped),
}


FLAGS = {"i": "i", "c": "", "s": "s", "g": "", "e": ""}
"""Supported flags and how a pattern spells them; `g` and `e` are handled where they have a meaning."""


def _pattern(node: exp.Expr, written: exp.Expr, binder: Binder, flags: str = "") -> str:
    """Return the checked pattern, flags included; in PostgreSQL a dot also matches the end of a line."""
    pattern = constant_text(binder.bind(written), node, "A regular expression")
    if any(flag not in FLAGS for flag in flags):
        raise unsupported(node, hint="The flags i, c, s and g are available.")
    marks = {FLAGS[flag] for flag in flags} | ({"s"} if dialect_of(node) == "postgres" else set())
    spelled = "".join(sorted(marks))
    return checked(f"(?{spelled}){pattern}" if spelled else pattern, node)


def _flags(node: exp.Expr, binder: Binder, name: str = "flag") -> str:
    given = node.args.get(name)
    return "" if given is None else constant_text(binder.bind(given), node, "The flags of a regular expression")


def _matches(node: exp.RegexpLike, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, _flags(node, binder))
    name = "regexp_full_match" if node.args.get("full_match") else "regexp_matches"
    matched = coerce.call(name, [as_text(binder.bind(node.this)), text(pattern)], span_of(node))
    return coerce.call("not", [matched]) if node.args.get("negate") else matched


def _matches_blindly(node: exp.RegexpILike, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, "i" + _flags(node, binder))
    return coerce.call("regexp_matches", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _full(node: exp.RegexpFullMatch, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, _flags(node, binder, "options"))
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _extract(node: exp.RegexpExtract | exp.RegexpSubstr, binder: Binder) -> Expr:
    """Bind REGEXP_EXTRACT: DuckDB and Spark return the empty text where nothing matches, other dialects NULL."""
    pattern = _pattern(node, node.expression, binder, _flags(node, binder, "parameters"))
    dialect, count = dialect_of(node), groups(pattern)
    given = node.args.get("group")
    group = None if given is None else constant_whole(binder.bind(given), node, "The group", 0, 9)
    if group is None:
        if dialect == "bigquery" and count > 1:
            raise bad_pattern(node, "it has more than one group, and BigQuery's REGEXP_EXTRACT allows one")
        group = min(count, 1) if dialect == "bigquery" else 0
    if group > count:
        raise bad_pattern(node, f"there is no group {group}")
    value = as_text(binder.bind(node.this))
    extracted = coerce.call("regexp_extract", [value, text(pattern), whole(group)], span_of(node))
    if dialect in {"duckdb", "spark"}:
        return extracted
    matched = coerce.call("regexp_matches", [value, text(pattern)])
    return coerce.call("case", [matched, extracted, Literal(None, Type.NULL)])


def _regexp_replace(node: exp.RegexpReplace, binder: Binder) -> Expr:
    """Bind REGEXP_REPLACE: DuckDB and PostgreSQL replace the first match by default, other dialects all matches."""
    flags = _flags(node, binder, "modifiers")
    pattern = _pattern(node, node.expression, binder, flags)
    given = node.args.get("replacement")
    written = "" if given is None else constant_text(binder.bind(given), node, "The replacement")
    if dialect_of(node) == "spark":
        written = re.sub(r"\$(\d)", r"\\\1", written.replace("\\", "\\\\"))
    by = replacement(pattern, written, node)
    every = "g" in flags if node.args.get("single_replace") else True
    name = "regexp_replace_all" if every else "regexp_replace"
    return coerce.call(name, [as_text(binder.bind(node.this)), text(pattern), text(by)], span_of(node))


def _similar(node: exp.SimilarTo, binder: Binder) -> Expr:
    """Bind SIMILAR TO: in DuckDB the pattern is a regular expression; in the standard, % and _ are its wildcards."""
    written = constant_text(binder.bind(node.expression), node, "The pattern of SIMILAR TO")
    if dialect_of(node) == "duckdb":
        pattern = checked(written, node)
    else:
        spelled = {"%": ".*", "_": ".", ".": r"\.", "^": r"\^", "$": r"\$"}
        if "\\" in written or "[" in written:
            raise unsupported(node, hint="Use a regular expression: REGEXP_LIKE or ~.")
        pattern = checked("(?s)(?:" + "".join(spelled.get(c, c) for c in written) + ")", node)
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _glob(node: exp.Glob, binder: Binder) -> Expr:
    written = constant_text(binder.bind(node.expression), node, "What GLOB looks for")
    if "[" in written or "\\" in written:
        raise unsupported(node, hint="GLOB patterns can use * and ? only.")
    body = "".join({"*": ".*", "?": "."}.get(c) or re.escape(c) for c in written)
    pattern = text(checked(f"(?s){body}", node))
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), pattern], span_of(node))


_REGEXPS: Handlers = {
    exp.RegexpLike: (("this", "expression", "flag", "full_match", "negate"), _matches),
    exp.RegexpILike: (("this", "expression", "flag"), _matches_blindly),
    exp.RegexpFullMatch: (("this", "expression", "options"), _full),
    exp.RegexpExtract: (
        (
            "this",
            "expression",
            "group",
            "parameters",
            "null_if_pos_overflow",
            "null_if_no_match",
            "empty_if_group_missing",
        ),
        _extract,
    ),
    exp.RegexpSubstr: (("this", "expression"), _extract),
    exp.RegexpReplace: (("this", "expression", "replacement", "modifiers", "single_replace"), _regexp_replace),
    exp.SimilarTo: (("this", "expression"), _similar),
    exp.Glob: (("this", "expression"), _glob),
}

HANDLERS: Handlers = {**_TEXTS, **_REGEXPS}
