"""Functions of text, LIKE and regular expressions, in linear time.

Lengths and positions count characters, as in DuckDB. Regular expressions run in RE2, the library that DuckDB uses,
through Arrow; recent results are cached.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.backends.sqlite.functions.values import (
    CACHE_SIZE,
    SHORT,
    Body,
    Stored,
    cached,
    of_texts,
    text,
    total,
    whole,
)

_lock = threading.Lock()
_connection: list[duckdb.DuckDBPyConnection] = []
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "lock_configuration": "true",
    "threads": "1",
}


def ask_duckdb(expression: str, *values: str | float) -> Stored:
    """Return DuckDB's value of an expression of `$1`, `$2` …; None if it fails.

    DuckDB defines what every function means. Python computes common cases, fast; rare ones (grapheme clusters, unusual
    forms of dates) are computed by DuckDB itself, in a database without tables, and cached.
    """
    short = all(not isinstance(value, str) or len(value) <= SHORT for value in values)
    return _kept(expression, *values) if short else _ask_duckdb(expression, *values)


def _ask_duckdb(expression: str, *values: str | float) -> Stored:
    with _lock:
        if not _connection:
            _connection.append(duckdb.connect(":memory:", config=SETTINGS))
        try:
            rows = _connection[0].execute(f"SELECT {expression}", list(values)).fetchall()
        except duckdb.Error:
            return None
    return rows[0][0] if rows else None


_kept = lru_cache(CACHE_SIZE)(_ask_duckdb)


def duckdb_column(expression: str) -> list[Stored]:
    """Return all values of a query over no tables, in order."""
    with duckdb.connect(":memory:", config=SETTINGS) as connection:
        return [value for (value,) in connection.execute(expression).fetchall()]


LONGEST, LONGEST_JOINED = 1_000, 10_000
"""Maximum length of the result of replacing or repeating, and of concatenation."""

CLUSTERS_FROM = "\u0300"
"""From here on, characters may form a grapheme cluster with their neighbours."""

REACH = 2**32
"""Positions beyond this give NULL."""


@cache
def _case(name: str) -> dict[int, str]:
    """Return every character that LOWER or UPPER changes, independently of its neighbours."""
    first, last = 128, 0x110000
    points = f"SELECT n FROM range({first}, {last}) AS t(n) WHERE n NOT BETWEEN 55296 AND 57343 ORDER BY n"
    changed = f"SELECT CASE WHEN {name}(chr(n::INTEGER)) <> chr(n::INTEGER) THEN {name}(chr(n::INTEGER)) END FROM "
    pairs = zip(duckdb_column(points), duckdb_column(f"{changed}({points})"), strict=True)
    return {int(point): str(new) for point, new in pairs if point is not None and new is not None}


def lower(value: str) -> str:
    """Return a text in lower case."""
    return value.lower() if value.isascii() else "".join(map(_lower, value))


def upper(value: str) -> str:
    """Return a text in upper case."""
    return value.upper() if value.isascii() else "".join(map(_upper, value))


def _lower(letter: str) -> str:
    return letter.lower() if letter.isascii() else _case("lower").get(ord(letter), letter)


def _upper(letter: str) -> str:
    return letter.upper() if letter.isascii() else _case("upper").get(ord(letter), letter)


def reverse(value: str) -> Stored:
    """Reverse a text, keeping grapheme clusters together."""
    if value.isascii() or all(letter < CLUSTERS_FROM and letter != "\r" for letter in value):
        return value[::-1]
    return ask_duckdb("reverse($1)", value)


def _trimmed(value: str, letters: str | None, *, left: bool, right: bool) -> str:
    """Return a text without spaces of any width, or without some characters, at its ends."""
    gone = _is_space if letters is None else frozenset(letters).__contains__
    start, end = 0, len(value)
    while left and start < end and gone(value[start]):
        start += 1
    while right and end > start and gone(value[end - 1]):
        end -= 1
    return value[start:end]


def _is_space(letter: str) -> bool:
    return letter == " " or (not letter.isascii() and unicodedata.category(letter) == "Zs")


def _trim(*, left: bool, right: bool) -> Body:
    return of_texts(lambda value, letters=None: _trimmed(value, letters, left=left, right=right))


def substring(value: str, start: int, length: int = REACH - 1) -> str | None:
    """Return a substring: from 1, from the end if `start` is negative, backwards if `length` is."""
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
    """Return the first characters; with a negative count, all but the last ones."""
    return value[:count] if abs(count) < REACH or count < 0 else None


def right(value: str, count: int) -> str:
    """Return the last characters; with a negative count, all but the first ones."""
    return value[max(len(value) - count, 0) :] if count >= 0 else value[-count:]


def replace(value: str, old: str, new: str) -> str:
    """Replace text, within the first 1,000 characters."""
    cut = value[:LONGEST]
    return cut.replace(old, new[:100])[:LONGEST] if old else cut


def _filled(value: str, length: int, filling: str) -> str:
    return (filling * (length // max(len(filling), 1) + 1))[: max(length - len(value), 0)]


def repeat(value: str, count: int) -> str:
    """Repeat a text up to 1,000 characters."""
    times = min(count, LONGEST // max(len(value), 1) + 1)
    return (value[:LONGEST] * times)[:LONGEST]


def split_part(value: str, by: str, index: int) -> str:
    """Return a part between separators, from 1; from the last if negative."""
    parts = (value.split(by) if value else [""]) if by else list(value)
    at = index - 1 if index > 0 else len(parts) + index
    return parts[at] if index and 0 <= at < len(parts) else ""


def position_from(value: str, part: str, start: int) -> int:
    """Return the position of `part` from `start` on; 0 if it does not occur."""
    return value[start - 1 :].find(part) + start if part in value[start - 1 :] else 0


def translate(value: str, old: str, new: str) -> str:
    """Replace every character of `old` by that of `new` at the same position, or drop it."""
    table: dict[int, str] = {}
    for at, letter in enumerate(old):
        table.setdefault(ord(letter), new[at] if at < len(new) else "")
    return value.translate(table)


@total
def character(point: Stored) -> Stored:
    """Return the character of a code point; NULL for zero and surrogates."""
    given = whole(point)
    return chr(given) if given is not None and (1 <= given <= 55295 or 57344 <= given <= 1114111) else None


def _present(*values: Stored) -> list[str]:
    return [read for value in values if (read := text(value)) is not None]


@total
def concat_joined(by: Stored, *values: Stored) -> Stored:
    """Join the texts that are not NULL with a separator (CONCAT_WS)."""
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
"""Functions by their names on the allow-list; `text` decodes bytes."""


Item = str | None
"""A literal character of a pattern; None matches any character."""

Matcher = Callable[[str], bool]


def _pieces(pattern: str, escape: str) -> list[list[Item]]:
    """Return the pieces between the % of a pattern."""
    pieces: list[list[Item]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            pieces[-1].append(next(characters, character))
        elif character == "%":
            pieces.append([])
        else:
            pieces[-1].append(None if character == "_" else character)
    return pieces


@lru_cache(1_024)
def matcher(pattern: str, escape: str = "") -> Matcher:
    """Return a function that tests if a text is LIKE a pattern."""
    pieces = _pieces(pattern, escape)
    if any(None in piece for piece in pieces):
        return partial(_with_gaps, pieces)
    first, *middle, last = ["".join(filter(None, piece)) for piece in (pieces if len(pieces) > 1 else [*pieces, []])]
    if len(pieces) == 1:
        return lambda value: value == first
    if len(middle) == 1 and not first and not last:
        return lambda value: middle[0] in value
    return partial(_in_order, first, middle, last)


def _in_order(first: str, middle: Sequence[str], last: str, value: str) -> bool:
    """Match the first piece at the start, the last at the end, and the others as early as possible."""
    at, end = len(first), len(value) - len(last)
    if at > end or not value.startswith(first) or not value.endswith(last):
        return False
    for piece in middle:
        at = value.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _with_gaps(pieces: Sequence[Sequence[Item]], value: str) -> bool:
    """Match pieces that contain `_`."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return len(value) == len(first) and _matches_at(value, 0, first)
    at, end = len(first), len(value) - len(last)
    if at > end or not _matches_at(value, 0, first) or not _matches_at(value, end, last):
        return False
    for piece in pieces[1:-1]:
        at = next((n for n in range(at, end - len(piece) + 1) if _matches_at(value, n, piece)), -1)
        if at < 0:
            return False
        at += len(piece)
    return True


def _matches_at(value: str, at: int, piece: Sequence[Item]) -> bool:
    return all(character is None or value[at + i] == character for i, character in enumerate(piece))


def like(value: Stored, pattern: Stored, escape: Stored = "") -> Stored:
    """Return the result of LIKE."""
    try:
        given, form = text(value), text(pattern)
        return None if given is None or form is None else matcher(form, str(escape))(given)
    except Exception:  # noqa: BLE001 - as in `total`
        return None


def _ilike(value: str, pattern: str) -> bool:
    return matcher(lower(pattern))(lower(value))


@cached
def _matches(value: str, pattern: str) -> int:
    return int(pc.match_substring_regex(pa.scalar(value), pattern=pattern).as_py())


@cached
def _replaced(value: str, pattern: str, by: str) -> str:
    return str(pc.replace_substring_regex(pa.scalar(value), pattern=pattern, replacement=by).as_py())


def _full_match(value: str, pattern: str) -> int:
    return _matches(value, rf"\A(?:{pattern})\z")


def extract(value: str, pattern: str, group: int) -> str:
    """Return a group of the first match; the empty text if nothing matches."""
    if not _matches(value, pattern):
        return ""
    inside = f"(?:{pattern})" if group else f"({pattern})"
    return _replaced(value, rf"\A(?s:.*?){inside}(?s:.*)\z", rf"\{group or 1}")


def replace_first(value: str, pattern: str, by: str) -> str:
    r"""Replace the first match; `\1` in `by` is the first group."""
    cut = value[:LONGEST]
    if not _matches(cut, pattern):
        return cut
    before = _replaced(cut, rf"\A((?s:.*?))(?:{pattern})(?s:.*)\z", r"\1")
    after = cut[len(before) + len(extract(cut, pattern, 0)) :]
    filled = re.sub(r"\\(.)", lambda part: _named(part[1], cut, pattern), by)
    return f"{before}{filled}{after}"[:LONGEST]


def _named(character: str, value: str, pattern: str) -> str:
    return extract(value, pattern, int(character)) if character.isdigit() else character


def replace_all(value: str, pattern: str, by: str) -> str:
    """Replace all matches."""
    return _replaced(value[:LONGEST], pattern, by)[:LONGEST]


PATTERNS: Mapping[str, Body] = {
    "like": like,
    "like_escape": like,
    "ilike": of_texts(_ilike),
    "regexp_matches": of_texts(_matches),
    "regexp_full_match": of_texts(_full_match),
    "regexp_extract": of_texts(extract),
    "regexp_replace": of_texts(replace_first),
    "regexp_replace_all": of_texts(replace_all),
}
