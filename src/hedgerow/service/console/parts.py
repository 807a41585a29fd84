"""Common parts of the pages: headings, cards, notices, empty states, buttons. Every text in them is shown as text.

The look of the parts is in `console.css`; its classes begin with `hr-`. Tailwind is switched off, because it compiles
styles in the browser: a page uses these parts and classes, and Quasar's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments

from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup

ICONS = {"info": "info", "good": "check_circle", "warn": "warning_amber", "bad": "error_outline"}
"""Icons of notices, by kind."""


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
    """Show one number, large, in a card of its own; several of them stand in `box("div", "hr-tiles")`."""
    with box("div", "hr-card"):
        text("div", label, "hr-quiet hr-small")
        text("div", value, "hr-figure")
        if detail:
            text("div", detail, "hr-quiet hr-small")


def empty_state(icon: str, title: str, explanation: str, link: tuple[str, str] | None = None) -> None:
    """Say what will stand here, and how it comes about. `link` is a label and an address."""
    with box("div", "hr-empty"):
        ui.icon(icon)
        text("h2", title)
        text("p", explanation)
        if link is not None:
            ui.link(*link)


@contextmanager
def notice(kind: str, title: str = "") -> Iterator[ui.element]:
    """Draw a notice of a kind: "info", "good", "warn" or "bad". What is drawn inside stands below its title."""
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
                        text("td", cell)
    whole.props("tabindex=0 role=region").props["aria-label"] = ", ".join(head)
    return whole


def error_html(error: HedgerowError) -> Markup:
    """Return an error as HTML: the message, the line it is about, the hint and the cost."""
    return Markup(error._repr_html_())


def shown(content: object) -> ui.html:
    """Show an object as notebooks do. Its texts are escaped by `markup`, where it is entry."""
    return ui.html(getattr(content, "_repr_html_")(), sanitize=False).classes("hr-answer")  # noqa: B009 - a protocol of notebooks


def field(
    label: str, value: str, on_input: Callable[[str], Any], *, kind: str = "number", hidden_label: bool = False
) -> ui.element:
    """Draw an input element of the browser ("number", "text", "search"). What is typed goes to `on_input`."""
    with box("label", "hr-label"):
        text("span", label, "visually-hidden" if hidden_label else "")
        entry = box("input", "hr-native")
    entry.props["aria-label"] = label
    entry.props["type"] = kind
    entry.props["value"] = value
    if kind == "number":
        entry.props("step=any min=0 inputmode=decimal")
    _follow(entry, on_input)
    return entry


def slider(label: str, value: float, on_input: Callable[[float], Any]) -> ui.element:
    """Draw a slider from 0 to 100."""
    entry = box("input", "hr-slider").props("type=range min=0 max=100 step=1")
    entry.props["aria-label"] = label
    entry.props["value"] = f"{value:.0f}"
    _follow(entry, lambda moved: on_input(float(moved)))
    return entry


def _follow(entry: ui.element, on_input: Callable[[str], Any]) -> None:
    """Keep what the browser shows, and pass it on."""

    def changed(event: GenericEventArguments) -> None:
        with entry.props.suspend_updates():
            entry.props["value"] = event.args
        on_input(event.args)

    entry.on("input", changed, js_handler="(event) => emit(event.target.value)")


def set_value(entry: ui.element, value: str) -> None:
    """Show another value in an input element."""
    if entry.props.get("value") != value:
        entry.props["value"] = value
