"""Binding functions of text, each with the meaning it has in the dialect of the query."""

import string

from sqlglot import exp

from hedgerow.expressions.facts import range_of
from hedgerow.expressions.functions.text import LONGEST_TEXT
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, patterns
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

LONGEST_FILL = 100
FAR = 1_000_000


def as_text(expr: Expr) -> Expr:
    """The value as text."""
    return expr if expr.type is Type.TEXT else coerce.call("cast_text", [expr])


def _concat(node: exp.Concat, binder: Binder) -> Expr:
    """In some dialects CONCAT passes over NULL, in others it does not; the parser says which is meant."""
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
    """Positions count from 1; what comes before 1 means different things in different dialects."""
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
    fill = " " if given is None else constant_text(binder.bind(given), node, "What LPAD and RPAD fill up with")
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
    start = constant_whole(binder.bind(node.args["position"]), node, "The place to begin at", 1, FAR)
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
    """LIKE. SQLite does not tell ASCII letters by case; elsewhere LIKE does, and ILIKE does not."""
    value = as_text(binder.bind(node.this))
    pattern = constant_text(binder.bind(node.expression), node, "What LIKE looks for")
    if isinstance(node, exp.Like) and dialect_of(node) == "sqlite":
        letters = [text(string.ascii_uppercase), text(string.ascii_lowercase)]
        value = coerce.call("translate", [value, *letters])
        pattern = "".join(c.lower() if c.isascii() else c for c in pattern)
    found = patterns.like(value, pattern, escape, node)
    return coerce.call("not", [found]) if node.args.get("negate") else found


HANDLERS: Handlers = {
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
