"""The listener of the HTTP API."""

import asyncio
import ssl

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hedgerow.service.access.model import AccessStore
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.app import build_app
from hedgerow.service.http.authentication import OidcSettings
from hedgerow.service.http.guard import BODY_SECONDS
from hedgerow.service.monitoring import Metrics, ServiceHealth
from hedgerow.service.uvicorn_listener import BACKLOG, UvicornListener

HEADER_SECONDS = 10.0
"""Seconds within which the head of a request must arrive."""

IDLE_SECONDS = 60
MAXIMUM_CONNECTIONS = 1000
LARGEST_HEAD = 32_768


class HttpListener(UvicornListener):
    """Serves the API at one address.

    Args:
        gateway: The datasets.
        access: The accounts.
        host: The address to listen on.
        port: The port; 0 for any free port.
        tls: Certificate and key; None for plain HTTP, which is for loopback alone.
        oidc: An identity provider whose tokens are accepted.
        health: Checks for `/ready`.
        metrics: Metrics for `/metrics`.
        header_seconds: Seconds within which the head of a request must arrive.
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
        health: ServiceHealth | None = None,
        metrics: Metrics | None = None,
        *,
        header_seconds: float = HEADER_SECONDS,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self.app = build_app(gateway, access, oidc=oidc, health=health, metrics=metrics, body_seconds=body_seconds)
        protocol = type("HttpProtocol", (HeaderTimeoutProtocol,), {"header_seconds": header_seconds})
        config = uvicorn.Config(
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
        super().__init__(config, host, port)


class HeaderTimeoutProtocol(H11Protocol):
    """A connection that is closed if the head of a request takes too long, so that slow clients hold up nobody."""

    header_seconds = HEADER_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.header_seconds, self._time_out)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request. The wait begins with its first byte and ends with its head."""
        if self._deadline is None and self.conn.their_state is h11.IDLE:
            self._deadline = self.loop.call_later(self.header_seconds, self._time_out)
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

    def _time_out(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
