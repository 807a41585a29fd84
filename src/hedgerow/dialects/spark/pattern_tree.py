"""A regular expression as a tree. What RE2 and Java do not read alike is not read at all.

Each sign that a pattern matches is a set of code points, so that no class, flag or dot is left to an engine's taste.
"""

from dataclasses import dataclass
from functools import cache

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
"""Code points from … to …, ascending and apart."""


class UnreadableError(ValueError):
    """A pattern outside what is known to mean the same everywhere."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Place:
    """A condition on where we are: `A` and `z` the ends of the text, `^` and `$` of a line, `b` that of a word."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first that leads to a match."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Brackets; `number` where they capture."""

    body: "Node"
    number: int | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """So many times, as many as possible or (`lazy`) as few; None is without end."""

    body: "Node"
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Until:
    """On, over signs of a set, to the first place where a run of signs stands, and over it; never further."""

    over: Ranges
    run: tuple[Sign, ...]


Node = Sign | Place | Sequence | Choice | Group | Repeat | Until


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch made one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    found, start = list[tuple[int, int]](), 0
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


def overlap(left: Ranges, right: Ranges) -> bool:
    """Whether some code point is in both."""
    return any(low <= high2 and low2 <= high for low, high in left for low2, high2 in right)


EVERY: Ranges = ((0, LAST),)
NEWLINE: Ranges = ((10, 10),)
DIGITS: Ranges = ((0x30, 0x39),)
LETTERS: Ranges = ((0x41, 0x5A), (0x61, 0x7A))
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}
NAMED = {
    "alnum": merged([*DIGITS, *LETTERS]),
    "alpha": LETTERS,
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": DIGITS,
    "graph": ((33, 126),),
    "lower": ((0x61, 0x7A),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


@cache
def in_any_case(ranges: Ranges) -> Ranges:
    """With all that differs in case alone. Letters beyond ASCII are left to nobody's tables."""
    inside = [code for code in range(128) if any(low <= code <= high for low, high in ranges)]
    if _has_letters(ranges):
        raise UnreadableError("letters beyond ASCII in any case")
    more = [(code ^ 32, code ^ 32) for code in inside if chr(code).isalpha()]
    if any(chr(code) in "kK" for code in inside):
        more.append((0x212A, 0x212A))
    if any(chr(code) in "sS" for code in inside):
        more.append((0x17F, 0x17F))
    return merged([*ranges, *more])


def _has_letters(ranges: Ranges) -> bool:
    """Whether a sign beyond ASCII may have another case; large sets are taken to."""
    wide = [(max(low, 128), high) for low, high in ranges if high > 127]
    if sum(high - low for low, high in wide) > 1000:
        return True
    return any(chr(code).lower() != chr(code).upper() for low, high in wide for code in range(low, high + 1))
