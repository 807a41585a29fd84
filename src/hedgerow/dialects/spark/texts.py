"""Functions of text, LIKE and regular expressions. Lengths and positions count characters, as in DuckDB.

Patterns are constants that the binder has checked. They are parsed and rewritten for Java, and refused unless Java is
certain to find the same matches on every text, in linear time.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from hedgerow.dialects.base import Dialect, Template
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.backtracking import java
from hedgerow.dialects.regex.tree import (
    EVERY,
    Anchor,
    Characters,
    Concatenation,
    Node,
    Repeat,
    anchored,
    may_be_empty,
)
from hedgerow.dialects.spark.spelling import Typed, bigint, quoted
from hedgerow.expressions.nodes import Call, Expr, Literal

_BLOCKS = (
    (0x1C89, 0x1C8A),
    (0xA7CB, 0xA7CF),
    (0xA7D2, 0xA7D5),
    (0xA7DA, 0xA7DC),
    (0x10D50, 0x10D85),
    (0x16EA0, 0x16EDA),
)
NEWER = frozenset(code for first, last in _BLOCKS for code in range(first, last + 1))
"""Letters added after Unicode 15, and older ones whose counterpart was: they have no other case in DuckDB."""

BEYOND = 0x1F000
"""No character from here on has a case."""

UPPER = {"ß": "ẞ"}
LOWER = {"İ": "i"}


def _single(character: str, *candidates: str) -> str:
    """The first candidate that is a single character."""
    return next((text for text in candidates if len(text) == 1 and ord(text) not in NEWER), character)


@cache
def case_table(case: str) -> tuple[str, str]:
    """Return all characters that the case changes, and their replacements."""
    pairs = []
    for code in range(BEYOND):
        character = chr(code)
        if code in NEWER:
            continue
        new = (
            UPPER.get(character) or _single(character, character.upper(), character.title())
            if case == "upper"
            else LOWER.get(character) or _single(character, character.lower())
        )
        if new != character:
            pairs.append((character, new))
    return "".join(old for old, _ in pairs), "".join(new for _, new in pairs)


def in_case(case: str, text: str) -> str:
    """A text in upper or lower case.

    Java maps `ß` to `SS`, treats a final sigma differently and follows the newest Unicode; DuckDB maps one character to
    one. So text beyond ASCII is translated by a table of letters, which need no escapes under any setting.
    """
    old, new = case_table(case)
    ascii_only = f"octet_length({text}) = char_length({text})"
    return f"CASE WHEN {ascii_only} THEN {case}({text}) ELSE translate({text}, '{old}', '{new}') END"


REACH = 1 << 32
"""From this position or length on, DuckDB returns NULL."""

FAR = (1 << 31) - 1
SPACES = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""Characters that TRIM removes: the space separators of Unicode."""


def _trim(side: str) -> Template:
    return lambda texts: f"trim({side} {texts[1] if len(texts) > 1 else quoted(SPACES)} FROM {texts[0]})"


def _number(expr: Expr) -> int | None:
    """Return the value of a constant integer; None for any other expression."""
    value = expr.value if isinstance(expr, Literal) else None
    return value if isinstance(value, int) else None


def _is_near(expr: Expr, minimum: int) -> bool:
    """Return True if an expression is a constant from a minimum up to 32 bits."""
    value = _number(expr)
    return value is not None and minimum <= value <= FAR


def _held(text: str) -> str:
    """A length, clamped to 0 and 32 bits."""
    return f"CAST(LEAST(GREATEST({text}, 0L), {FAR}L) AS INT)"


def _substring(call: Call, texts: Sequence[str]) -> str:
    """SUBSTRING. Negative positions count from the end; a negative length counts backwards."""
    numbers = call.arguments[1:]
    if _is_near(numbers[0], 1) and all(_is_near(length, 0) for length in numbers[1:]):
        return f"substring({', '.join(texts)})"
    text, start = texts[0], bigint(texts[1])
    begin = f"(CASE WHEN {start} >= 0L THEN {start} - 1L ELSE char_length({text}) + {start} END)"
    reached = f"{start} BETWEEN -{REACH}L AND {REACH - 1}L"
    if len(texts) == 2:
        return f"CASE WHEN {reached} THEN substring({text}, 1 + {_held(f'LEAST({begin}, {FAR - 1}L)')}) END"
    length = bigint(texts[2])
    low, high = f"LEAST({begin}, {begin} + {length})", f"GREATEST({begin}, {begin} + {length})"
    first = _held(f"LEAST({low}, {FAR - 1}L)")
    cut = f"substring({text}, 1 + {first}, {_held(f'{high} - {first}')})"
    return f"CASE WHEN {reached} AND {length} BETWEEN -{REACH}L AND {REACH - 1}L THEN {cut} END"


def _left(call: Call, texts: Sequence[str]) -> str:
    if _is_near(call.arguments[1], 0):
        return f"left({texts[0]}, {texts[1]})"
    text, count = texts[0], bigint(texts[1])
    but = _held(f"char_length({text}) + GREATEST({count}, -{REACH}L)")
    short = f"WHEN {count} < 0L THEN left({text}, {but})"
    return f"CASE {short} WHEN {count} < {REACH}L THEN left({text}, {_held(count)}) END"


def _right(call: Call, texts: Sequence[str]) -> str:
    if _is_near(call.arguments[1], 0):
        return f"right({texts[0]}, {texts[1]})"
    text, count = texts[0], bigint(texts[1])
    but = _held(f"char_length({text}) + GREATEST({count}, -{REACH}L)")
    return f"CASE WHEN {count} < 0L THEN right({text}, {but}) WHEN {count} >= 0L THEN right({text}, {_held(count)}) END"


def _split_part(call: Call, texts: Sequence[str]) -> str:
    """SPLIT_PART. An empty delimiter splits into characters; part 0 is empty."""
    text, delimiter, index = texts[0], texts[1], bigint(texts[2])
    given = call.arguments[1]
    if isinstance(given, Literal) and given.value and _number(call.arguments[2]):
        return f"split_part({text}, {delimiter}, {texts[2]})"
    number = f"CAST(LEAST(GREATEST({index}, -{FAR}L), {FAR}L) AS INT)"
    sign = f"(CASE WHEN {index} < 0L THEN char_length({text}) + {number} + 1L ELSE {number} END)"
    character = f"CASE WHEN {sign} > 0L THEN substring({text}, {_held(sign)}, 1) ELSE '' END"
    part = f"split_part({text}, {delimiter}, NULLIF({number}, 0))"
    missing = f"WHEN {text} IS NULL OR {delimiter} IS NULL OR {index} IS NULL THEN NULL"
    return f"CASE {missing} WHEN {index} = 0L THEN '' WHEN {delimiter} = '' THEN {character} ELSE {part} END"


def _or_empty(text: str) -> str:
    return f"COALESCE({text}, '')"


CHARACTER = (
    "decode(unhex(lpad(hex(CASE WHEN {0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111 "
    "THEN CAST({0} AS BIGINT) END), 8, '0')), 'UTF-32')"
)
TIMES = "CAST(LEAST({1}, 1000 DIV GREATEST(char_length({0}), 1) + 1) AS INT)"
POSITION = "instr(substring({0}, {2}), {1})"

TEXTS: Mapping[str, Template] = {
    "upper": lambda texts: in_case("upper", texts[0]),
    "lower": lambda texts: in_case("lower", texts[0]),
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "length": "char_length({0})",
    "replace": "left(replace(left({0}, 1000), {1}, left({2}, 100)), 1000)",
    "position": "instr({0}, {1})",
    "position_from": f"CASE WHEN {POSITION} = 0 THEN 0 ELSE {POSITION} + {{2}} - 1 END",
    "starts_with": "startswith({0}, {1})",
    "ends_with": "endswith({0}, {1})",
    "contains": "contains({0}, {1})",
    "concat": lambda texts: f"left(concat({', '.join(texts)}), 10000)",
    "concat_present": lambda texts: f"left(concat({', '.join(map(_or_empty, texts))}), 10000)",
    "concat_joined": lambda texts: f"left(concat_ws({', '.join(texts)}), 10000)",
    "lpad": "lpad({0}, {1}, {2})",
    "rpad": "rpad({0}, {1}, {2})",
    "repeat": f"left(repeat(left({{0}}, 1000), {TIMES}), 1000)",
    "translate": "translate({0}, {1}, {2})",
    "code_point": "ascii({0})",
    "character": CHARACTER,
}
"""REVERSE is missing: DuckDB keeps letters and their accents together, Spark does not."""

TYPED_TEXTS: Mapping[str, Typed] = {
    "substring": _substring,
    "left": _left,
    "right": _right,
    "split_part": _split_part,
}


ESCAPES = "!~#@|^"
FEW = 2
"""Maximum number of `%` that LIKE may search for one after the other: the time grows with each."""


def patterns(dialect: Dialect) -> Mapping[str, Typed]:
    """Return the writers of functions with a pattern, which refuse unsupported patterns."""
    writers: Mapping[str, Typed] = {
        "like": lambda call, texts: _like(texts[0], _items(_pattern_text(call, 1), "")),
        "like_escape": lambda call, texts: _like(texts[0], _items(_pattern_text(call, 1), _pattern_text(call, 2))),
        "ilike": lambda call, texts: _ilike(texts[0], _pattern_text(call, 1)),
        "regexp_matches": _matches,
        "regexp_full_match": _full_match,
        "regexp_extract": _extract,
        "regexp_replace": _replace_first,
        "regexp_replace_all": _replace_all,
    }
    return {name: _refusing(writer, dialect) for name, writer in writers.items()}


def _refusing(writer: Typed, dialect: Dialect) -> Typed:
    def written(call: Call, texts: Sequence[str]) -> str:
        try:
            return writer(call, texts)
        except UnsupportedPatternError:
            raise dialect.lacks("this pattern") from None

    return written


def _pattern_text(call: Call, at: int) -> str:
    argument = call.arguments[at]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        raise UnsupportedPatternError("not a constant")
    return argument.value


def _items(pattern: str, escape: str) -> list[str]:
    """The pattern of LIKE as `%`, `_` and literal characters, the latter marked by a leading `=`."""
    items, at = list[str](), 0
    while at < len(pattern):
        escaped = bool(escape) and pattern[at] == escape
        at += escaped
        character = pattern[at : at + 1]
        items.append(character if character in "%_" and not escaped else f"={character}")
        at += 1
    return items


def _like(text: str, items: Sequence[str]) -> str:
    """LIKE with an escape character that does not occur: Spark always has one."""
    if items.count("%") > FEW:
        return f"({text} RLIKE {quoted(java(_like_tree(items), search=True))})"
    escape = next((character for character in ESCAPES if f"={character}" not in items), None)
    if escape is None:
        raise UnsupportedPatternError("every escape character occurs")
    pattern = "".join(f"{escape}{i[1]}" if i in {"=%", "=_"} else i.removeprefix("=") for i in items)
    return f"({text} LIKE {quoted(pattern)} ESCAPE '{escape}')"


def _like_tree(items: Sequence[str]) -> Node:
    wild: dict[str, Node] = {"%": Repeat(Characters(EVERY), 0, None), "_": Characters(EVERY)}
    nodes = [wild.get(item) or Characters(((ord(item[1]), ord(item[1])),)) for item in items]
    return Concatenation((Anchor("A"), *nodes, Anchor("z")))


def _ilike(text: str, pattern: str) -> str:
    """ILIKE: compare both sides in lower case, with an escape character that does not occur."""
    escape = next((character for character in ESCAPES if character not in pattern), None)
    if escape is None:
        raise UnsupportedPatternError("every escape character occurs")
    return f"({in_case('lower', text)} LIKE {in_case('lower', quoted(pattern))} ESCAPE '{escape}')"


def _matches(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_pattern_text(call, 1))
    return f"({texts[0]} RLIKE {quoted(java(tree, search=True))})"


def _full_match(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_pattern_text(call, 1))
    return f"({texts[0]} RLIKE {quoted(java(anchored(tree), search=True))})"


def _extract(call: Call, texts: Sequence[str]) -> str:
    tree, _ = read(_pattern_text(call, 1))
    return f"regexp_extract({texts[0]}, {quoted(java(tree))}, {texts[2]})"


def _replace_first(call: Call, texts: Sequence[str]) -> str:
    """Replace the first match: group 1 is the text before it, group 2 the match."""
    tree, _ = read(_pattern_text(call, 1))
    pattern = f"\\A((?s:.)*?)({java(tree)})"
    by = "$1" + _replacement(_pattern_text(call, 2), shift=2)
    return _replaced(texts[0], pattern, by)


def _replace_all(call: Call, texts: Sequence[str]) -> str:
    """Replace all matches, except empty ones right after another match or inside a surrogate pair, as Java would."""
    tree, _ = read(_pattern_text(call, 1))
    pattern = java(tree)
    if may_be_empty(tree):
        pattern = f"(?:\\A|(?<=(?s:.)))(?>{pattern})(?:(?!\\G)|(?=\\A))"
    return _replaced(texts[0], pattern, _replacement(_pattern_text(call, 2), shift=0))


def _replaced(text: str, pattern: str, by: str) -> str:
    return f"left(regexp_replace(left({text}, 1000), {quoted(pattern)}, {quoted(by)}), 1000)"


def _replacement(written: str, shift: int) -> str:
    r"""The replacement in Java's syntax: `\1` becomes `$1`; every other character is escaped."""
    replacement, at = "", 0
    while at < len(written):
        character = written[at]
        if character == "\\" and written[at + 1 : at + 2].isdigit():
            replacement += f"${int(written[at + 1]) + shift}"
            at += 2
            continue
        at += 1 if character != "\\" else 2
        replacement += f"\\{character}"
    return replacement
