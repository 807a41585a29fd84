"""Charts of answers as pictures: they need no script, and follow the colours of the page.

Every mark says its values: to a pointer that rests on it (a `title` element), and to screen readers (its label).
"""

import io
import re
from html import unescape
from typing import Any

from hedgerow.answer import Answer
from hedgerow.answer.plot.library import DARK, GREY, AnyChart, svg
from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.markup import Markup, element, paragraph

LARGEST_CHART = 500
"""Number of rows up to which a chart is drawn."""

FOLLOWING = {
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": GREY,
        "tickColor": GREY,
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "axisY": {"gridColor": GREY, "gridOpacity": 0.25, "domain": False},
    "axisX": {"grid": False},
    "legend": {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12, "titleFontSize": 12},
    "title": {"color": "currentColor", "subtitleColor": "currentColor"},
    "font": "Roboto, system-ui, sans-serif",
}
"""Settings of a chart that takes the colour of the text around it."""

NARROW = 230
"""Width of a chart in a narrow place, where a wider one would shrink until nobody could read its text."""

MOST_NARROW = 24
"""Number of rows up to which a chart is drawn that narrow: the labels of more would overlap."""

MARK = re.compile(r'<(\w+)([^<>]*?) aria-label="([^"]*)" role="graphics-symbol"([^<>]*)/>')
"""A mark of a picture, with the label that Vega gives it."""

SHAPE = re.compile(r"(?:^|(?<=; ))[^;]*: [-+\d.e]+; upper: [-+\d.e]+; (?:run: \d+; )?|run: \d+; ")
"""Part of a label that describes a bar or a line, and not a value."""


def chart_picture(answer: Answer, *, narrow: bool = False) -> Markup:
    """Return the chart of an answer for a page; a sentence where there is none. `narrow` is for tiles and phones."""
    from vl_convert import vegalite_to_svg  # noqa: PLC0415 - slow to load, and not needed before the first chart

    try:
        specification = _chart(answer).to_dict()
        common = {name: value for name, value in specification.items() if name != "vconcat"}
        # each panel of a chart is a chart of its own, which a page lays out as it has room
        panels = [{**common, **panel} for panel in specification.get("vconcat", [{}])]
        if narrow and 1 < len(answer) <= MOST_NARROW:
            panels = [_upright({**panel, "width": NARROW}) for panel in panels]
        drawn = [Markup(MARK.sub(_titled, vegalite_to_svg(_following(panel)))) for panel in panels]
    except HedgerowError as error:
        return paragraph(error.message)
    name = f"Chart of {', '.join(answer.noisy) or ', '.join(answer.columns)} with error bars"
    return element("figure", *drawn, **{"aria-label": name, "class": "hr-chart"})


def _titled(mark: re.Match[str]) -> str:
    """Return a mark with its values as a title. Error bars and lines repeat values, so screen readers skip them."""
    tag, before, label, after = mark.groups()
    said = unescape(label).replace("; note: undefined", "")
    values = SHAPE.sub("", said)
    names = {"aria-hidden": "true"} if values != said else {"aria-label": values, "role": "graphics-symbol"}
    head = element(tag, element("title", values), **names)
    return f"<{tag}{before}{after}{head.removeprefix(f'<{tag}')}"


def chart_file(answer: Answer, form: str) -> bytes:
    """Return the chart of an answer as the content of a file: "png" or "svg", on white."""
    chart = _chart(answer)
    if form == "svg":
        return svg(chart).encode()
    picture = io.BytesIO()
    chart.save(picture, format="png", scale_factor=2)
    return picture.getvalue()


def _chart(answer: Answer) -> AnyChart:
    if len(answer) > LARGEST_CHART:
        raise ParameterError(
            f"A chart is drawn for at most {LARGEST_CHART} rows; this answer has {len(answer):,}.",
            code="bad-plot",
            hint="Ask for fewer groups.",
        )
    return answer.plot()


def _upright(part: Any) -> Any:  # noqa: ANN401 - a specification is plain JSON
    """Return a specification whose words along an axis lean, so that they do not overlap."""
    if isinstance(part, dict):
        return {name: -45 if name == "labelAngle" else _upright(value) for name, value in part.items()}
    return [_upright(value) for value in part] if isinstance(part, list) else part


def _following(part: Any) -> Any:  # noqa: ANN401 - a specification is plain JSON
    """Return a specification in which text and dark marks have the colour of the text around the chart."""
    if isinstance(part, dict):
        changed = {name: _following(value) for name, value in part.items()}
        return {**changed, "config": {**changed.get("config", {}), **FOLLOWING}} if "$schema" in part else changed
    if isinstance(part, list):
        return [_following(value) for value in part]
    return "currentColor" if part == DARK else part
