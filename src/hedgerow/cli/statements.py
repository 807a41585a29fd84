"""Statements of the command line: read, split at semicolons, and asked of an open database."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.cli.errors import UsageError, pointing
from hedgerow.owners_log import keep
from hedgerow.session.connection import connect
from hedgerow.session.database import Database

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


def read_statement(stated: str) -> str:
    """Return the statement itself, or for `-` the text on standard input."""
    if stated != "-":
        return stated
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise UsageError("Standard input is not text in this terminal's encoding.", hint="Pass it as UTF-8.") from None


def read_statements(stated: str | None, file: str | None) -> list[str]:
    """Return the statement of the command line, or all statements of a file."""
    if (stated is None) == (file is None):
        raise UsageError("Pass one statement, or a file of statements with -f.")
    if stated is not None:
        return [read_statement(stated)]
    try:
        text = read_statement("-") if file == "-" else Path(str(file)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{file} cannot be read as text.", code="file-unreadable", hint="Check its name.") from None
    statements = [statement.text for statement in split_statements(text)]
    if not statements:
        raise UsageError(f"There is no statement in {file}.")
    return statements


def read_parameters(pairs: Iterable[str]) -> dict[str, Any]:
    """Return parameters by name: numbers, true, false and null as such, anything else as text.

    Example:
        >>> read_parameters(["low=3", "region=north", 'code="7"'])
        {'low': 3, 'region': 'north', 'code': '7'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--param {pair} has no value.", hint="Write --param name=value.")
        values[name.strip().lstrip(":")] = _value(text)
    return values


def _value(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) else value


@contextmanager
def asking(
    statement: str, *, db: str, catalog: str, ledger: str | None, analyst: str | None, dialect: str | None
) -> Iterator[Database]:
    """Yield the open database; errors inside point at the statement, or at the catalog."""
    with (
        pointing(catalog=catalog, query=statement),
        connect(db, catalog=catalog, ledger=ledger, analyst=analyst, dialect=dialect) as database,
    ):
        keep(database.owners_log)  # as long as the program runs: what fails last is logged last
        yield database


def stated(**options: object) -> dict[str, Any]:
    """Return the options that were given; the engine has defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}
