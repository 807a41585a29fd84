"""The console's listener: NiceGUI under uvicorn."""

import ssl
from functools import partial

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui

from hedgerow.owners_log import withheld
from hedgerow.service.access.dashboards import DashboardStore
from hedgerow.service.access.store import SqlAccessStore
from hedgerow.service.catalog_file import CatalogFiles, Reload
from hedgerow.service.console.pages import register_pages
from hedgerow.service.console.parts import asset_routes
from hedgerow.service.console.safety import ConsoleGuard, WithNonce, close_pages, guard_sockets
from hedgerow.service.console.sign_in import Sessions, missing_page, sign_in_routes
from hedgerow.service.console.visit import ConsoleParts
from hedgerow.service.gateway import Gateway
from hedgerow.service.uvicorn_listener import UvicornListener

MAXIMUM_CONNECTIONS = 1000

RECONNECT_SECONDS = 60.0
"""Time for which a page that lost its connection keeps what was typed. NiceGUI derives from it how often it asks a
browser for a sign of life (48 s), and how long it waits for one (24 s): a busy machine is no lost connection."""


class ConsoleListener(UvicornListener):
    """Serves the console at one address. NiceGUI has one application for each process, so there is one console.

    Args:
        gateway: The datasets.
        access: The accounts.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        tls: Certificate and key; None for plain HTTP, which is for loopback alone.
        api: The address of the HTTP API, for snippets of code.
        reload: Takes changed catalogs into use; None where owners cannot change them here.
    """

    def __init__(
        self,
        gateway: Gateway,
        access: SqlAccessStore,
        host: str = "127.0.0.1",
        port: int = 8440,
        tls: ssl.SSLContext | None = None,
        api: str | None = None,
        reload: Reload | None = None,
    ) -> None:
        sessions = Sessions(access, close_pages, partial(gateway.report_refused_login, "console"))
        application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        application.include_router(sign_in_routes(sessions, secure=tls is not None))
        application.include_router(asset_routes())
        register_pages(ConsoleParts(gateway, sessions, DashboardStore(access), CatalogFiles(gateway, reload), api))
        guard_sockets(sessions)
        nicegui_app.add_middleware(WithNonce)
        nicegui_app.add_exception_handler(404, lambda _request, _error: missing_page())
        nicegui_app.on_exception(withheld)  # the owner's log has it; a page shows nothing of it
        ui.run_with(
            application,
            title="hedgerow",
            favicon="🌿",
            dark=None,
            language="en-US",
            binding_refresh_interval=None,
            reconnect_timeout=RECONNECT_SECONDS,
            show_welcome_message=False,
            tailwind=False,  # it would compile styles in the browser: console.css has ours
        )
        config = uvicorn.Config(
            ConsoleGuard(application, sessions),
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAXIMUM_CONNECTIONS,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )
        super().__init__(config, host, port)
