"""Texts of several statements: split at semicolons, with the position of each."""

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
    """One statement, and its start in its file."""

    text: str
    start: int


def split_statements(text: str) -> tuple[Statement, ...]:
    r"""Return the statements of `text`. A semicolon in quotes or in a comment does not end a statement.

    It does not parse SQL: if it splits a text wrongly, the parser refuses the pieces.

    Example:
        >>> [statement.text for statement in split_statements("SELECT ';' -- one;\n; /* none */ ; SELECT 2")]
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


def ends_statement(text: str) -> bool:
    r"""Return True if `text` ends with a semicolon, outside of quotes and comments.

    Example:
        >>> ends_statement("SELECT 1; -- one"), ends_statement("SELECT ';'"), ends_statement("SELECT 'a;")
        (True, False, False)
    """
    ended, previous = False, ""
    for piece in _PIECE.finditer(text):
        if piece[0] in {"'", '"', "`"} or previous + piece[0] == "/*":
            return False  # opened, and not closed yet
        ended = bool(piece["end"]) or (ended and bool(piece["skip"]))
        previous = piece[0]
    return ended
