"""Layers of a chart, each over rows of its own: a layer without rows does not exist."""

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.answer.plot.library import AnyChart, altair
from hedgerow.answer.plot.points import Point

DARK, GREY, BLUE = "#333333", "#888888", "#4c78a8"
RULE: dict[str, Any] = {"strokeWidth": 2, "color": BLUE}
DASHED: dict[str, Any] = {"strokeDash": [4, 3], "color": GREY}
BELOW, ABOVE = "triangle-down", "triangle-up"
LEFT, RIGHT = "triangle-left", "triangle-right"
CROSS = "M-.7,-.7L.7,.7M.7,-.7L-.7,.7"


def layer(rows: Sequence[Point], kind: str, encoding: Mapping[str, Any], **mark: object) -> list[AnyChart]:
    """A mark of some kind at every row, or nothing where there is no row."""
    if not rows:
        return []
    chart = altair().Chart({"values": list(rows)})
    return [getattr(chart, f"mark_{kind}")(**mark).encode(**encoding)]


def filled(shape: str, size: int = 60, **more: object) -> dict[str, Any]:
    """The look of a solid point."""
    return {"shape": shape, "filled": True, "opacity": 1, "size": size, **more}


def lacking(rows: Sequence[Point], *ends: str) -> list[Point]:
    """The rows whose interval is open at all these ends."""
    return [row for row in rows if not any(end in row for end in ends)]


def having(rows: Sequence[Point], end: str) -> list[Point]:
    """The rows whose interval ends there."""
    return [row for row in rows if end in row]
