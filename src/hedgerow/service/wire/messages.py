"""Messages of the PostgreSQL protocol 3.0: reading those of a client, writing and sending those of a server.

A message is a type byte, a length (which counts itself), and a body. The first message of a connection has no type.
An error has a SQLSTATE, a message, a hint, and the position of the caret.
"""

import asyncio
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import HedgerowError
from hedgerow.owners_log import about, withheld
from hedgerow.service.errors import sqlstate
from hedgerow.service.shadow.relay import ShadowError
from hedgerow.service.shadow.routing import TOOL_HINT

PROTOCOL_MAJOR = 3
CANCEL_CODE, TLS_CODE, GSS_CODE = 80877102, 80877103, 80877104

PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = b"1\0\0\0\x04", b"2\0\0\0\x04", b"3\0\0\0\x04"
NO_DATA, PORTAL_SUSPENDED, EMPTY_QUERY = b"n\0\0\0\x04", b"s\0\0\0\x04", b"I\0\0\0\x04"
COPY_DONE = b"c\0\0\0\x04"

NULL = b"\xff\xff\xff\xff"
"""Length that stands for NULL in a DataRow."""

WITH_BODY = frozenset(b"BCDdEfFpPQ")
"""Types of the messages of a client that may be long; the others carry nothing."""


class ProtocolError(Exception):
    """A message that breaks the protocol. The connection is closed."""

    def __init__(self, message: str, sqlstate: str = "08P01") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class StatementError(Exception):
    """An error of the wire itself, with its SQLSTATE: the statement fails, the connection goes on."""

    def __init__(self, message: str, sqlstate: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.hint = hint


class MessageBody:
    """Reader of the body of one message. Every read beyond its end is a `ProtocolError`."""

    def __init__(self, data: bytes, codec: str = "utf-8") -> None:
        self._data = data
        self._codec = codec
        self._offset = 0

    def int16(self) -> int:
        """Read a signed integer of two bytes."""
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        """Read a signed integer of four bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def take(self, length: int) -> bytes:
        """Read some bytes."""
        end = self._offset + length
        if length < 0 or end > len(self._data):
            raise ProtocolError("insufficient data left in message")
        part = self._data[self._offset : end]
        self._offset = end
        return part

    def string(self) -> str:
        """Read a text that ends with a zero byte."""
        end = self._data.find(b"\0", self._offset)
        if end < 0:
            raise ProtocolError("invalid string in message")
        part = self._data[self._offset : end]
        self._offset = end + 1
        return decoded(part, self._codec)

    def value(self) -> bytes | None:
        """Read a length and that many bytes; None for NULL."""
        length = self.int32()
        return None if length == -1 else self.take(length)

    def count(self, size: int) -> int:
        """Read a number of entries of at least `size` bytes each, all of which must be there."""
        number = self.int16() & 0xFFFF
        if number * size > len(self._data) - self._offset:
            raise ProtocolError("insufficient data left in message")
        return number

    def end(self) -> None:
        """Require that nothing follows."""
        if self._offset != len(self._data):
            raise ProtocolError("invalid message format")


def decoded(data: bytes, codec: str) -> str:
    """Return bytes of the client as text."""
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        raise StatementError("invalid byte sequence for encoding", "22021") from None


async def read_message(reader: asyncio.StreamReader, limit: int) -> tuple[int, bytes]:
    """Return type and body of the next message; a longer one than `limit` bytes ends the connection."""
    head = await reader.readexactly(5)
    kind, length = head[0], int.from_bytes(head[1:], "big") - 4
    if not 0 <= length <= (limit if kind in WITH_BODY else 16):
        raise ProtocolError("invalid message length")
    return kind, await reader.readexactly(length) if length else b""


async def read_start(reader: asyncio.StreamReader, limit: int) -> tuple[int, bytes]:
    """Return code (version or request) and body of a message without a type, the first of a connection."""
    length, code = struct.unpack("!II", await reader.readexactly(8))
    if not 8 <= length <= limit:
        raise ProtocolError("invalid length of startup packet")
    return code, await reader.readexactly(length - 8)


def start_parameters(data: bytes) -> dict[str, str]:
    """Return the names and values of a start-up message."""
    body, parameters = MessageBody(data), {}
    while name := body.string():
        parameters[name] = body.string()
    body.end()
    return parameters


@dataclass(frozen=True, slots=True)
class Parse:
    """Prepare a statement under a name."""

    name: str
    text: str
    types: tuple[int, ...]

    @classmethod
    def read(cls, data: bytes, codec: str) -> "Parse":
        """Read the body of the message."""
        body = MessageBody(data, codec)
        name, text = body.string(), body.string()
        types = tuple(body.int32() & 0xFFFFFFFF for _ in range(body.count(4)))
        body.end()
        return cls(name, text, types)


@dataclass(frozen=True, slots=True)
class Bind:
    """Make a portal of a prepared statement and values for its parameters."""

    portal: str
    statement: str
    value_formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]

    @classmethod
    def read(cls, data: bytes, codec: str) -> "Bind":
        """Read the body of the message."""
        body = MessageBody(data, codec)
        portal, statement = body.string(), body.string()
        value_formats = tuple(body.int16() for _ in range(body.count(2)))
        values = tuple(body.value() for _ in range(body.count(4)))
        result_formats = tuple(body.int16() for _ in range(body.count(2)))
        body.end()
        if any(code not in {0, 1} for code in (*value_formats, *result_formats)):
            raise StatementError("unsupported format code", "08P01")
        return cls(portal, statement, value_formats, values, result_formats)


def expand_formats(codes: Sequence[int], number: int) -> tuple[int, ...]:
    """Return one format code for each of a number of values: none stands for text, a single one for all."""
    if len(codes) in {0, 1}:
        return tuple(codes or (0,)) * number
    if len(codes) != number:
        raise StatementError(f"bind message has {len(codes)} formats but {number} values", "08P01")
    return tuple(codes)


def message(kind: bytes, body: bytes) -> bytes:
    """Return a message with its length."""
    return kind + struct.pack("!I", len(body) + 4) + body


def string(text: str, codec: str = "utf-8") -> bytes:
    """Return a text with its closing zero byte; characters that the client's encoding lacks become question marks."""
    return text.replace("\0", "").encode(codec, errors="replace") + b"\0"


def authentication(code: int, data: bytes = b"") -> bytes:
    """Return a login request, or with code 0 the message that the login succeeded."""
    return message(b"R", struct.pack("!I", code) + data)


def parameter_status(name: str, value: str) -> bytes:
    """Return ParameterStatus: the name and value of a setting."""
    return message(b"S", string(name) + string(value))


def key_data(process_id: int, secret: bytes) -> bytes:
    """Return BackendKeyData: the numbers that a client needs for a cancel request."""
    return message(b"K", struct.pack("!I", process_id) + secret)


def ready(status: str) -> bytes:
    """Return ReadyForQuery: "I" idle, "T" in a transaction, "E" in a failed one."""
    return message(b"Z", status.encode())


def negotiate(options: Iterable[str]) -> bytes:
    """Return NegotiateProtocolVersion: the server speaks version 3.0 and supports none of these protocol options."""
    names = [string(name) for name in options]
    return message(b"v", struct.pack("!II", 0, len(names)) + b"".join(names))


def command_complete(tag: str) -> bytes:
    """Return CommandComplete, the end of a statement's result."""
    return message(b"C", string(tag))


def parameter_description(types: Sequence[int]) -> bytes:
    """Return the types of a statement's parameters."""
    return message(b"t", struct.pack(f"!h{len(types)}I", len(types), *types))


def row_description(columns: Sequence[tuple[str, int, int]], formats: Sequence[int], codec: str = "utf-8") -> bytes:
    """Return names, type ids and type sizes of the columns of a result."""
    parts = [struct.pack("!h", len(columns))]
    for (name, type_id, size), code in zip(columns, formats, strict=True):
        parts.append(string(name, codec) + struct.pack("!IhIhih", 0, 0, type_id, size, -1, code))
    return message(b"T", b"".join(parts))


def data_row(values: Sequence[bytes | None]) -> bytes:
    """Return one row."""
    parts = [struct.pack("!h", len(values))]
    parts += [NULL if value is None else struct.pack("!i", len(value)) + value for value in values]
    return message(b"D", b"".join(parts))


def copy_out(code: int, columns: int) -> bytes:
    """Return the beginning of COPY TO STDOUT, in text (0) or binary (1)."""
    return message(b"H", struct.pack(f"!bh{columns}h", code, columns, *([code] * columns)))


def notice(fields: Mapping[str, str], codec: str = "utf-8") -> bytes:
    """Return a NoticeResponse: S severity, C SQLSTATE, M message, D detail, H hint, P position."""
    return message(b"N", _fields(fields, codec))


def error(fields: Mapping[str, str], codec: str = "utf-8") -> bytes:
    """Return an ErrorResponse, with the same fields."""
    return message(b"E", _fields(fields, codec))


def _fields(fields: Mapping[str, str], codec: str) -> bytes:
    severity = {"V": fields["S"]} if "S" in fields else {}
    return b"".join(name.encode() + string(text, codec) for name, text in {**fields, **severity}.items()) + b"\0"


LARGE = 64 * 1024
"""Number of bytes from which collected messages are sent at once."""


class Outbox:
    """Collects messages; `flush` sends them, and waits a limited time for a slow client."""

    def __init__(self, writer: asyncio.StreamWriter, seconds: float) -> None:
        self._writer = writer
        self._seconds = seconds
        self._parts: list[bytes] = []
        self._size = 0
        self.codec = "utf-8"
        """Python's name of the client's encoding."""

    def add(self, *messages: bytes) -> None:
        """Collect messages."""
        self._parts += messages
        self._size += sum(map(len, messages))

    async def send(self, message: bytes) -> None:
        """Collect a message, and send all of them if they are many."""
        self._parts.append(message)
        self._size += len(message)
        if self._size > LARGE:
            await self.flush()

    async def flush(self) -> None:
        """Send what was collected."""
        if self._parts:
            self._writer.write(b"".join(self._parts))
            self._parts, self._size = [], 0
        if not self._writer.transport.get_write_buffer_size():
            return
        try:
            async with asyncio.timeout(self._seconds):
                await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionAbortedError("the client has stopped reading") from None


PREVIEWS = frozenset({"star", "no-aggregate"})
"""Codes of refusals that a tool meets when it previews the rows of a table: the hint is for its user."""

IN_FAILED_TRANSACTION = "current transaction is aborted, commands ignored until end of transaction block"


def error_fields(error: Exception, offset: int = 0, *, severity: str = "ERROR") -> dict[str, str]:
    """Return the fields of an ErrorResponse. `offset` is the position of the query in the text that the client sent.

    Privacy: an exception that is not ours is not shown, because its message could quote private values: see `known`.
    """
    if isinstance(error, ShadowError):
        return shifted(error.fields, offset)
    if isinstance(error, ProtocolError):
        return {"S": "FATAL", "C": error.sqlstate, "M": str(error)}
    if isinstance(error, StatementError):
        return {"S": severity, "C": error.sqlstate, "M": str(error), **({"H": error.hint} if error.hint else {})}
    if not isinstance(error, HedgerowError):
        return {"S": severity, "C": "XX000", "M": "internal error"}
    message = " ".join(part for part in (error.message, error.cost) if part)
    fields = {"S": severity, "C": sqlstate(error), "M": message, "D": f"code: {error.code}"}
    hint = TOOL_HINT if error.code in PREVIEWS else error.hint
    if hint:
        fields["H"] = hint
    if error.span is not None:
        fields["P"] = str(error.span.start + offset + 1)
    return fields


def shifted(fields: dict[str, str], offset: int) -> dict[str, str]:
    """Return the fields of an error with its position moved by `offset` characters."""
    if offset and fields.get("P", "").isdigit():
        return {**fields, "P": str(int(fields["P"]) + offset)}
    return fields


def known(error: Exception, log: Path | None) -> Exception:
    """Return an error that may be shown; any other goes to the owner's log, and its number is shown instead."""
    if isinstance(error, HedgerowError | ProtocolError | StatementError):
        return error
    with about(log):
        return withheld(error)
