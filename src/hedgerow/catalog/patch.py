"""Changes to the text of a catalog that leave everything else unchanged to the byte: comments, order, spacing.

An existing value is replaced in place; a new one is added at the head of its mapping. A file is written completely or
not at all, and with a copy of what it held before.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from hedgerow.catalog.load import load_catalog
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
        entries = node.value if isinstance(node, MappingNode) else []
        child = next(((key, kept) for key, kept in entries if fold(str(key.value)) == fold(name)), None)
        if child is None:
            return _inserted(text, node, path[depth:], value)
        if isinstance(child[1], ScalarNode) and not child[1].value and not child[1].style:  # it has no value yet
            return _filled(text, node, child[0], path[depth + 1 :], value)
        node = child[1]
    return text[: node.start_mark.index] + _flow(value) + text[_end(text, node) :]


def _filled(text: str, node: Node, key: Node, path: Sequence[str], value: Value) -> str:
    """The text with the value of a name that has none yet: below a block, on a line of its own.

    Lines that are commented out may follow; they have to fit when the owner fills them in.
    """
    at = text.index(":", key.end_mark.index) + 1
    if not isinstance(node, MappingNode) or node.flow_style or not path:
        return f"{text[:at]} {_nested(path, value)}{text[at:]}"
    end = text.find("\n", at) + 1 or len(text)
    indent = " " * max(key.start_mark.column + 2, _indent_of_comment(text[end:]))
    before = text[:end] if text[:end].endswith("\n") else text[:end] + _line_end(text)
    return f"{before}{indent}{quote(path[0])}: {_nested(path[1:], value)}{_line_end(text)}{text[end:]}"


def _indent_of_comment(text: str) -> int:
    """Return the indentation of a comment on the first line of a text; 0 if there is none."""
    line = text.split("\n", 1)[0]
    return len(line) - len(line.lstrip(" ")) if line.lstrip(" ").startswith("#") else 0


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


MARK = "\ufeff"
"""Byte order mark, which some editors write at the start of a UTF-8 file."""


def replace_catalog(path: Path, text: str) -> None:
    """Write `text` into the file, completely or not at all, after checking that it loads as a catalog."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    with draft.open("xb") as stream:
        stream.write(text.encode("utf-8"))
        stream.flush()
        os.fsync(stream.fileno())
    try:
        load_catalog(draft)
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def keep_copy(path: Path) -> Path:
    """Copy the file to the next free number, `shop.yaml.1`, `shop.yaml.2`, …, and return the copy's path."""
    content, number = path.read_bytes(), 1
    while True:
        copy = path.with_name(f"{path.name}.{number}")
        try:
            descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, path.stat().st_mode & 0o777)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        return copy


def with_endings_of(old: str, text: str) -> str:
    """Return a text with the byte order mark and the line ends of the file that it replaces."""
    mark = MARK if old.startswith(MARK) else ""
    return mark + (text.replace("\n", "\r\n") if "\r\n" in old else text)
