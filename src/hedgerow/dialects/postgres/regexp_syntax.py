"""Regular expressions of RE2, read into a tree. What is not read here is refused, and there is little of it.

The patterns were tried out when the query was bound, so they are well-formed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
"""Characters as ranges of code points, in order and apart from each other."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of some."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Some times over; `most` is None without a limit."""

    body: "Node"
    least: int
    most: int | None
    greedy: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A group that can be asked for."""

    body: "Node"


@dataclass(frozen=True, slots=True)
class Edge:
    r"""A place between characters: `^`, `$` or `b`, where a word begins or ends.

    `\B` is not read: RE2 finds it inside a character of several bytes, too.
    """

    kind: str


Node = Chars | Chain | Choice | Repeat | Group | Edge

COUNT = re.compile(r"\{(\d+)(,(\d*))?\}")
FLAGS = re.compile(r"\(\?([is]*)(?:-([is]+))?([:)])")
NAMED = re.compile(r"\(\?P?<[A-Za-z0-9_]+>")
HEXADECIMAL = re.compile(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}")
POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
CLASSES = {"d": ((48, 57),), "w": WORD, "s": ((9, 10), (12, 13), (32, 32))}
NAMES = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "digit": ((48, 57),),
    "lower": ((97, 122),),
    "upper": ((65, 90),),
    "space": ((9, 13), (32, 32)),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}


class NotReadError(Exception):
    """A pattern that is not in the subset."""


def parse(pattern: str) -> Node:
    """The tree of a pattern."""
    reader = _Reader(pattern)
    tree = reader.choice()
    if reader.at < len(pattern):
        raise NotReadError
    return tree


def united(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """Ranges in order, and those that touch made one."""
    made: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if made and low <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], high))
        else:
            made.append((low, high))
    return tuple(made)


def opposite(ranges: Ranges) -> Ranges:
    """All other characters."""
    starts = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), LAST]
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)


def folded(ranges: Ranges) -> Ranges:
    """With the other case of each letter; beyond ASCII only of single letters, for which Python is asked."""
    found = list(ranges)
    for low, high in ranges:
        if low > 127 and high - low > 100:
            raise NotReadError
        for code in range(low, min(high, max(low, 1000)) + 1):
            found += [(other, other) for other in _cases(code)]
    return united(found)


def _cases(code: int) -> set[int]:
    """A letter and what differs from it by case alone; ſ is an s, and the sign of Kelvin a k."""
    letter = chr(code)
    known = {"k": "\u212a", "K": "\u212a", "s": "\u017f", "S": "\u017f", "\u017f": "sS", "\u212a": "kK"}
    same = {
        letter.lower(),
        letter.upper(),
        letter.swapcase(),
        letter.title(),
        letter.upper().lower(),
        letter.lower().upper(),
    }
    if code > 127 and any(len(one) > 1 for one in same):
        raise NotReadError
    return {ord(one) for one in (*same, *known.get(letter, "")) if len(one) == 1}


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.blind = False
        self.dots = False

    def choice(self) -> Node:
        blind, dots = self.blind, self.dots
        branches = [self._sequence()]
        while self._next("|"):
            branches.append(self._sequence())
        self.blind, self.dots = blind, dots
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _next(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            atom = self._atom()
            if atom is not None:
                parts.append(self._repeated(atom))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _repeated(self, atom: Node) -> Node:
        counted = COUNT.match(self.text, self.at)
        if counted is not None:
            self.at = counted.end()
            least = int(counted[1])
            most = least if counted[2] is None else int(counted[3]) if counted[3] else None
        elif self.at < len(self.text) and self.text[self.at] in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.text[self.at]]
            self.at += 1
        else:
            return atom
        if isinstance(atom, Edge) or (most is not None and most < least):
            raise NotReadError
        greedy = not self._next("?")
        if self.at < len(self.text) and (self.text[self.at] in "*+?" or COUNT.match(self.text, self.at)):
            raise NotReadError
        return Repeat(atom, least, most, greedy)

    def _atom(self) -> Node | None:
        """One item; None for flags that hold from here on."""
        sign = self.text[self.at]
        if sign == "(":
            return self._bracket()
        self.at += 1
        if sign == ".":
            return Chars(((0, LAST),) if self.dots else opposite(((10, 10),)))
        if sign in "^$":
            return Edge(sign)
        if sign == "[":
            return self._set()
        if sign == "\\":
            return self._escaped()
        if sign in "*+?":
            raise NotReadError
        return self._one(ord(sign))

    def _one(self, code: int) -> Chars:
        single = ((code, code),)
        return Chars(folded(single) if self.blind else single)

    def _bracket(self) -> Node | None:
        flags = FLAGS.match(self.text, self.at)
        if flags is not None:
            return self._flagged(flags)
        named = NAMED.match(self.text, self.at)
        self.at = named.end() if named is not None else self.at + 1
        if self.text.startswith("?", self.at):
            raise NotReadError
        return Group(self._inside())

    def _flagged(self, flags: re.Match[str]) -> Node | None:
        blind, dots = self.blind, self.dots
        self.at = flags.end()
        for name, setting in ((flags[1], True), (flags[2] or "", False)):
            self.blind = setting if "i" in name else self.blind
            self.dots = setting if "s" in name else self.dots
        if flags[3] == ")":
            return None
        body = self._inside()
        self.blind, self.dots = blind, dots
        return body

    def _inside(self) -> Node:
        body = self.choice()
        if not self._next(")"):
            raise NotReadError
        return body

    def _escaped(self) -> Node:
        letter = self.text[self.at : self.at + 1]
        if letter.lower() in CLASSES:
            self.at += 1
            return Chars(self._class(CLASSES[letter.lower()], negative=letter.isupper()))
        if letter in {"b", "A", "z"}:
            self.at += 1
            return Edge({"A": "^", "z": "$"}.get(letter, letter))
        return self._one(self._code())

    def _class(self, ranges: Ranges, *, negative: bool) -> Ranges:
        """A class by its name, with what differs by case alone before it is turned around."""
        made = folded(ranges) if self.blind else ranges
        return opposite(made) if negative else made

    def _code(self) -> int:
        """The code point of an escaped character."""
        letter = self.text[self.at : self.at + 1]
        found = HEXADECIMAL.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            return int(found[1] or found[2], 16)
        self.at += 1
        if letter in CONTROLS:
            return CONTROLS[letter]
        if not letter or letter.isalnum():
            raise NotReadError
        return ord(letter)

    def _set(self) -> Chars:
        """A set of characters in square brackets."""
        negative = self._next("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self.text.startswith("]", self.at):
            first = False
            ranges += self._item()
        self.at += 1
        made = united(ranges)
        if self.blind:
            made = folded(made)
        return Chars(opposite(made) if negative else made)

    def _item(self) -> Sequence[tuple[int, int]]:
        named = POSIX.match(self.text, self.at)
        if named is not None and named[2] in NAMES:
            self.at = named.end()
            return self._class(NAMES[named[2]], negative=bool(named[1]))
        escaped = self.text[self.at : self.at + 2]
        if escaped[:1] == "\\" and escaped[1:].lower() in CLASSES:
            self.at += 2
            return self._class(CLASSES[escaped[1].lower()], negative=escaped[1].isupper())
        low = self._sign()
        ranged = self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in {"]", ""}
        if not ranged:
            return ((low, low),)
        self.at += 1
        high = self._sign()
        if high < low:
            raise NotReadError
        return ((low, high),)

    def _sign(self) -> int:
        """One character of a set."""
        if self.at >= len(self.text) or self.text.startswith("[:", self.at):
            raise NotReadError
        if self._next("\\"):
            return self._code()
        self.at += 1
        return ord(self.text[self.at - 1])
