"""Functions of text, in characters and not in bytes."""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse import casing
from hedgerow.dialects.clickhouse.spelling import Writer, let, quoted, template
from hedgerow.expressions.nodes import Call, Expr, Literal

LONGEST = 1_000
LONGEST_JOINED = 10_000
FAR = 2**32 - 1
"""Positions are numbers of 32 bits; beyond them there is nothing."""

SIZE = "toInt64(lengthUTF8(s))"

FEW_BYTES = 4
SPACES = r"\p{Zs}"
CHARACTERS = "extractAll(assumeNotNull({0}), '(?s).')"


def constant(expr: Expr) -> object:
    """The value of a constant; None of anything else."""
    return expr.value if isinstance(expr, Literal) else None


def cut(text: str, most: int) -> str:
    """The first characters."""
    return f"substringUTF8({text}, 1, {most})"


def _trim(*, left: bool, right: bool) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        if len(texts) > 1 and constant(expr.arguments[1]) is None:
            return _trim_by_set(texts, left=left, right=right)
        signs = SPACES if len(texts) == 1 else _signs(str(constant(expr.arguments[1])))
        if not signs:
            return texts[0]
        ends = [f"^[{signs}]+"] * left + [f"[{signs}]+$"] * right
        return f"replaceRegexpAll({texts[0]}, {quoted('|'.join(ends))}, '')"

    return write


def _signs(text: str) -> str:
    return "".join(f"\\x{{{ord(sign):x}}}" for sign in text)


def _trim_by_set(texts: Sequence[str], *, left: bool, right: bool) -> str:
    """Signs from a column: the text as a list, without those that are in the set."""
    first = "arrayFirstIndex(c -> NOT has(t, c), l)" if left else "1"
    last = "arrayLastIndex(c -> NOT has(t, c), l)" if right else "length(l)"
    inner = let("if(b = 0 OR e = 0, '', arrayStringConcat(arraySlice(l, b, e - b + 1)))", l="l", b=first, e=last, t="t")
    lists = let(inner, l=CHARACTERS.format("s"), t=CHARACTERS.format("g"))
    return let(f"if(isNull(s) OR isNull(g), NULL, {lists})", s=texts[0], g=texts[1])


def _substring(expr: Call, texts: Sequence[str]) -> str:
    """From a place, for a length; places below 1 count from the end, lengths below 0 go backwards."""
    start, length = (constant(argument) for argument in (*expr.arguments[1:], Literal(FAR, expr.type))[:2])
    if isinstance(start, int) and isinstance(length, int) and 0 < start <= FAR and 0 <= length <= FAR:
        return f"substringUTF8({texts[0]}, {start}, {length})"
    wanted = texts[2] if len(texts) > 2 else str(FAR)
    ends = {"b": "greatest(least(p, p + k), 0)", "e": "least(greatest(p, p + k), n)"}
    found = let("if(b < e, substringUTF8(s, b + 1, e - b), '')", s="s", **ends)
    placed = let(found, s="s", k="k", n="n", p="multiIf(o > 0, o - 1, o < 0, n + o, -1)")
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
    """So many characters of one side, or all but so many of the other."""
    kept = let(piece.format("m"), s="s", m="greatest(least(if(k < 0, n + k, k), n), 0)")
    inner = let(f"if(isNull(s) OR isNull(k), NULL, {kept})", s="s", k="k", n=SIZE)
    return let(inner, s=texts[0], k=f"toInt64({texts[1]})")


def _replace(_: Call, texts: Sequence[str]) -> str:
    """Cut before and after, like everywhere."""
    made = f"replaceAll({cut(texts[0], LONGEST)}, {texts[1]}, {cut(texts[2], 100)})"
    return cut(made, LONGEST)


def _repeat(expr: Call, texts: Sequence[str]) -> str | None:
    count = constant(expr.arguments[1])
    if not isinstance(count, int):
        return None
    times = f"least({count}, intDiv({LONGEST}, greatest(lengthUTF8(s), 1)) + 1)"
    return let(cut(f"repeat({cut('s', LONGEST)}, {times})", LONGEST), s=texts[0])


def _split_part(expr: Call, texts: Sequence[str]) -> str | None:
    sign, place = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(sign, str) or not isinstance(place, int) or not sign or place == 0:
        return None
    return let(f"if(isNull(s), NULL, splitByString({quoted(sign)}, assumeNotNull(s))[{place}])", s=texts[0])


def _position_from(expr: Call, texts: Sequence[str]) -> str | None:
    start = constant(expr.arguments[2])
    if not isinstance(start, int):
        return None
    found = f"toInt64(positionUTF8(substringUTF8({texts[0]}, {start}), {texts[1]}))"
    return let(f"if(p = 0, 0, p + {start - 1})", p=found)


def _translate(expr: Call, texts: Sequence[str]) -> str | None:
    """The first of two equal signs counts."""
    old, new = (constant(argument) for argument in expr.arguments[1:])
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    kept = {sign: new[at : at + 1] for at, sign in reversed(list(enumerate(old)))}
    moved = {sign: to for sign, to in kept.items() if to}
    dropped = "".join(sign for sign, to in kept.items() if not to)
    signs = [quoted("".join(side)) for side in ((*moved, *dropped), moved.values())]
    return f"translateUTF8({texts[0]}, {signs[0]}, {signs[1]})" if old else texts[0]


def _code_point(_: Call, texts: Sequence[str]) -> str:
    """From the bytes of the first character."""
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
    """A number as the bytes of its character; NULL where there is none."""
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
    there = [f"ifNull({text}, '')" for text in texts]
    return cut(f"concat({', '.join(there)}, '')", LONGEST_JOINED)


def _concat_joined(_: Call, texts: Sequence[str]) -> str:
    """Each part that is there with the sign before it; the first sign is taken away again."""
    parts = ", ".join(f"ifNull(concat({texts[0]}, {text}), '')" for text in texts[1:])
    joined = f"substringUTF8(concat({parts}, ''), toInt64(lengthUTF8({texts[0]})) + 1)"
    return cut(joined, LONGEST_JOINED)


WRITERS: dict[str, Writer] = {
    "lower": lambda _, texts: casing.lower(texts[0]),
    "upper": lambda _, texts: casing.upper(texts[0]),
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
