"""Choices among values, and the texts and numbers by which they are hashed and weighed."""

import hashlib
import math
from collections.abc import Mapping

from hedgerow.backends.sqlite.functions.total import total
from hedgerow.backends.sqlite.functions.values import Body, Stored, fitting, number, text

Rank = tuple[bool, Stored]


def rank(value: Stored) -> Rank:
    """Sort key of a value among others of its type: NaN, which is a text, after the numbers."""
    return value.__class__ is str, value


def _present(values: tuple[Stored, ...]) -> list[Stored]:
    read = (text(value) if value.__class__ is bytes else value for value in values)
    return [value for value in read if value is not None]


def least(*values: Stored) -> Stored:
    """The least of the values that are there."""
    return min(_present(values), key=rank, default=None)


def greatest(*values: Stored) -> Stored:
    """The greatest of the values that are there."""
    return max(_present(values), key=rank, default=None)


def hashed(value: Stored) -> Stored:
    """MD5 in hexadecimal digits."""
    given = value.encode() if isinstance(value, str) else value
    return hashlib.md5(given, usedforsecurity=False).hexdigest() if isinstance(given, bytes) else None


def steps(value: Stored) -> Stored:
    """A number in whole steps of 2^-20 as text; nothing where there are too many, or none."""
    given = number(value)
    scaled = math.nan if given is None else given * 1_048_576
    return str(math.floor(scaled)) if abs(scaled) < 4e18 else ""


def wide(value: int) -> int | str:
    """A whole number of any size: digits where SQLite's integers end."""
    return str(value) if fitting(value) is None else value


def halves(high: Stored, low: Stored) -> Stored:
    """The sum whose parts above and below 2^32 were added up apart."""
    return wide((high << 32) + low) if isinstance(high, int) and isinstance(low, int) else None


def weighed(whole: Stored, one: Stored, lost: Stored) -> Stored:
    """`whole` times `one`, less `lost`."""
    return wide(int(whole) * int(one) - int(lost))  # type: ignore[arg-type]


def root(squared: Stored, size: Stored) -> Stored:
    """The whole part of the root of a quotient, taken in doubles as every engine takes it, and never too large."""
    most, given = int(squared), int(size)  # type: ignore[arg-type]
    found = math.floor(math.sqrt(float(most) / float(given)))
    return found - 1 if found * found * given > most else found


def double(digits: Stored) -> Stored:
    """A double from its hexadecimal digits: SQLite itself may read decimal digits to a neighbour."""
    return float.fromhex(digits) if isinstance(digits, str) else None


FUNCTIONS: Mapping[str, Body] = {
    "least": total(least),
    "greatest": total(greatest),
    "md5": total(hashed),
    "steps": total(steps),
    "halves": total(halves),
    "weighed": total(weighed),
    "root": total(root),
    "double": total(double),
}
