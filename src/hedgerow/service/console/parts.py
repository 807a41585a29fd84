"""Common parts of the pages: headings, cards, notices, empty states, buttons; and the files of style and script.

Every text in them is shown as text. The look of the parts is in `console.css`; its classes begin with `hr-`. Tailwind
is switched off, because it compiles styles in the browser: a page uses these parts and classes, and Quasar's.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from fastapi import APIRouter
from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments
from starlette.responses import Response

from hedgerow.errors import HedgerowError

ICONS = {"info": "info", "good": "check_circle", "warn": "warning_amber", "bad": "error_outline"}
"""Icons of notices, by kind."""


BROWSER_SECONDS = 10.0
"""Time that a busy browser may take to say how wide its window is."""

COPY_SECONDS = 60.0
"""Time that a browser may take to copy: it may ask its user first."""

PHONE = 600
"""Width in pixels below which a window is narrow."""

SHORT = 20
"""Number of characters up to which a cell of a table stays on one line."""


def text(tag: str, content: str, classes: str = "") -> TextElement:
    """Show text in an element of HTML, such as "h2", "p" or "code"."""
    return TextElement(tag=tag, text=content).classes(classes)


def box(tag: str = "div", classes: str = "") -> ui.element:
    """Return an element of HTML that holds others."""
    return ui.element(tag).classes(classes)


def heading(title: str, explanation: str = "") -> None:
    """Show the heading of a page, and a sentence about what the page is for."""
    with box("div", "hr-head"):
        text("h1", title)
        if explanation:
            text("p", explanation, "hr-quiet")


@contextmanager
def card(title: str = "", explanation: str = "") -> Iterator[ui.element]:
    """Draw a card: a section with a frame and, if it has one, a title."""
    with box("section", "hr-card") as section:
        if title:
            section.props["aria-label"] = title
            with box("div", "hr-head"):
                text("h2", title)
                if explanation:
                    text("p", explanation, "hr-quiet hr-small")
        yield section


def figure(label: str, value: str, detail: str = "") -> None:
    """Show one number, large, in a card of its own; put several of them into `box("div", "hr-tiles")`."""
    with box("div", "hr-card"):
        text("div", label, "hr-quiet hr-small")
        text("div", value, "hr-figure")
        if detail:
            text("div", detail, "hr-quiet hr-small")


def empty_state(icon: str, title: str, explanation: str, link: tuple[str, str] | None = None) -> None:
    """Draw an empty state: what will appear here, and how to get it. `link` is a label and an address."""
    with box("div", "hr-empty"):
        ui.icon(icon)
        text("h2", title)
        text("p", explanation)
        if link is not None:
            ui.link(*link)


@contextmanager
def notice(kind: str, title: str = "") -> Iterator[ui.element]:
    """Draw a notice of a kind: "info", "good", "warn" or "bad". Elements drawn inside appear below its title."""
    with box("div", f"hr-notice hr-notice-{kind}") as whole:
        ui.icon(ICONS[kind])
        with box("div", "hr-stack hr-grow").style("gap:.35rem"):
            if title:
                text("div", title, "hr-strong")
            yield whole


def refusal(error: HedgerowError) -> None:
    """Show an error as a notice: the message, the hint, and what it cost."""
    with notice("bad", error.message) as whole:
        whole.props("role=alert")
        for said in (error.hint, error.cost):
            if said:
                text("p", said)


def button(
    label: str, on_click: Callable[..., Any] | None = None, *, icon: str | None = None, kind: str = ""
) -> ui.button:
    """Return a button. Its kind is "primary" (one on a page), "plain" (without a frame), "danger", or none."""
    control = ui.button(label, on_click=on_click, icon=icon, color=None).props("unelevated no-caps no-wrap")
    return control.classes(f"hr-button {f'hr-{kind}' if kind else ''}")


def icon_button(icon: str, name: str, on_click: Callable[..., Any] | None = None) -> ui.button:
    """Return a button that shows an icon, with a name for screen readers and as a tooltip."""
    control = (
        ui.button(icon=icon, on_click=on_click, color=None)
        .props("flat dense no-caps")
        .classes("hr-button hr-icon-only")
    )
    control.props["aria-label"] = name
    control.props["title"] = name
    return control


def choice(
    label: str,
    options: Mapping[str, str] | Sequence[str],
    value: str,
    on_change: Callable[[str], Any],
    *,
    hidden_label: bool = False,
) -> ui.element:
    """Draw a choice among several options, by value and label, as the browser's own select element."""
    labels = dict(options) if isinstance(options, Mapping) else {option: option for option in options}
    with box("label", "hr-label"):
        text("span", label, "visually-hidden" if hidden_label else "")
        with box("select", "hr-native") as select:
            select.props["aria-label"] = label
            for option, shown_as in labels.items():
                entry = text("option", shown_as)
                entry.props["value"] = option
                if option == value:
                    entry.props["selected"] = True
        select.on("change", lambda event: on_change(event.args), js_handler="(event) => emit(event.target.value)")
    return select


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> ui.element:
    """Show rows of text as a table that scrolls sideways where it is too wide."""
    with box("div", "hr-scroll") as whole, box("table", "hr-table"):
        with box("thead"), box("tr"):
            for name in head:
                text("th", name).props("scope=col")
        with box("tbody"):
            for row in rows:
                with box("tr"):
                    for cell in row:
                        text("td", cell, "hr-nowrap" if len(cell) <= SHORT else "hr-wide")
    whole.props("tabindex=0 role=region").props["aria-label"] = ", ".join(head)
    return whole


async def is_narrow_screen() -> bool:
    """Return True if the browser's window is as narrow as a phone; False for a browser that does not answer."""
    try:
        return bool(await ui.run_javascript(f"window.innerWidth < {PHONE}", timeout=BROWSER_SECONDS))
    except TimeoutError:
        return False


async def copy_text(expression: str, said: str) -> None:
    """Copy what an expression of JavaScript gives, and say so; or say that the browser does not let a page copy."""
    write = f"navigator.clipboard?.writeText({expression}).then(() => true, () => false) ?? false"
    is_copied = await ui.run_javascript(write, timeout=COPY_SECONDS)
    ui.notify(said if is_copied else "The browser does not let this page copy.")


class Debounced:
    """Runs an action once nothing has changed for a moment: each call of `soon` begins the wait anew."""

    def __init__(self, action: Callable[[], Awaitable[None]], pause: float) -> None:
        self._action = action
        self._pause = pause
        self._task: asyncio.Task[None] | None = None

    def soon(self, pause: float | None = None) -> None:
        """Run the action after the pause, in place of a run that has not ended; an action may repeat itself."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = asyncio.create_task(self._run(self._pause if pause is None else pause))

    async def _run(self, pause: float) -> None:
        await asyncio.sleep(pause)
        await self._action()


class NativeInput(ui.element):
    """An input element of the browser.

    Its value is not a property that Vue renders: otherwise, every change elsewhere on the page would overwrite typed
    text with the value that Vue rendered last.
    """

    def __init__(self, classes: str, value: str, on_input: Callable[[str], Any]) -> None:
        super().__init__("input")
        self.classes(classes)
        self.props["defaultValue"] = self._shown = value
        self._on_input = on_input
        self.on("input", self._typed, js_handler="(event) => emit(event.target.value)")

    def _typed(self, event: GenericEventArguments) -> None:
        self._shown = event.args
        self._on_input(event.args)

    def show(self, value: str) -> None:
        """Show another value."""
        if self._shown != value:
            self._shown = value
            self.client.run_javascript(f"getHtmlElement({self.id}).value = {json.dumps(value)}")


def field(
    label: str, value: str, on_input: Callable[[str], Any], *, kind: str = "number", hidden_label: bool = False
) -> NativeInput:
    """Draw an input element of the browser ("number", "text", "search"). What is typed goes to `on_input`."""
    with box("label", "hr-label"):
        text("span", label, "visually-hidden" if hidden_label else "")
        entry = NativeInput("hr-native", value, on_input)
    entry.props["aria-label"] = label
    entry.props["type"] = kind
    if kind == "number":
        entry.props("step=any min=0 inputmode=decimal")
    return entry


def slider(label: str, value: float, on_input: Callable[[float], Any]) -> NativeInput:
    """Draw a slider from 0 to 100."""
    entry = NativeInput("hr-slider", f"{value:.0f}", lambda moved: on_input(float(moved)))
    entry.props("type=range min=0 max=100 step=1").props["aria-label"] = label
    return entry


FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def _file(*names: str) -> tuple[str, bytes]:
    """Return the address and the content of files. The address changes with the content: browsers may keep it."""
    content = b"".join((files("hedgerow.service.console") / name).read_bytes() for name in names)
    stem, ending = names[0].rsplit(".", 1)
    return f"/console/{stem}-{hashlib.sha256(content).hexdigest()[:16]}.{ending}", content


STYLE, STYLE_CONTENT = _file("console.css", "pages.css")
EDITOR_SCRIPT, EDITOR_CONTENT = _file("editor.js")


def asset_routes() -> APIRouter:
    """Return the routes of these files, which need no session."""
    routes = APIRouter()

    @routes.get(STYLE, include_in_schema=False)
    def style() -> Response:
        return Response(STYLE_CONTENT, media_type="text/css", headers=FOREVER)

    @routes.get(EDITOR_SCRIPT, include_in_schema=False)
    def editor_script() -> Response:
        return Response(EDITOR_CONTENT, media_type="text/javascript", headers=FOREVER)

    return routes
