"""Statements that the service answers itself, not the shadow: recognised by their route, described and run."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from hedgerow.service.shadow.lexing import Word, WordKind, read_words
from hedgerow.service.shadow.routing import Decision, Route
from hedgerow.service.shadow.tables import BUDGET_SETTING
from hedgerow.service.wire.formats import JSON, TEXT
from hedgerow.service.wire.messages import StatementError
from hedgerow.service.wire.private import PLAN, PrivateStatements, ResultColumn, StatementResult, with_intervals
from hedgerow.service.wire.settings import SETTINGS, SessionSettings, read_setting

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


WITH_QUERY = frozenset(
    {
        CommandKind.QUERY,
        CommandKind.PROBE,
        CommandKind.EXPLAIN,
        CommandKind.COPY,
        CommandKind.DECLARE,
        CommandKind.PREPARE,
    }
)
ON_A_CURSOR = frozenset({CommandKind.FETCH, CommandKind.MOVE, CommandKind.CLOSE})


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


@dataclass(slots=True)
class AnswerCursor:
    """An answer that is fetched in parts: the result, the next row, and whether it outlives its transaction."""

    result: StatementResult
    hold: bool
    next_row: int = 0

    def take(self, count: int | None) -> Sequence[Sequence[object]]:
        """Return the next rows; None stands for all."""
        first, total = self.next_row, len(self.result.rows)
        self.next_row = total if count is None else min(total, first + count)
        return self.result.rows[first : self.next_row]


class LocalStatements:
    """Runs the statements of one session that the service answers itself, not the shadow."""

    def __init__(self, private: PrivateStatements, settings: SessionSettings) -> None:
        self._private = private
        self.settings = settings
        self._cursors: dict[str, AnswerCursor] = {}

    @property
    def log(self) -> Path | None:
        """The owner's log of the dataset."""
        return self._private.view.owners_log

    def cancel(self) -> bool:
        """Stop the statement that runs; False if none does."""
        return self._private.cancel()

    def cursor_columns(self, name: str) -> tuple[ResultColumn, ...] | None:
        """Return the columns of a declared cursor; None if there is none of that name."""
        return self._cursors[name].result.columns if name in self._cursors else None

    def close_cursors(self, *, hold: bool) -> None:
        """Close cursors at the end of a transaction; with `hold`, those that outlive it stay."""
        if self._cursors:
            self._cursors = {name: cursor for name, cursor in self._cursors.items() if hold and cursor.hold}

    async def claims(self, command: Command) -> bool:
        """Return True if the service answers a statement itself; check the value of a setting that the shadow keeps."""
        if command.kind in ON_A_CURSOR:
            return command.name in self._cursors
        if command.kind is CommandKind.SET and command.name is not None:
            name, value = command.name, command.options["value"]
            if name not in SETTINGS or value:
                setting = read_setting(name, value)
                if not SETTINGS[name].presentation:
                    await self._private.check_option(name, setting)
        return command.kind in WITH_QUERY or command.kind is CommandKind.SHOW_BUDGET

    async def publish_budget(self) -> None:
        """Send the row of the view `hedgerow.budget` to the shadow, before a statement reads it there."""
        await self.settings.store(BUDGET_SETTING, await self._private.budget_rows())

    async def parameter_types(self, command: Command, given: Sequence[int]) -> tuple[int, ...]:
        """Return the types of a statement's parameters."""
        if command.kind not in WITH_QUERY:
            return tuple(given)
        return (await self._private.parameters(command.query, given)).parameters

    async def columns(
        self, command: Command, given: Sequence[int], values: Sequence[object] | None
    ) -> tuple[ResultColumn, ...] | None:
        """Return the columns of a statement; None if it has none. `values` are those of its parameters, if known."""
        if command.kind in {CommandKind.QUERY, CommandKind.PROBE}:
            await self.settings.refresh()
            probe = command.kind is CommandKind.PROBE
            columns = await self._private.columns(command.query, given, values, probe=probe)
            return with_intervals(columns) if self.settings.intervals else columns
        if command.kind is CommandKind.EXPLAIN:
            return (ResultColumn(PLAN, JSON if _as_json(command) else TEXT),)
        if command.kind is CommandKind.FETCH:
            return self.cursor_columns(command.name or "")
        return (ResultColumn("hedgerow.budget", TEXT),) if command.kind is CommandKind.SHOW_BUDGET else None

    async def run(
        self, command: Command, given: Sequence[int], values: Sequence[object], *, in_transaction: bool
    ) -> StatementResult:
        """Run a statement."""
        if command.kind in ON_A_CURSOR:
            return self._on_cursor(command)
        if command.kind is CommandKind.SHOW_BUDGET:
            return await self._private.budget()
        if command.kind is CommandKind.PREPARE:
            raise StatementError(
                "PREPARE is not supported for a private query",
                "0A000",
                hint="Prepare it in the protocol, as drivers do.",
            )
        if command.kind is CommandKind.PROBE:
            return StatementResult("SELECT 0", await self.columns(command, given, values))
        await self.settings.refresh()
        if command.kind is CommandKind.EXPLAIN:
            if "ANALYZE" in command.options and command.options["ANALYZE"] not in {"FALSE", "OFF", "0"}:
                raise StatementError(
                    "EXPLAIN ANALYZE is not supported for a private query", "0A000", hint="EXPLAIN is free."
                )
            return await self._private.quote(command.query, values, as_json=_as_json(command))
        if command.kind is CommandKind.DECLARE and not (in_transaction or command.hold):
            raise StatementError("DECLARE CURSOR can only be used in transaction blocks", "25P01")
        if command.kind is CommandKind.DECLARE and command.name in self._cursors:
            raise StatementError(f'cursor "{command.name}" already exists', "42P03")
        result = await self._private.ask(command.query, given, values)
        if command.kind is CommandKind.DECLARE and command.name is not None:
            self._cursors[command.name] = AnswerCursor(result, command.hold)
            return StatementResult("DECLARE CURSOR", notice=result.notice)
        return result

    def _on_cursor(self, command: Command) -> StatementResult:
        """Fetch from a cursor, move it or close it."""
        name = command.name or ""
        cursor = self._cursors.get(name)
        if cursor is None:
            raise StatementError(f'cursor "{name}" does not exist', "34000")
        if command.kind is CommandKind.CLOSE:
            del self._cursors[name]
            return StatementResult("CLOSE CURSOR")
        if command.count is not None and command.count < 0:
            raise StatementError(
                "cursor can only scan forward", "55000", hint="FETCH, FETCH n, FETCH ALL and their FORWARD forms work."
            )
        rows = cursor.take(command.count)
        if command.kind is CommandKind.MOVE:
            return StatementResult(f"MOVE {len(rows)}")
        return StatementResult(f"FETCH {len(rows)}", cursor.result.columns, rows)


def _as_json(command: Command) -> bool:
    return command.options.get("FORMAT", "TEXT").upper() == "JSON"
