"""Panels of a chart: one for each column of numbers, with every interval drawn as it is."""

import textwrap
from typing import Any

import pyarrow as pa

from hedgerow.answer.plot.library import (
    ABOVE,
    BELOW,
    CROSS,
    DARK,
    DASHED,
    GREY,
    LEFT,
    RIGHT,
    RULE,
    AnyChart,
    Point,
    altair,
    filled,
    harmless,
    having,
    lacking,
    layer,
    offline,
)
from hedgerow.answer.plot.points import (
    ALONE,
    ASTRAY,
    BOUNDED,
    EXACT,
    MISSING,
    NOMINAL,
    OPEN,
    QUANTITATIVE,
    TEMPORAL,
    PlotChoice,
    Points,
    Wanted,
    choose,
    in_state,
    notes_of,
    points,
    with_runs,
)
from hedgerow.answer.released import ReleasedTable

HEIGHT, WIDTH, STEP, WIDEST = 240, 420, 26, 1_400


class Panel:
    """One column along one axis.

    Bars for words, a line in a band for dates, points for other numbers, each with its interval. A hollow point has an
    interval that is open (dashed, with an arrow) or has no width; a cross on the axis is a value that is missing.
    """

    def __init__(self, points: Points, choice: PlotChoice, name: str) -> None:
        self._alt = altair()
        self._points = points
        self._choice = choice
        self._name = name
        self._rows = with_runs(points.rows) if choice.axis == TEMPORAL else points.rows
        self._sure = in_state(self._rows, EXACT, BOUNDED)
        self._barred = in_state(self._rows, BOUNDED)

    def chart(self) -> AnyChart:
        """Return all nonempty layers."""
        shapes = {NOMINAL: self._bars, TEMPORAL: self._lines, QUANTITATIVE: self._dots}
        layers = [*shapes[self._choice.axis](), *self._open(), *self._hollow(), *self._missing()]
        return self._alt.layer(*(layers or blank())).properties(width=self._width(), height=HEIGHT)

    def _bars(self) -> list[AnyChart]:
        height = self._along(y=self._y("value", stack=None), colour=True)
        return [
            *layer(self._sure, "bar", height, opacity=0.6),
            *layer(self._barred, "rule", self._between(colour=False), **{**RULE, "color": DARK}),
        ]

    def _lines(self) -> list[AnyChart]:
        run = self._alt.Detail(field="run", type=NOMINAL)
        joined, lonely = ([row for row in self._barred if row["lonely"] is single] for single in (False, True))
        line = [row for row in self._sure if not row["lonely"]]
        return [
            *layer(joined, "area", {**self._between(), "detail": run}, opacity=0.25),
            *layer(line, "line", {**self._at_value(), "detail": run}),
            *layer(lonely, "rule", self._between(), **RULE),
            *layer(self._sure, "point", self._at_value(), **filled("circle", 25)),
        ]

    def _dots(self) -> list[AnyChart]:
        return [
            *layer(self._barred, "rule", self._between(), **RULE, opacity=0.6),
            *layer(self._sure, "point", self._at_value(), **filled("circle", 45)),
        ]

    def _open(self) -> list[AnyChart]:
        """Return dashes from the start of an open interval, or from the value, to the edge, and an arrow there."""
        unbounded = in_state(self._rows, OPEN)
        layers = []
        for end, other, edge, arrow in (("upper", "lower", 0, ABOVE), ("lower", "upper", "height", BELOW)):
            to = self._alt.value(edge)
            open_here = lacking(unbounded, end)
            starts = ((having(open_here, other), other), (lacking(open_here, other), "value"))
            for rows, start in starts:
                layers += layer(rows, "rule", self._along(y=self._y(start), y2=to), **DASHED)
            layers += layer(open_here, "point", self._along(y=to), **filled(arrow, color=GREY))
        return layers

    def _hollow(self) -> list[AnyChart]:
        return layer(in_state(self._rows, OPEN, ASTRAY), "point", self._at_value(), filled=False, opacity=1, size=60)

    def _missing(self) -> list[AnyChart]:
        """Return a cross on the axis, and among bars the reason in words."""
        gaps = in_state(self._rows, MISSING)
        foot = self._along(y=self._alt.value("height"))
        text = {**foot, "text": self._alt.Text(field="shown", type=NOMINAL)}
        words = gaps if self._choice.axis == NOMINAL else []
        return [
            *layer(gaps, "point", foot, shape=CROSS, filled=False, opacity=1, size=60, color=GREY),
            *layer(words, "text", text, angle=270, align="left", baseline="middle", dx=8, color=GREY),
        ]

    def _at_value(self) -> dict[str, Any]:
        return self._along(y=self._y("value"), colour=True)

    def _between(self, *, colour: bool = True) -> dict[str, Any]:
        return self._along(y=self._y("lower"), y2=self._alt.Y2(field="upper"), colour=colour)

    def _along(self, *, colour: bool = False, **more: object) -> dict[str, Any]:
        """The encoding that all layers share."""
        encoding: dict[str, Any] = {
            "x": self._x(),
            "tooltip": tooltips(self._title(), self._name, self._group()),
            **more,
        }
        if self._choice.colours:
            scale = self._alt.Scale(domain=self._points.colours)
            if colour:
                encoding["color"] = self._alt.Color(field="group", type=NOMINAL, title=self._group(), scale=scale)
            if self._choice.axis == NOMINAL:
                encoding["xOffset"] = self._alt.XOffset(field="group", type=NOMINAL, scale=scale)
        return encoding

    def _x(self) -> AnyChart:
        options: dict[str, Any] = {}
        if self._choice.axis == NOMINAL:
            upright = 7 * sum(map(len, self._points.axis)) > self._width()
            axis = self._alt.Axis(labelAngle=-45 if upright else 0)
            options = {"scale": self._alt.Scale(domain=self._points.axis), "sort": None, "axis": axis}
        if self._choice.axis == TEMPORAL:
            options = {"scale": self._alt.Scale(type="utc", padding=8)}
        if self._choice.axis == QUANTITATIVE:
            options = {"scale": self._alt.Scale(zero=False, padding=8)}
        return self._alt.X(field="x", type=self._choice.axis, title=self._title(), **options)

    def _y(self, field: str, **more: object) -> AnyChart:
        scale = self._alt.Scale(zero=self._choice.axis == NOMINAL)
        return self._alt.Y(field=field, type=QUANTITATIVE, title=self._name, scale=scale, **more)

    def _title(self) -> str:
        return "row" if self._choice.x is None else harmless(self._choice.x)

    def _group(self) -> str | None:
        return " · ".join(map(harmless, self._choice.colours)) or None

    def _width(self) -> int:
        if self._choice.axis != NOMINAL:
            return WIDTH
        across = len(self._points.axis) * max(1, len(self._points.colours))
        return min(max(WIDTH, STEP * across), WIDEST)


def blank() -> list[AnyChart]:
    """The layer of a chart without rows."""
    return [altair().Chart(altair().InlineData(values=[])).mark_point()]


def tooltips(key: str | None, name: str, group: str | None) -> list[AnyChart]:
    """Return the tooltip of a point, formatted like printed answers."""
    fields = {"key": key, "group": group, "shown": name, "interval": "interval", "note": "note"}
    tip = altair().Tooltip
    return [tip(field=field, type=NOMINAL, title=title) for field, title in fields.items() if title is not None]


ALONE_HEIGHT, LINE = 110, 85


def alone(row: Point, name: str) -> AnyChart:
    """Draw a single number: a point with a rule; dashes and arrows where the interval is open."""
    library = altair()
    tip = tooltips(None, name, None)
    at = {"y": library.value(LINE), "tooltip": tip}
    large = {"x": library.value(WIDTH / 2), "y": library.value(35), "text": library.Text(field="shown", type=NOMINAL)}
    spot = {**at, "x": _x("value", name)}
    between = {**at, "x": _x("lower", name), "x2": library.X2(field="upper")}
    layers = [
        *layer([row], "text", {**large, "tooltip": tip}, fontSize=30, color=DARK),
        *layer(in_state([row], BOUNDED), "rule", between, **{**RULE, "color": DARK}),
        *_open(row, name, at),
        *layer(in_state([row], EXACT, BOUNDED), "point", spot, **filled("circle", 90)),
        *layer(in_state([row], OPEN, ASTRAY), "point", spot, filled=False, opacity=1, size=90),
    ]
    return library.layer(*layers).properties(width=WIDTH, height=ALONE_HEIGHT)


def _open(row: Point, name: str, at: dict[str, Any]) -> list[AnyChart]:
    unbounded = in_state([row], OPEN)
    layers = []
    for end, other, edge, arrow in (("upper", "lower", "width", RIGHT), ("lower", "upper", 0, LEFT)):
        to = altair().value(edge)
        open_here = lacking(unbounded, end)
        for rows, start in ((having(open_here, other), other), (lacking(open_here, other), "value")):
            layers += layer(rows, "rule", {**at, "x": _x(start, name), "x2": to}, **DASHED)
        layers += layer(open_here, "point", {**at, "x": to}, **filled(arrow, color=GREY))
    return layers


def _x(field: str, name: str) -> AnyChart:
    """Return an axis that includes zero only if the interval does: a single bar has nothing to be compared with."""
    scale = altair().Scale(zero=False, nice=True, padding=30)
    return altair().X(field=field, type=QUANTITATIVE, title=name, scale=scale)


def plot_answer(answer: ReleasedTable, schema: pa.Schema, wanted: Wanted) -> AnyChart:
    """Return a panel, or several below each other."""
    library = altair()
    choice = choose(answer, schema, wanted)
    panels = [_panel(answer, choice, name) for name in choice.y]
    return offline(panels[0] if len(panels) == 1 else library.vconcat(*panels))


def _panel(answer: ReleasedTable, choice: PlotChoice, y: str) -> AnyChart:
    drawn = points(answer, choice, y)
    name = harmless(y)
    chart = alone(drawn.rows[0], name) if choice.axis == ALONE else Panel(drawn, choice, name).chart()
    remarks = [*drawn.remarks, *_noisy_axis(answer, choice), *notes_of(drawn.rows)]
    lines = [line for text in remarks for line in textwrap.wrap(text, 70)]
    return chart.properties(title={"text": _title(answer, choice, y), "subtitle": lines, "anchor": "start"})


def _title(answer: ReleasedTable, choice: PlotChoice, y: str) -> str:
    keys = [name for name in (choice.x, *choice.colours) if name is not None]
    by = f" by {', '.join(map(harmless, keys))}" if keys and choice.axis != ALONE else ""
    if not len(answer):
        return f"{harmless(y)}{by}: no rows"
    noise = f", {100 * answer.confidence:.10g} % intervals" if y in answer.noisy else ", exact"
    return f"{harmless(y)}{by}{noise}"


def _noisy_axis(answer: ReleasedTable, choice: PlotChoice) -> list[str]:
    noisy = choice.x is not None and choice.x in answer.noisy
    return [f"{harmless(choice.x or '')} is noisy, too; its intervals are not drawn"] if noisy else []
