"""Charts of prices: the used share of a budget, and the error of a question against its price."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.answer.plot.library import ABOVE, DASHED, AnyChart, Point, altair, filled, harmless, layer, offline
from hedgerow.answer.plot.points import NOMINAL, QUANTITATIVE
from hedgerow.errors import ParameterError

WIDTH, BUDGET_HEIGHT, CURVE_HEIGHT = 420, 200, 240
SHARE = {"axis": {"format": "%"}, "title": "used share of the budget"}


Errors = Mapping[str, Mapping[int, float]]
"""For each column, the half width of its interval by the number of rows in a group."""

ANY_SIZE = "any size"


def plot_spending(dataset: str, charges: Sequence[tuple[str, str, float]]) -> AnyChart:
    """Draw the used share as steps over time, and a bar for each analyst.

    Args:
        dataset: The name in the title.
        charges: Time (ISO), analyst and share of each charge, in order.
    """
    if not charges:
        raise ParameterError("Nothing was charged yet, so there is nothing to plot.", code="bad-plot")
    used, by_analyst, steps = 0.0, dict[str, float](), []
    for time, analyst, share in charges:
        used += share
        by_analyst[harmless(analyst)] = by_analyst.get(harmless(analyst), 0.0) + share
        steps.append({"time": time, "used": used})
    bars = [{"analyst": analyst, "used": share} for analyst, share in by_analyst.items()]
    library = altair()
    shared = library.Y("used:Q", **SHARE)
    over_time = (
        library.Chart({"values": steps})
        .mark_line(interpolate="step-after", point=True)
        .encode(x=library.X("time:T", title="time (UTC)"), y=shared)
        .properties(title=f"{harmless(dataset)}: spending over time", width=WIDTH, height=BUDGET_HEIGHT)
    )
    in_all = (
        library.Chart({"values": bars})
        .mark_bar()
        .encode(x=library.X("used:Q", **SHARE), y=library.Y("analyst:N", sort="-x", title=None))
        .properties(title="by analyst", width=WIDTH)
    )
    return offline(library.vconcat(over_time, in_all))


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
    return altair().layer(*layers).properties(title=title, width=WIDTH, height=CURVE_HEIGHT)


def _rows(errors: Mapping[float, Mapping[int, float]]) -> list[Point]:
    """Return a point for each size, or one if size does not matter. An error of zero has no logarithm."""
    by_epsilon = [list(by.values()) for by in errors.values()]
    same = all(e == row[0] or math.isclose(e, row[0], rel_tol=1e-9) for row in by_epsilon for e in row)
    rows = []
    for epsilon, by in errors.items():
        for size, error in list(by.items())[: 1 if same else None]:
            row: Point = {
                "epsilon": epsilon,
                "size": ANY_SIZE if same else f"{size:,} rows",
                "shown": (f"± {error:.3g}" if math.isfinite(error) else "± ∞"),
            }
            if math.isfinite(error):
                row["error"] = error
            if error != 0:
                rows.append(row)
    return rows


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
