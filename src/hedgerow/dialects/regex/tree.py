"""A regular expression as a tree.

Each character that a pattern matches is a set of code points: no class, flag or dot is left to an engine's taste.
"""

from dataclasses import dataclass, replace
from functools import cache

LAST = 0x10FFFF
MOST_FOLDED = 1_000
LAST_FOLDED, FOLDED_LATE = 0xA7CB, frozenset({0x1C89, 0x1C8A})
"""From here on, and for these, versions of Unicode differ in which letters there are."""

SHARP_S = frozenset({0xDF, 0x1E9E})
"""Small and capital, which Python folds to two letters."""

Ranges = tuple[tuple[int, int], ...]
"""Code points from … to …, ascending and apart."""


class UnsupportedPatternError(ValueError):
    """A pattern outside what is known to mean the same everywhere."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on where we are: `A` and `z` the ends of the text, `^` and `$` of a line, `b` that of a word."""

    kind: str


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One after the other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternation:
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
    minimum: int
    maximum: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Until:
    """On, over signs of a set, to the first place where a run of signs stands, and over it; never further."""

    over: Ranges
    run: tuple[Characters, ...]


Node = Characters | Anchor | Concatenation | Alternation | Group | Repeat | Until


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
    """Return True if some code point is in both."""
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


def in_any_case(ranges: Ranges) -> Ranges:
    """Add all characters that differ in case alone, as RE2 does."""
    if sum(high - low for low, high in ranges) > MOST_FOLDED:
        raise UnsupportedPatternError("a large set in any case")
    codes = [code for low, high in ranges for code in range(low, high + 1)]
    return merged([(other, other) for code in codes for other in _same_letter(code)])


def _same_letter(code: int) -> frozenset[int]:
    """Return the characters that fold to the same one; refuse those on which versions of Unicode disagree."""
    letter = chr(code)
    if code in SHARP_S:
        return SHARP_S
    if len(letter.casefold()) > 1:
        raise UnsupportedPatternError("a letter that folds to several")
    letters = _folded().get(letter.casefold(), frozenset({code}))
    if len(letters) > 1 and any(other >= LAST_FOLDED or other in FOLDED_LATE for other in letters):
        raise UnsupportedPatternError("a letter whose case is not the same in all versions of Unicode")
    return letters


@cache
def _folded() -> dict[str, frozenset[int]]:
    """Letters by what they fold to, for those that are not alone."""
    letters = dict[str, set[int]]()
    for code in range(0x20000):
        letters.setdefault(chr(code).casefold(), set()).add(code)
    return {folded: frozenset(codes) for folded, codes in letters.items() if len(codes) > 1 and len(folded) == 1}


def may_be_empty(node: Node) -> bool:
    """Return True if a match may have no characters."""
    if isinstance(node, Concatenation):
        return all(map(may_be_empty, node.parts))
    if isinstance(node, Alternation):
        return any(map(may_be_empty, node.options))
    if isinstance(node, Group):
        return may_be_empty(node.body)
    if isinstance(node, Repeat):
        return node.minimum == 0 or may_be_empty(node.body)
    return isinstance(node, Anchor)


def anchored(tree: Node) -> Node:
    """Return the pattern that matches whole texts only."""
    inside = tree.parts if isinstance(tree, Concatenation) else (Group(tree, None),)
    return Concatenation((Anchor("A"), *inside, Anchor("z")))


def without_brackets(node: Node) -> Node:
    """Return the same pattern without groups that capture nothing and concatenations of one part."""
    if isinstance(node, Concatenation):
        parts = tuple(map(without_brackets, node.parts))
        return parts[0] if len(parts) == 1 else Concatenation(parts)
    if isinstance(node, Alternation):
        return Alternation(tuple(map(without_brackets, node.options)))
    if isinstance(node, Group):
        body = without_brackets(node.body)
        return body if node.number is None else Group(body, node.number)
    if isinstance(node, Repeat):
        return replace(node, body=without_brackets(node.body))
    return node
