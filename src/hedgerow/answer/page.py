"""Answers in a notebook: a table in HTML, with a small bar beside every number. No script, and nothing unescaped."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import isinf

from hedgerow.answer.captions import MOST_ROWS, caption, notes
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.answer.population import about_people, cells, headings
from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval

TRACK = "display:inline-block;width:6em;height:.6em;margin-left:.6em;border-bottom:1px solid #8884"
BAR, OPEN, TICK = "#4c78a888", "#4c78a833", "#1f4e79"
THIN = 1.5
"""The least width of what is drawn, in percent of the track."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """The range of a column's numbers and intervals."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where on the track a number lies, in percent; an open end is the end of the track."""
        return min(max(100 * (value - self.low) / (self.high - self.low), 0.0), 100.0)


def html_table(answer: ReleasedTable) -> str:
    """The answer as an HTML table: `value ± error`, the interval when pointed at, and a bar for scale."""
    columns = {name: answer[name][:MOST_ROWS] for name in answer.columns}
    bars = answer.intervals[:MOST_ROWS]
    scales = {name: _scale(columns[name], [row.get(name) for row in bars]) for name in answer.noisy}
    people = about_people(answer)
    rows = [_row(dict(zip(columns, row, strict=True)), bars[i], scales, people) for i, row in enumerate(_rows(columns))]
    names = [each for name in answer.columns for each in (name, *(headings(name) if name in people else ()))]
    head = "".join(f"<th>{_safe(name)}</th>" for name in names)
    lines = [caption(answer), *(f"note: {note}" for note in notes(answer))]
    below = "".join(f"<p>{escape(line, quote=True)}</p>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{below}"


def _rows(columns: Mapping[str, list[object]]) -> Iterable[tuple[object, ...]]:
    return zip(*columns.values(), strict=True)


def _row(
    values: Mapping[str, object],
    bars: Mapping[str, Interval],
    scales: Mapping[str, _Scale | None],
    people: Collection[str],
) -> str:
    made = []
    for name, value in values.items():
        made.append(_cell(value, bars.get(name), scales.get(name)))
        beside = cells(bars, name) if name in people else ()
        made += [f'<td style="text-align:right;white-space:nowrap">{_safe(text)}</td>' for text in beside]
    return f"<tr>{''.join(made)}</tr>"


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
    """From the least to the largest that is drawn, and from zero where that is not far."""
    ends = [end for bar in bars if bar is not None for end in (bar.lower, bar.upper)]
    drawn = [found for value in [*values, *ends] if (found := number(value)) is not None]
    if not drawn:
        return None
    low, high = min(drawn), max(drawn)
    if len(values) == 1 or abs(low + high) < 3 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    return _Scale(low, high) if high > low else None


def _safe(text: str) -> str:
    return escape(on_one_line(text), quote=True)
