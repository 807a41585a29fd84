"""Binding regular expressions. Dialects differ in what matches, in flags, and in what is given without a match."""

import re

from sqlglot import exp

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, patterns
from hedgerow.plan.handlers import Binder, Handlers, constant_text, constant_whole, text, unsupported, whole
from hedgerow.plan.syntax import dialect_of, span_of
from hedgerow.plan.texts import as_text

FLAGS = {"i": "i", "c": "", "s": "s", "g": "", "e": ""}
"""Flags that are understood and how a pattern spells them; `g` and `e` are looked at where they mean something."""


def _pattern(node: exp.Expr, written: exp.Expr, binder: Binder, flags: str = "") -> str:
    """The checked pattern, flags included; in PostgreSQL a dot also stands for the end of a line."""
    pattern = constant_text(binder.bind(written), node, "A regular expression")
    if any(flag not in FLAGS for flag in flags):
        raise unsupported(node, hint="Of the flags, i, c, s and g are understood.")
    marks = {FLAGS[flag] for flag in flags} | ({"s"} if dialect_of(node) == "postgres" else set())
    spelled = "".join(sorted(marks))
    return patterns.checked(f"(?{spelled}){pattern}" if spelled else pattern, node)


def _flags(node: exp.Expr, binder: Binder, name: str = "flag") -> str:
    given = node.args.get(name)
    return "" if given is None else constant_text(binder.bind(given), node, "The flags of a regular expression")


def _matches(node: exp.RegexpLike, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, _flags(node, binder))
    name = "regexp_full_match" if node.args.get("full_match") else "regexp_matches"
    found = coerce.call(name, [as_text(binder.bind(node.this)), text(pattern)], span_of(node))
    return coerce.call("not", [found]) if node.args.get("negate") else found


def _matches_blindly(node: exp.RegexpILike, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, "i" + _flags(node, binder))
    return coerce.call("regexp_matches", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _full(node: exp.RegexpFullMatch, binder: Binder) -> Expr:
    pattern = _pattern(node, node.expression, binder, _flags(node, binder, "options"))
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _extract(node: exp.RegexpExtract | exp.RegexpSubstr, binder: Binder) -> Expr:
    """DuckDB and Spark give the empty text where nothing matches, the others NULL."""
    pattern = _pattern(node, node.expression, binder, _flags(node, binder, "parameters"))
    dialect, count = dialect_of(node), patterns.groups(pattern)
    given = node.args.get("group")
    group = None if given is None else constant_whole(binder.bind(given), node, "The group", 0, 9)
    if group is None:
        if dialect == "bigquery" and count > 1:
            raise patterns.bad_pattern(node, "it has more than one group, so it cannot be told which is meant")
        group = min(count, 1) if dialect == "bigquery" else 0
    if group > count:
        raise patterns.bad_pattern(node, f"there is no group {group}")
    value = as_text(binder.bind(node.this))
    found = coerce.call("regexp_extract", [value, text(pattern), whole(group)], span_of(node))
    if dialect in {"duckdb", "spark"}:
        return found
    matched = coerce.call("regexp_matches", [value, text(pattern)])
    return coerce.call("case", [matched, found, Literal(None, Type.NULL)])


def _replace(node: exp.RegexpReplace, binder: Binder) -> Expr:
    """DuckDB and PostgreSQL replace the first match unless told otherwise, the others all of them."""
    flags = _flags(node, binder, "modifiers")
    pattern = _pattern(node, node.expression, binder, flags)
    given = node.args.get("replacement")
    written = "" if given is None else constant_text(binder.bind(given), node, "The replacement")
    if dialect_of(node) == "spark":
        written = re.sub(r"\$(\d)", r"\\\1", written.replace("\\", "\\\\"))
    by = patterns.replacement(pattern, written, node)
    every = "g" in flags if node.args.get("single_replace") else True
    name = "regexp_replace_all" if every else "regexp_replace"
    return coerce.call(name, [as_text(binder.bind(node.this)), text(pattern), text(by)], span_of(node))


def _similar(node: exp.SimilarTo, binder: Binder) -> Expr:
    """In DuckDB the pattern is a regular expression; in the standard, % and _ are its wildcards."""
    written = constant_text(binder.bind(node.expression), node, "What SIMILAR TO looks for")
    if dialect_of(node) == "duckdb":
        pattern = patterns.checked(written, node)
    else:
        spelled = {"%": ".*", "_": ".", ".": r"\.", "^": r"\^", "$": r"\$"}
        if "\\" in written or "[" in written:
            raise unsupported(node, hint="Use a regular expression: REGEXP_LIKE or ~.")
        pattern = patterns.checked("(?s)(?:" + "".join(spelled.get(c, c) for c in written) + ")", node)
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), text(pattern)], span_of(node))


def _glob(node: exp.Glob, binder: Binder) -> Expr:
    written = constant_text(binder.bind(node.expression), node, "What GLOB looks for")
    if "[" in written or "\\" in written:
        raise unsupported(node, hint="Of GLOB only * and ? are understood.")
    body = "".join({"*": ".*", "?": "."}.get(c) or re.escape(c) for c in written)
    pattern = text(patterns.checked(f"(?s){body}", node))
    return coerce.call("regexp_full_match", [as_text(binder.bind(node.this)), pattern], span_of(node))


HANDLERS: Handlers = {
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
    exp.RegexpReplace: (("this", "expression", "replacement", "modifiers", "single_replace"), _replace),
    exp.SimilarTo: (("this", "expression"), _similar),
    exp.Glob: (("this", "expression"), _glob),
}
