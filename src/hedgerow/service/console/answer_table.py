"""The table of an answer: each number with ± and a drawing of its interval, page by page, sorted by any column."""

import math

from nicegui import ui
from nicegui.events import GenericEventArguments

from hedgerow.answer import Answer
from hedgerow.answer.captions import about_people, are_several, cells, headings
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.render import ColumnScale, scale_of
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.markup import Markup, element
from hedgerow.service.console.parts import box, icon_button, text

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
