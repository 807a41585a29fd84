"""Changes to the text of a catalog that leave everything else unchanged to the byte: comments, order, spacing.

An existing value is replaced in place; a new one is added at the head of its mapping.
"""

import json
import re
from collections.abc import Mapping, Sequence

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from hedgerow.catalog.names import fold

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_NAMES = frozenset({"null", "true", "false"})
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def quote(name: str) -> str:
    """`name` as YAML reads it back, on one line whatever it holds.

    >>> quote("customer_id"), quote("first name"), quote("true")
    ('customer_id', '"first name"', '"true"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _NOT_NAMES:
        return name
    return '"' + "".join(_escape(letter) for letter in name) + '"'


def _escape(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


Value = str | int | float | Mapping[str, "Value"]


def patched(text: str, changes: Mapping[tuple[str, ...], Value]) -> str:
    r"""The text with `changes`: a value for each path of names that leads to it.

    Example:
        >>> patched("tables:\n  t: {unit: id}  # people\n", {("tables", "t", "max_rows"): 4})
        'tables:\n  t: {max_rows: 4, unit: id}  # people\n'
    """
    for path, value in changes.items():
        text = _set(text, path, value)
    return text


def _set(text: str, path: tuple[str, ...], value: Value) -> str:
    """Apply one change. Positions move with each, so the text is parsed again every time."""
    node: Node = YAML(typ="safe", pure=True).compose(text)
    for depth, name in enumerate(path):
        child = _child(node, name)
        if child is None:
            return _inserted(text, node, path[depth:], value)
        if _is_empty(child[1]):
            at = text.index(":", child[0].end_mark.index) + 1
            return f"{text[:at]} {_nested(path[depth + 1 :], value)}{text[at:]}"
        node = child[1]
    return text[: node.start_mark.index] + _flow(value) + text[_end(text, node) :]


def _child(node: Node, name: str) -> tuple[Node, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    matches = ((key, value) for key, value in node.value if fold(str(key.value)) == fold(name))
    return next(matches, None)


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.value and not node.style


def _inserted(text: str, node: Node, path: tuple[str, ...], value: Value) -> str:
    """The text with one more entry at the head of a mapping."""
    entry = f"{quote(path[0])}: {_nested(path[1:], value)}"
    at = node.start_mark.index
    if text[at] == "{":
        return f"{text[: at + 1]}{entry}{', ' if node.value else ''}{text[at + 1 :]}"
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    return f"{text[:at]}{entry}{_line_end(text)}{indent}{text[at:]}"


def _end(text: str, node: Node) -> int:
    """Return the position of a node's end; a block mapping's mark lies after the comments and blank lines behind it."""
    end = int(node.end_mark.index)
    if isinstance(node, MappingNode) and node.value and not node.flow_style:
        return _end(text, node.value[-1][1])
    return end


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _nested(path: Sequence[str], value: Value) -> str:
    for name in reversed(path):
        value = {name: value}
    return _flow(value)


def _flow(value: Value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quote(name)}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, str):
        return value if value.replace("-", "").isdigit() else json.dumps(value)
    return repr(value)
