"""Functions of text and regular expressions.

Lengths and positions count characters; results are truncated to the same length as in DuckDB. PostgreSQL's `lower` and
`upper` depend on the locale of the database. They are applied to ASCII only; all other letters are translated one by
one, as in DuckDB.

PostgreSQL and RE2 agree on whether a text matches, but not on how long a match is or what its groups capture: RE2 takes
the first alternative that leads to a match, PostgreSQL the longest match. They do agree if the next character always
determines how to continue, so REGEXP_EXTRACT and REGEXP_REPLACE accept only such patterns.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import duckdb

from hedgerow.dialects.base import Dialect, Writer
from hedgerow.dialects.postgres.logic import collated
from hedgerow.dialects.postgres.naming import shared
from hedgerow.dialects.postgres.numbers import bigint
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.deterministic import is_deterministic
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


@lru_cache(maxsize=2)
def letter_pairs(function: str) -> tuple[str, str]:
    """Return the letters beyond ASCII that DuckDB's `lower` or `upper` changes, and their replacements."""
    with duckdb.connect(":memory:", config={"enable_external_access": "false", "threads": "1"}) as connection:
        point = "CASE WHEN i NOT BETWEEN 55296 AND 57343 THEN CAST(i AS INTEGER) END"
        letters = f"SELECT chr({point}) AS c FROM range(128, {LAST + 1}) AS t(i)"
        changed_letters = connection.execute(
            f"SELECT c, {function}(c) FROM ({letters}) WHERE {function}(c) <> c"
        ).fetchall()
    return "".join(one for one, _ in changed_letters), "".join(other for _, other in changed_letters)


def with_case_changed(function: str, text: str) -> str:
    """`lower` or `upper` of a text, with a fast path for ASCII."""
    one, other = letter_pairs(function)
    ascii_only = f'{function}({text} COLLATE "C")'
    translated = f"translate({ascii_only}, '{one}', '{other}')"
    return f"CASE WHEN octet_length({text}) = length({text}) THEN {ascii_only} ELSE {translated} END"


SPACES = "\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Characters that TRIM removes: the space separators of Unicode, and neither tabs nor line ends."""

FAR = 2**32
"""From this position or length on, the result is NULL."""

FARTHEST = 2_000_000_000
LONGEST, LONG = 1_000, 10_000


def _template(template: str) -> Writer:
    return lambda _dialect, expr, texts: shared(template, expr.arguments, list(map(collated, texts)))


def _letters(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    return shared(with_case_changed(expr.function, "{0}"), expr.arguments, texts)


def _trim(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    name = "btrim" if expr.function == "trim" else expr.function
    characters = texts[1] if len(texts) > 1 else dialect.string(SPACES)
    return f"{name}({collated(texts[0])}, {collated(characters)})"


def _constant(expr: Expr) -> int | None:
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int) else None


def _near(text: str, expr: Expr) -> str:
    """A position or length, clamped to 32 bits; beyond `FARTHEST` it makes no difference."""
    value = _constant(expr)
    if value is not None:
        return f"({max(-FARTHEST, min(value, FARTHEST))})"
    return f"CAST(int8smaller(int8larger({bigint(expr, text)}, {-FARTHEST}), {FARTHEST}) AS INTEGER)"


def _end(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """LEFT and RIGHT; a negative length is the number of characters to drop."""
    cut = f"{expr.function}({collated(texts[0])}, {_near(texts[1], expr.arguments[1])})"
    if expr.function == "right" or (_constant(expr.arguments[1]) or FAR) < FAR:
        return cut
    return f"CASE WHEN {texts[1]} < {FAR} THEN {cut} END"


def _substring(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """Negative positions count from the end, position 0 precedes the first; a negative length counts backwards."""
    known = [_constant(a) for a in expr.arguments[1:]]
    if all(value is not None and at <= value < FARTHEST for value, at in zip(known, (1, 0), strict=False)):
        return f"substr({collated(texts[0])}, {', '.join(texts[1:])})"
    numbers = [bigint(a, text) for a, text in zip(expr.arguments[1:], texts[1:], strict=True)]
    in_range = " AND ".join(f"{{{i + 1}}} BETWEEN {-FAR} AND {FAR - 1}" for i in range(len(numbers)))
    return shared(f"CASE WHEN {in_range} THEN {_cut(len(numbers))} END", expr.arguments, (collated(texts[0]), *numbers))


def _cut(count: int) -> str:
    """Substring from the first position up to, and without, the last."""
    start = "CASE WHEN {1} < 0 THEN length({0}) + {1} + 1 ELSE {1} END"
    if count == 1:
        return f"substr({{0}}, {_narrow(start, 1)})"
    first = _narrow(f"({start}) + CASE WHEN {{2}} < 0 THEN {{2}} ELSE 0 END", 1)
    behind = _narrow(f"({start}) + CASE WHEN {{2}} < 0 THEN 0 ELSE {{2}} END", 1)
    return f"substr({{0}}, {first}, {_narrow(f'{behind} - {first}', 0)})"


def _narrow(text: str, minimum: int) -> str:
    """A position clamped to 32 bits and to a minimum; NULL stays NULL."""
    return f"CAST(int8smaller(int8larger({text}, {minimum}), {FARTHEST}) AS INTEGER)"


def _concat(_dialect: Dialect, _expr: Call, texts: Sequence[str]) -> str:
    parts = [f"left({collated(text)}, {LONG})" for text in texts]
    return f"left({' || '.join(parts)}, {LONG})"


def _concat_present(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    name = "concat" if expr.function == "concat_present" else "concat_ws"
    parts = [f"left({collated(f'CAST({text} AS TEXT)')}, {LONG})" for text in texts]
    return f"left({name}({', '.join(parts)}), {LONG})"


def _like(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """LIKE without an escape character unless one is given; ILIKE compares lowercase letters."""
    escape = texts[2] if len(texts) > 2 else "''"
    value, pattern = map(collated, texts[:2])
    if expr.function == "ilike":
        value, pattern = (
            shared(with_case_changed("lower", "{0}"), (a,), (t,)) for a, t in zip(expr.arguments, texts, strict=True)
        )
    return f"({value} LIKE {pattern} ESCAPE {escape})"


def _sized(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """LPAD and RPAD, with constant length and fill."""
    return f"{expr.function}({collated(texts[0])}, {texts[1]}, {texts[2]})"


def _repeat(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    times = f"LEAST({texts[1]}, {LONGEST} / GREATEST(length({{0}}), 1) + 1)"
    return shared(
        f"left(repeat(left({{0}}, {LONGEST}), {times}), {LONGEST})", expr.arguments[:1], (collated(texts[0]),)
    )


def _position_from(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    start = texts[2]
    position = f"strpos(substr({{0}}, {start}), {{1}})"
    template = f"CASE WHEN {position} = 0 THEN 0 ELSE {position} + {start} - 1 END"
    return shared(template, expr.arguments[:2], list(map(collated, texts[:2])))


def _split_part(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """SPLIT_PART. Part 0 is empty; an empty delimiter splits into characters."""
    number = _near(texts[2], expr.arguments[2])
    value, by = map(collated, texts[:2])
    if isinstance(expr.arguments[1], Literal) and _constant(expr.arguments[2]):
        return f"split_part({value}, {by}, {number})"
    letter = "substr({0}, CASE WHEN {2} < 0 THEN length({0}) + {2} + 1 ELSE {2} END, 1)"
    template = (
        f"CASE WHEN {{2}} = 0 THEN left({{0}} || {{1}}, 0) WHEN {{1}} = '' THEN {letter} "
        "ELSE split_part({0}, {1}, {2}) END"
    )
    return shared(template, expr.arguments, (value, by, number))


def _character(_dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    valid = "{0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111"
    return shared(f"CASE WHEN {valid} THEN chr(CAST({{0}} AS INTEGER)) END", expr.arguments, texts)


TEXTS: Mapping[str, Writer] = {
    **dict.fromkeys(("lower", "upper"), _letters),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), _trim),
    "length": _template("length({0})"),
    "substring": _substring,
    **dict.fromkeys(("left", "right"), _end),
    "replace": _template(f"left(replace(left({{0}}, {LONGEST}), {{1}}, left({{2}}, 100)), {LONGEST})"),
    "position": _template("strpos({0}, {1})"),
    "position_from": _position_from,
    "starts_with": _template("starts_with({0}, {1})"),
    "contains": _template("(strpos({0}, {1}) > 0)"),
    "ends_with": _template("(right({0}, length({1})) = {1})"),
    "concat": _concat,
    **dict.fromkeys(("concat_present", "concat_joined"), _concat_present),
    **dict.fromkeys(("like", "ilike", "like_escape"), _like),
    **dict.fromkeys(("lpad", "rpad"), _sized),
    "repeat": _repeat,
    "split_part": _split_part,
    "translate": _template("translate({0}, {1}, {2})"),
    "code_point": _template("ascii({0})"),
    "character": _character,
}


MAX_REPEAT = 255
ENDS = {"A": "^", "z": "$"}


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
        body = f"(?:{written(node.body, grouped=grouped)})"
        quantifiers = _times(node.minimum, node.maximum)
        if grouped and len(quantifiers) > 1:
            raise UnsupportedPatternError
        return "".join(f"{body}{quantifier}" for quantifier in quantifiers)
    raise UnsupportedPatternError("a step of the backtracking writer")


def _read(dialect: Dialect, expr: Expr) -> Node:
    if not isinstance(expr, Literal) or not isinstance(expr.value, str):
        raise dialect.lacks("a regular expression that is not a constant")
    try:
        return read(expr.value)[0]
    except UnsupportedPatternError:
        raise dialect.lacks("this regular expression") from None


def _tried(pattern: str, body: str) -> str:
    """Match a constant first: a pattern too large for PostgreSQL then fails whatever the rows contain."""
    return f"CASE WHEN '' ~ {pattern} IS NOT NULL THEN {body} END"


def _matches(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    tree = _read(dialect, expr.arguments[1])
    try:
        inner = written(tree, grouped=False)
    except UnsupportedPatternError:
        raise dialect.lacks("this regular expression") from None
    pattern = dialect.string(f"^(?:{inner})$" if expr.function == "regexp_full_match" else f"(?:{inner})")
    return _tried(pattern, f"({collated(texts[0])} ~ {pattern})")


def _unambiguous(dialect: Dialect, expr: Call) -> tuple[Node, str]:
    """Return a pattern that can match in one way only, as a tree and as text with its groups."""
    tree = _read(dialect, expr.arguments[1])
    text = _with_groups(tree) if is_deterministic(tree) else None
    if text is None:
        what = expr.function.replace("_", " ")
        raise dialect.lacks(f"{what} with a regular expression that can match in several ways")
    return tree, text


def _with_groups(tree: Node) -> str | None:
    try:
        return written(tree, grouped=True)
    except UnsupportedPatternError:
        return None


def _extract(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
    """The group, or the empty text if nothing matches. The whole match is group 1 in PostgreSQL's numbering."""
    _, inner = _unambiguous(dialect, expr)
    group, pattern = expr.arguments[2], dialect.string(f"({inner})")
    if not isinstance(group, Literal) or not isinstance(group.value, int):
        raise dialect.lacks("a group that is not a constant")
    group_text = f"COALESCE((regexp_match({{0}}, {_quoted(pattern)}))[{group.value + 1}], '')"
    template = _tried(_quoted(pattern), f"CASE WHEN {{0}} IS NOT NULL THEN {group_text} END")
    return shared(template, expr.arguments[:1], (collated(texts[0]),))


def _replace(dialect: Dialect, expr: Call, texts: Sequence[str]) -> str:
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


REGEXPS: Mapping[str, Writer] = {
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), _matches),
    "regexp_extract": _extract,
    **dict.fromkeys(("regexp_replace", "regexp_replace_all"), _replace),
}
