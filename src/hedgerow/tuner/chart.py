"""A picture of the regions, with Altair (the extra `plots`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.answer.plot.library import AnyChart, altair
from hedgerow.errors import ParameterError

FORMATS = (".png", ".svg", ".pdf", ".html", ".json")
SIDE = 260


def region_chart(regions: pa.Table, *, sizes: Sequence[float], most: tuple[float, float], title: str) -> AnyChart:
    """The regions that `applicability` found, one panel for each number of rows; the axes are the two epsilons.

    A region reaches from its edge to the top of the panel, and regions of wider ranges lie in those of narrower ones.
    """
    rows = [dict(row, top=most[1]) for row in regions.to_pylist()]
    labels = list(dict.fromkeys(row["range"] for row in rows))
    panels = [
        _panel([row for row in rows if row["size"] == size], f"{size:,.0f} rows", labels, most)
        for size in dict.fromkeys(sizes)
    ]
    return altair().hconcat(*panels, title=title)


def save_chart(chart: AnyChart, file: str | Path) -> None:
    """Write a chart to a file whose ending says how: .png, .svg, .pdf, .html or .json."""
    path = Path(file)
    if path.suffix.lower() not in FORMATS:
        raise ParameterError(
            "A picture is written as .png, .svg, .pdf, .html or .json; the file's name must end in one of them.",
            code="plot-format",
        )
    try:
        chart.save(str(path), scale_factor=2)
    except ImportError:
        raise ParameterError(
            "Pictures are written with vl-convert, which is not installed.",
            code="no-plots",
            hint='Install the extra plots: pip install "hedgerow[plots]".',
        ) from None
    except OSError:
        raise ParameterError(
            "The picture cannot be written there.", code="plot-unwritable", hint="Name another file."
        ) from None


def _panel(rows: list[dict[str, Any]], title: str, labels: list[str], most: tuple[float, float]) -> AnyChart:
    library = altair()
    colours = library.Scale(domain=labels, scheme="viridis")
    base = library.Chart(library.Data(values=rows)).encode(
        x=library.X("epsilon_count:Q", title="epsilon of the count", scale=library.Scale(domain=[0, most[0]])),
        y=library.Y("epsilon_sum:Q", title="epsilon of the sum", scale=library.Scale(domain=[0, most[1]])),
        color=library.Color("range:N", title="values", sort=labels, scale=colours),
    )
    areas = base.mark_area(opacity=0.35, clip=True).encode(y2="top:Q")
    edges = base.mark_line(clip=True, strokeWidth=2)
    return library.layer(areas, edges, width=SIDE, height=SIDE, title=title)
