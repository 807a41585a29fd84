"""The listener: accepts connections, keeps track of them, and closes them when the service stops."""

import asyncio
import hmac
import secrets
import ssl
from functools import partial
from weakref import WeakKeyDictionary

from hedgerow.service.access.model import AccessStore, Identity
from hedgerow.service.gateway import Gateway
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.shadow.relay import ShadowSession
from hedgerow.service.shadow.routing import Router
from hedgerow.service.wire.connection import WireConnection
from hedgerow.service.wire.limits import Throttle, WireLimits
from hedgerow.service.wire.local_statements import LocalStatements
from hedgerow.service.wire.messages import Outbox
from hedgerow.service.wire.private import DIALECT, PrivateStatements, SignatureCache
from hedgerow.service.wire.session import WireSession
from hedgerow.service.wire.settings import PREFIX, SessionSettings, read_setting, start_values
from hedgerow.service.wire.start import Cancel, Login, LoginError, Start
from hedgerow.session.database import Database  # noqa: TC001 - the keys of a dictionary

SECRET_BYTES = 4
"""Length of the secret of a cancel request in protocol 3.0."""


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
        self.login = Login(access, Throttle(), partial(gateway.report_refused_login, "wire"))
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
        self._drop_oldest_login()
        task = asyncio.ensure_future(connection.run())
        connection.task = task
        self._tasks.add(task)
        try:
            await asyncio.wait([task])
        finally:
            writer.close()  # a task that was cancelled before it began has closed nothing
            self._tasks.discard(task)
            del self._connections[process_id]

    def _drop_oldest_login(self) -> None:
        """Close the connection that has waited longest for its login if too many wait: silent clients block nobody."""
        waiting = [other for other in self._connections.values() if other.analyst is None]
        if len(waiting) > self.limits.connections:
            waiting[0].abort()
