"""The page on which a question is written, priced while it is typed, asked, and answered."""

import asyncio
import math
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from hedgerow.answer import Answer, notes
from hedgerow.answer.files import as_csv, as_parquet
from hedgerow.answer.plot import svg
from hedgerow.errors import HedgerowError
from hedgerow.figures import percent
from hedgerow.markup import Markup, element, folded, paragraph
from hedgerow.service.console.parts import error_html, shown
from hedgerow.service.console.snippets import as_curl, as_python
from hedgerow.service.console.visit import DOOR, Visit
from hedgerow.service.gateway import RunningStatement
from hedgerow.session.quote import Quote
from hedgerow.session.tables import TableList

PAUSE = 0.25
"""Seconds without a keystroke after which the price is looked up."""

SIZE = 1000
"""Number of rows of a group whose predicted errors the price shows."""

LARGEST_CHART = 500
"""Number of rows up to which a chart is drawn."""


class AskPage:
    """The page: editor, price, answer. One object for each open page."""

    _running: RunningStatement | None = None
    _pricing: asyncio.Task[None] | None = None

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    def draw(self) -> None:
        """Draw the page."""
        visit = self._visit
        tables = visit.gateway.tables(visit.identity, visit.dataset)
        self._editor = ui.codemirror(
            visit.statement or first_question(tables),
            language="SQL",
            line_wrapping=True,
            on_change=self._typed,
            keymap={"Mod-Enter": self._ask},
        ).props('aria-label="SQL"')
        self._editor.classes("full-width hr-editor")
        self._options()
        self._price = ui.html("", sanitize=False).props('aria-live="polite"').style("min-height:3.2rem")
        with ui.row().classes("items-center"):
            self._button = ui.button("Ask", on_click=self._ask).props("no-caps")
            self._stop = ui.button("Stop", on_click=self._cancel).props("no-caps flat").classes("invisible")
            ui.label("Ctrl-Enter asks. Writing and pricing are free.").classes("hr-quiet hr-small")
        self._result = ui.column().classes("full-width").props('aria-live="polite"')
        with self._result:
            ui.label("The answer appears here: every number with an interval that says how wrong it may be.").classes(
                "hr-quiet"
            )
        ui.timer(0, self._look_up_price, once=True)

    def _options(self) -> None:
        """Draw the controls of price and error: one sets epsilon, the other the error to reach at the least price."""
        with ui.row().classes("items-center q-gutter-sm"):
            self._by = ui.toggle(
                {"default": "usual price", "epsilon": "epsilon", "within": "wanted error"},
                value="default",
                on_change=self._chosen,
            ).props("no-caps dense")
            self._epsilon = ui.number("epsilon", value=0.5, min=0.01, step=0.1, on_change=self._typed).props("dense")
            self._within = ui.number("error", value=5, min=0.001, on_change=self._typed).props("dense")
            self._unit = ui.select(["% of the value", "of its unit"], value="% of the value", on_change=self._typed)
            self._unit.props('dense aria-label="unit of the error"')
            self._epsilon.bind_visibility_from(self._by, "value", value="epsilon")
            for control in (self._within, self._unit):
                control.bind_visibility_from(self._by, "value", value="within")

    def _chosen(self, _: ValueChangeEventArguments[Any]) -> None:
        self._typed(None)

    def options(self) -> dict[str, Any]:
        """Return the options that the controls set."""
        if self._by.value == "epsilon" and self._epsilon.value:
            return {"epsilon": float(self._epsilon.value)}
        if self._by.value == "within" and self._within.value:
            amount = f"{float(self._within.value):g}"
            return {"within": f"{amount}%" if self._unit.value.startswith("%") else f"abs:{amount}"}
        return {}

    def _typed(self, _: object) -> None:
        """Look up the price once nothing has been typed for a moment."""
        if self._pricing is not None:
            self._pricing.cancel()
        self._pricing = asyncio.create_task(self._price_later())

    async def _price_later(self) -> None:
        await asyncio.sleep(PAUSE)
        await self._look_up_price()

    async def _look_up_price(self) -> None:
        visit, text = self._visit, self._editor.value
        if not text.strip():
            self._price.set_content("")
            return
        try:
            quote = await visit.gateway.quote(visit.identity, visit.dataset, text, door=DOOR, **self.options())
        except HedgerowError as error:
            self._show_refusal(error)
        else:
            self._editor.decorations = []
            self._price.set_content(price_line(quote))

    def _show_refusal(self, error: HedgerowError) -> None:
        """Underline the refused part of the text, and say why and what to write instead."""
        marked, span = [], error.span
        if span is not None and span.end > span.start:
            marked = [{"kind": "mark", "from": span.start, "to": span.end, "class": "hr-refused"}]
        self._editor.decorations = marked
        self._price.set_content(error_html(error))

    async def _ask(self) -> None:
        """Ask, with what the editor holds now."""
        if self._running is not None:
            return
        visit, text, options = self._visit, self._editor.value, self.options()
        self._button.disable()
        self._stop.classes(remove="invisible")
        try:
            self._running = visit.gateway.submit(visit.identity, visit.dataset, text, door=DOOR, **options)
            answer = await self._running.answer()
        except HedgerowError as error:
            self._show_refusal(error)
            self._result.clear()
        else:
            self._result.clear()
            with self._result:
                show_answer(answer, snippets(visit, text, options))
            await self._look_up_price()
        finally:
            self._running = None
            self._button.enable()
            self._stop.classes(add="invisible")

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def insert(self, name: str) -> None:
        """Append a name to the text."""
        self._editor.set_value(f"{self._editor.value.rstrip()} {name}")


def first_question(tables: TableList) -> str:
    """Return a question that every dataset answers, for an empty editor."""
    private = [table for table in tables if not table.public]
    if not private:
        return ""
    keys = [column for column in private[0].columns if column.values]
    if keys:
        return f"SELECT {keys[0].name}, COUNT(*) AS n\nFROM {private[0].name}\nGROUP BY {keys[0].name}"
    return f"SELECT COUNT(*) AS n FROM {private[0].name}"


def price_line(quote: Quote) -> Markup:
    """Return the price of a question and its predicted errors in a line, and the whole quote behind a fold."""
    if quote.reused:
        price = "Free: the answer is paid for already."
    else:
        share = f"{percent(quote.share)} of the budget"
        most = "" if quote.offer is None else "at most "
        price = f"Costs {most}epsilon {quote.charge.epsilon:.3g}, {share}."
        if not quote.fits:
            price = f"Does not fit into what is left of the budget: it would cost epsilon {quote.charge.epsilon:.3g}."
    errors = [f"{name} ± {errors[SIZE]:.3g}" for name, errors in quote.errors.items() if math.isfinite(errors[SIZE])]
    said = f" In a group of {SIZE:,} rows: {', '.join(errors)}." if errors else ""
    whole = folded("Details", Markup(quote._repr_html_()))
    return element("div", element("strong", price), said, whole)


def snippets(visit: Visit, sql: str, options: dict[str, Any]) -> dict[str, str]:
    """Return a question as text to copy, by language."""
    if visit.api is None:
        return {"SQL": sql}
    question = visit.api, visit.dataset, sql, options
    return {"SQL": sql, "Python": as_python(*question), "curl": as_curl(*question)}


def show_answer(answer: Answer, to_copy: dict[str, str]) -> None:
    """Show an answer: the table, its chart, its notes, and ways to take it along."""
    with ui.tabs().props("dense no-caps align=left") as tabs:
        table, chart, words = (ui.tab(name) for name in ("Table", "Chart", "Text"))
    with ui.tab_panels(tabs, value=table, animated=False).classes("full-width"):
        with ui.tab_panel(table):
            shown(answer)
        with ui.tab_panel(chart):
            picture = ui.html("Drawing …", sanitize=False).classes("hr-answer")
        with ui.tab_panel(words):
            ui.code(repr(answer), language=None).classes("full-width")

    async def draw_chart() -> None:
        if tabs.value == "Chart":
            picture.set_content(await asyncio.to_thread(chart_html, answer))

    tabs.on_value_change(draw_chart)
    for note in notes(answer, whole=True):
        ui.label(note).classes("hr-quiet hr-small")
    with ui.row():
        _download("CSV", as_csv(answer), "answer.csv")
        _download("Parquet", as_parquet(answer), "answer.parquet")
        for name, snippet in to_copy.items():
            copy = partial(ui.clipboard.write, snippet)
            ui.button(f"Copy {name}", on_click=copy).props("flat dense no-caps")


def chart_html(answer: Answer) -> Markup:
    """Return the chart of an answer as a picture that needs no script; a sentence where there is none."""
    if len(answer) > LARGEST_CHART:
        return paragraph(f"A chart is drawn for at most {LARGEST_CHART} rows.")
    try:
        return Markup(svg(answer.plot()))
    except HedgerowError as error:
        return paragraph(str(error))


def _download(name: str, content: bytes, file: str) -> None:
    ui.button(name, icon="download", on_click=lambda: ui.download.content(content, file)).props("flat dense no-caps")
