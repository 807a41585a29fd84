"""Read a regular expression of RE2 into a tree."""

import re
from dataclasses import dataclass, replace

from hedgerow.dialects.regex.tree import (
    CLASSES,
    EVERY,
    LAST,
    NAMED,
    NEWLINE,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Group,
    Node,
    Ranges,
    Repeat,
    UnsupportedPatternError,
    complement,
    in_any_case,
    merged,
)

CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
ANCHORS = frozenset("Azb")
"""Not `\\B`: RE2 finds it in the middle of a character."""

REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
COUNT = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
FLAGS = re.compile(r"\(\?([ism]*)(?:-([ism]+))?([:)])")
NAME = re.compile(r"\(\?P?<[A-Za-z0-9_]+>")
HEXADECIMAL = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}")


@dataclass(frozen=True)
class _Flags:
    """Effect of `(?ism)` from here on."""

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
        """Take what has a form, if it comes next."""
        match = form.match(self._text, self._at)
        self._at = self._at if match is None else match.end()
        return match

    def alternation(self, flags: _Flags) -> Node:
        """Read options up to a closing bracket; flags that are set inside hold for all that follows."""
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
        sign = self._take()
        if sign == "[":
            return Characters(self._class(flags))
        if sign == ".":
            return Characters(EVERY if flags.dot_all else complement(NEWLINE))
        if sign == "^":
            return Anchor("^" if flags.lines else "A")
        if sign == "$":
            return Anchor("$" if flags.lines else "z")
        if sign == "\\":
            return self._escaped(flags)
        return Characters(_folded(((ord(sign), ord(sign)),), flags))

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
        sign = self._take()
        if sign in ANCHORS:
            return Anchor(sign)
        if sign.lower() in CLASSES:
            return Characters(_perl_class(sign, flags))
        code = self._code(sign)
        return Characters(_folded(((code, code),), flags))

    def _code(self, sign: str) -> int:
        """Return the code point that an escape stands for."""
        if sign in CONTROLS:
            return CONTROLS[sign]
        if sign == "x":
            digits = self._match(HEXADECIMAL)
            if digits is None or int(digits[1] or digits[2], 16) > LAST:
                raise UnsupportedPatternError("\\x")
            return int(digits[1] or digits[2], 16)
        if sign.isalnum() or ord(sign) > 127:
            raise UnsupportedPatternError(f"\\{sign}")
        return ord(sign)

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
        sign = self._take()
        return self._code(self._take()) if sign == "\\" else ord(sign)

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


def _perl_class(sign: str, flags: _Flags) -> Ranges:
    ranges = _folded(CLASSES[sign.lower()], flags)
    return ranges if sign.islower() else complement(ranges)
