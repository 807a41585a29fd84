"""The error of a question against its price, both on logarithmic axes."""

import math
from collections.abc import Mapping
from typing import Any

from hedgerow.answer.plot.library import ABOVE, DASHED, AnyChart, Point, altair, filled, harmless, layer, offline
from hedgerow.answer.plot.points import NOMINAL, QUANTITATIVE

Errors = Mapping[str, Mapping[int, float]]
"""For each column, the half width of its interval by the number of rows in a group."""

ANY_SIZE = "any size"
WIDTH, HEIGHT = 420, 240


def plot_curve(errors: Mapping[float, Errors], quoted: float, confidence: float) -> AnyChart:
    """Draw a panel for each column, a line for each group size, and a dashed line at the quoted epsilon.

    Args:
        errors: The predicted errors, by epsilon.
        quoted: The epsilon of the quote.
        confidence: Coverage of an interval.
    """
    names = list(next(iter(errors.values())))
    panels = [_panel({epsilon: at[name] for epsilon, at in errors.items()}, name, quoted, confidence) for name in names]
    return offline(panels[0] if len(panels) == 1 else altair().vconcat(*panels))


def _panel(errors: Mapping[float, Mapping[int, float]], name: str, quoted: float, confidence: float) -> AnyChart:
    rows = _rows(errors)
    drawn = [row for row in rows if "error" in row]
    unbounded = [row for row in rows if "error" not in row]
    title = {
        "text": f"{harmless(name)}: half width of the {100 * confidence:.10g} % interval",
        "subtitle": ["▲ nothing could be said"] if unbounded else [],
        "anchor": "start",
    }
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    height = {"y": altair().value(0)}
    layers = [
        *layer(drawn, "line", _encoding(sizes, _y(name))),
        *layer(drawn, "point", _encoding(sizes, _y(name)), **filled("circle", 20)),
        *layer(unbounded, "point", {**_encoding(sizes, None), **height}, **filled(ABOVE)),
        *layer([{"epsilon": quoted, "shown": "as quoted"}], "rule", {"x": _x()}, **DASHED),
    ]
    return altair().layer(*layers).properties(title=title, width=WIDTH, height=HEIGHT)


def _rows(errors: Mapping[float, Mapping[int, float]]) -> list[Point]:
    """Return a point for each size, or one if size does not matter. An error of zero has no logarithm."""
    same = all(_equal(list(by.values())) for by in errors.values())
    rows = []
    for epsilon, by in errors.items():
        for size, error in list(by.items())[: 1 if same else None]:
            row: Point = {"epsilon": epsilon, "size": ANY_SIZE if same else f"{size:,} rows", "shown": _shown(error)}
            if math.isfinite(error):
                row["error"] = error
            if error != 0:
                rows.append(row)
    return rows


def _equal(errors: list[float]) -> bool:
    return all(error == errors[0] or math.isclose(error, errors[0], rel_tol=1e-9) for error in errors)


def _shown(error: float) -> str:
    return f"± {error:.3g}" if math.isfinite(error) else "± ∞"


def _x() -> AnyChart:
    return altair().X(field="epsilon", type=QUANTITATIVE, title="epsilon", scale=altair().Scale(type="log", nice=False))


def _y(name: str) -> AnyChart:
    scale = altair().Scale(type="log")
    return altair().Y(field="error", type=QUANTITATIVE, title=f"± {harmless(name)}", scale=scale)


def _encoding(sizes: list[str], y: AnyChart | None) -> dict[str, Any]:
    library = altair()
    tips = [
        library.Tooltip(field=field, type=NOMINAL, title=title)
        for field, title in (("epsilon", "epsilon"), ("size", "group of"), ("shown", "error"))
    ]
    colour = library.Color(field="size", type=NOMINAL, title="group of", scale=library.Scale(domain=sizes))
    encoding = {"x": _x(), "color": colour, "tooltip": tips}
    return encoding if y is None else {**encoding, "y": y}
