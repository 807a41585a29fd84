"""From a file to a tree of YAML nodes that remember where they stand. Nothing is interpreted here."""

import os
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.tokens import TagToken

from hedgerow.catalog import codes
from hedgerow.errors import CatalogError, Span

MAX_BYTES = 1_000_000
"""Far beyond any catalog that a person reads; reading one of this size takes seconds."""

FILL_IN = "???"
"""Stands where only the owner knows what to write."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a catalog, under the name that the owner gave to its file."""

    file: str
    text: str

    def error(self, message: str, span: Span, *, code: str, hint: str) -> CatalogError:
        """The error that says file and line first."""
        return CatalogError(f"{self.file}:{span.line}: {message}", code=code, hint=hint, span=span)

    def at(self, index: int, length: int = 1) -> Span:
        """The span of the characters from `index` on, which may lie past the end."""
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
    return source.error(
        f"This is not YAML: {_complaint(error)}.",
        span,
        code=codes.SYNTAX,
        hint="Check the indentation (spaces, no tabs), brackets and quotes on this line and the one before.",
    )


def _position(error: YAMLError) -> int:
    if isinstance(error, ReaderError):
        return int(error.position)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return 0 if mark is None else int(mark.index)


def _complaint(error: YAMLError) -> str:
    if isinstance(error, MarkedYAMLError) and error.problem:
        return str(error.problem).removeprefix("but ")
    return "it holds a character that YAML does not allow"


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
