"""The HTTP listener: uvicorn in the service's own event loop."""

import asyncio
import socket
import ssl

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hedgerow.service.access.model import AccessStore
from hedgerow.service.errors import ServiceError
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.app import build_app
from hedgerow.service.http.guard import BODY_SECONDS
from hedgerow.service.http.hooks import HealthChecks, MetricsText
from hedgerow.service.http.oidc import OidcSettings

HEADER_SECONDS = 10.0
"""Seconds in which the head of a request must have arrived."""

IDLE_SECONDS = 60
MAXIMUM_CONNECTIONS = 1000
LARGEST_HEAD = 32_768
BACKLOG = 256


class HttpListener:
    """Serves the API at one address.

    Args:
        gateway: The datasets.
        access: The accounts.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        tls: Certificate and key; None for plain HTTP, which is for loopback alone.
        oidc: An identity provider whose tokens are accepted.
        health: Checks for `/ready`.
        metrics: Metrics for `/metrics`.
        header_seconds: Seconds in which the head of a request must have arrived.
        body_seconds: Likewise for its body.
    """

    def __init__(
        self,
        gateway: Gateway,
        access: AccessStore,
        host: str = "127.0.0.1",
        port: int = 8439,
        tls: ssl.SSLContext | None = None,
        oidc: OidcSettings | None = None,
        health: HealthChecks | None = None,
        metrics: MetricsText | None = None,
        *,
        header_seconds: float = HEADER_SECONDS,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self.app = build_app(gateway, access, oidc=oidc, health=health, metrics=metrics, body_seconds=body_seconds)
        self._host = host
        self._port = port
        protocol = type("HttpProtocol", (ImpatientProtocol,), {"header_seconds": header_seconds})
        self._config = uvicorn.Config(
            self.app,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
            limit_concurrency=MAXIMUM_CONNECTIONS,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            backlog=BACKLOG,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )
        self._server = uvicorn.Server(self._config)
        self._loop: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Host and port, such as 127.0.0.1:8439."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    async def start(self) -> None:
        """Listen; return once clients can connect."""
        listening = self._bound()
        self._port = listening.getsockname()[1]
        self._config.load()
        self._server.lifespan = self._config.lifespan_class(self._config)
        await self._server.startup(sockets=[listening])
        self._loop = asyncio.create_task(self._server.main_loop())

    async def stop(self, grace: float) -> None:
        """Take no more connections, and close those that are open once their responses are sent.

        Args:
            grace: Seconds that running requests have to end.
        """
        if self._loop is None:
            return
        self._server.should_exit = True
        await self._loop
        self._config.timeout_graceful_shutdown = max(1, round(grace))
        await self._server.shutdown()
        self._loop = None

    def _bound(self) -> socket.socket:
        """Return a socket at the address, listening."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((self._host, self._port))
            listening.listen(BACKLOG)
        except OSError as error:
            listening.close()
            raise ServiceError(
                f"The service cannot listen for HTTP on {self.address}: {error.strerror or 'the system refuses'}.",
                code="cannot-listen",
                hint="Another program may use the port: name another one.",
            ) from None
        listening.settimeout(0)
        return listening


class ImpatientProtocol(H11Protocol):
    """A connection that is closed if the head of a request takes too long, so that slow clients hold nothing up."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.header_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request. The wait begins with its first byte and ends with its head."""
        if self._deadline is None and self.conn.their_state is h11.IDLE:
            self._deadline = self.loop.call_later(self.header_seconds, self._give_up)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
