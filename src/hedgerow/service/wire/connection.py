"""One connection, from its first byte to its last."""

import asyncio
import ssl
from contextlib import suppress
from typing import Protocol

from hedgerow.errors import HedgerowError
from hedgerow.service.access.model import Identity
from hedgerow.service.shadow.relay import ShadowSession
from hedgerow.service.wire import messages
from hedgerow.service.wire.errors import error_fields
from hedgerow.service.wire.limits import WireLimits
from hedgerow.service.wire.messages import Outbox, ProtocolError, StatementError
from hedgerow.service.wire.session import WireSession
from hedgerow.service.wire.start import Cancel, Login, LoginError, Start, read_first

GOODBYE = {"S": "FATAL", "C": "57P01", "M": "the service is shutting down", "H": "Connect again in a while."}
WATCH_SECONDS = 1.0
"""Seconds between two checks that the client of a running statement is still connected."""

LAST_WORDS = 2.0
"""Seconds for the last message to a client that may have stopped reading."""


class Host(Protocol):
    """The listener as its connections see it."""

    limits: WireLimits
    tls: ssl.SSLContext | None
    login: Login

    @property
    def is_full(self) -> bool:
        """True if as many clients have logged in as are allowed."""

    async def cancel(self, request: Cancel) -> None:
        """Cancel what another connection runs."""

    async def open_session(
        self, connection: "WireConnection", identity: Identity, start: Start, outbox: Outbox
    ) -> tuple[ShadowSession, WireSession]:
        """Return the session of a client that has logged in."""


class WireConnection:
    """Serves one client. `process_id` and `secret` are what it needs for a cancel request."""

    def __init__(
        self,
        host: "Host",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        process_id: int,
        secret: bytes,
    ) -> None:
        self._host = host
        self._reader = reader
        self._writer = writer
        self._out = Outbox(writer, host.limits.write_seconds)
        self.process_id = process_id
        self.secret = secret
        self.analyst: str | None = None
        self._session: WireSession | None = None
        self._shadow: ShadowSession | None = None
        self.task: asyncio.Task[None] | None = None
        self._busy = False
        self._stopping = False

    async def run(self) -> None:
        """Serve the client until it leaves, breaks the protocol, or the service stops."""
        try:
            async with asyncio.timeout(self._host.limits.login_seconds):
                await self._log_in()
            if self._session is not None:
                await self._serve(self._session)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client has left
        except TimeoutError:
            await self._send_last({"S": "FATAL", "C": "08006", "M": "the login took too long"})
        except LoginError as error:
            hint = {"H": error.hint} if error.hint else {}
            await self._send_last({"S": "FATAL", "C": error.sqlstate, "M": str(error), **hint})
        except (ProtocolError, StatementError, HedgerowError) as error:
            await self._send_last(error_fields(error, severity="FATAL"))
        except asyncio.CancelledError:
            await self._send_last(GOODBYE)
        finally:
            await self._close()

    async def cancel(self) -> None:
        """Stop the statement that runs now."""
        if self._session is not None:
            await self._session.cancel()

    def stop(self) -> None:
        """Close the connection: now if it is idle, else after the statement that runs."""
        self._stopping = True
        if not self._busy and self.task is not None:
            self.task.cancel()

    def abort(self) -> None:
        """Close the connection now."""
        if self.task is not None:
            self.task.cancel()

    async def _log_in(self) -> None:
        host = self._host
        first = await read_first(self._reader, self._writer, self._out, host.tls)
        if isinstance(first, Cancel):
            await host.cancel(first)
            return
        if host.is_full:
            raise LoginError("sorry, too many clients already", "53300", "Connect again in a while.")
        if host.tls is not None and self._writer.get_extra_info("ssl_object") is None:
            raise LoginError("this server requires TLS", "28000", "Connect with sslmode=require or verify-full.")
        address = str((self._writer.get_extra_info("peername") or ("local",))[0])
        identity = await host.login.identify(first.user, self._reader, self._out, address, host.tls)
        self._shadow, self._session = await host.open_session(self, identity, first, self._out)
        for name, value in self._shadow.parameters.items():
            self._out.add(messages.parameter_status(name, value))
        self._out.add(messages.key_data(self.process_id, self.secret), messages.ready("I"))
        await self._out.flush()

    async def _serve(self, session: WireSession) -> None:
        watch = asyncio.create_task(self._watch(session))
        try:
            await self._answer_all(session)
        finally:
            watch.cancel()

    async def _watch(self, session: WireSession) -> None:
        """Cancel the statement if the client has disconnected: while it runs, nobody reads from the connection."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._busy and self._reader.at_eof():
                await session.cancel()

    async def _answer_all(self, session: WireSession) -> None:
        limits = self._host.limits
        while not self._stopping:
            try:
                async with asyncio.timeout(limits.idle_seconds):
                    kind, body = await messages.read_message(self._reader, limits.message_bytes)
            except TimeoutError:
                raise ProtocolError("terminating connection due to idle-session timeout", "57P05") from None
            self._busy = True
            try:
                if not await session.handle(kind, body):
                    return
            finally:
                self._busy = False
        await self._send_last(GOODBYE)

    async def _send_last(self, fields: dict[str, str]) -> None:
        """Send the reason for closing the connection, if the client still reads."""
        with suppress(ConnectionError, TimeoutError, ssl.SSLError, RuntimeError):
            async with asyncio.timeout(LAST_WORDS):
                self._out.add(messages.error(fields))
                await self._out.flush()

    async def _close(self) -> None:
        self._writer.close()  # first: whoever interrupts what follows leaves nothing open
        if self._shadow is not None:
            with suppress(ConnectionError, HedgerowError):
                await self._shadow.close()
        with suppress(ConnectionError, ssl.SSLError, TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._writer.wait_closed()
