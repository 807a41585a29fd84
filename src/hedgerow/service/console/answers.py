"""An answer on a page: as a table with error bars, as a chart, as text; its notes; and ways to take it along."""

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from hedgerow.answer import Answer, notes
from hedgerow.answer.captions import caption
from hedgerow.answer.files import as_csv, as_parquet
from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup
from hedgerow.service.console.answer_table import AnswerTable
from hedgerow.service.console.charts import chart_file, chart_picture
from hedgerow.service.console.keeping import keeping_buttons
from hedgerow.service.console.parts import box, button, copy_text, empty_state, is_narrow_screen, text
from hedgerow.service.console.snippets import as_curl, as_python
from hedgerow.service.console.visit import Visit

TABS = {"Table": "table_rows", "Chart": "bar_chart", "Text": "notes"}
FILES: dict[str, tuple[str, Callable[[Answer], bytes]]] = {
    "CSV": ("answer.csv", as_csv),
    "Parquet": ("answer.parquet", as_parquet),
    "PNG": ("answer.png", partial(chart_file, form="png")),
    "SVG": ("answer.svg", partial(chart_file, form="svg")),
}
"""Files by label: the name, and the function that makes the content."""


class AnswerPanel:
    """The place of an answer. It is as high before as after, so that nothing moves when the answer arrives."""

    def __init__(self, first_tab: str) -> None:
        self._tab = first_tab
        with box("section", "hr-card hr-answer-place").props('aria-label="Answer"'):
            self._progress = box("div", "hr-progress invisible").props('role="progressbar" aria-label="Asking"')
            self._place = box("div", "hr-stack").props('aria-live="polite"')
        with self._place:
            empty_state(
                "insights",
                "The answer appears here",
                "Every number comes with an interval that says how wrong it may be. Asked again, the same question is "
                "free and shows the same digits.",
            )

    def busy(self, *, running: bool) -> None:
        """Show that a question is on its way, or that none is."""
        self._progress.classes(**{"remove" if running else "add": "invisible"})

    async def show(
        self,
        answer: Answer,
        visit: Visit,
        question: str,
        options: Mapping[str, Any],
        *,
        params: object = None,
        kept: bool = False,
    ) -> None:
        """Show an answer in place of the one before. One that is not `kept` yet has buttons that do so."""
        picture = await _drawn(answer) if self._tab == "Chart" else None
        self._place.clear()
        with self._place:
            with ui.tabs(on_change=self._chosen).props("dense no-caps align=left inline-label") as tabs:
                choices = {name: ui.tab(name, icon=icon) for name, icon in TABS.items()}
            with ui.tab_panels(tabs, value=choices[self._tab], animated=False).classes("hr-tab-panels"):
                with ui.tab_panel("Table"):
                    AnswerTable(answer)
                with ui.tab_panel("Chart"):
                    _show_chart(answer, picture)
                with ui.tab_panel("Text"):
                    text("pre", repr(answer), "hr-code").props("tabindex=0")
            rows = "1 row" if len(answer) == 1 else f"{len(answer):,} rows"
            text("p", f"{rows}; {caption(answer)}", "hr-quiet hr-small")
            _show_notes(answer)
            _take_along(answer, snippets(visit, question, params, options))
            if not kept:
                with box("div", "hr-row"):
                    keeping_buttons(visit, question, answer, options)

    def _chosen(self, event: ValueChangeEventArguments[Any]) -> None:
        if event.value in TABS:
            self._tab = event.value


def _show_chart(answer: Answer, picture: Markup | None) -> None:
    """Show the chart; without a picture yet, draw it when somebody looks at it first."""
    place = ui.html(picture or "", sanitize=False).classes("hr-picture")

    async def draw() -> None:
        place.set_content(await _drawn(answer))

    if picture is None:
        ui.timer(0, draw, once=True)


async def _drawn(answer: Answer) -> Markup:
    return await asyncio.to_thread(chart_picture, answer, narrow=await is_narrow_screen())


def _show_notes(answer: Answer) -> None:
    said = notes(answer, whole=True)
    if said:
        with box("ul", "hr-notes").props('aria-label="Notes"'):
            for note in said:
                text("li", note)


def _take_along(answer: Answer, code: Mapping[str, str]) -> None:
    """Draw the buttons that download the answer, and copy the question."""

    def download(name: str, content: Callable[[Answer], bytes]) -> Callable[[], Any]:
        async def start() -> None:
            try:
                ui.download.content(await asyncio.to_thread(content, answer), name)
            except HedgerowError as error:
                ui.notify(error.message)

        return start

    def copy(label: str, snippet: str) -> Callable[[], Any]:
        return lambda: copy_text(json.dumps(snippet), f"Copied as {label}.")

    with box("div", "hr-row hr-take"):
        text("span", "Download", "hr-quiet hr-small")
        for label, (name, content) in FILES.items():
            button(label, download(name, content), kind="plain")
        text("span", "Copy as", "hr-quiet hr-small")
        for label, snippet in code.items():
            button(label, copy(label, snippet), kind="plain").props["aria-label"] = f"Copy as {label}"


def snippets(visit: Visit, sql: str, params: object, options: Mapping[str, Any]) -> dict[str, str]:
    """Return a question as text to copy, by language."""
    if visit.api is None:
        return {"SQL": sql}
    question = visit.api, visit.dataset, sql, params, options
    return {"SQL": sql, "Python": as_python(*question), "curl": as_curl(*question)}
