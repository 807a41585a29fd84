"""Statements of one session that the service answers itself, not the shadow: recognise, describe and run them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hedgerow.service.shadow.tables import BUDGET_SETTING
from hedgerow.service.wire.commands import Command, CommandKind
from hedgerow.service.wire.formats import JSON, TEXT
from hedgerow.service.wire.messages import StatementError
from hedgerow.service.wire.private import PLAN, PrivateStatements
from hedgerow.service.wire.results import ResultColumn, StatementResult, with_intervals
from hedgerow.service.wire.settings import SETTINGS, SessionSettings, read_setting

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
            await self._check(command.name, command.options["value"])
        return command.kind in WITH_QUERY or command.kind is CommandKind.SHOW_BUDGET

    async def publish_budget(self) -> None:
        """Send the row of the view `hedgerow.budget` to the shadow, before a statement reads it there."""
        await self.settings.store(BUDGET_SETTING, await self._private.budget_rows())

    async def _check(self, name: str, value: str) -> None:
        if name not in SETTINGS or value:
            setting = read_setting(name, value)
            if not SETTINGS[name].presentation:
                await self._private.check_option(name, setting)

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
