"""One open page: who looks at it, which dataset it shows, and the frame around its content."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote as quoted

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.console.sign_in import Sessions
from hedgerow.service.errors import AccessError
from hedgerow.service.gateway import Gateway

DOOR = "console"

PAGES = {
    "Ask": ("/", frozenset({Role.ANALYST, Role.OWNER})),
    "Explore": ("/explore", frozenset(Role)),
    "Budget": ("/budget", frozenset(Role)),
    "History": ("/history", frozenset(Role)),
    "Requests": ("/requests", frozenset(Role)),
    "Accounts": ("/accounts", frozenset({Role.OWNER})),
    "Ledger": ("/ledger", frozenset({Role.OWNER, Role.AUDITOR})),
}
"""Pages by title: address, and the roles that may see them."""

STYLE = """
<style>
body{font-family:system-ui,sans-serif}
.hr-page{max-width:76rem;margin:0 auto;padding:1rem;width:100%}
.hr-refused{text-decoration:underline wavy #d1493f;text-underline-offset:3px}
.hr-answer{overflow-x:auto;max-width:100%}
.hr-answer table{font-variant-numeric:tabular-nums}
.nicegui-codemirror{border:1px solid #8886;border-radius:.3rem;font-size:1rem}
a:focus-visible,button:focus-visible{outline:3px solid #4c78a8;outline-offset:2px}
@media (prefers-reduced-motion: reduce){*{animation:none!important;transition:none!important}}
</style>
"""


@dataclass
class Visit:
    """One open page of somebody who signed in.

    Attributes:
        gateway: The datasets.
        sessions: The sessions of everybody.
        session: The identifier of this one.
        dataset: The dataset that the page shows.
        api: The address of the HTTP API; None where there is none.
        statement: The statement that the address brought along.
    """

    gateway: Gateway
    sessions: Sessions
    session: str | None
    dataset: str = ""
    api: str | None = None
    statement: str | None = None

    @property
    def identity(self) -> Identity:
        """Who looks at the page; an error if the session has ended since it was opened."""
        identity = self.sessions.identity(self.session)
        if identity is None:
            raise AccessError("The session has ended.", code="login-refused", hint="Sign in again.")
        return identity

    async def attempt(self, work: Callable[[], Awaitable[None]], problem: ui.html) -> bool:
        """Run what a click asked for; show a refusal in place of a result. Return True if there was none."""
        problem.set_content("")
        try:
            await work()
        except HedgerowError as error:
            problem.set_content(error_html(error))
            return False
        return True


def error_html(error: HedgerowError) -> Markup:
    """Return an error as a box: the message, the line it is about, the hint and the cost."""
    return Markup(error._repr_html_())


def shown(content: object) -> ui.html:
    """Show an object as notebooks do. Its texts are escaped by `markup`, where it is made."""
    return ui.html(getattr(content, "_repr_html_")(), sanitize=False).classes("hr-answer")  # noqa: B009 - a protocol of notebooks


@contextmanager
def frame(visit: Visit, title: str) -> Iterator[None]:
    """Draw what stands around every page: name, pages, dataset, account."""
    identity, datasets = visit.identity, visit.gateway.datasets(visit.identity)
    ui.page_title(f"{title} · hedgerow")
    ui.add_head_html(STYLE)
    dark = ui.dark_mode(value=None)
    with ui.header().classes("items-center bg-green-9 text-white gap-4 py-2 flex-wrap").props('role="banner"'):
        ui.link("hedgerow", "/").classes("text-white text-lg font-semibold no-underline")
        with ui.element("nav").props('aria-label="Pages"').classes("flex gap-3 flex-wrap"):
            for name, (address, roles) in PAGES.items():
                if identity.role in roles:
                    link = ui.link(name, f"{address}?dataset={quoted(visit.dataset)}").classes("text-white")
                    if name == title:
                        link.props('aria-current="page"').classes("font-semibold")
        ui.space()
        if len(datasets) > 1:
            ui.select(
                datasets,
                value=visit.dataset,
                label="Dataset",
                on_change=lambda chosen: ui.navigate.to(f"?dataset={quoted(chosen.value)}"),
            ).props("dense dark")
        else:
            ui.label(visit.dataset)
        ui.button(icon="contrast", on_click=lambda: dark.set_value(not dark.value)).props(
            'flat dense color=white aria-label="Light or dark"'
        )
        with ui.element("form").props('method="post" action="/sign-out"'):
            ui.button(f"Sign out {identity.name}").props('type="submit" flat dense no-caps color=white')
    with ui.element("main").classes("hr-page"):
        yield
