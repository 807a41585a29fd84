"""Functions of text, LIKE and regular expressions. Lengths and positions count characters, not bytes.

ClickHouse uses RE2, as DuckDB does. By default its dot also matches a newline, and in LIKE a backslash escapes a
wildcard.
"""

import re
from collections.abc import Sequence

from hedgerow.dialects.clickhouse.spelling import Writer, let, quoted, template
from hedgerow.dialects.regex import UnsupportedPatternError, read
from hedgerow.dialects.regex.tree import may_be_empty
from hedgerow.expressions.nodes import Call, Expr, Literal

NEW = ((0x10D50, 0x10D65), (0x16EA0, 0x16EB8))
LOWER_SPECIAL: Sequence[tuple[int, int]] = (
    (0x130, 0x130),
    (0x3A3, 0x3A3),
    (0x1C89, 0x1C89),
    (0xA7CB, 0xA7CC),
    (0xA7CE, 0xA7CE),
    (0xA7D2, 0xA7D2),
    (0xA7D4, 0xA7D4),
    (0xA7DA, 0xA7DA),
    (0xA7DC, 0xA7DC),
    *NEW,
)
LOWER_KNOWN = {"\u0130": "i", "\u03a3": "\u03c3"}
UPPER_SPECIAL: Sequence[tuple[int, int]] = (
    *((code, code) for code in (0xDF, 0x149, 0x19B, 0x1F0, 0x264, 0x390, 0x3B0, 0x587, 0x1C8A)),
    (0x1E96, 0x1E9A),
    *((code, code) for code in (0x1F50, 0x1F52, 0x1F54, 0x1F56)),
    (0x1F80, 0x1FAF),
    (0x1FB2, 0x1FB4),
    (0x1FB6, 0x1FB7),
    (0x1FBC, 0x1FBC),
    (0x1FC2, 0x1FC4),
    (0x1FC6, 0x1FC7),
    (0x1FCC, 0x1FCC),
    (0x1FD2, 0x1FD3),
    (0x1FD6, 0x1FD7),
    (0x1FE2, 0x1FE4),
    (0x1FE6, 0x1FE7),
    (0x1FF2, 0x1FF4),
    (0x1FF6, 0x1FF7),
    (0x1FFC, 0x1FFC),
    *((code, code) for code in (0xA7CD, 0xA7CF, 0xA7D3, 0xA7D5, 0xA7DB)),
    (0xFB00, 0xFB06),
    (0xFB13, 0xFB17),
    (0x10D70, 0x10D85),
    (0x16EBB, 0x16ED3),
)
UPPER_KNOWN = {
    "\u00df": "\u1e9e",
    **{chr(code): chr(code + 8) for start in (0x1F80, 0x1F90, 0x1FA0) for code in range(start, start + 8)},
    "\u1fb3": "\u1fbc",
    "\u1fc3": "\u1fcc",
    "\u1ff3": "\u1ffc",
}


def lower_case(text: str) -> str:
    """A text in lower case."""
    return _changed_case(text, "lowerUTF8", LOWER_SPECIAL, LOWER_KNOWN)


def upper_case(text: str) -> str:
    """A text in upper case."""
    return _changed_case(text, "upperUTF8", UPPER_SPECIAL, UPPER_KNOWN)


def _changed_case(text: str, name: str, ranges: Sequence[tuple[int, int]], known: dict[str, str]) -> str:
    inside = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)
    letters = ", ".join(quoted("".join(side)) for side in (known.keys(), known.values()))
    special = quoted(f"[{inside}]")
    piece = f"if(match(p, {special}), translateUTF8(p, {letters}), {name}(p))"
    pieces = f"extractAll(assumeNotNull(s), {quoted(f'[{inside}]|[^{inside}]+')})"
    whole = f"arrayStringConcat(arrayMap(p -> {piece}, {pieces}))"
    return let(f"if(match(s, {special}), {whole}, {name}(s))", s=text)


LONGEST = 1_000
LONGEST_JOINED = 10_000
FAR = 2**32 - 1
"""Largest position: they have 32 bits."""

SIZE = "toInt64(lengthUTF8(s))"

FEW_BYTES = 4
SPACES = r"\p{Zs}"
CHARACTERS = "extractAll(assumeNotNull({0}), '(?s).')"


def constant(expr: Expr) -> object:
    """Return the value of a constant; None for any other expression."""
    return expr.value if isinstance(expr, Literal) else None


def cut(text: str, length: int) -> str:
    """The first characters of a text."""
    return f"substringUTF8({text}, 1, {length})"


def _trim(*, left: bool, right: bool) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        if len(texts) > 1 and constant(expr.arguments[1]) is None:
            return _trim_by_set(texts, left=left, right=right)
        characters = SPACES if len(texts) == 1 else _escaped(str(constant(expr.arguments[1])))
        if not characters:
            return texts[0]
        ends = [f"^[{characters}]+"] * left + [f"[{characters}]+$"] * right
        return f"replaceRegexpAll({texts[0]}, {quoted('|'.join(ends))}, '')"

    return write


def _escaped(text: str) -> str:
    return "".join(f"\\x{{{ord(character):x}}}" for character in text)


def _trim_by_set(texts: Sequence[str], *, left: bool, right: bool) -> str:
    """Trim characters given by a column: split the text into an array and drop members of the set at its ends."""
    first = "arrayFirstIndex(c -> NOT has(t, c), l)" if left else "1"
    last = "arrayLastIndex(c -> NOT has(t, c), l)" if right else "length(l)"
    inner = let("if(b = 0 OR e = 0, '', arrayStringConcat(arraySlice(l, b, e - b + 1)))", l="l", b=first, e=last, t="t")
    lists = let(inner, l=CHARACTERS.format("s"), t=CHARACTERS.format("g"))
    return let(f"if(isNull(s) OR isNull(g), NULL, {lists})", s=texts[0], g=texts[1])


def _substring(expr: Call, texts: Sequence[str]) -> str:
    """SUBSTRING. Positions below 1 count from the end; negative lengths count backwards."""
    start, length = (constant(argument) for argument in (*expr.arguments[1:], Literal(FAR, expr.type))[:2])
    if isinstance(start, int) and isinstance(length, int) and 0 < start <= FAR and 0 <= length <= FAR:
        return f"substringUTF8({texts[0]}, {start}, {length})"
    wanted = texts[2] if len(texts) > 2 else str(FAR)
    ends = {"b": "greatest(least(p, p + k), 0)", "e": "least(greatest(p, p + k), n)"}
    piece = let("if(b < e, substringUTF8(s, b + 1, e - b), '')", s="s", **ends)
    placed = let(piece, s="s", k="k", n="n", p="multiIf(o > 0, o - 1, o < 0, n + o, -1)")
    sized = let(f"if(isNull(s) OR isNull(o) OR isNull(k), NULL, {placed})", s="s", o="o", k="k", n=SIZE)
    near = f"o BETWEEN -{FAR + 1} AND {FAR} AND k BETWEEN -{FAR + 1} AND {FAR}"
    return let(f"if({near}, {sized}, NULL)", s=texts[0], o=f"toInt64({texts[1]})", k=f"toInt64({wanted})")


def _left(expr: Call, texts: Sequence[str]) -> str:
    count = constant(expr.arguments[1])
    if isinstance(count, int) and 0 <= count <= FAR:
        return cut(texts[0], count)
    return f"if({texts[1]} > {FAR}, NULL, {_side(texts, 'substringUTF8(s, 1, {})')})"


def _right(_: Call, texts: Sequence[str]) -> str:
    return _side(texts, "substringUTF8(s, toInt64(lengthUTF8(s)) - {0} + 1, {0})")


def _side(texts: Sequence[str], piece: str) -> str:
    """LEFT and RIGHT; a negative count is the number of characters to drop from the other side."""
    side = let(piece.format("m"), s="s", m="greatest(least(if(k < 0, n + k, k), n), 0)")
    inner = let(f"if(isNull(s) OR isNull(k), NULL, {side})", s="s", k="k", n=SIZE)
    return let(inner, s=texts[0], k=f"toInt64({texts[1]})")


def _replace(_: Call, texts: Sequence[str]) -> str:
    """REPLACE, truncated before and after as on every engine."""
    return cut(f"replaceAll({cut(texts[0], LONGEST)}, {texts[1]}, {cut(texts[2], 100)})", LONGEST)


def _repeat(expr: Call, texts: Sequence[str]) -> str | None:
    count = constant(expr.arguments[1])
    if not isinstance(count, int):
        return None
    times = f"least({count}, intDiv({LONGEST}, greatest(lengthUTF8(s), 1)) + 1)"
    return let(cut(f"repeat({cut('s', LONGEST)}, {times})", LONGEST), s=texts[0])


def _split_part(expr: Call, texts: Sequence[str]) -> str | None:
    delimiter, index = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(delimiter, str) or not isinstance(index, int) or not delimiter or index == 0:
        return None
    return let(f"if(isNull(s), NULL, splitByString({quoted(delimiter)}, assumeNotNull(s))[{index}])", s=texts[0])


def _position_from(expr: Call, texts: Sequence[str]) -> str | None:
    start = constant(expr.arguments[2])
    if not isinstance(start, int):
        return None
    position = f"toInt64(positionUTF8(substringUTF8({texts[0]}, {start}), {texts[1]}))"
    return let(f"if(p = 0, 0, p + {start - 1})", p=position)


def _translate(expr: Call, texts: Sequence[str]) -> str | None:
    """TRANSLATE; of a repeated character, the first occurrence counts."""
    old, new = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    target_of = {character: new[at : at + 1] for at, character in reversed(list(enumerate(old)))}
    moved = {character: to for character, to in target_of.items() if to}
    dropped = "".join(character for character, to in target_of.items() if not to)
    sides = [quoted("".join(side)) for side in ((*moved, *dropped), moved.values())]
    return f"translateUTF8({texts[0]}, {sides[0]}, {sides[1]})" if old else texts[0]


def _code_point(_: Call, texts: Sequence[str]) -> str:
    """Code point of the first character, decoded from its bytes."""
    bytes_ = {f"b{at}": f"toInt64(reinterpretAsUInt8(substring(s, {at}, 1)))" for at in range(1, FEW_BYTES + 1)}
    two = "bitShiftLeft(bitAnd(b1, 31), 6) + bitAnd(b2, 63)"
    three = "bitShiftLeft(bitAnd(b1, 15), 12) + bitShiftLeft(bitAnd(b2, 63), 6) + bitAnd(b3, 63)"
    four = (
        "bitShiftLeft(bitAnd(b1, 7), 18) + bitShiftLeft(bitAnd(b2, 63), 12) "
        "+ bitShiftLeft(bitAnd(b3, 63), 6) + bitAnd(b4, 63)"
    )
    body = f"multiIf(b1 < 128, b1, b1 < 224, {two}, b1 < 240, {three}, {four})"
    return let(let(body, **bytes_), s=texts[0])


def _character(_: Call, texts: Sequence[str]) -> str:
    """Character of a code point, encoded as UTF-8; NULL if there is none."""
    last = [f"128 + bitAnd(bitShiftRight(n, {6 * at}), 63)" for at in range(3)]
    body = (
        "multiIf(n BETWEEN 1 AND 127, char(n), "
        f"n BETWEEN 128 AND 2047, char(192 + bitShiftRight(n, 6), {last[0]}), "
        f"n BETWEEN 2048 AND 55295 OR n BETWEEN 57344 AND 65535, "
        f"char(224 + bitShiftRight(n, 12), {last[1]}, {last[0]}), "
        f"n BETWEEN 65536 AND 1114111, char(240 + bitShiftRight(n, 18), {last[2]}, {last[1]}, {last[0]}), NULL)"
    )
    return let(body, n=f"toInt64({texts[0]})")


def _concat_present(_: Call, texts: Sequence[str]) -> str:
    parts = [f"ifNull({text}, '')" for text in texts]
    return cut(f"concat({', '.join(parts)}, '')", LONGEST_JOINED)


def _concat_joined(_: Call, texts: Sequence[str]) -> str:
    """CONCAT_WS: put the separator before every part that is not NULL, then drop the first separator."""
    parts = ", ".join(f"ifNull(concat({texts[0]}, {text}), '')" for text in texts[1:])
    joined = f"substringUTF8(concat({parts}, ''), toInt64(lengthUTF8({texts[0]})) + 1)"
    return cut(joined, LONGEST_JOINED)


WRITERS: dict[str, Writer] = {
    "lower": lambda _, texts: lower_case(texts[0]),
    "upper": lambda _, texts: upper_case(texts[0]),
    "trim": _trim(left=True, right=True),
    "ltrim": _trim(left=True, right=False),
    "rtrim": _trim(left=False, right=True),
    "length": template("toInt64(lengthUTF8({0}))"),
    "substring": _substring,
    "left": _left,
    "right": _right,
    "replace": _replace,
    "repeat": _repeat,
    "split_part": _split_part,
    "position": template("toInt64(positionUTF8({0}, {1}))"),
    "position_from": _position_from,
    "starts_with": template("startsWith({0}, {1})"),
    "ends_with": template("endsWith({0}, {1})"),
    "contains": template("(position({0}, {1}) > 0)"),
    "translate": _translate,
    "code_point": _code_point,
    "character": _character,
    "lpad": template("leftPadUTF8({0}, {1}, {2})"),
    "rpad": template("rightPadUTF8({0}, {1}, {2})"),
    "concat": lambda _, texts: cut(f"concat({', '.join(texts)})", LONGEST_JOINED),
    "concat_present": _concat_present,
    "concat_joined": _concat_joined,
}


LINES = "(?-s)"


def _like(expr: Call, texts: Sequence[str]) -> str | None:
    pattern = constant(expr.arguments[1])
    return f"({texts[0]} LIKE {quoted(_plain(pattern))})" if isinstance(pattern, str) else None


def _ilike(expr: Call, texts: Sequence[str]) -> str | None:
    """ILIKE: compare both sides in lower case."""
    pattern = constant(expr.arguments[1])
    if not isinstance(pattern, str):
        return None
    return f"({lower_case(texts[0])} LIKE {lower_case(quoted(_plain(pattern)))})"


def _plain(pattern: str) -> str:
    return pattern.replace("\\", "\\\\")


def _like_escape(expr: Call, texts: Sequence[str]) -> str | None:
    pattern, sign = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(pattern, str) or not isinstance(sign, str):
        return None
    escaped, at = "", 0
    while at < len(pattern):
        taken = pattern[at] == sign and at + 1 < len(pattern)
        at += taken
        escaped += f"\\{pattern[at]}" if taken or pattern[at] == "\\" else pattern[at]
        at += 1
    return f"({texts[0]} LIKE {quoted(_unescaped(escaped))})"


def _unescaped(pattern: str) -> str:
    """Drop backslashes that precede neither a wildcard nor a backslash."""
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


def _replace_regex(name: str) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str | None:
        pattern, by = (constant(argument) for argument in expr.arguments[1:])
        if not isinstance(pattern, str) or not isinstance(by, str) or (name.endswith("All") and _may_be_empty(pattern)):
            return None
        replaced = f"{name}({cut(texts[0], LONGEST)}, {quoted(LINES + pattern)}, {quoted(by)})"
        return cut(replaced, LONGEST)

    return write


def _may_be_empty(pattern: str) -> bool:
    """Return True if a match may be empty: engines differ in how many empty matches a text has."""
    try:
        return may_be_empty(read(pattern)[0])
    except UnsupportedPatternError:
        return True


PATTERNS: dict[str, Writer] = {
    "like": _like,
    "ilike": _ilike,
    "like_escape": _like_escape,
    "regexp_matches": _matches,
    "regexp_full_match": _full_match,
    "regexp_extract": _extract,
    "regexp_replace": _replace_regex("replaceRegexpOne"),
    "regexp_replace_all": _replace_regex("replaceRegexpAll"),
}
