"""The charting library, an optional dependency; text that is safe to pass to it; layers of a chart."""

import io
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from hedgerow.answer.plain import on_one_line
from hedgerow.errors import ParameterError

AnyChart: TypeAlias = Any
"""A chart of Altair: it displays itself in a notebook, and has `save` and `to_dict`."""

Point = dict[str, Any]
"""One row of a layer."""

JOINER = "\N{WORD JOINER}"
TAG = re.compile(r"<(?=[/!?a-zA-Z])")


def altair() -> ModuleType:
    """Altair, imported when the first chart is drawn."""
    try:
        import altair as alt  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise ParameterError(
            "Charts are drawn with the library Altair, which is not installed.",
            code="no-plots",
            hint='Install the extra plots: pip install "hedgerow[plots]".',
        ) from None
    return alt


def harmless(text: str) -> str:
    """Return text that reads the same and cannot close a script element.

    Altair puts the specification of a chart into the script of a page without escaping it, so a key like `</script>`
    could end that script. An invisible character after the `<` prevents that.

    Example:
        >>> harmless("</script>") == "<" + JOINER + "/script>", harmless("age < 30")
        (True, 'age < 30')
    """
    return TAG.sub(f"<{JOINER}", on_one_line(text))


class Offline:
    """The display of a chart that needs no network: its specification, and the same as a picture.

    Altair's own display loads a script from the web. JupyterLab draws the specification itself; VS Code, exported
    notebooks and sites show the picture.
    """

    def _repr_mimebundle_(self, *words: object, **options: object) -> object:
        """Return the specification, a picture and a text; Altair's own display where no picture can be drawn."""
        try:
            picture = svg(self)
        except (ImportError, ValueError):
            return super()._repr_mimebundle_(*words, **options)  # type: ignore[misc]
        version = altair().SCHEMA_VERSION.lstrip("v").split(".")[0]
        return {
            f"application/vnd.vegalite.v{version}+json": self.to_dict(),  # type: ignore[attr-defined]
            "image/svg+xml": picture,
            "text/plain": repr(self),
        }


def svg(chart: Any) -> str:  # noqa: ANN401 - a chart
    """Return a chart as a picture. Needs vl-convert, which the extra plots brings."""
    picture = io.StringIO()
    chart.save(picture, format="svg")
    return picture.getvalue()


def offline(chart: AnyChart) -> AnyChart:
    """Return the chart, of a class that displays itself without a network. Copies of it keep that class."""
    kind = type(chart)
    # Altair takes an attribute that is set for a part of the chart
    object.__setattr__(chart, "__class__", type(kind.__name__, (Offline, kind), {}))
    return chart


DARK, GREY, BLUE = "#333333", "#888888", "#4c78a8"
RULE: dict[str, Any] = {"strokeWidth": 2, "color": BLUE}
DASHED: dict[str, Any] = {"strokeDash": [4, 3], "color": GREY}
BELOW, ABOVE = "triangle-down", "triangle-up"
LEFT, RIGHT = "triangle-left", "triangle-right"
CROSS = "M-.7,-.7L.7,.7M.7,-.7L-.7,.7"


def layer(rows: Sequence[Point], kind: str, encoding: Mapping[str, Any], **mark: object) -> list[AnyChart]:
    """Return a mark at every row, or nothing if there are no rows."""
    if not rows:
        return []
    chart = altair().Chart({"values": list(rows)})
    return [getattr(chart, f"mark_{kind}")(**mark).encode(**encoding)]


def filled(shape: str, size: int = 60, **more: object) -> dict[str, Any]:
    """Return the style of a solid point."""
    return {"shape": shape, "filled": True, "opacity": 1, "size": size, **more}


def lacking(rows: Sequence[Point], *ends: str) -> list[Point]:
    """Return the rows whose interval is open at all these ends."""
    return [row for row in rows if not any(end in row for end in ends)]


def having(rows: Sequence[Point], end: str) -> list[Point]:
    """Return the rows whose interval is closed at these ends."""
    return [row for row in rows if end in row]
