"""LIKE and regular expressions, in time that grows in proportion to the text.

Regular expressions run in RE2, the library that DuckDB uses, through Arrow. What matched last is remembered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.backends.sqlite.functions.texts import LONGEST, lower
from hedgerow.backends.sqlite.functions.total import of_texts, remembered
from hedgerow.backends.sqlite.functions.values import Body, Stored, text

Item = str | None
"""A literal sign of a pattern; None is any one sign."""

Matcher = Callable[[str], bool]


def _pieces(pattern: str, escape: str) -> list[list[Item]]:
    """Return the pieces between the % of a pattern."""
    pieces: list[list[Item]] = [[]]
    signs = iter(pattern)
    for sign in signs:
        if escape and sign == escape:
            pieces[-1].append(next(signs, sign))
        elif sign == "%":
            pieces.append([])
        else:
            pieces[-1].append(None if sign == "_" else sign)
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
    """The first piece at the start, the last at the end, those between as early as they can be."""
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
    """Likewise, where some signs may be any."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return len(value) == len(first) and _stands(value, 0, first)
    at, end = len(first), len(value) - len(last)
    if at > end or not _stands(value, 0, first) or not _stands(value, end, last):
        return False
    for piece in pieces[1:-1]:
        at = next((n for n in range(at, end - len(piece) + 1) if _stands(value, n, piece)), -1)
        if at < 0:
            return False
        at += len(piece)
    return True


def _stands(value: str, at: int, piece: Sequence[Item]) -> bool:
    return all(sign is None or value[at + i] == sign for i, sign in enumerate(piece))


def like(value: Stored, pattern: Stored, escape: Stored = "") -> Stored:
    """LIKE."""
    try:
        given, form = text(value), text(pattern)
        return None if given is None or form is None else matcher(form, str(escape))(given)
    except Exception:  # noqa: BLE001 - as in `total`
        return None


def _ilike(value: str, pattern: str) -> bool:
    return matcher(lower(pattern))(lower(value))


@remembered
def _matches(value: str, pattern: str) -> int:
    return int(pc.match_substring_regex(pa.scalar(value), pattern=pattern).as_py())


@remembered
def _replaced(value: str, pattern: str, by: str) -> str:
    return str(pc.replace_substring_regex(pa.scalar(value), pattern=pattern, replacement=by).as_py())


def _full_match(value: str, pattern: str) -> int:
    return _matches(value, rf"\A(?:{pattern})\z")


def extract(value: str, pattern: str, group: int) -> str:
    """Return a group of the first match; the empty text where there is no match."""
    if not _matches(value, pattern):
        return ""
    inside = f"(?:{pattern})" if group else f"({pattern})"
    return _replaced(value, rf"\A(?s:.*?){inside}(?s:.*)\z", rf"\{group or 1}")


def replace_first(value: str, pattern: str, by: str) -> str:
    r"""The first match replaced; `\1` in `by` is what the first group holds."""
    cut = value[:LONGEST]
    if not _matches(cut, pattern):
        return cut
    before = _replaced(cut, rf"\A((?s:.*?))(?:{pattern})(?s:.*)\z", r"\1")
    after = cut[len(before) + len(extract(cut, pattern, 0)) :]
    filled = re.sub(r"\\(.)", lambda part: _named(part[1], cut, pattern), by)
    return f"{before}{filled}{after}"[:LONGEST]


def _named(sign: str, value: str, pattern: str) -> str:
    return extract(value, pattern, int(sign)) if sign.isdigit() else sign


def replace_all(value: str, pattern: str, by: str) -> str:
    """Every match replaced."""
    return _replaced(value[:LONGEST], pattern, by)[:LONGEST]


FUNCTIONS: Mapping[str, Body] = {
    "like": like,
    "like_escape": like,
    "ilike": of_texts(_ilike),
    "regexp_matches": of_texts(_matches),
    "regexp_full_match": of_texts(_full_match),
    "regexp_extract": of_texts(extract),
    "regexp_replace": of_texts(replace_first),
    "regexp_replace_all": of_texts(replace_all),
}
