"""The Model Context Protocol over HTTP, for the datasets of the service."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.answer import Answer
from hedgerow.execution.request import Parameters
from hedgerow.ledger import BudgetView
from hedgerow.service.access.model import Identity
from hedgerow.service.errors import AccessError, ServiceError
from hedgerow.service.gateway import Gateway
from hedgerow.service.http.authentication import Authenticator, require_role
from hedgerow.service.http.caller import gone
from hedgerow.service.http.responses import problem_response
from hedgerow.service.mcp_server import build_server
from hedgerow.session.quote import Quote
from hedgerow.session.tables import Description, TableList

INTERFACE = "mcp"
PATH = "/mcp"
SECURITY = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The protocol's own check of hosts is off: every caller must send a token, which no page of another origin has."""


class McpEndpoint:
    """Answers each message by itself. It keeps no state between messages, so any node can answer the next one."""

    def __init__(self, gateway: Gateway, authenticator: Authenticator) -> None:
        self._gateway = gateway
        self._authenticator = authenticator

    def route(self) -> Route:
        """Return the route to mount."""
        return Route(PATH, self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one message."""
        request = Request(scope, receive)
        if request.method != "POST":
            wrong = ServiceError(
                "Messages are sent with POST.", code="wrong-method", hint="There is no stream to open."
            )
            await problem_response(wrong, {"Allow": "POST"})(scope, receive, send)
            return
        identity = await self._authenticator.identity(request.headers.get("authorization"))
        require_role(identity, "POST", PATH)
        server = build_server(
            {name: DatasetView(self._gateway, identity, name) for name in await self._capped(identity)}
        )
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=SECURITY)
        await _until_gone(partial(_serve, server), request, send)

    async def _capped(self, identity: Identity) -> list[str]:
        """Return the datasets on which an identity has a cap. Without one, a model could spend the whole budget."""
        visible = self._gateway.datasets(identity)
        capped = [name for name in visible if await self._gateway.is_capped(identity, name)]
        if not capped:
            raise AccessError(
                f"The analyst {identity.name} has no cap, so a model could spend the whole budget.",
                code="no-cap",
                hint=f"The owner sets one: hedgerow analyst cap {identity.name} 0.5",
            )
        return capped


async def _serve(server: MCPServer, scope: Scope, receive: Receive, send: Send) -> None:
    async with server.session_manager.run():
        await server.session_manager.handle_request(scope, receive, send)


async def _until_gone(app: ASGIApp, request: Request, send: Send) -> None:
    """Serve one request, and stop when its client goes away, so that a statement of it is cancelled."""
    parts = [{"type": "http.request", "body": await request.body(), "more_body": False}]
    watching = asyncio.ensure_future(gone(request))

    async def receive() -> Message:
        if parts:
            return parts.pop()
        await asyncio.shield(watching)
        return {"type": "http.disconnect"}

    serving = asyncio.ensure_future(app(request.scope, receive, send))
    try:
        await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        serving.cancel()
        watching.cancel()


class DatasetView:
    """One dataset with the methods that the tools call; statements go through the gateway."""

    def __init__(self, gateway: Gateway, identity: Identity, dataset: str) -> None:
        self._gateway = gateway
        self._asked = identity, dataset

    @property
    def tables(self) -> TableList:
        """Tables and columns that may be asked about."""
        return self._gateway.tables(*self._asked)

    async def sql(self, query: str, *, params: Parameters = None, **options: Any) -> Answer:  # noqa: ANN401 - as `Database.sql`
        """Ask a question."""
        return await self._gateway.submit(*self._asked, query, params, interface=INTERFACE, **options).answer()

    async def quote(self, query: str, *, params: Parameters = None, **options: Any) -> Quote:  # noqa: ANN401 - likewise
        """Return the cost of a question."""
        return await self._gateway.quote(*self._asked, query, params, interface=INTERFACE, **options)

    async def describe(self, query: str, params: Parameters = None) -> Description:
        """List the columns of a statement's answer."""
        return await self._gateway.describe(*self._asked, query, params, interface=INTERFACE)

    async def budget(self) -> BudgetView:
        """Return spent and remaining budget."""
        return await self._gateway.budget(*self._asked, interface=INTERFACE)
