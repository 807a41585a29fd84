"""The start of a connection: TLS, protocol version, start-up parameters, login."""

import asyncio
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hedgerow.service.access.model import AccessStore, Identity
from hedgerow.service.wire import messages
from hedgerow.service.wire.limits import Throttle
from hedgerow.service.wire.messages import (
    CANCEL_CODE,
    GSS_CODE,
    PROTOCOL_MAJOR,
    TLS_CODE,
    MessageBody,
    Outbox,
    ProtocolError,
)
from hedgerow.service.wire.scram import PLAIN, PLUS, ScramError, ScramExchange, Verifiers, certificate_hash

LONGEST_START = 10_000
"""Number of bytes of a message before the login."""

OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=((?:\\.|[^\\\s])*)", re.DOTALL)


class LoginError(Exception):
    """The login is refused; the connection is closed."""

    def __init__(self, message: str, sqlstate: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Cancel:
    """A request to cancel what another connection runs."""

    process_id: int
    secret: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """A start-up message: user, dataset, and settings for the session."""

    user: str
    dataset: str
    settings: Mapping[str, str]


async def read_first(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outbox: Outbox, tls: ssl.SSLContext | None
) -> Start | Cancel:
    """Answer requests for encryption, and return the message that follows them."""
    for _ in range(3):
        code, body = await messages.read_start(reader, LONGEST_START)
        if code == GSS_CODE:
            writer.write(b"N")
        elif code == TLS_CODE:
            if tls is None or writer.get_extra_info("ssl_object") is not None:
                writer.write(b"N")
            else:
                writer.write(b"S")
                await writer.drain()
                await _start_tls(reader, writer, tls)
        elif code == CANCEL_CODE:
            return Cancel(int.from_bytes(body[:4], "big"), body[4:])
        elif code >> 16 == PROTOCOL_MAJOR:
            return _start(code & 0xFFFF, messages.start_parameters(body), outbox)
        else:
            raise ProtocolError(
                f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}: server supports 3.0", "0A000"
            )
    raise ProtocolError("too many requests for encryption")


async def _start_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: ssl.SSLContext) -> None:
    """Encrypt the connection. Plain bytes that arrived before must not be treated as encrypted (CVE-2021-23222)."""
    if reader._buffer:  # type: ignore[attr-defined]  # noqa: SLF001 - no public method tells
        raise ProtocolError("received unencrypted data after SSL request")
    await writer.start_tls(tls)


def _start(minor: int, parameters: Mapping[str, str], outbox: Outbox) -> Start:
    options = [name for name in parameters if name.startswith("_pq_.")]
    if minor or options:
        outbox.add(messages.negotiate(options))
    settings = {name: value for name, value in parameters.items() if name not in {*options, *NOT_SETTINGS}}
    if parameters.get("replication", "false").lower() not in {"false", "off", "no", "0"}:
        raise LoginError("replication is not supported", "0A000")
    user = parameters.get("user", "")
    if not user:
        raise LoginError("no PostgreSQL user name specified in startup packet", "28000")
    settings |= read_options(parameters.get("options", ""))
    return Start(user, parameters.get("database") or user, settings)


NOT_SETTINGS = frozenset({"user", "database", "options", "replication"})


def read_options(text: str) -> dict[str, str]:
    r"""Return the settings in the start-up parameter `options`.

    Example:
        >>> read_options(r"-c hedgerow.epsilon=1 --search_path=a\ b -cTimeZone=UTC")
        {'hedgerow.epsilon': '1', 'search_path': 'a b', 'TimeZone': 'UTC'}
    """
    settings, rest = {}, OPTION.sub(" ", text)
    if rest.strip():
        raise LoginError("invalid command-line argument for server process", "42601", "Write options as -c name=value.")
    for match in OPTION.finditer(text):
        settings[match[1].replace("-", "_")] = re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL)
    return settings


class Login:
    """Checks names and passwords with SCRAM-SHA-256. No other method is offered. Each refusal calls `report`."""

    def __init__(self, access: AccessStore, throttle: Throttle, report: Callable[[], None]) -> None:
        self._access = access
        self._report = report
        self._verifiers = Verifiers(access)
        self._throttle = throttle

    async def identify(
        self, user: str, reader: asyncio.StreamReader, outbox: Outbox, address: str, tls: ssl.SSLContext | None
    ) -> Identity:
        """Return the identity of `user`, once the client has proved it.

        An unknown name, a wrong password and a broken exchange are refused in the same words.
        """
        wait = self._throttle.wait(address, user)
        if wait > 0:
            raise LoginError("too many failed logins", "28P01", f"Try again in {wait:.0f} seconds.")
        try:
            await self._exchange(user, reader, outbox, None if tls is None else certificate_hash(tls))
        except (ScramError, ProtocolError):
            self._throttle.failed(address, user)
            self._report()
            raise _refused(user) from None
        account = await asyncio.to_thread(self._access.account, user)
        if account is None:  # removed during the login
            raise _refused(user)
        self._throttle.succeeded(address, user)
        outbox.add(messages.authentication(0))
        return account.identity

    async def _exchange(self, user: str, reader: asyncio.StreamReader, outbox: Outbox, binding: bytes | None) -> None:
        mechanisms = [PLAIN] if binding is None else [PLUS, PLAIN]
        outbox.add(messages.authentication(10, b"".join(messages.string(name) for name in mechanisms) + b"\0"))
        await outbox.flush()
        verifier = await asyncio.to_thread(self._verifiers.of, user)
        body = MessageBody(await _password(reader))
        mechanism = body.string()
        if mechanism not in mechanisms:
            raise ScramError("client selected an invalid SASL authentication mechanism")
        exchange = ScramExchange(verifier, mechanism, binding)
        outbox.add(messages.authentication(11, exchange.first(body.value() or b"")))
        await outbox.flush()
        outbox.add(messages.authentication(12, exchange.final(await _password(reader))))


def _refused(user: str) -> LoginError:
    return LoginError(f'password authentication failed for user "{user}"', "28P01")


async def _password(reader: asyncio.StreamReader) -> bytes:
    kind, body = await messages.read_message(reader, LONGEST_START)
    if kind != ord("p"):
        raise ProtocolError("expected SASL response")
    return body
