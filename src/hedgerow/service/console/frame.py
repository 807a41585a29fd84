"""The frame around every page: its pages, dataset and account at the side, and the page itself as the main part."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote as quoted

from nicegui import ui
from nicegui.events import GenericEventArguments

from hedgerow.service.access.model import Role
from hedgerow.service.console.assets import STYLE
from hedgerow.service.console.parts import box, button, choice, heading, icon_button, text
from hedgerow.service.console.sign_in import MARK
from hedgerow.service.console.visit import Visit

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
                _dataset_chooser(visit)
                _page_links(visit, title)
                _account(visit, dark)
        with box("main", "hr-main") as main:
            heading(title, PAGES[title].purpose)
            yield
    ui.skip_link(target=main)


def _dataset_chooser(visit: Visit) -> None:
    datasets = visit.gateway.datasets(visit.identity)
    if datasets:
        choice("Dataset", datasets, visit.dataset, lambda chosen: ui.navigate.to(f"?dataset={quoted(chosen)}")).classes(
            "full-width"
        )


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
