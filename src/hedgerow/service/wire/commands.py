"""Statements that the wire answers itself, read from the router's decision: names, numbers and options of commands."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from hedgerow.service.shadow.lexing import Word, WordKind, read_words
from hedgerow.service.shadow.routing import Decision, Route
from hedgerow.service.wire.messages import StatementError

ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


class CommandKind(Enum):
    """Kinds of statements, by what the wire has to do."""

    THEIRS = "theirs"
    """The shadow answers."""
    QUERY = "query"
    PROBE = "probe"
    EXPLAIN = "explain"
    COPY = "copy"
    DECLARE = "declare"
    FETCH = "fetch"
    MOVE = "move"
    CLOSE = "close"
    SET = "set"
    SHOW_BUDGET = "show budget"
    READ_BUDGET = "read budget"
    PREPARE = "prepare"
    DEALLOCATE = "deallocate"


@dataclass(frozen=True, slots=True)
class Command:
    """One statement.

    Attributes:
        kind: See `CommandKind`.
        text: The whole statement.
        start: Position of the statement in the message.
        query: The private query inside.
        offset: Position of the query in the message.
        name: Name of the cursor, the prepared statement or the setting; None stands for all.
        count: Number of rows of a FETCH; None stands for all.
        options: Options of EXPLAIN and COPY; value of SET.
        hold: True for a cursor that outlives its transaction.
    """

    kind: CommandKind
    text: str
    start: int = 0
    query: str = ""
    offset: int = 0
    name: str | None = None
    count: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    hold: bool = False


def read_command(decision: Decision) -> Command:
    """Return the routed statement. A refused one raises its error."""
    if decision.error is not None:
        raise decision.error
    plain = Command(CommandKind.THEIRS, decision.text, decision.start, decision.query, decision.start + decision.offset)
    reader = READERS.get((decision.route, decision.command)) or READERS.get((decision.route, ""))
    try:
        return plain if reader is None else reader(plain, read_words(decision.text))
    except (IndexError, ValueError):
        raise StatementError("syntax error in the command", "42601") from None


def word_value(word: Word) -> str:
    """Return the name or text that a word means, without quotes."""
    if word.kind is not WordKind.TEXT:
        return word.value
    inside = word.text[word.text.index("'") + 1 : -1].replace("''", "'") if "'" in word.text else word.text
    return ESCAPE.sub(lambda match: ESCAPED.get(match[1], match[1]), inside) if word.text[0] in "eE" else inside


Reader = Callable[[Command, Sequence[Word]], Command]


def _as(kind: CommandKind) -> Reader:
    return lambda plain, _: replace(plain, kind=kind)


def _explain(plain: Command, words: Sequence[Word]) -> Command:
    before = [word for word in words if word.start + plain.start < plain.offset]
    bracket = [word for word in before[1:] if word.text not in {"(", ")"}]
    options = _options(bracket) if len(before) > 1 and before[1].text == "(" else {}
    options |= {"ANALYZE": "TRUE"} if any(word.keyword in {"ANALYZE", "ANALYSE"} for word in before) else {}
    return replace(plain, kind=CommandKind.EXPLAIN, options=options)


def _copy(plain: Command, words: Sequence[Word]) -> Command:
    rest = [word for word in words if word.start + plain.start >= plain.offset + len(plain.query)]
    while rest[0].keyword != "STDOUT":
        rest.pop(0)
    rest = [word for word in rest[1:] if word.keyword != "WITH"]
    options = _options(rest[1:-1]) if rest and rest[0].text == "(" else _legacy_options(rest)
    return replace(plain, kind=CommandKind.COPY, options=options)


def _options(words: Sequence[Word]) -> dict[str, str]:
    """Read options in brackets: a name and a value each, with commas between them."""
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.text == ",":
            name = ""
        elif name:
            options[name] = word_value(word)
        else:
            name = word.keyword
            options[name] = "TRUE"
    return options


def _legacy_options(words: Sequence[Word]) -> dict[str, str]:
    """Read options without brackets: CSV, BINARY, HEADER, DELIMITER [AS] ','."""
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.keyword in {"CSV", "BINARY"}:
            options["FORMAT"] = word.keyword
        elif word.keyword == "HEADER":
            options["HEADER"] = "TRUE"
        elif word.keyword not in {"", "AS"}:
            name = word.keyword
        elif word.keyword != "AS":
            options[name] = word_value(word)
    return options


def _declare(plain: Command, words: Sequence[Word]) -> Command:
    before = [word.keyword for word in words[2:] if word.start + plain.start < plain.offset]
    if "BINARY" in before:
        raise StatementError("binary cursors are not supported", "0A000")
    hold = "HOLD" in before and "WITHOUT" not in before
    return replace(plain, kind=CommandKind.DECLARE, name=words[1].value, hold=hold)


def _fetch(plain: Command, words: Sequence[Word]) -> Command:
    """Read FETCH or MOVE. A count of -1 stands for every direction but forward."""
    count: int | None = 1
    forward = True
    for word in words[1:-1]:
        if word.keyword == "ALL":
            count = None
        elif word.kind is WordKind.NUMBER:
            count = int(word.text)
        elif word.keyword not in {"NEXT", "FORWARD", "FROM", "IN"}:
            forward = False
    count = count if forward else -1
    kind = CommandKind.FETCH if words[0].keyword == "FETCH" else CommandKind.MOVE
    return replace(plain, kind=kind, name=words[-1].value, count=count)


def _named(kind: CommandKind) -> Reader:
    def read(plain: Command, words: Sequence[Word]) -> Command:
        last = words[1:][-1]
        return replace(plain, kind=kind, name=None if last.keyword == "ALL" else last.value)

    return read


def _set(plain: Command, words: Sequence[Word]) -> Command:
    """Read SET [SESSION | LOCAL] hedgerow.name {= | TO} value; DEFAULT is an empty value."""
    start = 2 if words[1].keyword in {"SESSION", "LOCAL"} else 1
    name, equals, values = words[start + 2], words[start + 3], words[start + 4 :]
    if equals.text != "=" and equals.keyword != "TO":
        raise ValueError(equals)
    value = word_value(values[0]) if len(values) == 1 else plain.text[values[0].start - words[0].start :]
    value = "" if values[0].keyword == "DEFAULT" else value
    return replace(plain, kind=CommandKind.SET, name=name.value, options={"value": value})


def _show(plain: Command, words: Sequence[Word]) -> Command:
    return replace(plain, kind=CommandKind.SHOW_BUDGET) if words[-1].value == "budget" else plain


READERS: Mapping[tuple[Route, str], Reader] = {
    (Route.PRIVATE, ""): _as(CommandKind.QUERY),
    (Route.PROBE, ""): _as(CommandKind.PROBE),
    (Route.BUDGET, ""): _as(CommandKind.READ_BUDGET),
    (Route.EXPLAIN, ""): _explain,
    (Route.COPY_OUT, ""): _copy,
    (Route.CURSOR, "DECLARE"): _declare,
    (Route.CURSOR, "FETCH"): _fetch,
    (Route.CURSOR, "MOVE"): _fetch,
    (Route.CURSOR, "CLOSE"): _named(CommandKind.CLOSE),
    (Route.SETTING, "SET"): _set,
    (Route.SETTING, "SHOW"): _show,
    (Route.PREPARE, "PREPARE"): _as(CommandKind.PREPARE),
    (Route.PREPARE, "DEALLOCATE"): _named(CommandKind.DEALLOCATE),
}
