"""Long lists of plain values in YAML, read without the parser, which is written in Python and takes 0.1 ms a value.

The text is parsed with the first and the last value of such a list alone, and the others are put back into the tree.
The tree is the one that the parser would give, with the same positions. Where that is not certain (the text of the
list may be part of a longer text, or of a comment), there is no tree, and the whole text must be parsed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

LEAST = 500
"""Minimum number of values of a long list."""

WORD = r"\w[\w.+/&'()-]*+(?: [\w.+/&'()-]++)*+"
"""A plain value: words without a character that YAML gives a meaning to."""

ITEM = rf"(?>{WORD}|\"[^\"\\\n]*\"|'[^'\n]*')"
ON_LINES = re.compile(rf"^( *)- {ITEM}\n(?:\1- {ITEM}\n){{{LEAST},}}+", re.MULTILINE)
IN_BRACKETS = re.compile(rf"(?<=[\[ \n]){ITEM}(?:,[ \n]++{ITEM}){{{LEAST},}}+")
ITEMS = {ON_LINES: re.compile(rf" *- ({ITEM})\n"), IN_BRACKETS: re.compile(rf"({ITEM})(?:,[ \n]++|\Z)")}

ENDED = re.compile(r"\n|.[ \n]*[,\]]")
"""The last character of a list, if nothing follows that may belong to its last value."""


@dataclass(slots=True)
class TextPosition:
    """A position in the text, in place of a mark of the parser."""

    index: int
    line: int


class _LongList(NamedTuple):
    """The values of a list by their positions, and the part of the text from the second value to the last one."""

    spans: Sequence[tuple[int, int]]
    start: int
    end: int


def compose_with_long_lists(text: str) -> Node | None:
    """Return the tree of a text that has long lists; None if it has none, or if their place in it is not certain.

    An error of the parser may point at a wrong place.
    """
    lists = sorted(_long_lists(text), key=lambda long_list: long_list.start)
    if not lists or any(one.end > next_one.start for one, next_one in pairwise(lists)):
        return None
    edges = [0, *(edge for long_list in lists for edge in (long_list.start, long_list.end)), len(text)]
    rest = "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    root: Node | None = YAML(typ="safe", pure=True).compose(rest)
    if root is None or "!" in rest:
        return None
    nodes = list(_nodes(root, set()))
    _move(nodes, text, lists)
    places = {item.start_mark.index: (node, i) for node in nodes for i, item in _items(node)}
    return root if all(_put_back(long_list, text, places) for long_list in reversed(lists)) else None


def _long_lists(text: str) -> Iterator[_LongList]:
    """Yield the long lists of a text, on lines of their own or in brackets."""
    for pattern, item in ITEMS.items():
        for match in pattern.finditer(text):
            values = list(item.finditer(text, match.start(), match.end()))
            if not ENDED.match(text, match.end() - 1):
                values.pop()
            if match[0].replace("\n", "").isprintable():
                yield _LongList([value.span(1) for value in values], values[1].start(), values[-1].start())


def _nodes(node: Node, seen: set[int]) -> Iterator[Node]:
    """Yield the nodes of a tree, each once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    yield node
    inner = [part for pair in node.value for part in pair] if isinstance(node, MappingNode) else node.value
    for part in inner if isinstance(node, MappingNode | SequenceNode) else ():
        yield from _nodes(part, seen)


def _items(node: Node) -> list[tuple[int, Node]]:
    return list(enumerate(node.value)) if isinstance(node, SequenceNode) else []


def _move(nodes: Sequence[Node], text: str, lists: Sequence[_LongList]) -> None:
    """Replace the positions in the shortened text by those in the whole one."""
    cuts, removed = [], 0
    for long_list in lists:
        cuts.append(
            (
                long_list.start - removed,
                long_list.end - long_list.start,
                text.count("\n", long_list.start, long_list.end),
            )
        )
        removed += long_list.end - long_list.start
    for node in nodes:
        for name in ("start_mark", "end_mark"):
            mark = getattr(node, name)
            passed = [(length, lines) for at, length, lines in cuts if at <= mark.index]
            position = TextPosition(mark.index + sum(n for n, _ in passed), mark.line + sum(n for _, n in passed))
            setattr(node, name, position)


def _put_back(long_list: _LongList, text: str, places: dict[int, tuple[Node, int]]) -> bool:
    """Insert the values between the first and the last of a list; False if these are not next to each other."""
    (start, end), (last_start, last_end) = long_list.spans[0], long_list.spans[-1]
    node, index = places.get(start, (None, 0))
    if node is None or places.get(last_start) != (node, index + 1):
        return False
    first, last = node.value[index], node.value[index + 1]
    if not (_is_read(first, text[start:end]) and _is_read(last, text[last_start:last_end])):
        return False
    line, at, between = first.start_mark.line, start, []
    for start, end in long_list.spans[1:-1]:
        line, at = line + text.count("\n", at, start), start
        value, style = _value(text[start:end])
        between.append(ScalarNode(first.ctag, value, TextPosition(start, line), TextPosition(end, line), style=style))
    node.value[index + 1 : index + 1] = between
    return True


def _is_read(node: Node, written: str) -> bool:
    """Return True if the parser read a value as it is written."""
    return isinstance(node, ScalarNode) and (node.value, node.style or None) == _value(written)


def _value(written: str) -> tuple[str, str | None]:
    return (written[1:-1], written[0]) if written[0] in "\"'" else (written, None)
