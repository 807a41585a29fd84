"""Functions of text. Lengths and positions count characters, as in DuckDB."""

from collections.abc import Callable, Mapping, Sequence

from hedgerow.dialects.base import Template
from hedgerow.dialects.spark.letters import written as in_case
from hedgerow.dialects.spark.spelling import quoted, whole
from hedgerow.expressions.nodes import Call, Expr, Literal

REACH = 1 << 32
"""Positions and lengths beyond this are NULL in DuckDB."""

FAR = (1 << 31) - 1
SPACES = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""Characters that TRIM removes: the space separators of Unicode."""

Typed = Callable[[Call, Sequence[str]], str]


def _trim(side: str) -> Template:
    return lambda texts: f"trim({side} {texts[1] if len(texts) > 1 else quoted(SPACES)} FROM {texts[0]})"


def _number(expr: Expr) -> int | None:
    """The value of a constant."""
    value = expr.value if isinstance(expr, Literal) else None
    return value if isinstance(value, int) else None


def _is_near(expr: Expr, least: int) -> bool:
    value = _number(expr)
    return value is not None and least <= value <= FAR


def _held(text: str) -> str:
    """A number from 0 on, as Spark wants lengths."""
    return f"CAST(LEAST(GREATEST({text}, 0L), {FAR}L) AS INT)"


def _substring(call: Call, texts: Sequence[str]) -> str:
    """From a place counted from 1, or from the end; a negative length reaches back."""
    numbers = call.arguments[1:]
    if _is_near(numbers[0], 1) and all(_is_near(length, 0) for length in numbers[1:]):
        return f"substring({', '.join(texts)})"
    text, start = texts[0], whole(texts[1])
    begin = f"(CASE WHEN {start} >= 0L THEN {start} - 1L ELSE char_length({text}) + {start} END)"
    reached = f"{start} BETWEEN -{REACH}L AND {REACH - 1}L"
    if len(texts) == 2:
        return f"CASE WHEN {reached} THEN substring({text}, 1 + {_held(f'LEAST({begin}, {FAR - 1}L)')}) END"
    length = whole(texts[2])
    low, high = f"LEAST({begin}, {begin} + {length})", f"GREATEST({begin}, {begin} + {length})"
    first = _held(f"LEAST({low}, {FAR - 1}L)")
    cut = f"substring({text}, 1 + {first}, {_held(f'{high} - {first}')})"
    return f"CASE WHEN {reached} AND {length} BETWEEN -{REACH}L AND {REACH - 1}L THEN {cut} END"


def _left(call: Call, texts: Sequence[str]) -> str:
    if _is_near(call.arguments[1], 0):
        return f"left({texts[0]}, {texts[1]})"
    text, count = texts[0], whole(texts[1])
    but = _held(f"char_length({text}) + GREATEST({count}, -{REACH}L)")
    short = f"WHEN {count} < 0L THEN left({text}, {but})"
    return f"CASE {short} WHEN {count} < {REACH}L THEN left({text}, {_held(count)}) END"


def _right(call: Call, texts: Sequence[str]) -> str:
    if _is_near(call.arguments[1], 0):
        return f"right({texts[0]}, {texts[1]})"
    text, count = texts[0], whole(texts[1])
    but = _held(f"char_length({text}) + GREATEST({count}, -{REACH}L)")
    return f"CASE WHEN {count} < 0L THEN right({text}, {but}) WHEN {count} >= 0L THEN right({text}, {_held(count)}) END"


def _split_part(call: Call, texts: Sequence[str]) -> str:
    """An empty delimiter splits into characters; there is no part 0."""
    text, delimiter, place = texts[0], texts[1], whole(texts[2])
    given = call.arguments[1]
    if isinstance(given, Literal) and given.value and _number(call.arguments[2]):
        return f"split_part({text}, {delimiter}, {texts[2]})"
    number = f"CAST(LEAST(GREATEST({place}, -{FAR}L), {FAR}L) AS INT)"
    sign = f"(CASE WHEN {place} < 0L THEN char_length({text}) + {number} + 1L ELSE {number} END)"
    character = f"CASE WHEN {sign} > 0L THEN substring({text}, {_held(sign)}, 1) ELSE '' END"
    part = f"split_part({text}, {delimiter}, NULLIF({number}, 0))"
    there = f"WHEN {text} IS NULL OR {delimiter} IS NULL OR {place} IS NULL THEN NULL"
    return f"CASE {there} WHEN {place} = 0L THEN '' WHEN {delimiter} = '' THEN {character} ELSE {part} END"


def _or_empty(text: str) -> str:
    return f"COALESCE({text}, '')"


CHARACTER = (
    "decode(unhex(lpad(hex(CASE WHEN {0} BETWEEN 1 AND 55295 OR {0} BETWEEN 57344 AND 1114111 "
    "THEN CAST({0} AS BIGINT) END), 8, '0')), 'UTF-32')"
)
TIMES = "CAST(LEAST({1}, 1000 DIV GREATEST(char_length({0}), 1) + 1) AS INT)"
FOUND = "instr(substring({0}, {2}), {1})"

TEXTS: Mapping[str, Template] = {
    "upper": lambda texts: in_case("upper", texts[0]),
    "lower": lambda texts: in_case("lower", texts[0]),
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
    "length": "char_length({0})",
    "replace": "left(replace(left({0}, 1000), {1}, left({2}, 100)), 1000)",
    "position": "instr({0}, {1})",
    "position_from": f"CASE WHEN {FOUND} = 0 THEN 0 ELSE {FOUND} + {{2}} - 1 END",
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
"""REVERSE is not among them: DuckDB keeps letters and their accents together, Spark does not."""

TYPED_TEXTS: Mapping[str, Typed] = {
    "substring": _substring,
    "left": _left,
    "right": _right,
    "split_part": _split_part,
}
