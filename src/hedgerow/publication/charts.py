"""Charts of a release as SVG: one for each number column, with error bars. No script, no font and no network.

Groups with names are rows of a dot plot; dates and whole numbers lie along an axis. Everything drawn is a released
value or an end of its interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any

from hedgerow.answer import Answer
from hedgerow.answer.plain import number, on_one_line, shown
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.markup import Markup, element, joined

STYLE = files("hedgerow.publication").joinpath("chart.css").read_text(encoding="utf-8")
"""Colours for light, dark and paper; the contrast of all text is at least 4.5."""

WIDTH, ROW, TOP, BOTTOM, RIGHT = 760, 26, 16, 34, 170
MOST_ROWS, MOST_POINTS = 60, 400
HEIGHT = 320
LETTER = 7.1
"""Width of a letter, about."""
LONGEST_LABEL = 34
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Point:
    label: str
    place: float
    value: float | None
    lower: float
    upper: float
    said: str


@dataclass(frozen=True, slots=True)
class _ChartScale:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value; an open end is drawn at the end of the scale."""
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def charts(answer: Answer, title: str, no_value: str) -> dict[str, Markup]:
    """Return a chart for each column of noisy numbers that has a number in it.

    Args:
        answer: The table.
        title: Its title.
        no_value: The label of a key without a value.
    """
    drawn = {name: _chart(answer, name, title, no_value) for name in answer.noisy}
    return {name: chart for name, chart in drawn.items() if chart is not None}


def _chart(answer: Answer, name: str, title: str, no_value: str) -> Markup | None:
    keys = [column for column in answer.columns if column not in answer.noisy]
    axis = _axis(answer, keys)
    points = _points(answer, name, keys, axis, no_value)[: MOST_ROWS if axis is None else MOST_POINTS]
    if not any(point.value is not None for point in points):
        return None
    body, height = _dot_plot(points) if axis is None else _series_plot(points, answer[keys[0]][: len(points)])
    note = f"Each mark is a released number, each line its interval at {answer.confidence:.10g} confidence."
    if len(answer) > len(points):
        note += f" The first {len(points)} of {len(answer):,} rows."
    heading = f"{on_one_line(title)}: {on_one_line(name)}"
    box = {"viewBox": f"0 0 {WIDTH} {height}", "xmlns": "http://www.w3.org/2000/svg", "role": "img", "class": "chart"}
    parts = (element("title", f"{heading}. {note}"), element("rect", width="100%", height="100%", **{"class": "paper"}))
    return element("svg", *parts, body, **box, aria_label=f"{heading}. {note} The table has the same numbers.")


def standalone(chart: Markup) -> bytes:
    """Return a chart as a file of its own, with its colours."""
    head, _, rest = chart.partition(">")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}><style>{STYLE}</style>{rest}\n'.encode()


def _axis(answer: Answer, keys: Sequence[str]) -> str | None:
    """Return the only key if its values are increasing dates or numbers, as for a series."""
    if len(keys) != 1 or len(answer) < 6:
        return None
    places = [_place(value) for value in answer[keys[0]]]
    known = [place for place in places if place is not None]
    increasing = all(one < other for one, other in pairwise(known))
    return keys[0] if len(known) == len(places) and increasing else None


def _place(value: Any) -> float | None:  # noqa: ANN401 - any key
    if isinstance(value, datetime):
        offset = value.utcoffset() or timedelta()
        return value.toordinal() + (value.replace(tzinfo=None) - datetime.combine(value, time()) - offset) / DAY
    if isinstance(value, date):
        return float(value.toordinal())
    place = number(value)
    return place if place is not None and math.isfinite(place) else None


def _points(answer: Answer, name: str, keys: Sequence[str], axis: str | None, no_value: str) -> list[_Point]:
    points = []
    columns = [answer[key] for key in keys]
    for index, (value, bars) in enumerate(zip(answer[name], answer.intervals, strict=True)):
        bar = bars.get(name) or Interval()
        label = " · ".join(_text(column[index], no_value) for column in columns) or name
        place = _place(columns[0][index]) if axis is not None else float(index)
        points.append(_Point(label, place or 0.0, number(value), bar.lower, bar.upper, shown(value, bar)))
    return points


def _text(value: object, no_value: str = "") -> str:
    if value is None:
        return f"({no_value})"
    if isinstance(value, float):
        return f"{value:.10g}"
    return value.isoformat() if isinstance(value, date) else on_one_line(str(value))


def _range(points: Sequence[_Point]) -> tuple[float, float]:
    """Return the range of what is drawn, with zero if it is near, and some room."""
    drawn = [end for p in points for end in (p.value, p.lower, p.upper) if end is not None and math.isfinite(end)]
    low, high = min(drawn), max(drawn)
    if low > 0 and low < 0.6 * high:
        low = 0.0
    if high < 0 and high > 0.6 * low:
        high = 0.0
    room = (high - low or abs(high) or 1.0) * 0.04
    return (low if low == 0.0 else low - room), (high if high == 0.0 else high + room)


def ticks(low: float, high: float, maximum: int = 6) -> list[float]:
    """Return round numbers between two ends, at equal distances.

    Example:
        >>> ticks(0, 1234), ticks(-0.2, 0.31, 4)
        ([0.0, 250.0, 500.0, 750.0, 1000.0], [-0.2, 0.0, 0.2])
    """
    rough = (high - low) / maximum
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= rough), 10 * power)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) + 0.0 for index in range(first, math.floor(high / step + 1e-9) + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return element("line", **ends, **{"class": kind})


def _words(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, **({"class": kind} if kind else {}))


def _dot_plot(points: Sequence[_Point]) -> tuple[Markup, int]:
    labels = [p.label if len(p.label) <= LONGEST_LABEL else f"{p.label[: LONGEST_LABEL - 1]}…" for p in points]
    left = 16 + LETTER * max(map(len, labels))
    height = TOP + ROW * len(points) + BOTTOM
    end = WIDTH - max(RIGHT, 16 + LETTER * max(len(p.said) for p in points))
    scale = _ChartScale(*_range(points), left + 12, end)
    parts = []
    for tick in ticks(scale.low, scale.high, 5):
        x = scale.at(tick)
        parts += [
            _line(x, TOP, x, height - BOTTOM, "grid"),
            _words(x, height - BOTTOM + 18, f"{tick:,.10g}", "middle", "tick"),
        ]
    for index, (point, label) in enumerate(zip(points, labels, strict=True)):
        y = TOP + ROW * (index + 0.5)
        parts += [
            _words(left, y + 4.5, label, "end"),
            _words(end + 12, y + 4.5, point.said, kind="" if point.value is not None else "tick"),
        ]
        if point.value is not None:
            parts += _mark(scale, point, y)
    return joined(parts), height


def _mark(scale: _ChartScale, point: _Point, y: float) -> list[Markup]:
    """Return an interval and its number. A closed end has a cap, an open one reaches the edge."""
    low, high = scale.at(point.lower), scale.at(point.upper)
    caps = [
        _line(x, y - 5, x, y + 5, "bar") for x, end in ((low, point.lower), (high, point.upper)) if math.isfinite(end)
    ]
    dot = element("circle", cx=f"{scale.at(point.value or 0.0):.1f}", cy=f"{y:.1f}", r="4", **{"class": "dot"})
    return [_line(low, y, high, y, "bar"), *caps, dot]


def _series_plot(points: Sequence[_Point], keys: Sequence[Any]) -> tuple[Markup, int]:
    vertical = _ChartScale(*_range(points), HEIGHT - BOTTOM, TOP)
    marks = ticks(vertical.low, vertical.high)
    names = [f"{tick:,.10g}" for tick in marks]
    left = 24 + LETTER * max(map(len, names))
    horizontal = _ChartScale(points[0].place, points[-1].place, left + 14, WIDTH - 30)
    parts = []
    for tick, name in zip(marks, names, strict=True):
        y = vertical.at(tick)
        parts += [_line(left, y, WIDTH - 14, y, "grid"), _words(left - 8, y + 4.5, name, "end", "tick")]
    step = max(1, math.ceil(len(points) * LETTER * (max(len(_text(key)) for key in keys) + 2) / (WIDTH - left - 44)))
    for index, point in enumerate(points):
        if index % step == 0:
            parts.append(_words(horizontal.at(point.place), HEIGHT - BOTTOM + 20, point.label, "middle", "tick"))
    drawn = [(point, point.value) for point in points if point.value is not None]
    trend = " ".join(f"{horizontal.at(point.place):.1f},{vertical.at(value):.1f}" for point, value in drawn)
    parts.append(element("polyline", points=trend, **{"class": "trend"}))
    for point, value in drawn:
        x, low, high = horizontal.at(point.place), vertical.at(point.lower), vertical.at(point.upper)
        parts.append(_line(x, low, x, high, "bar"))
        if len(points) <= 60:
            ends = ((low, point.lower), (high, point.upper))
            parts += [_line(x - 4, y, x + 4, y, "bar") for y, end in ends if math.isfinite(end)]
        radius = "3.5" if len(points) <= 60 else "2"
        parts.append(element("circle", cx=f"{x:.1f}", cy=f"{vertical.at(value):.1f}", r=radius, **{"class": "dot"}))
    return joined(parts), HEIGHT
