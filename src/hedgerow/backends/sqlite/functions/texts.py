"""Functions of text. Lengths and places count characters, as DuckDB counts them."""

import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

from hedgerow.backends.sqlite.functions import reference
from hedgerow.backends.sqlite.functions.total import of_texts, total
from hedgerow.backends.sqlite.functions.values import Body, Stored, text, whole

LONGEST, LONGEST_JOINED = 1_000, 10_000
"""How long a text can become by replacing or repeating, and by putting texts together."""

CLUSTERS_FROM = "\u0300"
"""From here on, characters may form one sign with their neighbours."""

REACH = 2**32
"""Places beyond this are refused."""


@cache
def _case(name: str) -> dict[int, str]:
    """Every character that LOWER or UPPER changes: each character by itself, whatever stands beside it."""
    first, last = 128, 0x110000
    points = f"SELECT n FROM range({first}, {last}) AS t(n) WHERE n NOT BETWEEN 55296 AND 57343 ORDER BY n"
    changed = f"SELECT CASE WHEN {name}(chr(n::INTEGER)) <> chr(n::INTEGER) THEN {name}(chr(n::INTEGER)) END FROM "
    pairs = zip(reference.column(points), reference.column(f"{changed}({points})"), strict=True)
    return {int(point): str(made) for point, made in pairs if point is not None and made is not None}


def lower(value: str) -> str:
    """LOWER."""
    return value.lower() if value.isascii() else "".join(map(_lower, value))


def upper(value: str) -> str:
    """UPPER."""
    return value.upper() if value.isascii() else "".join(map(_upper, value))


def _lower(sign: str) -> str:
    return sign.lower() if sign.isascii() else _case("lower").get(ord(sign), sign)


def _upper(sign: str) -> str:
    return sign.upper() if sign.isascii() else _case("upper").get(ord(sign), sign)


def reverse(value: str) -> Stored:
    """The signs from the last to the first; what is one sign to the eye stays together."""
    if value.isascii() or all(sign < CLUSTERS_FROM and sign != "\r" for sign in value):
        return value[::-1]
    return reference.asked("reverse($1)", value)


def _trimmed(value: str, signs: str | None, *, left: bool, right: bool) -> str:
    """Without spaces of any width, or without any of `signs`, at its ends."""
    gone = _is_space if signs is None else frozenset(signs).__contains__
    start, end = 0, len(value)
    while left and start < end and gone(value[start]):
        start += 1
    while right and end > start and gone(value[end - 1]):
        end -= 1
    return value[start:end]


def _is_space(sign: str) -> bool:
    return sign == " " or (not sign.isascii() and unicodedata.category(sign) == "Zs")


def _trim(*, left: bool, right: bool) -> Body:
    return of_texts(lambda value, signs=None: _trimmed(value, signs, left=left, right=right))


def substring(value: str, start: int, length: int = REACH - 1) -> str | None:
    """SUBSTRING: from 1; from the end where `start` is negative; backwards where `length` is."""
    if not (-REACH <= start < REACH and -REACH <= length < REACH):
        return None
    first = start - 1 if start > 0 else 0 if start == 0 else len(value) + start
    if start == 0:
        length -= length > 0
    if start < 0 and first < 0:
        length, first = (length + first, 0) if length > 0 else (length, first)
    end = first + length
    low, high = sorted((first, end))
    return value[max(low, 0) : max(high, 0)]


def left(value: str, count: int) -> str | None:
    """The first so many characters; all but the last so many, where negative."""
    return value[:count] if abs(count) < REACH or count < 0 else None


def right(value: str, count: int) -> str:
    """The last so many characters; all but the first so many, where negative."""
    return value[max(len(value) - count, 0) :] if count >= 0 else value[-count:]


def replace(value: str, old: str, new: str) -> str:
    """REPLACE of and to at most 1,000 characters."""
    cut = value[:LONGEST]
    return cut.replace(old, new[:100])[:LONGEST] if old else cut


def _filled(value: str, length: int, filling: str) -> str:
    return (filling * (length // max(len(filling), 1) + 1))[: max(length - len(value), 0)]


def repeat(value: str, count: int) -> str:
    """REPEAT to at most 1,000 characters."""
    times = min(count, LONGEST // max(len(value), 1) + 1)
    return (value[:LONGEST] * times)[:LONGEST]


def split_part(value: str, by: str, place: int) -> str:
    """The part between separators, from 1; from the last where negative."""
    parts = (value.split(by) if value else [""]) if by else list(value)
    at = place - 1 if place > 0 else len(parts) + place
    return parts[at] if place and 0 <= at < len(parts) else ""


def position_from(value: str, part: str, start: int) -> int:
    """Return the position of `part` from a place on; 0 if it does not occur."""
    return value[start - 1 :].find(part) + start if part in value[start - 1 :] else 0


def translate(value: str, old: str, new: str) -> str:
    """Each sign of `old` becomes that of `new` at its place, or nothing."""
    table: dict[int, str] = {}
    for at, sign in enumerate(old):
        table.setdefault(ord(sign), new[at] if at < len(new) else "")
    return value.translate(table)


@total
def character(point: Stored) -> Stored:
    """The character of a code point; none of zero, or of half a pair."""
    given = whole(point)
    return chr(given) if given is not None and (1 <= given <= 55295 or 57344 <= given <= 1114111) else None


def _present(*values: Stored) -> list[str]:
    return [read for value in values if (read := text(value)) is not None]


@total
def concat_joined(by: Stored, *values: Stored) -> Stored:
    """CONCAT_WS: those that are there, with a separator between them."""
    separator = text(by)
    return None if separator is None else separator.join(_present(*values))[:LONGEST_JOINED]


def _flag(function: Callable[..., bool]) -> Body:
    return of_texts(lambda *parts: int(function(*parts)))


FUNCTIONS: Mapping[str, Body] = {
    "text": text,
    "lower": of_texts(lower),
    "upper": of_texts(upper),
    "reverse": of_texts(reverse),
    "trim": _trim(left=True, right=True),
    "ltrim": _trim(left=True, right=False),
    "rtrim": _trim(left=False, right=True),
    "length": of_texts(len),
    "substring": of_texts(substring),
    "left": of_texts(left),
    "right": of_texts(right),
    "replace": of_texts(replace),
    "position": of_texts(lambda value, part: value.find(part) + 1),
    "position_from": of_texts(position_from),
    "contains": _flag(lambda value, part: part in value),
    "starts_with": _flag(str.startswith),
    "ends_with": _flag(str.endswith),
    "concat": of_texts(lambda *parts: "".join(parts)[:LONGEST_JOINED]),
    "concat_present": total(lambda *values: "".join(_present(*values))[:LONGEST_JOINED]),
    "concat_joined": concat_joined,
    "lpad": of_texts(lambda value, length, filling: (_filled(value, length, filling) + value)[:length]),
    "rpad": of_texts(lambda value, length, filling: (value + _filled(value, length, filling))[:length]),
    "repeat": of_texts(repeat),
    "split_part": of_texts(split_part),
    "translate": of_texts(translate),
    "code_point": of_texts(lambda value: ord(value[0]) if value else 0),
    "character": character,
}
"""By their names on the allow-list; `text` is what makes bytes text."""
