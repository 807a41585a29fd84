"""A file of statements, taken apart at its semicolons."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PIECE = re.compile(
    r"""
      (?P<skip>    \s+ | --[^\n]* | /\*.*?\*/ )
    | (?P<end>     ; )
    | (?<!\w)[eE]'(?: [^'\\] | \\. | '' )*'
    | '(?: [^'] | '' )*'
    | "(?: [^"] | "" )*"
    | `[^`]*`
    | (?<!\w)\$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""White space and comments, a semicolon, a quoted text, or any other character."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and where it begins in its file."""

    text: str
    start: int


def split_statements(text: str) -> tuple[Statement, ...]:
    r"""The statements of `text`. A semicolon in quotes or in a comment ends nothing.

    It reads no SQL: where it is wrong about a text, the parser refuses the pieces.

    Example:
        >>> [each.text for each in split_statements("SELECT ';' -- one;\n; /* none */ ; SELECT 2")]
        ["SELECT ';'", 'SELECT 2']
    """
    return tuple(_statements(text))


def _statements(text: str) -> Iterator[Statement]:
    start, end = None, 0
    for piece in _PIECE.finditer(text):
        if piece["end"]:
            if start is not None:
                yield Statement(text[start:end], start)
            start = None
        elif not piece["skip"]:
            start = piece.start() if start is None else start
            end = piece.end()
    if start is not None:
        yield Statement(text[start:end], start)
