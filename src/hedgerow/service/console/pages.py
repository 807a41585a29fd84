"""The pages of the console, by address."""

from collections.abc import Awaitable, Callable
from html import escape
from inspect import isawaitable

from nicegui import ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup, joined
from hedgerow.owners_log import about, withheld
from hedgerow.service.access.model import Role
from hedgerow.service.console.analysts import analysts_page
from hedgerow.service.console.ask import ask_page
from hedgerow.service.console.audit import audit_page
from hedgerow.service.console.budget import budget_page
from hedgerow.service.console.catalog import catalog_page
from hedgerow.service.console.dashboards import dashboard_page, dashboards_page
from hedgerow.service.console.explore import explore_page
from hedgerow.service.console.frame import PAGES, THEME_COOKIE, frame
from hedgerow.service.console.history import history_page
from hedgerow.service.console.kept_answer import kept_answer_page
from hedgerow.service.console.parts import empty_state, refusal
from hedgerow.service.console.plan import plan_page
from hedgerow.service.console.requests import requests_page
from hedgerow.service.console.sign_in import COOKIE, to_sign_in
from hedgerow.service.console.visit import ConsoleParts, Visit

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
