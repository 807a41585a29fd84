"""What is drawn for which point of an axis: an interval as what it is, and never as nothing."""

from typing import Any

from hedgerow.answer.plot.choice import NOMINAL, QUANTITATIVE, TEMPORAL, PlotChoice
from hedgerow.answer.plot.layers import ABOVE, BELOW, CROSS, DARK, DASHED, GREY, RULE, filled, having, lacking, layer
from hedgerow.answer.plot.library import AnyChart, altair, harmless
from hedgerow.answer.plot.points import ASTRAY, BOUNDED, EXACT, MISSING, OPEN, Points, in_state, with_runs

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
        """All layers that have something to show."""
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
        joined, lonely = ([row for row in self._barred if row["lonely"] is alone] for alone in (False, True))
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
        """Dashes from where an interval begins, or else from the value, to the edge, and an arrow there."""
        found = in_state(self._rows, OPEN)
        layers = []
        for end, other, edge, arrow in (("upper", "lower", 0, ABOVE), ("lower", "upper", "height", BELOW)):
            to = self._alt.value(edge)
            open_here = lacking(found, end)
            starts = ((having(open_here, other), other), (lacking(open_here, other), "value"))
            for rows, start in starts:
                layers += layer(rows, "rule", self._along(y=self._y(start), y2=to), **DASHED)
            layers += layer(open_here, "point", self._along(y=to), **filled(arrow, color=GREY))
        return layers

    def _hollow(self) -> list[AnyChart]:
        return layer(in_state(self._rows, OPEN, ASTRAY), "point", self._at_value(), filled=False, opacity=1, size=60)

    def _missing(self) -> list[AnyChart]:
        """A cross on the axis, and among bars the reason in words."""
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
        found: dict[str, Any] = {"x": self._x(), "tooltip": tooltips(self._title(), self._name, self._group()), **more}
        if self._choice.colours:
            scale = self._alt.Scale(domain=self._points.colours)
            if colour:
                found["color"] = self._alt.Color(field="group", type=NOMINAL, title=self._group(), scale=scale)
            if self._choice.axis == NOMINAL:
                found["xOffset"] = self._alt.XOffset(field="group", type=NOMINAL, scale=scale)
        return found

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
    """What a chart without rows consists of."""
    return [altair().Chart(altair().InlineData(values=[])).mark_point()]


def tooltips(key: str | None, name: str, group: str | None) -> list[AnyChart]:
    """What is said of a point when it is pointed at: all as text, as it is printed elsewhere."""
    fields = {"key": key, "group": group, "shown": name, "interval": "interval", "note": "note"}
    tip = altair().Tooltip
    return [tip(field=field, type=NOMINAL, title=title) for field, title in fields.items() if title is not None]
