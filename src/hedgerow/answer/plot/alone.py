"""One number without a key: written large, above its interval."""

from typing import Any

from hedgerow.answer.plot.choice import NOMINAL, QUANTITATIVE
from hedgerow.answer.plot.layers import DARK, DASHED, GREY, LEFT, RIGHT, RULE, filled, having, lacking, layer
from hedgerow.answer.plot.library import AnyChart, altair
from hedgerow.answer.plot.marks import tooltips
from hedgerow.answer.plot.points import ASTRAY, BOUNDED, EXACT, OPEN, Point, in_state

WIDTH, HEIGHT, LINE = 420, 110, 85


def alone(row: Point, name: str) -> AnyChart:
    """The number, a point with a rule; dashes and arrows where the interval is open."""
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
    return library.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _open(row: Point, name: str, at: dict[str, Any]) -> list[AnyChart]:
    found = in_state([row], OPEN)
    layers = []
    for end, other, edge, arrow in (("upper", "lower", "width", RIGHT), ("lower", "upper", 0, LEFT)):
        to = altair().value(edge)
        open_here = lacking(found, end)
        for rows, start in ((having(open_here, other), other), (lacking(open_here, other), "value")):
            layers += layer(rows, "rule", {**at, "x": _x(start, name), "x2": to}, **DASHED)
        layers += layer(open_here, "point", {**at, "x": to}, **filled(arrow, color=GREY))
    return layers


def _x(field: str, name: str) -> AnyChart:
    """An axis that holds zero only if the interval does: one bar has nothing else to be compared with."""
    scale = altair().Scale(zero=False, nice=True, padding=30)
    return altair().X(field=field, type=QUANTITATIVE, title=name, scale=scale)
