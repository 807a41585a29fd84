"""One entry of the file: what it is called, what it holds, where it stands."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hedgerow.catalog import codes
from hedgerow.catalog.names import closest, fold
from hedgerow.catalog.scalars import Scalar, resolve
from hedgerow.catalog.source import FILL_IN, Source
from hedgerow.errors import CatalogError, Span


def span_of(node: Node) -> Span:
    """Where `node` stands."""
    return Span(node.start_mark.index, node.end_mark.index, node.start_mark.line + 1)


def is_storable(text: str) -> bool:
    """Whether every database can hold `text`: no zero byte and no half of a surrogate pair."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text)


@dataclass(frozen=True, slots=True)
class Entry:
    """A node of the file, the names that lead to it, and the place to point at.

    A scalar is pointed at where it stands, a mapping or list at its key. `spans` is shared by all entries
    of a file and gathers the places of their keys on the way.
    """

    source: Source
    node: Node
    place: Span
    path: tuple[str, ...] = ()
    spans: dict[tuple[str, ...], Span] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key under which it stands."""
        return self.path[-1]

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"`{'.'.join(self.path)}`" if self.path else "The catalog"

    @property
    def key(self) -> Span:
        """Where its key stands."""
        return self.spans[_folded(self.path)]

    @property
    def written(self) -> str:
        """A scalar as the owner wrote it, for messages."""
        text = str(self.node.value)[:60]
        if isinstance(self.node, ScalarNode) and self.node.style:
            return f"the text {text!r}"
        return f"`{text}`" if text else "empty"

    @property
    def is_mapping(self) -> bool:
        """Whether it has entries of its own."""
        return isinstance(self.node, MappingNode)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written, or `null`."""
        return isinstance(self.node, ScalarNode) and resolve(self.node) is None

    def error(self, message: str, *, code: str, hint: str) -> CatalogError:
        """The error that points here."""
        return self.source.error(message, self.place, code=code, hint=hint)

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

    def fields(self, known: Sequence[str]) -> dict[str, "Entry"]:
        """The entries of a mapping whose fields are fixed."""
        found = self.items("a mapping")
        for name, entry in found.items():
            if name not in known:
                raise self._unknown_field(name, entry.key, known)
        return found

    def items(self, what: str, identity: Callable[[str], str] = str) -> dict[str, "Entry"]:
        """The entries of a mapping whose keys are names; two of the same `identity` are refused."""
        if not isinstance(self.node, MappingNode):
            raise self._misshapen(what, "Write `name: value` lines, indented.")
        found: dict[str, Entry] = {}
        for key, node in self.node.value:
            entry = self._child(key, node)
            self._refuse_repeated(key, found.get(identity(entry.name)))
            self.spans[_folded(entry.path)] = span_of(key)
            found[identity(entry.name)] = entry
        return {entry.name: entry for entry in found.values()}

    def elements(self) -> Iterator["Entry"]:
        """The elements of a list."""
        if not isinstance(self.node, SequenceNode):
            raise self._misshapen("a list", f"Write `{self.name}: [first, second]`.")
        return (replace(self, node=node, place=span_of(node)) for node in self.node.value)

    def required(self, found: dict[str, "Entry"], name: str, example: str) -> "Entry":
        """The entry called `name` among those `found` here, which must be there."""
        if name not in found or found[name].is_empty:
            where = f" from {self.label}" if self.path else ""
            raise found.get(name, self).error(
                f"`{name}` is missing{where}.", code=codes.MISSING_FIELD, hint=f"Add `{example}`."
            )
        return found[name]

    def _child(self, key: Node, node: Node) -> "Entry":
        name = key.value if isinstance(key, ScalarNode) else ""
        if not name.strip() or not is_storable(name):
            raise self.source.error(
                "A key is empty, or is not a name.",
                span_of(key),
                code=codes.SHAPE,
                hint="Write `name: value`, with the name in quotes if it holds special characters.",
            )
        place = span_of(node) if isinstance(node, ScalarNode) and node.value else span_of(key)
        return replace(self, node=node, place=place, path=(*self.path, name))

    def _refuse_repeated(self, key: Node, earlier: "Entry | None") -> None:
        if earlier is not None:
            raise self.source.error(
                f"`{key.value}` stands here a second time; the first is `{earlier.name}` on line {earlier.key.line}.",
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
        found = "empty" if self.is_empty else f"a {shape}"
        return self.error(f"{self.label} is {found}, and {what} is expected.", code=codes.SHAPE, hint=hint)


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(fold(part) for part in path)
