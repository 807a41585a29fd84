"""One connection to the shadow for one client session: messages of protocol 3 passed on, replies passed back.

The wire sends the client's messages as bytes and passes each reply back unchanged. In the simple protocol every message
is answered until `ReadyForQuery`. In the extended protocol the wire adds `FLUSH` and reads to the end of one reply:

    async for kind, payload in session.ask(parse_message, FLUSH, until=PARSED): ...
    async for kind, payload in session.ask(SYNC, until=READY): ...

Notices and parameter changes can come before any reply, and are yielded like the rest.
"""

import asyncio
import base64
import hashlib
import hmac
import os
import ssl
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

from hedgerow.errors import BackendError, HedgerowError

Message = tuple[bytes, bytes]
"""Type byte and payload of a message from the server, without its length."""

ERROR: Final = b"E"
READY: Final = frozenset({b"Z"})
"""End of the replies to Query, Sync and FunctionCall."""
PARSED: Final = frozenset({b"1", ERROR})
BOUND: Final = frozenset({b"2", ERROR})
DESCRIBED: Final = frozenset({b"T", b"n", ERROR})
"""End of the reply to Describe: RowDescription or NoData (after ParameterDescription, for a statement)."""
EXECUTED: Final = frozenset({b"C", b"s", b"I", ERROR})
"""End of the reply to Execute: CommandComplete, PortalSuspended or EmptyQueryResponse."""
CLOSED: Final = frozenset({b"3", ERROR})

FLUSH: Final = b"H\x00\x00\x00\x04"
SYNC: Final = b"S\x00\x00\x00\x04"
TERMINATE: Final = b"X\x00\x00\x00\x04"
PROTOCOL_3: Final = 196608
CANCEL_CODE: Final = 80877102
TLS_CODE: Final = 80877103

MAXIMUM_MESSAGE: Final = 64 * 1024 * 1024
"""Number of bytes of a single message from the server; a longer one ends the session."""

SEALED: Final = b"\0C58P01\0"
"""SQLSTATE of an attempt to read a declared table: its file does not exist (see `tables.py`)."""

ROWS_REFUSED: Final = (
    b"SERROR\0VERROR\0C0A000\0Mrows of a declared table are read by private statements only\0"
    b"HAsk in one SELECT that reads declared tables alone, without catalogs of PostgreSQL.\0\0"
)

CHUNK: Final = 256 * 1024
CANCEL_GRACE: Final = 5.0
"""Seconds between a cancel request and the end of the connection, if the server does not react."""


@dataclass(frozen=True, slots=True)
class ShadowAddress:
    """Address of the shadow: the path of a Unix socket, or host and port."""

    path: str | None = None
    host: str = "127.0.0.1"
    port: int = 5432
    tls: ssl.SSLContext | None = None

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection, encrypted if `tls` is given."""
        if self.path is not None:
            return await asyncio.open_unix_connection(self.path, limit=CHUNK)
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=CHUNK)
        if self.tls is not None:
            writer.write(struct.pack("!II", 8, TLS_CODE))
            if await reader.readexactly(1) != b"S":
                writer.close()
                raise unavailable("The shadow PostgreSQL does not offer TLS.")
            await writer.start_tls(self.tls, server_hostname=self.host)
        return reader, writer


@dataclass(frozen=True, slots=True)
class RowColumn:
    """Name and type of a column in a RowDescription."""

    name: str
    type_id: int
    type_size: int
    modifier: int


@dataclass(frozen=True, slots=True)
class StatementTypes:
    """Types of a statement as the shadow sees them: object ids of parameters, and columns (None without any)."""

    parameters: tuple[int, ...]
    columns: tuple[RowColumn, ...] | None
    row_description: bytes | None


class ShadowError(BackendError):
    """The shadow refused a statement; `fields` are those of its ErrorResponse, by their letters."""

    code = "shadow-refused"

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(fields.get("M", "The shadow PostgreSQL refused the statement."))
        self.fields = dict(fields)


def unavailable(message: str) -> BackendError:
    """Return the error for a shadow that does not answer."""
    return BackendError(message, code="shadow-unavailable", hint="Try again; if it happens again, tell the owner.")


def frontend(kind: bytes, payload: bytes) -> bytes:
    """Return a message from the client's side: type byte, length, payload."""
    return kind + struct.pack("!I", len(payload) + 4) + payload


def text(value: str) -> bytes:
    """Return a string of the protocol, with its closing zero."""
    return value.encode() + b"\0"


def error_fields(payload: bytes) -> dict[str, str]:
    """Return the fields of an ErrorResponse or NoticeResponse by their letters (M: message, C: SQLSTATE, …)."""
    parts = payload.split(b"\0")
    return {chr(part[0]): part[1:].decode(errors="replace") for part in parts if part}


def row_columns(payload: bytes) -> tuple[RowColumn, ...]:
    """Return the columns of a RowDescription."""
    columns, offset = [], 2
    for _ in range(int.from_bytes(payload[:2], "big")):
        end = payload.index(0, offset)
        _table, _number, type_id, type_size, modifier, _format = struct.unpack_from("!IhIhih", payload, end + 1)
        columns.append(RowColumn(payload[offset:end].decode(), type_id, type_size, modifier))
        offset = end + 1 + 18
    return tuple(columns)


def row_values(payload: bytes) -> tuple[bytes | None, ...]:
    """Return the values of a DataRow."""
    values: list[bytes | None] = []
    offset = 2
    for _ in range(int.from_bytes(payload[:2], "big")):
        (length,) = struct.unpack_from("!i", payload, offset)
        offset += 4
        values.append(None if length < 0 else payload[offset : offset + length])
        offset += max(length, 0)
    return tuple(values)


class ShadowSession:
    """A connection to the shadow as one analyst, for one client session.

    `parameters` are the server's current settings as it reports them (ParameterStatus), `status` is "I" outside a
    transaction, "T" in one and "E" in a failed one. `timeout` is the limit of one reply in seconds, whatever the client
    sets `statement_timeout` to: the statement is then cancelled.
    """

    def __init__(
        self,
        address: ShadowAddress,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        *,
        timeout: float,
    ) -> None:
        self.parameters: dict[str, str] = {}
        self.status = "I"
        self.process_id = 0
        self._secret = b""
        self._address = address
        self._reader, self._writer = streams
        self._timeout = timeout
        self._buffer = bytearray()
        self._closed = False

    @classmethod
    async def open(
        cls,
        address: ShadowAddress,
        *,
        user: str,
        database: str,
        password: str | None = None,
        settings: Mapping[str, str] | None = None,
        timeout: float = 30.0,  # noqa: ASYNC109 - the limit of every later reply
    ) -> "ShadowSession":
        """Connect as `user` to `database`; `settings` are start-up parameters such as application_name or options."""
        try:
            async with asyncio.timeout(timeout):
                session = cls(address, await address.connect(), timeout=timeout)
                try:
                    await session._start(user, database, password, settings or {})
                except BaseException:
                    session._drop()
                    raise
                return session
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            raise unavailable("The shadow PostgreSQL does not answer.") from None

    @property
    def closed(self) -> bool:
        """True after `close`, and after the shadow ended the connection."""
        return self._closed

    async def send(self, *messages: bytes) -> None:
        """Send messages of the client as they are."""
        if self._closed:
            raise unavailable("The connection to the shadow PostgreSQL has ended.")
        self._writer.write(b"".join(messages))
        try:
            await self._writer.drain()
        except OSError:
            self._drop()
            raise unavailable("The connection to the shadow PostgreSQL has ended.") from None

    async def ask(self, *messages: bytes, until: frozenset[bytes] = READY) -> AsyncIterator[Message]:
        """Send messages and yield each reply, up to and including the first whose type is in `until`.

        A statement that outlasts the time limit is cancelled, and its error is yielded like any other. A request to
        send rows (COPY FROM STDIN) is declined.
        """
        await self.send(*messages)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout
        cancelled = False
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    kind, payload = await self._receive()
            except TimeoutError:
                if cancelled:
                    self._drop()
                    raise unavailable("The shadow PostgreSQL does not answer.") from None
                cancelled, deadline = True, loop.time() + CANCEL_GRACE
                await self.cancel()
                continue
            self._note(kind, payload)
            if kind == ERROR and SEALED in payload:
                payload = ROWS_REFUSED
            if kind in {b"G", b"W"}:
                await self.send(frontend(b"f", text("COPY FROM is not allowed.")))
                continue
            yield kind, payload
            if kind in until:
                return

    async def query(self, sql: str) -> list[tuple[bytes | None, ...]]:
        """Run a statement of our own in the simple protocol and return its rows as text."""
        rows, error = [], None
        async for kind, payload in self.ask(frontend(b"Q", text(sql))):
            if kind == b"D":
                rows.append(row_values(payload))
            elif kind == ERROR:
                error = ShadowError(error_fields(payload))
        if error is not None:
            raise error
        return rows

    async def describe(self, sql: str, parameter_types: tuple[int, ...] = ()) -> StatementTypes:
        """Return the types of a statement that is not run. `ShadowError` where the shadow cannot read it.

        An error inside a transaction aborts that transaction: describe private statements in a session of their own.
        """
        types = struct.pack(f"!h{len(parameter_types)}I", len(parameter_types), *parameter_types)
        parse = frontend(b"P", b"\0" + text(sql) + types)
        describe = frontend(b"D", b"S\0")
        parameters: tuple[int, ...] = ()
        row_description, error = None, None
        async for kind, payload in self.ask(parse, describe, SYNC):
            if kind == b"t":
                count = int.from_bytes(payload[:2], "big")
                parameters = struct.unpack_from(f"!{count}I", payload, 2)
            elif kind == b"T":
                row_description = payload
            elif kind == ERROR:
                error = ShadowError(error_fields(payload))
        if error is not None:
            raise error
        return StatementTypes(
            parameters, None if row_description is None else row_columns(row_description), row_description
        )

    async def cancel(self) -> None:
        """Ask the shadow to cancel what this session runs now; its reply is then an error (57014)."""
        request = struct.pack("!III", 12 + len(self._secret), CANCEL_CODE, self.process_id) + self._secret
        try:
            async with asyncio.timeout(CANCEL_GRACE):
                _reader, writer = await self._address.connect()
                try:
                    writer.write(request)
                    await writer.drain()
                finally:
                    writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, HedgerowError):
            self._drop()

    async def close(self) -> None:
        """End the session. Closing twice is allowed."""
        if not self._closed:
            self._writer.write(TERMINATE)
            self._drop()
        try:
            await self._writer.wait_closed()
        except OSError:
            return

    def _drop(self) -> None:
        self._closed = True
        self._writer.close()

    def _note(self, kind: bytes, payload: bytes) -> None:
        if kind == b"Z":
            self.status = payload.decode()
        elif kind == b"S":
            name, value = (part.decode() for part in payload.split(b"\0")[:2])
            self.parameters[name] = value
            if name == "standard_conforming_strings" and value != "on":
                self._drop()  # the router would no longer read texts as the server does
                raise unavailable("standard_conforming_strings must stay on.")

    async def _receive(self) -> Message:
        """Return the next message. Safe to interrupt: bytes that have arrived stay in the buffer."""
        buffer = self._buffer
        while True:
            if len(buffer) >= 5:
                length = int.from_bytes(buffer[1:5], "big") + 1
                if length > MAXIMUM_MESSAGE:
                    self._drop()
                    raise unavailable("A reply of the shadow PostgreSQL is too long.")
                if len(buffer) >= length:
                    kind, payload = bytes(buffer[:1]), bytes(buffer[5:length])
                    del buffer[:length]
                    return kind, payload
            try:
                chunk = await self._reader.read(CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                self._drop()
                raise unavailable("The connection to the shadow PostgreSQL has ended.")
            buffer += chunk

    async def _start(self, user: str, database: str, password: str | None, settings: Mapping[str, str]) -> None:
        """Send the start-up message, prove the password if one is wanted, and read until the shadow is ready."""
        named = {"user": user, "database": database, "client_encoding": "UTF8", **settings}
        payload = (
            struct.pack("!I", PROTOCOL_3) + b"".join(text(part) for pair in named.items() for part in pair) + b"\0"
        )
        self._writer.write(struct.pack("!I", len(payload) + 4) + payload)
        await self._writer.drain()
        proof: ScramProof | None = None
        while True:
            kind, payload = await self._receive()
            self._note(kind, payload)
            if kind == b"Z":
                return
            if kind == b"K":
                self.process_id, self._secret = int.from_bytes(payload[:4], "big"), payload[4:]
            elif kind == ERROR:
                raise ShadowError(error_fields(payload))
            elif kind == b"R":
                proof = self._authenticate(payload, password, proof)
                await self._writer.drain()

    def _authenticate(self, payload: bytes, password: str | None, proof: "ScramProof | None") -> "ScramProof | None":
        code, data = int.from_bytes(payload[:4], "big"), payload[4:]
        if code == 0:
            return proof
        if code == 10 and password is not None and b"SCRAM-SHA-256\0" in data:
            proof = ScramProof(password)
            first = proof.first()
            self._writer.write(frontend(b"p", text("SCRAM-SHA-256") + struct.pack("!I", len(first)) + first))
        elif code == 11 and proof is not None:
            self._writer.write(frontend(b"p", proof.final(data)))
        elif code == 12 and proof is not None:
            proof.verify(data)
        else:
            raise unavailable("The shadow PostgreSQL asks for a login that is not SCRAM-SHA-256.")
        return proof


class ScramProof:
    """The client's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding."""

    def __init__(self, password: str) -> None:
        self._password = password.encode()
        self._nonce = base64.b64encode(os.urandom(18))
        self._server_signature = b""

    def first(self) -> bytes:
        """Return the client's first message."""
        return b"n,,n=,r=" + self._nonce

    def final(self, server_first: bytes) -> bytes:
        """Return the client's final message, with the proof that it knows the password."""
        fields = dict(part.split(b"=", 1) for part in server_first.split(b","))
        if not fields[b"r"].startswith(self._nonce):
            raise unavailable("The shadow PostgreSQL did not repeat the login's nonce.")
        salted = hashlib.pbkdf2_hmac("sha256", self._password, base64.b64decode(fields[b"s"]), int(fields[b"i"]))
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        unproven = b"c=biws,r=" + fields[b"r"]
        signed = b",".join((b"n=,r=" + self._nonce, server_first, unproven))
        signature = hmac.digest(hashlib.sha256(client_key).digest(), signed, "sha256")
        self._server_signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), signed, "sha256")
        proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
        return unproven + b",p=" + base64.b64encode(proof)

    def verify(self, server_final: bytes) -> None:
        """Raise unless the server has shown that it knows the password, too."""
        if not hmac.compare_digest(server_final, b"v=" + base64.b64encode(self._server_signature)):
            raise unavailable("The shadow PostgreSQL did not prove that it knows the password.")
