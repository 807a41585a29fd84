"""The console's listener: NiceGUI under uvicorn."""

import ssl

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.owners_log import withheld
from hedgerow.service.access.model import AccessStore
from hedgerow.service.console.frame import style_routes
from hedgerow.service.console.pages import register_pages
from hedgerow.service.console.sign_in import Sessions, sign_in_routes
from hedgerow.service.gateway import Gateway
from hedgerow.service.uvicorn_listener import UvicornListener

MAXIMUM_CONNECTIONS = 1000

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; "
    "form-action 'self'; base-uri 'self'"
)
"""Nothing is loaded from elsewhere. NiceGUI starts its pages by inline scripts, and Vue compiles templates."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class ConsoleListener(UvicornListener):
    """Serves the console at one address. NiceGUI has one application for each process, so there is one console.

    Args:
        gateway: The datasets.
        access: The accounts.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        tls: Certificate and key; None for plain HTTP, which is for loopback alone.
        api: The address of the HTTP API, for snippets of code.
    """

    def __init__(
        self,
        gateway: Gateway,
        access: AccessStore,
        host: str = "127.0.0.1",
        port: int = 8440,
        tls: ssl.SSLContext | None = None,
        api: str | None = None,
    ) -> None:
        sessions = Sessions(access)
        application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        application.include_router(sign_in_routes(sessions, secure=tls is not None))
        application.include_router(style_routes())
        register_pages(gateway, sessions, api)
        nicegui_app.on_exception(withheld)  # the owner's log has it; a page shows nothing of it
        ui.run_with(
            application,
            title="hedgerow",
            favicon="🌿",
            dark=None,
            language="en-US",
            binding_refresh_interval=None,
            show_welcome_message=False,
            tailwind=False,  # it would compile styles in the browser: console.css has ours
        )
        config = uvicorn.Config(
            WithHeaders(application),
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAXIMUM_CONNECTIONS,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )
        super().__init__(config, host, port)


class WithHeaders:
    """Middleware that adds headers for safety to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
