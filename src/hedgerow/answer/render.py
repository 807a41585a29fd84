"""Answers for people: a table on the terminal, and one in HTML for a notebook."""

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING

from hedgerow.answer.captions import MOST_ROWS, about_people, are_several, caption, cells, headings, notes
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.markup import Markup, element, joined, paragraph

if TYPE_CHECKING:
    from rich.table import Table


def rich_table(answer: ReleasedTable) -> "Table":
    """The answer as a Rich table; numbers with their error to the right."""
    from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed
    from rich.text import Text  # noqa: PLC0415

    table = Table()
    people, several = about_people(answer), are_several(answer)
    for name in answer.columns:
        for heading in (name, *(headings(name, several=several) if name in people else ())):
            side = "right" if name in answer.noisy else "left"
            table.add_column(Text(on_one_line(heading)), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in _cells(answer):
        table.add_row(*map(Text, row))
    return table


def text_table(answer: ReleasedTable) -> str:
    """Return the answer as plain text: a table as wide as its numbers need, the meaning of ±, and each note once."""
    lines = [table_text(rich_table(answer)), caption(answer), *(f"note: {note}" for note in notes(answer))]
    return "\n".join(lines)


def table_text(table: "Table") -> str:
    """Render a Rich table as plain text, as wide as it needs to be.

    In a notebook Rich would also display what it prints, unless it is told not to.
    """
    from rich.console import Console  # noqa: PLC0415 - Rich is loaded when something is printed
    from rich.measure import Measurement  # noqa: PLC0415

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=100_000,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
    console.width = max(80, Measurement.get(console, console.options, table).maximum)
    console.print(table)
    return buffer.getvalue().rstrip("\n")


def _cells(answer: ReleasedTable) -> Iterator[list[str]]:
    columns = [answer[name] for name in answer.columns]
    people, several = about_people(answer), are_several(answer)
    rows = list(zip(*columns, strict=True))[:MOST_ROWS]
    for row, bars in zip(rows, answer.intervals, strict=False):
        texts: list[str] = []
        for name, value in zip(answer.columns, row, strict=True):
            beside = cells(bars, name, several=several) if name in people else ()
            texts += [shown(value, bars.get(name)), *beside]
        yield texts


TRACK = "display:inline-block;width:6em;height:.6em;margin-left:.6em;border-bottom:1px solid #8884"
BAR, OPEN, TICK = "#4c78a888", "#4c78a833", "currentColor"
THIN = 1.5
"""Minimum width of a drawn mark, in percent of the track."""


@dataclass(frozen=True, slots=True)
class ColumnScale:
    """The range of a column's numbers and intervals."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the position of a number on the track, in percent; an open end is the end of the track."""
        return min(max(100 * (value - self.low) / (self.high - self.low), 0.0), 100.0)


def html_table(answer: ReleasedTable) -> str:
    """Return the answer as an HTML table: `value ± error`, the interval as a tooltip, and a bar for scale."""
    columns = {name: answer[name][:MOST_ROWS] for name in answer.columns}
    bars = answer.intervals[:MOST_ROWS]
    scales = {name: scale_of(columns[name], [row.get(name) for row in bars]) for name in answer.noisy}
    people, several = about_people(answer), are_several(answer)
    names = [
        element("th", on_one_line(heading), style=f"{_style(noisy=name in answer.noisy)};border-bottom:2px solid #8886")
        for name in answer.columns
        for heading in (name, *(headings(name, several=several) if name in people else ()))
    ]
    values = zip(*columns.values(), strict=True)
    rows = [
        _row(dict(zip(columns, row, strict=True)), bars[i], scales, people, several=several)
        for i, row in enumerate(values)
    ]
    head, body = element("thead", element("tr", *names)), element("tbody", *rows)
    whole = element("table", head, body, style="border-collapse:collapse;margin:.3em 0")
    return joined([whole, paragraph(caption(answer)), *(paragraph(f"note: {note}") for note in notes(answer))])


def _row(
    values: Mapping[str, object],
    bars: Mapping[str, Interval],
    scales: Mapping[str, ColumnScale | None],
    people: Collection[str],
    *,
    several: bool,
) -> Markup:
    row = []
    for name, value in values.items():
        row.append(_cell(value, bars.get(name), scales.get(name)))
        beside = cells(bars, name, several=several) if name in people else ()
        row += [element("td", on_one_line(text), style=_style(noisy=True)) for text in beside]
    return element("tr", *row)


def _style(*, noisy: bool) -> str:
    return f"padding:.25em .8em;text-align:{'right;white-space:nowrap' if noisy else 'left'}"


def _cell(value: object, bar: Interval | None, scale: ColumnScale | None) -> Markup:
    text = on_one_line(shown(value, bar))
    if bar is None:
        return element("td", text if value is not None else element("em", text), style=_style(noisy=False))
    title = f"from {bar.lower:,.10g} to {bar.upper:,.10g}".replace("inf", "∞")
    title = f"{title}; {bar.note}" if bar.note else title
    if value is None:
        return element("td", element("em", text), style=f"{_style(noisy=True)};opacity:.6", title=title)
    return element("td", text, _bar(number(value), bar, scale), style=_style(noisy=True), title=title)


def _bar(value: float | None, bar: Interval, scale: ColumnScale | None) -> Markup:
    """A track with the interval as a stripe and the value as a tick, drawn as a gradient."""
    if value is None or scale is None:
        return Markup()
    colour = OPEN if isinf(bar.lower) or isinf(bar.upper) else BAR
    stripe = _stripe(colour, scale.place(bar.lower), scale.place(bar.upper))
    tick = _stripe(TICK, scale.place(value), scale.place(value))
    return element("span", aria_hidden="true", style=f"{TRACK};background:{tick},{stripe}")


def _stripe(colour: str, left: float, right: float) -> str:
    if right - left < THIN:
        left = min(max((left + right - THIN) / 2, 0.0), 100.0 - THIN)
        right = left + THIN
    edges = f"transparent {left:.1f}%,{colour} {left:.1f}%,{colour} {right:.1f}%,transparent {right:.1f}%"
    return f"linear-gradient(90deg,{edges})"


def scale_of(values: list[object], bars: list[Interval | None]) -> ColumnScale | None:
    """Return the range from the smallest to the largest drawn number, extended to zero if that is near."""
    ends = [end for bar in bars if bar is not None for end in (bar.lower, bar.upper)]
    drawn = [finite for value in [*values, *ends] if (finite := number(value)) is not None]
    if not drawn:
        return None
    low, high = min(drawn), max(drawn)
    if len(values) == 1 or abs(low + high) < 3 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    return ColumnScale(low, high) if high > low else None
