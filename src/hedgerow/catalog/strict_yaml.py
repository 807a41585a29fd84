"""Strict reading of the catalog's file: the YAML 1.2 tree, where each entry is, and single values."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tokens import TagToken

from hedgerow.catalog import codes
from hedgerow.catalog.long_lists import compose_with_long_lists
from hedgerow.catalog.names import closest, fold
from hedgerow.errors import CatalogError, Span
from hedgerow.expressions import zones

MAX_BYTES = 4_000_000
"""Far beyond any catalog that a person reads. Reading one of this size takes a minute, unless most of it is a list of
plain values (`long_lists`)."""

FILL_IN = "???"
"""Placeholder for a value that only the owner knows."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a catalog, with the name that the owner gave to its file."""

    file: str
    text: str

    def error(self, message: str, span: Span, *, code: str, hint: str) -> CatalogError:
        """Return the error with file and line."""
        return CatalogError(f"{self.file}:{span.line}: {message}", code=code, hint=hint, span=span)

    def at(self, index: int, length: int = 1) -> Span:
        """Return the span of the characters from `index` on, which may be past the end."""
        start = min(index, len(self.text))
        return Span(start, min(start + length, len(self.text)), self.text.count("\n", 0, start) + 1)


def read_source(path: str | os.PathLike[str]) -> Source:
    """The text of the file at `path`."""
    file = os.fspath(path)
    content = _read_bytes(file)
    try:
        return Source(file, content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"))
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", "replace")
        raise Source(file, before).error(
            "The file is not UTF-8 text.",
            Span(len(before), len(before), before.count("\n") + 1),
            code=codes.ENCODING,
            hint="Save it again as UTF-8.",
        ) from None


def _read_bytes(file: str) -> bytes:
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unreadable(
            file, "There is no such file.", "Check the path, or let `hedgerow init` write a first catalog."
        ) from None
    except IsADirectoryError:
        raise _unreadable(file, "This is a folder, not a file.", "Name the YAML file inside it.") from None
    except (OSError, ValueError):
        raise _unreadable(file, "The file cannot be opened.", "Check its path and its permissions.") from None
    if len(content) > MAX_BYTES:
        raise _unreadable(
            file,
            f"The file is larger than {MAX_BYTES:,} bytes; no catalog is.",
            "Name the catalog, a YAML file written by hand.",
        )
    return content


def _unreadable(file: str, message: str, hint: str) -> CatalogError:
    return Source(file, "").error(message, Span(0, 0), code=codes.FILE, hint=hint)


def compose(source: Source) -> Node:
    """The YAML 1.2 tree of `source`, which holds exactly one document."""
    with suppress(YAMLError, RecursionError):
        read = compose_with_long_lists(source.text)
        if read is not None:
            return read
    try:
        root: Node | None = YAML(typ="safe", pure=True).compose(source.text)
    except RecursionError:
        raise source.error(
            "The lists or mappings are nested too deeply.",
            Span(0, 0),
            code=codes.SYNTAX,
            hint="A catalog needs five levels at most.",
        ) from None
    except YAMLError as error:
        raise _syntax_error(source, error) from None
    if root is None:
        raise source.error(
            "The catalog is empty.",
            Span(0, 0),
            code=codes.EMPTY,
            hint="It needs `dataset`, `budget` and `tables`; `hedgerow init` writes a first one.",
        )
    _refuse_tags(source)
    return root


def _syntax_error(source: Source, error: YAMLError) -> CatalogError:
    span = source.at(_position(error))
    line = source.text.split("\n")[span.line - 1]
    if FILL_IN in line:
        return source.error(
            f"`{FILL_IN}` marks something that only you know.",
            span,
            code=codes.FILL_IN,
            hint=f"Write the value in place of each `{FILL_IN}` on this line.",
        )
    told = isinstance(error, MarkedYAMLError) and error.problem
    complaint = str(told).removeprefix("but ") if told else "it holds a character that YAML does not allow"
    return source.error(
        f"This is not YAML: {complaint}.",
        span,
        code=codes.SYNTAX,
        hint="Check the indentation (spaces, no tabs), brackets and quotes on this line and the one before.",
    )


def _position(error: YAMLError) -> int:
    if isinstance(error, ReaderError):
        return int(error.position)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return 0 if mark is None else int(mark.index)


def _refuse_tags(source: Source) -> None:
    if "!" not in source.text:
        return
    for token in YAML(typ="safe", pure=True).scan(source.text):
        if isinstance(token, TagToken):
            raise source.error(
                "A catalog has no YAML tags (words that begin with `!`).",
                source.at(token.start_mark.index),
                code=codes.SYNTAX,
                hint="Remove the tag, or put the value in quotes if it begins with `!`.",
            )


Scalar = str | int | float | bool | None

MAX_DIGITS = 400
"""No double has more digits before the decimal point, so longer numbers are not read."""

_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


_RULES: tuple[tuple[re.Pattern[str], Callable[[str], Scalar]], ...] = (
    (re.compile(r"null|Null|NULL|~|"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]+"), lambda text: int(text) if len(text) <= MAX_DIGITS else math.inf),
    (re.compile(r"0o[0-7]{1,100}"), lambda text: int(text, 0)),
    (re.compile(r"0x[0-9a-fA-F]{1,100}"), lambda text: int(text, 0)),
    (_FLOAT, lambda text: float(text) if len(text) <= MAX_DIGITS else math.inf),
    (_INFINITY, lambda text: float(text.replace(".", ""))),
    (re.compile(r"\.(nan|NaN|NAN)"), lambda _: math.nan),
)


def resolve(node: ScalarNode) -> Scalar:
    """The value of a scalar. Quotes and blocks hold text."""
    text = str(node.value)
    if node.style:
        return text
    return next((make(text) for pattern, make in _RULES if pattern.fullmatch(text)), text)


def span_of(node: Node) -> Span:
    """Position of `node` in the text."""
    return Span(node.start_mark.index, node.end_mark.index, node.start_mark.line + 1)


def is_storable(text: str) -> bool:
    """True if every database can store `text`: no zero byte and no half of a surrogate pair."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text)


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A node of the file, the names that lead to it, and its position.

    Errors point at a scalar itself, and at the key of a mapping or list. `spans` is shared by all entries of a file and
    collects the positions of their keys.
    """

    source: Source
    node: Node
    span: Span
    path: tuple[str, ...] = ()
    spans: dict[tuple[str, ...], Span] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key of the entry."""
        return self.path[-1]

    @property
    def label(self) -> str:
        """The name for messages."""
        return f"`{'.'.join(self.path)}`" if self.path else "The catalog"

    @property
    def key(self) -> Span:
        """Position of its key."""
        return self.spans[_folded(self.path)]

    @property
    def written(self) -> str:
        """The scalar as the owner wrote it, for messages."""
        text = str(self.node.value)[:60]
        if isinstance(self.node, ScalarNode) and self.node.style:
            return f"the text {text!r}"
        return f"`{text}`" if text else "empty"

    @property
    def is_mapping(self) -> bool:
        """True if it has entries of its own."""
        return isinstance(self.node, MappingNode)

    @property
    def is_empty(self) -> bool:
        """True if nothing was written, or `null`."""
        return isinstance(self.node, ScalarNode) and resolve(self.node) is None

    def error(self, message: str, *, code: str, hint: str) -> CatalogError:
        """The error that points here."""
        return self.source.error(message, self.span, code=code, hint=hint)

    def scalar(self) -> Scalar:
        """The single value; a mapping, a list or an open `???` is refused."""
        if not isinstance(self.node, ScalarNode):
            raise self._misshapen("a single value", f"Write `{self.name}: …` on one line.")
        value = resolve(self.node)
        if value == FILL_IN:
            raise self.error(
                f"`{FILL_IN}` marks something that only you know.",
                code=codes.FILL_IN,
                hint=f"Write the value of `{self.name}` in its place.",
            )
        return value

    def fields(self, known: Sequence[str]) -> dict[str, "YamlEntry"]:
        """The entries of a mapping whose fields are fixed."""
        entries = self.items("a mapping")
        for name, entry in entries.items():
            if name not in known:
                raise self._unknown_field(name, entry.key, known)
        return entries

    def items(self, what: str, identity: Callable[[str], str] = str) -> dict[str, "YamlEntry"]:
        """The entries of a mapping whose keys are names; two of the same `identity` are refused."""
        if not isinstance(self.node, MappingNode):
            raise self._misshapen(what, "Write `name: value` lines, indented.")
        entries: dict[str, YamlEntry] = {}
        for key, node in self.node.value:
            entry = self._child(key, node)
            self._refuse_repeated(key, entries.get(identity(entry.name)))
            self.spans[_folded(entry.path)] = span_of(key)
            entries[identity(entry.name)] = entry
        return {entry.name: entry for entry in entries.values()}

    def elements(self) -> Iterator["YamlEntry"]:
        """The elements of a list."""
        if not isinstance(self.node, SequenceNode):
            raise self._misshapen("a list", f"Write `{self.name}: [first, second]`.")
        return (replace(self, node=node, span=span_of(node)) for node in self.node.value)

    def required(self, entries: dict[str, "YamlEntry"], name: str, example: str) -> "YamlEntry":
        """Return the entry called `name` among those `entries`, or refuse the catalog without it."""
        if name not in entries or entries[name].is_empty:
            where = f" from {self.label}" if self.path else ""
            raise entries.get(name, self).error(
                f"`{name}` is missing{where}.", code=codes.MISSING_FIELD, hint=f"Add `{example}`."
            )
        return entries[name]

    def _child(self, key: Node, node: Node) -> "YamlEntry":
        name = key.value if isinstance(key, ScalarNode) else ""
        if not name.strip() or not is_storable(name):
            raise self.source.error(
                "A key is empty, or is not a name.",
                span_of(key),
                code=codes.SHAPE,
                hint="Write `name: value`, with the name in quotes if it holds special characters.",
            )
        position = span_of(node) if isinstance(node, ScalarNode) and node.value else span_of(key)
        return replace(self, node=node, span=position, path=(*self.path, name))

    def _refuse_repeated(self, key: Node, earlier: "YamlEntry | None") -> None:
        if earlier is not None:
            raise self.source.error(
                f"`{key.value}` is written twice; the first is `{earlier.name}` on line {earlier.key.line}.",
                span_of(key),
                code=codes.DUPLICATE,
                hint="Keep one of the two.",
            )

    def _unknown_field(self, name: str, span: Span, known: Sequence[str]) -> CatalogError:
        guess = closest(name, known)
        listing = ", ".join(f"`{field}`" for field in known)
        where = self.label if self.path else "the catalog"
        return self.source.error(
            f"`{name}` is not a field of {where}.",
            span,
            code=codes.UNKNOWN_FIELD,
            hint=f"Did you mean `{guess}`?" if guess else f"The fields are {listing}.",
        )

    def _misshapen(self, what: str, hint: str) -> CatalogError:
        shape = "mapping" if self.is_mapping else "list" if isinstance(self.node, SequenceNode) else "single value"
        actual = "empty" if self.is_empty else f"a {shape}"
        return self.error(f"{self.label} is {actual}, and {what} is expected.", code=codes.SHAPE, hint=hint)


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(fold(part) for part in path)


SMALLEST = 1e-300
"""Smaller numbers lose digits, and no meaningful value is that small."""

_EXPONENT = re.compile(r"\+?([0-9]{1,30})[eE]\+?([0-9]{1,2})")


def flag(entry: YamlEntry) -> bool:
    """True or false."""
    value = entry.scalar()
    if isinstance(value, bool):
        return value
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and true or false is expected.",
        code=codes.BOOLEAN,
        hint="Write `true` or `false`: in YAML 1.2 `yes`, `no`, `on` and `off` are words.",
    )


def text(entry: YamlEntry) -> str:
    """A name. A number is taken as it is written: `version: 1.10` is the text `1.10`."""
    value = entry.scalar()
    words = "" if value is None or isinstance(value, bool) else str(entry.node.value)
    if words.strip() and is_storable(words):
        return words
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a name is expected.",
        code=codes.TEXT,
        hint='Write the name, in quotes if it looks like something else: "true".',
    )


def timezone(entry: YamlEntry) -> str:
    """A time zone of the IANA database."""
    name = text(entry)
    if zones.exists(name):
        return name
    guess = closest(name, zones.names())
    raise entry.error(
        f"`{entry.name}` is {entry.written}, which is not a time zone that Python knows on this computer.",
        code=codes.TIMEZONE,
        hint=(f"Did you mean `{guess}`? " if guess else "")
        + "Write a name of the IANA database, such as Europe/Berlin or UTC; the package `tzdata` brings all of them.",
    )


def choice(entry: YamlEntry, words: Sequence[str], meant: Mapping[str, str] | None = None) -> str:
    """Read one of `words`; `meant` maps other words to what they probably mean."""
    written = str(entry.scalar())
    if written in words:
        return written
    guess = (meant or {}).get(fold(written)) or closest(written, words)
    listing = " or ".join(f"`{word}`" for word in words)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and {listing} is expected.",
        code=codes.CHOICE,
        hint=f"Write `{entry.name}: {guess or words[0]}`.",
    )


def number(entry: YamlEntry) -> int | float:
    """A finite number, written as one."""
    value = entry.scalar()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, and a number is expected.",
            code=codes.NUMBER,
            hint="Write digits without quotes or separators, such as 1000, 0.5 or 1e-6.",
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which is not a finite number.",
            code=codes.NUMBER,
            hint="Write a finite number: what has no limit cannot be protected.",
        )
    return value


def within(entry: YamlEntry, lowest: float, highest: float) -> float:
    """A number from `lowest` to `highest`."""
    value = number(entry)
    if lowest <= value <= highest:
        return float(value)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, which is outside of {lowest:g} to {highest:g}.",
        code=codes.NUMBER,
        hint="Write a number in that range.",
    )


def fraction(entry: YamlEntry) -> float:
    """A number above 0 and below 1."""
    value = number(entry)
    if SMALLEST <= value < 1:
        return float(value)
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a number above 0 and below 1 is expected.",
        code=codes.NUMBER,
        hint="Write a number such as 1e-6 (for a delta) or 0.95 (for a confidence).",
    )


def integer(entry: YamlEntry, lowest: int, highest: int) -> int:
    """Read a whole number from `lowest` to `highest`. `1e9` is one; `10.0` is not, because of its decimal point."""
    value = number(entry)
    written = _EXPONENT.fullmatch(str(entry.node.value))
    whole = value if isinstance(value, int) else int(written[1]) * 10 ** int(written[2]) if written else None
    if whole is not None and lowest <= whole <= highest:
        return whole
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a whole number from {lowest} to {highest:g} is expected.",
        code=codes.NUMBER,
        hint="Write it without a decimal point." if whole is None else "Write a number in that range.",
    )
