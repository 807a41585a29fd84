"""One client after its login: the simple and the extended protocol.

A statement is local (a private query, or a command around one) or goes to the shadow, whose replies are passed on.
The shadow also keeps transactions and settings: where a private statement fails in a transaction, the shadow's fails.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hedgerow.service.shadow.relay import (
    BOUND,
    CLOSED,
    DESCRIBED,
    EXECUTED,
    FLUSH,
    PARSED,
    SYNC,
    ShadowSession,
    frontend,
)
from hedgerow.service.shadow.relay import (
    error_fields as read_error,
)
from hedgerow.service.shadow.relay import (
    text as zero_ended,
)
from hedgerow.service.shadow.routing import Decision, Route, Router
from hedgerow.service.wire import messages
from hedgerow.service.wire.commands import Command, CommandKind, LocalStatements, read_command
from hedgerow.service.wire.formats import decode, parameter_type
from hedgerow.service.wire.messages import (
    IN_FAILED_TRANSACTION,
    Bind,
    MessageBody,
    Outbox,
    Parse,
    ProtocolError,
    StatementError,
    error_fields,
    expand_formats,
    known,
    shifted,
)
from hedgerow.service.wire.private import ResultColumn, StatementResult, copy_messages, row_messages

CODECS = {"UTF8": "utf-8", "SQL_ASCII": "utf-8", "LATIN1": "latin-1", "LATIN9": "iso8859-15", "WIN1252": "cp1252"}
"""Python's names of the encodings that a client may choose."""


@dataclass(slots=True)
class Prepared:
    """A prepared statement that the service answers itself.

    Attributes:
        command: The statement.
        offset: Position of the query inside in the text that the client sent.
        given: Object ids of the types that the client named for its parameters.
        types: Those of all parameters.
        width: Number of columns that the client was told; None if it has not asked.
    """

    command: Command
    offset: int
    given: tuple[int, ...]
    types: tuple[int, ...]
    width: int | None = None


@dataclass(slots=True)
class Portal:
    """A local statement with values for its parameters; its result once it was executed, and the next row."""

    prepared: Prepared
    values: tuple[object, ...]
    formats: tuple[int, ...]
    result: StatementResult | None = None
    next_row: int = 0


@dataclass(frozen=True, slots=True)
class ShadowStatement:
    """A statement or portal of the shadow: its text, and whether it reads the view `hedgerow.budget`."""

    text: str
    reads_budget: bool = False


class WireSession:
    """Answers the messages of one client, one at a time and in order."""

    def __init__(
        self,
        outbox: Outbox,
        shadow: ShadowSession,
        local: LocalStatements,
        router: Callable[[], Router],
        *,
        maximum_prepared: int,
    ) -> None:
        self._out = outbox
        self._router = router
        self._shadow = shadow
        self._local = local
        self._maximum_prepared = maximum_prepared
        self._statements: dict[str, Prepared | ShadowStatement] = {}
        self._portals: dict[str, Portal | ShadowStatement] = {}
        self._skipping = False
        self._unsynced = False
        self._in_block = False
        self._shadow_runs = False
        self._offset = 0
        self._handlers = {
            ord("P"): self._parse,
            ord("B"): self._bind,
            ord("D"): self._describe,
            ord("E"): self._execute,
            ord("C"): self._close,
        }

    @property
    def in_transaction(self) -> bool:
        """True in a transaction that has not failed, even if the shadow has not said so yet."""
        return self._shadow.status == "T" or (self._in_block and self._shadow.status == "I")

    async def cancel(self) -> None:
        """Stop the statement that runs now, local or in the shadow."""
        if not self._local.cancel() and self._shadow_runs:
            await self._shadow.cancel()

    async def handle(self, kind: int, body: bytes) -> bool:
        """Answer one message; return False for Terminate."""
        if kind == ord("X"):
            return False
        if kind == ord("S"):
            self._skipping = False
            await self._ready()
        elif not self._skipping:  # after an error everything up to Sync is skipped
            await self._answer(kind, body)
        if self._shadow.closed:
            raise ProtocolError("the connection to the shadow PostgreSQL has ended", "08006")
        return True

    async def _answer(self, kind: int, body: bytes) -> None:
        if kind == ord("Q"):
            await self._simple(body)
        elif kind == ord("H"):
            await self._out.flush()
        elif kind in self._handlers:
            try:
                await self._handlers[kind](body)
            except (ProtocolError, ConnectionError):
                raise
            except Exception as error:  # noqa: BLE001 - shown in our own words
                await self._fail(error)
                self._skipping = True
            if self._skipping:
                await self._out.flush()  # a client may wait for the error before it sends Sync
        elif kind == ord("F"):
            await self._fail(StatementError("function calls are not supported", "0A000", hint="Write SELECT."))
            await self._ready()
        elif kind not in b"dcf":  # COPY data without a COPY is ignored
            raise ProtocolError(f"invalid frontend message type {kind}")

    # the simple protocol

    async def _simple(self, body: bytes) -> None:
        self._statements.pop("", None)
        self._portals.pop("", None)
        try:
            reader = MessageBody(body, self._out.codec)
            text = reader.string()
            reader.end()
            for decision in self._router().decide_all(text):
                if decision.route is Route.EMPTY:
                    self._out.add(messages.EMPTY_QUERY)
                elif not await self._simple_statement(self._read(decision)):
                    break
        except (ProtocolError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 - shown in our own words
            await self._fail(error)
        await self._ready()

    def _read(self, decision: Decision) -> Command:
        """Return the routed statement; errors from now on are about it."""
        self._offset = decision.start + decision.offset
        return read_command(decision)

    async def _simple_statement(self, command: Command) -> bool:
        """Run one statement of a text; return False if the shadow refused it."""
        if not await self._claims(command):
            if command.kind is CommandKind.READ_BUDGET and self._shadow.status != "E":
                await self._local.publish_budget()
            await self._sync_shadow()
            query = frontend(b"Q", messages.string(command.text, self._out.codec))
            return await self._relay(query, until=frozenset({b"Z"}), text=command.text, offset=command.start)
        self._require_transaction()
        result = await self._run(command, (), ())
        if command.kind is CommandKind.COPY:
            await self._copy(result, command)
            return True
        if result.columns is not None:
            formats = (0,) * len(result.columns)
            self._describe_columns(result.columns, formats)
            for row in row_messages(result.columns, result.rows, formats, self._out.codec):
                await self._out.send(row)
        self._complete(result)
        return True

    # the extended protocol

    async def _parse(self, body: bytes) -> None:
        message = Parse.read(body, self._out.codec)
        if message.name and message.name in self._statements:
            raise StatementError(f'prepared statement "{message.name}" already exists', "42P05")
        if len(self._statements) >= self._maximum_prepared:
            raise StatementError("too many prepared statements", "54000", hint="Close those that are not needed.")
        command = self._read(self._router().decide(message.text))
        if not await self._claims(command):
            self._statements.pop(message.name, None)
            if await self._relay(frontend(b"P", body), FLUSH, until=PARSED):
                self._statements[message.name] = ShadowStatement(message.text, command.kind is CommandKind.READ_BUDGET)
            return
        self._require_transaction()
        types = await self._local.parameter_types(command, message.types)
        if not types:
            await self._local.columns(command, (), ())  # so that a refusal comes now, as PostgreSQL's does
        self._statements[message.name] = Prepared(command, self._offset, message.types, types)
        self._out.add(messages.PARSE_COMPLETE)

    async def _bind(self, body: bytes) -> None:
        message = Bind.read(body, self._out.codec)
        if len(self._portals) >= self._maximum_prepared:
            raise StatementError("too many portals", "54000", hint="Close those that are not needed.")
        prepared = self._statements.get(message.statement)
        if not isinstance(prepared, Prepared):
            self._portals.pop(message.portal, None)
            if await self._relay(frontend(b"B", body), FLUSH, until=BOUND):
                self._portals[message.portal] = prepared or ShadowStatement("")
            return
        self._require_transaction()
        self._offset = prepared.offset
        if message.portal and message.portal in self._portals:
            raise StatementError(f'cursor "{message.portal}" already exists', "42P03")
        if len(message.values) != len(prepared.types):
            raise StatementError(
                f"bind message supplies {len(message.values)} parameters, but the statement requires "
                f"{len(prepared.types)}",
                "08P01",
            )
        codes = expand_formats(message.value_formats, len(message.values))
        kinds = [parameter_type(type_id) for type_id in prepared.types]
        bound = zip(kinds, message.values, codes, strict=True)
        values = tuple(decode(kind, value, code, self._out.codec) for kind, value, code in bound)
        self._portals[message.portal] = Portal(prepared, values, message.result_formats)
        self._out.add(messages.BIND_COMPLETE)

    async def _describe(self, body: bytes) -> None:
        what, name = _target(body, self._out.codec)
        target = (self._statements if what == "S" else self._portals).get(name)
        if isinstance(target, Prepared):
            self._offset = target.offset
            columns = await self._local.columns(target.command, target.given, None)
            target.width = len(columns or ())
            self._out.add(messages.parameter_description([type_id or 25 for type_id in target.types]))
            self._describe_columns(columns, (0,) * len(columns or ()))
        elif isinstance(target, Portal):
            self._offset = target.prepared.offset
            columns = await self._local.columns(target.prepared.command, target.prepared.given, target.values)
            target.prepared.width = len(columns or ())
            self._describe_columns(columns, expand_formats(target.formats, len(columns or ())))
        elif target is None and what == "P" and (cursor := self._local.cursor_columns(name)) is not None:
            self._describe_columns(cursor, (0,) * len(cursor))  # a declared cursor is a portal
        else:
            await self._relay(frontend(b"D", body), FLUSH, until=DESCRIBED)

    async def _execute(self, body: bytes) -> None:
        reader = MessageBody(body, self._out.codec)
        name, limit = reader.string(), reader.int32()
        reader.end()
        portal = self._portals.get(name)
        if not isinstance(portal, Portal):
            text = portal.text if portal else ""
            if portal is not None and portal.reads_budget:
                await self._local.publish_budget()
            await self._relay(frontend(b"E", body), FLUSH, until=EXECUTED, text=text)
            return
        self._require_transaction()
        prepared = portal.prepared
        self._offset = prepared.offset
        if portal.result is None:
            columns = await self._local.columns(prepared.command, prepared.given, portal.values)
            if prepared.width is not None and prepared.width != len(columns or ()):  # refused before it is paid for
                raise StatementError("cached plan must not change result type", "0A000", hint="Prepare it again.")
            portal.result = await self._run(prepared.command, prepared.given, portal.values)
        if prepared.command.kind is CommandKind.COPY:
            await self._copy(portal.result, prepared.command)
        else:
            await self._rows(portal, portal.result, limit)

    async def _rows(self, portal: Portal, result: StatementResult, limit: int) -> None:
        """Send the next rows of a portal, at most `limit` of them (all, if it is not positive)."""
        if result.columns is None:
            self._complete(result)
            return
        formats = expand_formats(portal.formats, len(result.columns))
        first = portal.next_row
        last = min(len(result.rows), first + limit if limit > 0 else len(result.rows))
        for row in row_messages(result.columns, result.rows[first:last], formats, self._out.codec):
            await self._out.send(row)
        portal.next_row = last
        if last < len(result.rows):
            self._notice(result if first == 0 else None)
            self._out.add(messages.PORTAL_SUSPENDED)
        else:
            tag = result.tag if first == 0 else f"SELECT {last - first}"
            self._complete(StatementResult(tag, notice=result.notice if first == 0 else {}))

    async def _close(self, body: bytes) -> None:
        what, name = _target(body, self._out.codec)
        target = (self._statements if what == "S" else self._portals).pop(name, None)
        if isinstance(target, Prepared | Portal):
            self._out.add(messages.CLOSE_COMPLETE)
        else:
            await self._relay(frontend(b"C", body), FLUSH, until=CLOSED)

    # both

    async def _claims(self, command: Command) -> bool:
        """Return True if the service answers a statement itself."""
        if command.kind is CommandKind.DEALLOCATE:
            return command.name is not None and isinstance(self._statements.get(command.name), Prepared)
        return await self._local.claims(command)

    async def _run(self, command: Command, given: Sequence[int], values: Sequence[object]) -> StatementResult:
        if command.kind is CommandKind.DEALLOCATE:
            self._statements.pop(command.name or "", None)
            return StatementResult("DEALLOCATE")
        return await self._local.run(command, given, values, in_transaction=self.in_transaction)

    async def _copy(self, result: StatementResult, command: Command) -> None:
        for message in copy_messages(result, command.options, self._out.codec):
            await self._out.send(message)
        self._complete(StatementResult(f"COPY {len(result.rows)}", notice=result.notice))

    def _describe_columns(self, columns: Sequence[ResultColumn] | None, formats: Sequence[int]) -> None:
        if columns is None:
            self._out.add(messages.NO_DATA)
        else:
            described = [column.described for column in columns]
            self._out.add(messages.row_description(described, formats, self._out.codec))

    def _notice(self, result: StatementResult | None) -> None:
        if result is not None and result.notice:
            self._out.add(messages.notice(result.notice, self._out.codec))

    def _complete(self, result: StatementResult) -> None:
        self._notice(result)
        self._out.add(messages.command_complete(result.tag))

    def _require_transaction(self) -> None:
        if self._shadow.status == "E":
            raise StatementError(IN_FAILED_TRANSACTION, "25P02")

    async def _relay(self, *sent: bytes, until: frozenset[bytes], text: str = "", offset: int = 0) -> bool:
        """Send messages to the shadow and pass its replies on; return False if one of them is an error."""
        simple, succeeded = until == {b"Z"}, True
        self._unsynced, self._shadow_runs = not simple, True
        try:
            async for kind, payload in self._shadow.ask(*sent, until=until):
                if kind == b"Z":
                    continue
                reply = messages.message(kind, payload)
                if kind == b"E":
                    succeeded, self._skipping = False, not simple
                    reply = messages.error(shifted(read_error(payload), offset)) if offset else reply
                elif kind == b"C":
                    self._note(payload[:-1].decode(), text)
                elif kind == b"S":
                    name = self._shadow.parameters.get("client_encoding", "UTF8").upper()
                    self._out.codec = CODECS.get(name, "utf-8")
                await self._out.send(reply)
        finally:
            self._shadow_runs = False
        if simple:
            self._settle()
        return succeeded

    def _note(self, tag: str, text: str) -> None:
        """Update the state of the session from the command tag of a shadow's statement."""
        self._local.settings.note(tag, text)
        if tag in {"BEGIN", "START TRANSACTION"}:
            self._in_block = True
        elif tag in {"DEALLOCATE ALL", "DISCARD ALL"}:
            self._statements = {
                name: kept for name, kept in self._statements.items() if isinstance(kept, ShadowStatement)
            }
        if tag in {"CLOSE CURSOR ALL", "DISCARD ALL"}:
            self._local.close_cursors(hold=False)

    async def _fail(self, error: Exception) -> None:
        """Report an error, and let the transaction fail."""
        fields = error_fields(known(error, self._local.log), self._offset)
        self._out.add(messages.error(fields, self._out.codec))
        if self.in_transaction and not self._shadow.closed:
            broken = frontend(b"P", b"\0" + zero_ended("failed") + b"\0\0")
            self._unsynced = True
            async for _ in self._shadow.ask(broken, FLUSH, until=PARSED):
                pass

    async def _ready(self) -> None:
        """Send ReadyForQuery, after the shadow has sent its own if it was asked anything."""
        await self._sync_shadow()
        self._settle()
        self._out.add(messages.ready(self._shadow.status))
        await self._out.flush()

    async def _sync_shadow(self) -> None:
        """End the implicit transaction that messages of the extended protocol have begun in the shadow."""
        if (self._unsynced or self._local.settings.unsynced) and not self._shadow.closed:
            async for kind, payload in self._shadow.ask(SYNC):
                if kind in {b"S", b"N"}:
                    self._out.add(messages.message(kind, payload))
            self._unsynced = self._local.settings.unsynced = False

    def _settle(self) -> None:
        """Close the cursors and portals that end with a transaction."""
        self._in_block = False
        if self._shadow.status == "I":
            self._portals.clear()
            self._local.close_cursors(hold=True)


def _target(body: bytes, codec: str) -> tuple[str, str]:
    """Return the target of a Describe or Close: "S" or "P", and a name."""
    reader = MessageBody(body, codec)
    what, name = reader.take(1).decode("latin-1"), reader.string()
    reader.end()
    if what not in {"S", "P"}:
        raise ProtocolError("invalid message format")
    return what, name
