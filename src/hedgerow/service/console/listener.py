"""The console's listener (NiceGUI under uvicorn), its pages by address, and the frame around each of them."""

import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html import escape
from inspect import isawaitable
from urllib.parse import quote as quoted

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup, joined
from hedgerow.owners_log import about, withheld
from hedgerow.service.access.dashboards import DashboardStore
from hedgerow.service.access.model import Role
from hedgerow.service.access.store import SqlAccessStore
from hedgerow.service.catalog_file import CatalogFiles, Reload
from hedgerow.service.console.analysts import analysts_page
from hedgerow.service.console.answers import kept_answer_page
from hedgerow.service.console.ask import ask_page
from hedgerow.service.console.audit import audit_page
from hedgerow.service.console.budget import budget_page
from hedgerow.service.console.catalog import catalog_page
from hedgerow.service.console.dashboards import dashboard_page, dashboards_page
from hedgerow.service.console.explore import explore_page
from hedgerow.service.console.history import history_page
from hedgerow.service.console.parts import (
    STYLE,
    asset_routes,
    box,
    button,
    choice,
    empty_state,
    heading,
    icon_button,
    refusal,
    text,
)
from hedgerow.service.console.plan import plan_page
from hedgerow.service.console.requests import requests_page
from hedgerow.service.console.safety import ConsoleGuard, WithNonce, close_pages, guard_sockets
from hedgerow.service.console.sign_in import COOKIE, MARK, Sessions, missing_page, sign_in_routes, to_sign_in
from hedgerow.service.console.visit import ConsoleParts, Visit
from hedgerow.service.gateway import Gateway
from hedgerow.service.uvicorn_listener import UvicornListener

THEME_COOKIE = "hedgerow_theme"

SWITCH = f"""() => {{
  const dark = !document.body.classList.contains("body--dark");
  document.cookie = "{THEME_COOKIE}=" + (dark ? "dark" : "light") + "; path=/; max-age=31536000; samesite=strict";
  emit(dark);
}}"""

UNFOLD = """(event) => {
  const button = event.currentTarget;
  button.setAttribute("aria-expanded", button.getAttribute("aria-expanded") === "true" ? "false" : "true");
}"""


@dataclass(frozen=True)
class PageInfo:
    """One page: its address, the roles that may see it, its icon, what it is for, and the group it is listed in.

    A page that is not `listed` is reached from another one.
    """

    address: str
    roles: frozenset[Role]
    icon: str
    purpose: str
    group: str = ""
    listed: bool = True


EVERYBODY = frozenset(Role)
ASKS = frozenset({Role.ANALYST, Role.OWNER})
OWNS = frozenset({Role.OWNER})
AUDITS = frozenset({Role.OWNER, Role.AUDITOR})
OWNER = "Owner"

PAGES = {
    "Ask": PageInfo("/", ASKS, "edit_note", "A question in SQL, its price, and its answer with error bars."),
    "Explore": PageInfo("/explore", EVERYBODY, "table_view", "Tables, columns, and questions without SQL."),
    "Budget": PageInfo("/budget", EVERYBODY, "donut_large", "What is spent, what remains, and what a price would buy."),
    "History": PageInfo("/history", EVERYBODY, "history", "Questions that are paid for. Each is free to open again."),
    "Answer": PageInfo("/answer", EVERYBODY, "link", "A saved answer. Looking at it is free.", listed=False),
    "Dashboards": PageInfo("/dashboards", EVERYBODY, "dashboard", "Saved answers side by side, free to look at."),
    "Dashboard": PageInfo("/dashboard", EVERYBODY, "dashboard", "", listed=False),
    "Requests": PageInfo("/requests", EVERYBODY, "inbox", "Questions that wait for the owner."),
    "Catalog": PageInfo("/catalog", OWNS, "menu_book", "What is protected, and how much may be learnt.", OWNER),
    "Analysts": PageInfo("/analysts", OWNS, "group", "Who may ask, about what, and how much.", OWNER),
    "Plan": PageInfo("/plan", OWNS, "event_note", "A year of reports: the budget it takes, or its errors.", OWNER),
    "Audit": PageInfo("/audit", AUDITS, "receipt_long", "Every charge, in a chain that can be verified.", OWNER),
}
"""Pages by title, in the order of the menu."""


@contextmanager
def frame(visit: Visit, title: str) -> Iterator[None]:
    """Draw the frame around a page. Elements drawn inside become its main part."""
    ui.page_title(f"{title} · hedgerow")
    ui.add_head_html(f'<link rel="stylesheet" href="{STYLE}">')
    dark = ui.dark_mode(value=visit.dark)
    slot = ui.context.client.content.parent_slot
    if slot is not None:
        slot.parent.props("role=presentation")  # Quasar's own element "main", which holds the menu, too
    with box("div", "hr-shell"):
        with box("header", "hr-side"):
            with ui.link(target=f"/?dataset={quoted(visit.dataset)}").classes("hr-brand"):
                ui.html(MARK, sanitize=False, tag="span").style("display:flex")
                text("span", "hedgerow")
            unfold = icon_button("menu", "Menu").classes("hr-menu-button").props('aria-expanded="false"')
            unfold.on("click", js_handler=UNFOLD)
            with box("div", "hr-menu"):
                if datasets := visit.gateway.datasets(visit.identity):
                    chooser = choice(
                        "Dataset", datasets, visit.dataset, lambda chosen: ui.navigate.to(f"?dataset={quoted(chosen)}")
                    )
                    chooser.classes("full-width")
                _page_links(visit, title)
                _account(visit, dark)
        with box("main", "hr-main") as main:
            heading(title, PAGES[title].purpose)
            yield
    ui.skip_link(target=main)


def _page_links(visit: Visit, title: str) -> None:
    """Link the pages that the role may see, by group."""
    role, group = visit.identity.role, ""
    with box("nav").props('aria-label="Pages"'):
        for name, page in PAGES.items():
            if role not in page.roles or not page.listed:
                continue
            if page.group != group:
                group = page.group
                if role is Role.OWNER:
                    text("div", group, "hr-group")
            with ui.link(target=f"{page.address}?dataset={quoted(visit.dataset)}").classes("hr-page-link") as link:
                ui.icon(page.icon)
                text("span", name)
            if name == title:
                link.props('aria-current="page"')


def _account(visit: Visit, dark: ui.dark_mode) -> None:
    """Show who is signed in, a way to sign out, and the switch between light and dark."""
    identity = visit.identity

    def switched(event: GenericEventArguments) -> None:
        dark.set_value(event.args)
        visit.dark = event.args

    with box("div", "hr-foot"):
        with box("div", "hr-account"):
            text("div", identity.name, "hr-strong")
            text("div", identity.role.value, "hr-quiet hr-small")
        switch = icon_button("contrast", "Switch between light and dark")
        switch.on("click", switched, js_handler=SWITCH)
        with box("form").props('method="post" action="/sign-out"'):
            button("Sign out", kind="plain").props('type="submit"').props["aria-label"] = f"Sign out {identity.name}"


LONGEST_LINK = 20_000
"""Number of characters of a statement that a link to the editor may hold."""

DRAWING_SECONDS = 60.0
"""Time that a page may take until it is drawn. NiceGUI's own 3 s turn a page on a busy machine into an error."""

Draw = Callable[[Visit], Awaitable[None] | None]


def register_pages(parts: ConsoleParts) -> None:
    """Register every page. Visitors who have not signed in are redirected to the form, and see nothing else."""
    gateway, sessions = parts.gateway, parts.sessions

    def page(title: str, draw: Draw) -> None:
        information = PAGES[title]

        async def respond(request: Request) -> Response | None:
            session, client = request.cookies.get(COOKIE), ui.context.client
            identity = sessions.identity(session)
            if identity is None:
                return _without_session(request)
            sessions.opened(session, client.id)
            client.on_delete(lambda: sessions.closed(session, client.id))
            datasets = gateway.datasets(identity)
            asked = request.query_params.get("dataset", "")
            dataset = asked if asked in datasets else next(iter(datasets), "")
            visit = Visit(parts, session, dataset, dict(request.query_params))
            visit.statement = request.query_params.get("sql", "")[:LONGEST_LINK] or None
            visit.dark = {"dark": True, "light": False}.get(request.cookies.get(THEME_COOKIE, ""))
            if identity.role is Role.AUDITOR and information.address == "/":
                return RedirectResponse(visit.link("/audit"), 303)  # an auditor asks nothing: this is their first page
            with frame(visit, title):
                if identity.role not in information.roles:
                    empty_state("block", "This page is not for your role.", "The menu lists the pages that are.")
                elif not datasets:
                    empty_state("lock", "This account has access to no dataset.", "Ask an owner for access.")
                else:
                    await _drawn(draw, visit)
            return None

        ui.page(information.address, response_timeout=DRAWING_SECONDS)(respond)

    page("Ask", ask_page)
    page("Explore", explore_page)
    page("Budget", budget_page)
    page("History", history_page)
    page("Answer", kept_answer_page)
    page("Dashboards", dashboards_page)
    page("Dashboard", dashboard_page)
    page("Requests", requests_page)
    page("Catalog", catalog_page)
    page("Analysts", analysts_page)
    page("Plan", plan_page)
    page("Audit", audit_page)


def _without_session(request: Request) -> Response:
    """Lead to the form, and from there to the page that was asked for.

    Browsers do not send the cookie with a link on another site, such as one in a mail. The same address loaded again,
    by a page of this site, brings the cookie of somebody who has signed in.
    """
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if request.headers.get("sec-fetch-site") == "cross-site":
        again = Markup(f'<meta http-equiv="refresh" content="0;url={escape(address)}">')
        return HTMLResponse(joined([Markup("<!doctype html>"), again]), headers={"Cache-Control": "no-store"})
    return RedirectResponse(to_sign_in(address), 303)


async def _drawn(draw: Draw, visit: Visit) -> None:
    """Draw a page; show a refusal in its place."""
    try:
        drawing = draw(visit)
        if isawaitable(drawing):
            await drawing
    except HedgerowError as error:
        refusal(error)
    except Exception as error:  # noqa: BLE001 - NiceGUI would show its message, which could quote values
        with about(visit.gateway.view(visit.identity, visit.dataset).owners_log):
            refusal(withheld(error))


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
        sessions = Sessions(access, close_pages, partial(gateway.admission.report_refused_login, "console"))
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
