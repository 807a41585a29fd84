"""An answer on a page: a table with error bars, a chart, a text; its notes; and ways to take it along and to keep it.

The table shows each number with ± and a drawing of its interval, page by page, sorted by any column. A kept answer has
a page of its own, under an address that stays: the same digits, free, for all who may use the dataset.
"""

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments, ValueChangeEventArguments

from hedgerow.answer import Answer, notes
from hedgerow.answer.captions import about_people, are_several, caption, cells, headings
from hedgerow.answer.files import as_csv, as_parquet
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.render import ColumnScale, scale_of
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import HedgerowError
from hedgerow.markup import Markup, element
from hedgerow.service.access.dashboards import LONGEST_TITLE, Tile
from hedgerow.service.access.model import Role
from hedgerow.service.access.rights import (
    change_dashboard,
    create_dashboard,
    keep_answer,
    visible_answer,
    visible_dashboard,
    visible_dashboards,
)
from hedgerow.service.console.charts import chart_file, chart_picture
from hedgerow.service.console.parts import (
    box,
    button,
    card,
    copy_text,
    empty_state,
    icon_button,
    is_narrow_screen,
    refusal,
    text,
)
from hedgerow.service.console.questions import as_curl, as_python
from hedgerow.service.console.visit import Visit

ROWS = 100
"""Number of rows on a page of the table."""

SORT = """(event) => {
  const heading = event.target.closest("[data-sort]");
  if (heading) emit(Number(heading.dataset.sort));
}"""

FOCUS = """setTimeout(() => getHtmlElement({})?.querySelector('[data-sort="{}"]')?.focus())"""
"""Give the focus back to a heading that was drawn anew."""


class AnswerTable:
    """The table. The server draws one page of rows at a time, so that a browser never holds more."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._columns = {name: answer[name] for name in answer.columns}
        self._people, self._several = about_people(answer), are_several(answer)
        self._scales = {
            name: scale_of(self._columns[name], [row.get(name) for row in answer.intervals]) for name in answer.noisy
        }
        self._order = list(range(len(answer)))
        self._sorted: tuple[int, bool] | None = None
        self._first = 0
        self._place = ui.html("", sanitize=False).classes("hr-scroll hr-table-place")
        self._place.props('tabindex=0 role=region aria-label="Rows of the answer"')
        self._place.on("click", self._sort, js_handler=SORT)
        if len(answer) > ROWS:
            with box("div", "hr-row"):
                self._back = icon_button("chevron_left", "Previous rows", lambda: self._turn(-ROWS))
                self._where = text("span", "", "hr-small hr-number")
                self._on = icon_button("chevron_right", "Next rows", lambda: self._turn(ROWS))
        self._draw()

    def _turn(self, step: int) -> None:
        self._first = min(max(self._first + step, 0), (len(self._order) - 1) // ROWS * ROWS)
        self._draw()

    def _sort(self, event: GenericEventArguments) -> None:
        """Sort by a column: upwards, then downwards. Missing values come last."""
        index = int(event.args)
        names = list(self._columns)
        if not 0 <= index < len(names):
            return
        down = self._sorted == (index, False)
        values = self._columns[names[index]]
        known = [row for row in range(len(values)) if values[row] is not None]
        known.sort(key=lambda row: _comparable(values[row]), reverse=down)
        self._order = [*known, *(row for row in range(len(values)) if values[row] is None)]
        self._sorted, self._first = (index, down), 0
        self._draw()
        self._place.client.run_javascript(FOCUS.format(self._place.id, index))

    def _draw(self) -> None:
        rows = self._order[self._first : self._first + ROWS]
        head = element("thead", element("tr", *self._heads()))
        body = element("tbody", *(element("tr", *self._cells(row)) for row in rows))
        self._place.set_content(element("table", head, body, **{"class": "hr-table hr-answer-table"}))
        if len(self._order) > ROWS:
            self._where.set_text(f"{self._first + 1:,} to {self._first + len(rows):,} of {len(self._order):,}")
            self._back.set_enabled(self._first > 0)
            self._on.set_enabled(self._first + ROWS < len(self._order))

    def _heads(self) -> list[Markup]:
        heads = []
        for index, name in enumerate(self._columns):
            side = "hr-right hr-noisy-head" if name in self._answer.noisy else ""
            order = {(index, False): "ascending", (index, True): "descending"}.get(self._sorted or (-1, False), "none")
            sign = {"ascending": " ↑", "descending": " ↓"}.get(order, "")
            label = element("button", f"{on_one_line(name)}{sign}", **{"data-sort": str(index), "class": "hr-sort"})
            heads.append(element("th", label, **{"scope": "col", "class": side, "aria-sort": order}))
            beside = headings(name, several=self._several) if name in self._people else ()
            heads += [element("th", on_one_line(said), **{"scope": "col", "class": "hr-right"}) for said in beside]
        return heads

    def _cells(self, row: int) -> list[Markup]:
        bars, drawn = self._answer.intervals[row], []
        for name, values in self._columns.items():
            drawn.append(_cell(values[row], bars.get(name), self._scales.get(name)))
            beside = cells(bars, name, several=self._several) if name in self._people else ()
            drawn += [element("td", on_one_line(said), **{"class": "hr-right"}) for said in beside]
        return drawn


def _cell(value: object, bar: Interval | None, scale: ColumnScale | None) -> Markup:
    said = on_one_line(shown(value, bar))
    if value is None:
        why = "" if bar is None else bar.note or ""
        return element("td", element("em", said, **{"class": "hr-quiet"}), title=why)
    if bar is None:
        return element("td", said)
    centre, _, error = said.partition(" ")
    title = f"from {bar.lower:,.10g} to {bar.upper:,.10g}".replace("inf", "∞")
    title = f"{title}; {bar.note}" if bar.note else title
    words = element("span", centre, " ", element("span", error, **{"class": "hr-error"}), **{"class": "hr-value"})
    drawing = _drawing(number(value), bar, scale)
    content = element("span", words, drawing, **{"class": "hr-noisy"})
    return element("td", content, **{"class": "hr-right", "title": title})


def _drawing(value: float | None, bar: Interval, scale: ColumnScale | None) -> Markup:
    """Return the interval as a band and the value as a tick, over a bar from zero where zero is on the scale."""
    if value is None or scale is None:
        return Markup()
    low, high, at = scale.place(bar.lower), scale.place(bar.upper), scale.place(value)
    parts = []
    if scale.low <= 0 <= scale.high:
        zero = scale.place(0)
        parts.append(_stretch("hr-bar-fill", min(zero, at), max(zero, at)))
    is_open = math.isinf(bar.lower) or math.isinf(bar.upper)
    parts.append(_stretch("hr-bar-interval hr-bar-open" if is_open else "hr-bar-interval", low, high))
    parts.append(element("i", style=f"left:{at:.1f}%", **{"class": "hr-bar-tick"}))
    return element("span", *parts, **{"class": "hr-bar", "aria-hidden": "true"})


def _stretch(classes: str, left: float, right: float) -> Markup:
    return element("i", style=f"left:{left:.1f}%;width:{max(right - left, 0.5):.1f}%", **{"class": classes})


def _comparable(value: object) -> tuple[int, float, str]:
    """Return a value as something that sorts: numbers by size, the rest by their text."""
    figure = number(value)
    return (1, 0.0, str(value)) if figure is None else (0, figure, "")


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
            if said := notes(answer, whole=True):
                with box("ul", "hr-notes").props('aria-label="Notes"'):
                    for note in said:
                        text("li", note)
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


async def kept_answer_page(visit: Visit) -> None:
    """Draw the page."""
    kept, answer = await asyncio.to_thread(
        visible_answer, visit.parts.boards, visit.identity, visit.query.get("id", "")
    )
    visit = replace(visit, dataset=kept.dataset)
    with card("Question"):
        text("pre", kept.sql, "hr-code").props("tabindex=0")
        if kept.params:
            text("p", f"with {json.dumps(kept.params, ensure_ascii=False)}", "hr-small hr-quiet hr-mono")
        said = f"{kept.dataset}; saved by {kept.analyst} on {kept.created:%Y-%m-%d %H:%M} UTC. Looking at it is free."
        text("p", said, "hr-small hr-quiet")
        with box("div", "hr-row"):
            copy_link(visit, kept.id)
            add_to_dashboard(visit, kept.id, answer)
            if visit.identity.role is not Role.AUDITOR:
                editor = visit.editor(kept.sql, kept.params)
                button("Open in the editor", lambda: ui.navigate.to(editor), kind="plain")
    await AnswerPanel("Table").show(answer, visit, kept.sql, kept.options, params=kept.params, kept=True)


NEW = "a new dashboard"

NARROW = 8
"""Number of rows that a narrow tile shows well."""


def keeping_buttons(visit: Visit, sql: str, answer: Answer, options: Mapping[str, Any]) -> None:
    """Draw the buttons that keep an answer: under an address of its own, and on a dashboard."""

    async def keep() -> str | None:
        try:
            return await asyncio.to_thread(
                keep_answer, visit.parts.boards, visit.identity, visit.dataset, sql, answer, options=options
            )
        except HedgerowError as error:
            ui.notify(error.message)
            return None

    async def link() -> None:
        name = await keep()
        if name is not None:
            await _copy(visit.link("/answer", id=name))

    async def place() -> None:
        name = await keep()
        if name is not None:
            await choose_dashboard(visit, name, answer)

    button("Copy link", link, icon="link", kind="plain")
    button("Add to a dashboard", place, icon="dashboard_customize", kind="plain")


def copy_link(visit: Visit, name: str) -> None:
    """Draw the button that copies the address of an answer."""
    button("Copy link", lambda: _copy(visit.link("/answer", id=name)), icon="link", kind="plain")


def add_to_dashboard(visit: Visit, name: str, answer: Answer) -> None:
    """Draw the button that puts a kept answer on a dashboard."""

    async def choose() -> None:
        await choose_dashboard(visit, name, answer)

    button("Add to a dashboard", choose, icon="dashboard_customize", kind="plain")


async def choose_dashboard(visit: Visit, name: str, answer: Answer) -> None:
    """Ask for a dashboard and a title, and put a kept answer on it."""
    title = answer_title(answer)
    boards = await asyncio.to_thread(visible_dashboards, visit.parts.boards, visit.identity, visit.dataset)
    own = {board.id: board.title for board in boards if board.owner == visit.identity.name}
    with ui.dialog().props('aria-label="Add to a dashboard"') as dialog, ui.card().classes("hr-dialog"):
        text("h2", "Add to a dashboard")
        chosen = ui.select({**own, NEW: NEW}, value=next(iter(own), NEW), label="Dashboard").classes("full-width")
        named = ui.input("Name of the new dashboard").classes("full-width")
        named.bind_visibility_from(chosen, "value", value=NEW)
        heading = ui.input("Title of the tile", value=title[:LONGEST_TITLE]).classes("full-width")
        problem = box("div", "hr-stack")

        def add() -> str:
            store, identity = visit.parts.boards, visit.identity
            board = (
                create_dashboard(store, identity, visit.dataset, named.value or "")
                if chosen.value == NEW
                else visible_dashboard(store, identity, chosen.value)
            )
            tile = Tile(name, (heading.value or title)[:LONGEST_TITLE], width=first_width(answer))
            change_dashboard(store, identity, board.id, tiles=(*board.tiles, tile))
            return board.id

        async def confirm() -> None:
            problem.clear()
            try:
                board = await asyncio.to_thread(add)
            except HedgerowError as error:
                with problem:
                    refusal(error)
                return
            dialog.close()
            ui.navigate.to(visit.link("/dashboard", id=board))

        with box("div", "hr-row hr-end"):
            button("Cancel", dialog.close, kind="plain")
            button("Add", confirm, kind="primary")
    dialog.open()


def answer_title(answer: Answer) -> str:
    """Return a first title for an answer: its numbers, and the keys that they are by."""
    numbers = [on_one_line(name) for name in answer.columns if name in answer.noisy] or [on_one_line(answer.columns[0])]
    keys = [on_one_line(name) for name in answer.columns if name not in answer.noisy]
    return f"{' and '.join(numbers)} by {', '.join(keys)}" if keys and answer.noisy else " and ".join(numbers)


def first_width(answer: Answer) -> int:
    """Return the columns that a tile takes at first: more for an answer of many groups or numbers."""
    return 1 if len(answer) <= NARROW and len(answer.columns) <= 2 else 2


async def _copy(address: str) -> None:
    """Copy the address, with the host that the browser knows it by."""
    said = "The address of this answer is copied. It opens for all who may use the dataset."
    await copy_text(f"location.origin + {json.dumps(address)}", said)
