"""The pages of the console, by address."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hedgerow.errors import HedgerowError
from hedgerow.owners_log import about, withheld
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
from hedgerow.service.console.requests import requests_page
from hedgerow.service.console.sign_in import COOKIE
from hedgerow.service.console.visit import ConsoleParts, Visit

LONGEST_LINK = 20_000
"""Number of characters of a statement that a link to the editor may hold."""

Draw = Callable[[Visit], Awaitable[None] | None]


def register_pages(parts: ConsoleParts) -> None:
    """Register every page. Whoever has not signed in is led to the form, and sees nothing else."""
    gateway, sessions = parts.gateway, parts.sessions

    def page(title: str, draw: Draw) -> None:
        information = PAGES[title]

        async def respond(request: Request) -> Response | None:
            session, client = request.cookies.get(COOKIE), ui.context.client
            identity = sessions.identity(session)
            if identity is None:
                return RedirectResponse("/sign-in", 303)
            sessions.opened(session, client.id)
            client.on_delete(lambda: sessions.closed(session, client.id))
            datasets = gateway.datasets(identity)
            asked = request.query_params.get("dataset", "")
            dataset = asked if asked in datasets else next(iter(datasets), "")
            visit = Visit(parts, session, dataset, dict(request.query_params))
            visit.statement = request.query_params.get("sql", "")[:LONGEST_LINK] or None
            visit.dark = {"dark": True, "light": False}.get(request.cookies.get(THEME_COOKIE, ""))
            with frame(visit, title):
                if identity.role not in information.roles:
                    empty_state("block", "Your role has no use for this page.", "The menu lists the pages that it has.")
                elif not datasets:
                    empty_state("lock", "This account may use no dataset.", "Ask the owner for one.")
                else:
                    await _drawn(draw, visit)
            return None

        ui.page(information.address)(respond)

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
    page("Audit", audit_page)


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
