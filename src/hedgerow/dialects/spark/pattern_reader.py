"""Reading a regular expression of RE2 into a tree."""

from dataclasses import dataclass

from hedgerow.dialects.spark.pattern_tree import (
    CLASSES,
    EVERY,
    NAMED,
    NEWLINE,
    Choice,
    Group,
    Node,
    Place,
    Ranges,
    Repeat,
    Sequence,
    Sign,
    UnreadableError,
    complement,
    in_any_case,
    merged,
)

CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
PLACES = {"A": "A", "z": "z", "b": "b"}
"""Not `\\B`: RE2 finds it in the middle of a sign."""
REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True)
class Flags:
    """What `(?ism)` switches on."""

    any_case: bool = False
    dot_all: bool = False
    lines: bool = False


def read(pattern: str) -> tuple[Node, int]:
    """The tree, and how many groups it has."""
    reader = _Reader(pattern)
    tree = reader.choice(Flags())
    if not reader.is_over():
        raise UnreadableError("brackets")
    return tree, reader.groups


class _Reader:
    """Reads from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self.groups = 0

    def is_over(self) -> bool:
        return self._at == len(self._text)

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _take(self, size: int = 1) -> str:
        found = self._peek(size)
        if len(found) < size:
            raise UnreadableError("end")
        self._at += size
        return found

    def _until(self, end: str) -> str:
        where = self._text.find(end, self._at)
        if where < 0:
            raise UnreadableError("end")
        found = self._text[self._at : where]
        self._at = where + len(end)
        return found

    def choice(self, flags: Flags) -> Node:
        """Options up to a closing bracket; a flag that is switched on holds for all that follow."""
        options, parts = list[Node](), list[Node]()
        while not self.is_over() and self._peek() != ")":
            if self._peek() == "|":
                self._take()
                options.append(Sequence(tuple(parts)))
                parts = []
                continue
            changed = self._flags(flags)
            if changed is not None:
                flags = changed
                continue
            parts.append(self._repeated(self._atom(flags)))
        options.append(Sequence(tuple(parts)))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _flags(self, flags: Flags) -> Flags | None:
        """`(?i)`, without brackets that it would be about."""
        if self._peek(2) != "(?":
            return None
        end = self._text.find(")", self._at)
        letters = self._text[self._at + 2 : end]
        if end < 0 or not letters or not {*letters} <= {*"ism"}:
            return None
        self._at = end + 1
        return _switched(flags, letters)

    def _atom(self, flags: Flags) -> Node:
        sign = self._take()
        if sign == "(":
            return self._group(flags)
        if sign == "[":
            return Sign(self._class(flags))
        if sign == ".":
            return Sign(EVERY if flags.dot_all else complement(NEWLINE))
        if sign == "^":
            return Place("^" if flags.lines else "A")
        if sign == "$":
            return Place("$" if flags.lines else "z")
        if sign == "\\":
            return self._escaped(flags)
        if sign in "*+?{)":
            raise UnreadableError("a repetition of nothing")
        return Sign(_literal(ord(sign), flags))

    def _group(self, flags: Flags) -> Node:
        number = None
        if self._peek(2) == "?:":
            self._take(2)
        elif self._peek() == "?":
            self._take()
            flags = _switched(flags, self._until(":"))
        else:
            self.groups += 1
            number = self.groups
        body = self.choice(flags)
        self._expect(")")
        return Group(body, number)

    def _expect(self, sign: str) -> None:
        if self._take() != sign:
            raise UnreadableError(sign)

    def _escaped(self, flags: Flags) -> Node:
        sign = self._take()
        if sign in PLACES:
            return Place(PLACES[sign])
        if sign.lower() in CLASSES:
            return Sign(_perl(sign, flags))
        return Sign(_literal(self._code(sign), flags))

    def _code(self, sign: str) -> int:
        """The code point that an escape stands for."""
        if sign in CONTROLS:
            return CONTROLS[sign]
        if sign == "x":
            digits = self._until("}") if self._peek() == "{" and self._take() else self._take(2)
            return _hexadecimal(digits)
        if sign.isalnum() or ord(sign) > 127:
            raise UnreadableError(f"\\{sign}")
        return ord(sign)

    def _class(self, flags: Flags) -> Ranges:
        negated = self._peek() == "^" and bool(self._take())
        found, first = list[tuple[int, int]](), True
        while first or self._peek() != "]":
            found += self._class_part(flags)
            first = False
        self._take()
        ranges = merged(found)
        return complement(ranges) if negated else ranges

    def _class_part(self, flags: Flags) -> Ranges:
        if self._peek(2) == "[:":
            self._take(2)
            name = self._until(":]")
            known = NAMED.get(name.removeprefix("^"))
            if known is None:
                raise UnreadableError(name)
            known = in_any_case(known) if flags.any_case else known
            return complement(known) if name.startswith("^") else known
        if self._peek() == "\\" and self._peek(2)[1:].lower() in CLASSES:
            return _perl(self._take(2)[1], flags)
        low = self._class_sign()
        high = low
        if self._peek() == "-" and self._peek(2) not in {"-]", "-"}:
            self._take()
            high = self._class_sign()
        if high < low:
            raise UnreadableError("a range that runs backwards")
        return in_any_case(((low, high),)) if flags.any_case else ((low, high),)

    def _class_sign(self) -> int:
        sign = self._take()
        return self._code(self._take()) if sign == "\\" else ord(sign)

    def _repeated(self, node: Node) -> Node:
        """`*`, `+`, `?` or `{n,m}` after a node, once."""
        bounds = self._bounds()
        if bounds is None:
            return node
        if isinstance(node, Place):
            raise UnreadableError("a repeated place")
        lazy = self._peek() == "?" and bool(self._take())
        if self._peek() in REPEATS or self._is_counted():
            raise UnreadableError("a repeated repetition")
        return Repeat(node, *bounds, lazy)

    def _bounds(self) -> tuple[int, int | None] | None:
        if self._peek() in REPEATS:
            return REPEATS[self._take()]
        if not self._is_counted():
            if self._peek() == "{":
                raise UnreadableError("a brace")
            return None
        self._take()
        least, comma, most = self._until("}").partition(",")
        return int(least), (int(most) if most else None) if comma else int(least)

    def _is_counted(self) -> bool:
        end = self._text.find("}", self._at)
        low, _, high = self._text[self._at + 1 : end].partition(",")
        return self._peek() == "{" and end > 0 and low.isdecimal() and (not high or high.isdecimal())


def _switched(flags: Flags, letters: str) -> Flags:
    if not letters or not {*letters} <= {*"ism"}:
        raise UnreadableError(f"(?{letters}")
    return Flags(flags.any_case or "i" in letters, flags.dot_all or "s" in letters, flags.lines or "m" in letters)


def _literal(code: int, flags: Flags) -> Ranges:
    ranges = ((code, code),)
    return in_any_case(ranges) if flags.any_case else ranges


def _perl(sign: str, flags: Flags) -> Ranges:
    known = in_any_case(CLASSES[sign.lower()]) if flags.any_case else CLASSES[sign.lower()]
    return known if sign.islower() else complement(known)


def _hexadecimal(digits: str) -> int:
    try:
        code = int(digits, 16)
    except ValueError:
        raise UnreadableError(digits) from None
    if code > 0x10FFFF:
        raise UnreadableError(digits)
    return code
