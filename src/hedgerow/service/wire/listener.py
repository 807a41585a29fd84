"""The listener of PostgreSQL's clients, and each of its connections, from the first byte to the last."""

import asyncio
import hmac
import secrets
import ssl
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from hedgerow.errors import HedgerowError
from hedgerow.service.access.model import AccessStore, Identity, Throttle
from hedgerow.service.gateway import Gateway
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.shadow.relay import ShadowSession
from hedgerow.service.shadow.routing import Router
from hedgerow.service.wire import messages
from hedgerow.service.wire.commands import LocalStatements
from hedgerow.service.wire.login import Cancel, Login, LoginError, Start, read_first
from hedgerow.service.wire.messages import Outbox, ProtocolError, StatementError, error_fields
from hedgerow.service.wire.private import DIALECT, PrivateStatements, SignatureCache
from hedgerow.service.wire.session import WireSession
from hedgerow.service.wire.settings import PREFIX, SessionSettings, read_setting, start_values
from hedgerow.session.database import Database  # noqa: TC001 - the keys of a dictionary

GOODBYE = {"S": "FATAL", "C": "57P01", "M": "the service is shutting down", "H": "Connect again in a while."}
WATCH_SECONDS = 1.0
"""Seconds between two checks that the client of a running statement is still connected."""

LAST_WORDS = 2.0
"""Seconds for the last message to a client that may have stopped reading."""


SECRET_BYTES = 4
"""Length of the secret of a cancel request in protocol 3.0."""


@dataclass(frozen=True, slots=True)
class WireLimits:
    """Limits on connections.

    Attributes:
        connections: Number of connections at once that have logged in, and of those that have not yet.
        per_analyst: Number of connections of one analyst.
        prepared: Number of prepared statements, and of portals, of one connection.
        message_bytes: Length of one message.
        login_seconds: Seconds until a login must be complete.
        write_seconds: Seconds after which the connection of a client that has stopped reading is closed.
        idle_seconds: Seconds after which a connection without messages is closed; None for never.
    """

    connections: int = 200
    per_analyst: int = 50
    prepared: int = 1000
    message_bytes: int = 4 * 1024 * 1024
    login_seconds: float = 30.0
    write_seconds: float = 300.0
    idle_seconds: float | None = 8 * 3600.0


class WireConnection:
    """Serves one client. `process_id` and `secret` are what it needs for a cancel request."""

    def __init__(
        self,
        listener: "WireListener",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        process_id: int,
        secret: bytes,
    ) -> None:
        self._listener = listener
        self._reader = reader
        self._writer = writer
        self._out = Outbox(writer, listener.limits.write_seconds)
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
            async with asyncio.timeout(self._listener.limits.login_seconds):
                await self._log_in()
            if self._session is not None:
                watch = asyncio.create_task(self._watch(self._session))
                try:
                    await self._answer_all(self._session)
                finally:
                    watch.cancel()
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
        listener = self._listener
        first = await read_first(self._reader, self._writer, self._out, listener.tls)
        if isinstance(first, Cancel):
            await listener.cancel(first)
            return
        if listener.is_full:
            raise LoginError("sorry, too many clients already", "53300", "Connect again in a while.")
        if listener.tls is not None and self._writer.get_extra_info("ssl_object") is None:
            raise LoginError("this server requires TLS", "28000", "Connect with sslmode=require or verify-full.")
        address = str((self._writer.get_extra_info("peername") or ("local",))[0])
        identity = await listener.login.identify(first.user, self._reader, self._out, address, listener.tls)
        self._shadow, self._session = await listener.open_session(self, identity, first, self._out)
        for name, value in self._shadow.parameters.items():
            self._out.add(messages.parameter_status(name, value))
        self._out.add(messages.key_data(self.process_id, self.secret), messages.ready("I"))
        await self._out.flush()

    async def _watch(self, session: WireSession) -> None:
        """Cancel the statement if the client has disconnected: while it runs, nobody reads from the connection."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._busy and self._reader.at_eof():
                await session.cancel()

    async def _answer_all(self, session: WireSession) -> None:
        limits = self._listener.limits
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


class WireListener:
    """Listens for clients of PostgreSQL. With `tls`, connections that are not encrypted are refused."""

    def __init__(
        self,
        gateway: Gateway,
        access: AccessStore,
        shadow: Shadow,
        host: str,
        port: int,
        tls: ssl.SSLContext | None,
        limits: WireLimits | None = None,
    ) -> None:
        self.tls = tls
        self.limits = limits or WireLimits()
        self.login = Login(access, Throttle(), partial(gateway.admission.report_refused_login, "wire"))
        """Checks names and passwords."""
        self._gateway = gateway
        self._shadow = shadow
        self._host, self._port = host, port
        self._server: asyncio.Server | None = None
        self._connections: dict[int, WireConnection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._routers: WeakKeyDictionary[Database, Router] = WeakKeyDictionary()
        self._signatures = SignatureCache()

    @property
    def address(self) -> str:
        """Host and port, as clients write them."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    @property
    def is_full(self) -> bool:
        """True if as many clients have logged in as are allowed."""
        return sum(other.analyst is not None for other in self._connections.values()) >= self.limits.connections

    async def start(self) -> None:
        """Begin to listen. With port 0 the system chooses one."""
        self._server = await asyncio.start_server(self._accept, self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self, grace: float) -> None:
        """Accept no more connections; close idle ones now, the others after their statement or `grace` seconds."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections.values()):
            connection.stop()
        await asyncio.wait([*self._tasks, asyncio.create_task(asyncio.sleep(0))], timeout=grace)
        for connection in list(self._connections.values()):
            connection.abort()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self, request: Cancel) -> None:
        """Cancel what a connection runs; a wrong secret does nothing."""
        connection = self._connections.get(request.process_id)
        if connection is not None and hmac.compare_digest(connection.secret, request.secret):
            await connection.cancel()

    async def open_session(
        self, connection: WireConnection, identity: Identity, start: Start, outbox: Outbox
    ) -> tuple[ShadowSession, WireSession]:
        """Return the session of a client that has logged in, and its connection to the shadow."""
        self._gateway.view(identity, start.dataset, DIALECT)  # an unknown dataset is refused here
        own = sum(other.analyst == identity.name for other in self._connections.values())
        if own >= self.limits.per_analyst:
            raise LoginError(f'too many connections of "{identity.name}"', "53300", "Close some of them.")
        connection.analyst = identity.name
        for name, value in start.settings.items():
            if name.startswith(PREFIX):
                read_setting(name.removeprefix(PREFIX), value)
        shadow = await self._shadow.session(start.dataset, identity, {**start_values(), **start.settings})
        settings = SessionSettings(shadow, has_timeout="statement_timeout" in start.settings)
        await settings.refresh()
        private = PrivateStatements(self._gateway, identity, start.dataset, settings, self._shadow, self._signatures)
        local = LocalStatements(private, settings)
        session = WireSession(
            outbox, shadow, local, lambda: self._router(private), maximum_prepared=self.limits.prepared
        )
        return shadow, session

    def _router(self, private: PrivateStatements) -> Router:
        """Return the router of a dataset; a reload makes new ones."""
        view = private.view
        router = self._routers.get(view)
        if router is None:
            router = self._routers[view] = Router(view.tables, private.dataset)
        return router

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        process_id = secrets.randbelow(2**31 - 1) + 1
        while process_id in self._connections:
            process_id = secrets.randbelow(2**31 - 1) + 1
        connection = WireConnection(self, reader, writer, process_id, secrets.token_bytes(SECRET_BYTES))
        self._connections[process_id] = connection
        waiting = [other for other in self._connections.values() if other.analyst is None]
        if len(waiting) > self.limits.connections:
            waiting[0].abort()  # the one that has waited longest for its login: silent clients block nobody
        task = asyncio.ensure_future(connection.run())
        connection.task = task
        self._tasks.add(task)
        try:
            await asyncio.wait([task])
        finally:
            writer.close()  # a task that was cancelled before it began has closed nothing
            self._tasks.discard(task)
            del self._connections[process_id]
