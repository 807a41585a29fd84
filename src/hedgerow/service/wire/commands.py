"""Commands around a query (EXPLAIN, COPY, DECLARE, FETCH, SET …), read word by word.

A command says which query is inside it and where; `private.py` and the router decide whose query that is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from hedgerow.service.wire.lexer import Token, tokens
from hedgerow.service.wire.messages import StatementError

PREFIX = "hedgerow"
"""First part of the names of our settings."""


class Kind(Enum):
    """Kinds of commands that the wire itself has to know."""

    QUERY = "query"
    EXPLAIN = "explain"
    COPY = "copy"
    DECLARE = "declare"
    FETCH = "fetch"
    MOVE = "move"
    CLOSE = "close"
    SET = "set"
    BUDGET = "budget"
    PREPARE = "prepare"
    DEALLOCATE = "deallocate"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class Command:
    """One statement.

    Attributes:
        kind: See `Kind`; everything that is not one of the commands is a query.
        text: The whole statement.
        query: The query inside.
        offset: Position of the query in the text.
        name: Name of the cursor, the prepared statement or the setting; None stands for all.
        count: Number of rows of a FETCH; None stands for all.
        options: Options of EXPLAIN and COPY; value of SET.
        hold: True for a cursor that outlives its transaction.
    """

    kind: Kind
    text: str
    query: str = ""
    offset: int = 0
    name: str | None = None
    count: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    hold: bool = False


Reader = Callable[[str, Sequence[Token]], Command | None]
"""Reads one command; None where the words after the first are others than expected."""


def read_command(text: str) -> Command:
    """Return the command that a statement is."""
    words = tokens(text)
    reader = READERS.get(words[0].upper) if words else None
    try:
        command = None if reader is None else reader(text, words)
    except IndexError:
        raise StatementError("syntax error at end of input", "42601") from None
    return Command(Kind.QUERY, text, text) if command is None else command


def _inner(kind: Kind, text: str, start: int, end: int | None = None, **more: object) -> Command:
    return Command(kind, text, text[start:end], start, **more)  # type: ignore[arg-type]  # fields of Command


def _explain(text: str, words: Sequence[Token]) -> Command | None:
    index, options = 1, {}
    if len(words) > 1 and words[1].text == "(" and words[2].upper not in {"SELECT", "WITH", "VALUES", "("}:
        close = _closing(words, 1)
        options, index = _options(words[2:close]), close + 1
    while index < len(words) and words[index].upper in {"ANALYZE", "ANALYSE", "VERBOSE"}:
        options[words[index].upper] = "TRUE"
        index += 1
    return _inner(Kind.EXPLAIN, text, words[index].start, options=options) if index < len(words) else None


def _copy(text: str, words: Sequence[Token]) -> Command | None:
    if len(words) < 2 or words[1].text != "(":
        return None
    close = _closing(words, 1)
    rest = words[close + 1 :]
    if len(rest) < 2 or rest[0].upper != "TO" or rest[1].upper != "STDOUT":
        return None
    rest = [word for word in rest[2:] if word.upper != "WITH"]
    if rest and rest[0].text == "(":
        options = _options(rest[1 : _closing(rest, 0)])
    else:
        options = _legacy_options(rest)
    return _inner(Kind.COPY, text, words[1].end, words[close].start, options=options)


def _legacy_options(words: Sequence[Token]) -> dict[str, str]:
    """Read options without brackets: CSV, BINARY, HEADER, DELIMITER, NULL, QUOTE, ESCAPE."""
    options: dict[str, str] = {}
    index = 0
    while index < len(words):
        name = words[index].upper
        if name in {"CSV", "BINARY"}:
            options["FORMAT"] = name
        elif name == "HEADER":
            options["HEADER"] = "TRUE"
        else:
            index += 2 if index + 1 < len(words) and words[index + 1].upper == "AS" else 1
            options[name] = words[index].value if index < len(words) else ""
        index += 1
    return options


def _options(words: Sequence[Token]) -> dict[str, str]:
    """Read options in brackets: a name and a value each, with commas between them."""
    options: dict[str, str] = {}
    part: list[Token] = []
    for word in [*words, Token("other", ",", 0)]:
        if word.text == "," and part:
            options[part[0].upper] = part[1].value.upper() if len(part) == 2 and part[1].kind == "word" else (
                part[1].value if len(part) == 2 else "TRUE"
            )
            part = []
        elif word.text != ",":
            part.append(word)
    return options


def _closing(words: Sequence[Token], start: int) -> int:
    """Return the index of the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(words)):
        depth += (words[index].text == "(") - (words[index].text == ")")
        if depth == 0:
            return index
    raise StatementError("syntax error at end of input", "42601")


def _declare(text: str, words: Sequence[Token]) -> Command | None:
    names = [word.upper for word in words]
    if "CURSOR" not in names or "FOR" not in names:
        return None
    where = names.index("FOR")
    if where + 1 >= len(words):
        return None
    between = names[2:where]
    if "BINARY" in between:
        raise StatementError("binary cursors are not supported", "0A000")
    hold = "HOLD" in between and "WITHOUT" not in between
    return _inner(Kind.DECLARE, text, words[where + 1].start, name=words[1].value, hold=hold)


def _fetch(text: str, words: Sequence[Token]) -> Command | None:
    """Read FETCH or MOVE: forward alone, because an answer is read once from its beginning to its end."""
    kind = Kind.FETCH if words[0].upper == "FETCH" else Kind.MOVE
    if len(words) < 2:
        return None
    count: int | None = 1
    for word in words[1:-1]:
        if word.upper == "ALL":
            count = None
        elif word.kind == "number":
            count = int(word.text)
        elif word.upper not in {"NEXT", "FORWARD", "FROM", "IN"}:
            count = -1
    return Command(kind, text, name=words[-1].value, count=count)


def _named(kind: Kind) -> "Reader":
    def read(text: str, words: Sequence[Token]) -> Command | None:
        if len(words) < 2:
            return None
        last = words[-1]
        return Command(kind, text, name=None if last.upper == "ALL" else last.value)

    return read


def _set(text: str, words: Sequence[Token]) -> Command | None:
    """Read SET [SESSION | LOCAL] hedgerow.name {= | TO} value."""
    start = 2 if len(words) > 1 and words[1].upper in {"SESSION", "LOCAL"} else 1
    if len(words) < start + 5 or words[start].value != PREFIX or words[start + 1].text != ".":
        return None
    if words[start + 3].upper not in {"=", "TO"}:
        return None
    value = text[words[start + 4].start : words[-1].end]
    if len(words) == start + 5:
        value = "" if words[-1].upper == "DEFAULT" else words[-1].value
    return Command(Kind.SET, text, name=words[start + 2].value, options={"value": value})


def _show(text: str, words: Sequence[Token]) -> Command | None:
    name = "".join(word.value for word in words[1:])
    return Command(Kind.BUDGET, text) if name == f"{PREFIX}.budget" else None


def _prepare(text: str, words: Sequence[Token]) -> Command | None:
    names = [word.upper for word in words]
    if "AS" not in names or names.index("AS") + 1 >= len(words):
        return None
    return _inner(Kind.PREPARE, text, words[names.index("AS") + 1].start, name=words[1].value)


READERS: Mapping[str, Reader] = {
    "EXPLAIN": _explain,
    "COPY": _copy,
    "DECLARE": _declare,
    "FETCH": _fetch,
    "MOVE": _fetch,
    "CLOSE": _named(Kind.CLOSE),
    "SET": _set,
    "SHOW": _show,
    "PREPARE": _prepare,
    "DEALLOCATE": _named(Kind.DEALLOCATE),
    "DISCARD": _named(Kind.DISCARD),
}
