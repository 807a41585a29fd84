"""A regular expression as a tree, and the reader of RE2's syntax.

Every character of a pattern is a set of code points: no class, flag or dot is left to the engine to interpret.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

LAST = 0x10FFFF
MAX_FOLDED = 1_000
LAST_FOLDED, FOLDED_LATE = 0xA7CB, frozenset({0x1C89, 0x1C8A})
"""From the first on, and for the others, versions of Unicode differ in the letters they have."""

SHARP_S = frozenset({0xDF, 0x1E9E})
"""Lower and upper case, which Python folds to two letters."""

Ranges = tuple[tuple[int, int], ...]
"""Ranges of code points: ascending, inclusive and not overlapping."""


class UnsupportedPatternError(ValueError):
    """A pattern that is not certain to mean the same on every engine."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on the position: `A` and `z` are the ends of the text, `^` and `$` of a line, `b` of a word."""

    kind: str


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Nodes in sequence."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """Alternatives; the first that leads to a match is taken."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Parentheses; with a `number` if they capture."""

    body: "Node"
    number: int | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition, as often as possible or, if `lazy`, as rarely; a maximum of None is unbounded."""

    body: "Node"
    minimum: int
    maximum: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Until:
    """Skip characters of a set up to the first occurrence of a run of characters, and match the run."""

    over: Ranges
    run: tuple[Characters, ...]


Node = Characters | Anchor | Concatenation | Alternation | Group | Repeat | Until


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """Return ranges in order, with adjacent ones merged."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def complement(ranges: Ranges) -> Ranges:
    """Return all other code points."""
    others, start = list[tuple[int, int]](), 0
    for low, high in ranges:
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    return (*others, (start, LAST)) if start <= LAST else tuple(others)


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
    """Add all characters that differ only in case, as RE2 does."""
    if sum(high - low for low, high in ranges) > MAX_FOLDED:
        raise UnsupportedPatternError("a large set that ignores case")
    codes = [code for low, high in ranges for code in range(low, high + 1)]
    return merged([(other, other) for code in codes for other in _same_letter(code)])


def _same_letter(code: int) -> frozenset[int]:
    """Return the characters that fold to the same one; refuse those on which versions of Unicode disagree."""
    letter = chr(code)
    if code in SHARP_S:
        return SHARP_S
    if len(letter.casefold()) > 1:
        raise UnsupportedPatternError("a letter that folds to several")
    letters = _foldings().get(letter.casefold(), frozenset({code}))
    if len(letters) > 1 and any(other >= LAST_FOLDED or other in FOLDED_LATE for other in letters):
        raise UnsupportedPatternError("a letter whose case depends on the version of Unicode")
    return letters


@cache
def _foldings() -> dict[str, frozenset[int]]:
    """Return letters by their case folding, where several fold alike."""
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


CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
ANCHORS = frozenset("Azb")
"""`\\B` is missing: RE2 matches it in the middle of a character."""

REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
COUNT = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
FLAGS = re.compile(r"\(\?([ism]*)(?:-([ism]+))?([:)])")
NAME = re.compile(r"\(\?P?<[A-Za-z0-9_]+>")
HEXADECIMAL = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}")


@dataclass(frozen=True)
class _Flags:
    """Flags set by `(?ism)`."""

    any_case: bool = False
    dot_all: bool = False
    lines: bool = False


def read(pattern: str) -> tuple[Node, int]:
    """Return the tree of a pattern and the number of its groups."""
    reader = _Reader(pattern)
    tree = reader.alternation(_Flags())
    if not reader.is_at_end():
        raise UnsupportedPatternError("brackets")
    return tree, reader.groups


class _Reader:
    """Read from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self.groups = 0

    def is_at_end(self) -> bool:
        return self._at == len(self._text)

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _take(self, size: int = 1) -> str:
        text = self._peek(size)
        if len(text) < size:
            raise UnsupportedPatternError("end")
        self._at += size
        return text

    def _match(self, form: re.Pattern[str]) -> re.Match[str] | None:
        """Consume a match of a pattern, if it comes next."""
        match = form.match(self._text, self._at)
        self._at = self._at if match is None else match.end()
        return match

    def alternation(self, flags: _Flags) -> Node:
        """Read alternatives up to a closing parenthesis; flags set inside apply to all that follows."""
        options, parts = list[Node](), list[Node]()
        while not self.is_at_end() and self._peek() != ")":
            if self._peek() == "|":
                self._take()
                options.append(Concatenation(tuple(parts)))
                parts = []
                continue
            changed = FLAGS.match(self._text, self._at)
            if changed is not None and changed[3] == ")":
                self._at = changed.end()
                flags = _changed(flags, changed)
                continue
            parts.append(self._repeated(self._atom(flags)))
        options.append(Concatenation(tuple(parts)))
        return options[0] if len(options) == 1 else Alternation(tuple(options))

    def _atom(self, flags: _Flags) -> Node:
        if self._peek() == "(":
            return self._group(flags)
        if self._bounds() is not None:
            raise UnsupportedPatternError("a repetition of nothing")
        character = self._take()
        if character == "[":
            return Characters(self._class(flags))
        if character == ".":
            return Characters(EVERY if flags.dot_all else complement(NEWLINE))
        if character == "^":
            return Anchor("^" if flags.lines else "A")
        if character == "$":
            return Anchor("$" if flags.lines else "z")
        if character == "\\":
            return self._escaped(flags)
        return Characters(_folded(((ord(character), ord(character)),), flags))

    def _group(self, flags: _Flags) -> Node:
        number = None
        changed = self._match(FLAGS)
        if changed is not None:
            flags = _changed(flags, changed)
        else:
            self.groups += 1
            number = self.groups
            if self._match(NAME) is None and self._take() and self._peek() == "?":
                raise UnsupportedPatternError("an unknown kind of group")
        body = self.alternation(flags)
        if self._take() != ")":
            raise UnsupportedPatternError("brackets")
        return Group(body, number)

    def _escaped(self, flags: _Flags) -> Node:
        character = self._take()
        if character in ANCHORS:
            return Anchor(character)
        if character.lower() in CLASSES:
            return Characters(_perl_class(character, flags))
        code = self._code(character)
        return Characters(_folded(((code, code),), flags))

    def _code(self, character: str) -> int:
        """Return the code point that an escape stands for."""
        if character in CONTROLS:
            return CONTROLS[character]
        if character == "x":
            digits = self._match(HEXADECIMAL)
            if digits is None or int(digits[1] or digits[2], 16) > LAST:
                raise UnsupportedPatternError("\\x")
            return int(digits[1] or digits[2], 16)
        if character.isalnum() or ord(character) > 127:
            raise UnsupportedPatternError(f"\\{character}")
        return ord(character)

    def _class(self, flags: _Flags) -> Ranges:
        negated = self._peek() == "^" and bool(self._take())
        ranges = [*self._class_item(flags)]
        while self._peek() != "]":
            ranges += self._class_item(flags)
        self._take()
        return complement(merged(ranges)) if negated else merged(ranges)

    def _class_item(self, flags: _Flags) -> Ranges:
        if self._peek(2) == "[:":
            name = self._text[self._at + 2 : self._text.find(":]", self._at)]
            known = NAMED.get(name.removeprefix("^"))
            if known is None:
                raise UnsupportedPatternError(name)
            self._take(len(name) + 4)
            return complement(_folded(known, flags)) if name.startswith("^") else _folded(known, flags)
        if self._peek() == "\\" and self._peek(2)[1:].lower() in CLASSES:
            return _perl_class(self._take(2)[1], flags)
        low = high = self._class_character()
        if self._peek() == "-" and self._peek(2) not in {"-]", "-"}:
            self._take()
            high = self._class_character()
        if high < low:
            raise UnsupportedPatternError("a range that runs backwards")
        return _folded(((low, high),), flags)

    def _class_character(self) -> int:
        character = self._take()
        return self._code(self._take()) if character == "\\" else ord(character)

    def _repeated(self, node: Node) -> Node:
        """Read `*`, `+`, `?` or `{n,m}` after a node, once."""
        bounds = self._bounds()
        if bounds is None:
            return node
        minimum, maximum = bounds
        if isinstance(node, Anchor) or (maximum is not None and maximum < minimum):
            raise UnsupportedPatternError("a repeated anchor")
        lazy = self._peek() == "?" and bool(self._take())
        if self._bounds() is not None:
            raise UnsupportedPatternError("a repeated repetition")
        return Repeat(node, minimum, maximum, lazy)

    def _bounds(self) -> tuple[int, int | None] | None:
        if self._peek() in REPEATS:
            return REPEATS[self._take()]
        count = self._match(COUNT)
        if count is None:
            return None
        minimum = int(count[1])
        return minimum, minimum if count[2] is None else int(count[3]) if count[3] else None


def _changed(flags: _Flags, written: re.Match[str]) -> _Flags:
    """Return flags after `(?i)`, `(?-i)` or `(?i-s:`."""
    names = {"i": "any_case", "s": "dot_all", "m": "lines"}
    on = {names[letter]: True for letter in written[1]}
    return replace(flags, **on, **{names[letter]: False for letter in written[2] or ""})


def _folded(ranges: Ranges, flags: _Flags) -> Ranges:
    return in_any_case(ranges) if flags.any_case else ranges


def _perl_class(character: str, flags: _Flags) -> Ranges:
    ranges = _folded(CLASSES[character.lower()], flags)
    return ranges if character.islower() else complement(ranges)
