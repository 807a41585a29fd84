"""Answers for people: a table on the terminal, and one in HTML for a notebook."""

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from math import isinf

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from hedgerow.answer.captions import MOST_ROWS, about_people, caption, cells, headings, notes
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval


def rich_table(answer: ReleasedTable) -> Table:
    """The answer as a Rich table; numbers with their error to the right."""
    table = Table()
    people = about_people(answer)
    for name in answer.columns:
        for heading in (name, *(headings(name) if name in people else ())):
            side = "right" if name in answer.noisy else "left"
            table.add_column(Text(on_one_line(heading)), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in _cells(answer):
        table.add_row(*map(Text, row))
    return table


def text_table(answer: ReleasedTable) -> str:
    """Return the answer as plain text: a table as wide as its numbers need, the meaning of ±, and each note once."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=100_000, color_system=None, highlight=False, markup=False)
    table = rich_table(answer)
    console.width = max(80, Measurement.get(console, console.options, table).maximum)
    console.print(table)
    lines = [buffer.getvalue().rstrip("\n"), caption(answer), *(f"note: {note}" for note in notes(answer))]
    return "\n".join(lines)


def _cells(answer: ReleasedTable) -> Iterator[list[str]]:
    columns = [answer[name] for name in answer.columns]
    people = about_people(answer)
    rows = list(zip(*columns, strict=True))[:MOST_ROWS]
    for row, bars in zip(rows, answer.intervals, strict=False):
        texts: list[str] = []
        for name, value in zip(answer.columns, row, strict=True):
            texts += [shown(value, bars.get(name)), *(cells(bars, name) if name in people else ())]
        yield texts


TRACK = "display:inline-block;width:6em;height:.6em;margin-left:.6em;border-bottom:1px solid #8884"
BAR, OPEN, TICK = "#4c78a888", "#4c78a833", "#1f4e79"
THIN = 1.5
"""Minimum width of a drawn mark, in percent of the track."""


@dataclass(frozen=True, slots=True)
class _Scale:
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
    scales = {name: _scale(columns[name], [row.get(name) for row in bars]) for name in answer.noisy}
    people = about_people(answer)
    values = zip(*columns.values(), strict=True)
    rows = [_row(dict(zip(columns, row, strict=True)), bars[i], scales, people) for i, row in enumerate(values)]
    names = [heading for name in answer.columns for heading in (name, *(headings(name) if name in people else ()))]
    head = "".join(f"<th>{_safe(name)}</th>" for name in names)
    lines = [caption(answer), *(f"note: {note}" for note in notes(answer))]
    footer = "".join(f"<p>{escape(line, quote=True)}</p>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{footer}"


def _row(
    values: Mapping[str, object],
    bars: Mapping[str, Interval],
    scales: Mapping[str, _Scale | None],
    people: Collection[str],
) -> str:
    row = []
    for name, value in values.items():
        row.append(_cell(value, bars.get(name), scales.get(name)))
        beside = cells(bars, name) if name in people else ()
        row += [f'<td style="text-align:right;white-space:nowrap">{_safe(text)}</td>' for text in beside]
    return f"<tr>{''.join(row)}</tr>"


def _cell(value: object, bar: Interval | None, scale: _Scale | None) -> str:
    text = _safe(shown(value, bar))
    if bar is None:
        return f"<td>{text if value is not None else f'<em>{text}</em>'}</td>"
    title = f"from {bar.lower:,.10g} to {bar.upper:,.10g}".replace("inf", "∞")
    title = escape(f"{title}; {bar.note}" if bar.note else title, quote=True)
    if value is None:
        return f'<td style="text-align:right;opacity:.6" title="{title}"><em>{text}</em></td>'
    drawn = _bar(number(value), bar, scale)
    return f'<td style="text-align:right;white-space:nowrap" title="{title}">{text}{drawn}</td>'


def _bar(value: float | None, bar: Interval, scale: _Scale | None) -> str:
    """A track with the interval as a stripe and the value as a tick, drawn as a gradient."""
    if value is None or scale is None:
        return ""
    colour = OPEN if isinf(bar.lower) or isinf(bar.upper) else BAR
    stripe = _stripe(colour, scale.place(bar.lower), scale.place(bar.upper))
    tick = _stripe(TICK, scale.place(value), scale.place(value))
    return f'<span aria-hidden="true" style="{TRACK};background:{tick},{stripe}"></span>'


def _stripe(colour: str, left: float, right: float) -> str:
    if right - left < THIN:
        left = min(max((left + right - THIN) / 2, 0.0), 100.0 - THIN)
        right = left + THIN
    edges = f"transparent {left:.1f}%,{colour} {left:.1f}%,{colour} {right:.1f}%,transparent {right:.1f}%"
    return f"linear-gradient(90deg,{edges})"


def _scale(values: list[object], bars: list[Interval | None]) -> _Scale | None:
    """Return the range from the smallest to the largest drawn number, extended to zero if that is near."""
    ends = [end for bar in bars if bar is not None for end in (bar.lower, bar.upper)]
    drawn = [finite for value in [*values, *ends] if (finite := number(value)) is not None]
    if not drawn:
        return None
    low, high = min(drawn), max(drawn)
    if len(values) == 1 or abs(low + high) < 3 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    return _Scale(low, high) if high > low else None


def _safe(text: str) -> str:
    return escape(on_one_line(text), quote=True)
