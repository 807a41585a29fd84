"""Regions of (epsilon of the count, epsilon of the sum) in which an error can be predicted, and their picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.accuracy.propositions import reach, unit_epsilon
from hedgerow.answer.plot.library import AnyChart, altair
from hedgerow.arguments import MECHANISMS, Floats, Mechanism, budgets, chosen, positives, probabilities
from hedgerow.errors import ParameterError
from hedgerow.tuner.budgets import Ask, ask, epsilon_sums

POINTS = 101


def applicability(
    sizes: Sequence[float],
    ranges: Sequence[tuple[float, float]],
    *,
    beta: float,
    gamma: float = 0.1,
    delta: float = 0.0,
    mechanism: Mechanism = "laplace",
    most: tuple[float, float] = (1.0, 10.0),
) -> pa.Table:
    """Return the lower edge of the region in which the conditions hold, for each number of rows and range of values.

    A region begins where the count is precise enough with probability 1 - beta (Proposition 3.2), and has above its
    edge every epsilon of the sum that Proposition 3.5 allows (Figures 3 and 4 of Russo et al. 2025).

    Args:
        sizes: Numbers of rows.
        ranges: Least and greatest value of a row.
        beta: That of one noise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of one release.
        mechanism: `laplace`, `gaussian` or `analytic`.
        most: The largest epsilon of the count and of the sum that is looked at.

    Returns:
        A table with `size`, `range`, `epsilon_count` and `epsilon_sum`; nothing for a region that is empty.

    Example:
        >>> edge = applicability([100], [(1, 10), (1, 30)], beta=0.025)
        >>> edge["range"].unique().to_pylist(), round(edge["epsilon_count"][0].as_py(), 4)
        (['1 to 10'], 0.4058)
    """
    betas, largest = probabilities("beta", beta), positives("most", most)
    if mechanism == "gaussian":
        largest = np.minimum(largest, np.nextafter(1.0, 0.0))
    _, deltas = budgets("epsilon", 0.5, delta, chosen("mechanism", mechanism, MECHANISMS))
    edges = [
        _edge(float(size), ends, ask(*ends, gamma, mechanism), betas, deltas, largest)
        for size in np.atleast_1d(positives("sizes", sizes))
        for ends in ranges
    ]
    return pa.concat_tables(edges) if edges else _table(0.0, "", np.zeros(0), np.zeros(0))


def _edge(
    size: float, ends: tuple[float, float], question: Ask, beta: Floats, delta: Floats, maximum: Floats
) -> pa.Table:
    noise = size * question.gamma / (1 + question.gamma) / reach(question.mechanism, beta)
    first = float(unit_epsilon(question.mechanism, noise, delta))
    counts = np.linspace(first, _last(question, first, delta, maximum), POINTS)
    sums = epsilon_sums(question, counts, delta)[0]
    if first >= maximum[0] or sums[0] >= maximum[1]:
        counts = sums = np.zeros(0)
    return _table(size, f"{ends[0]:g} to {ends[1]:g}", counts, sums)


def _last(question: Ask, first: float, delta: Floats, maximum: Floats) -> float:
    """The largest epsilon of the count for which that of the sum is not too large; `first` if there is none."""
    low, high = first, max(first, float(maximum[0]))
    if epsilon_sums(question, np.asarray(high), delta)[0] <= maximum[1]:
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if epsilon_sums(question, np.asarray(middle), delta)[0] <= maximum[1] else (low, middle)
        )
    return low


def _table(size: float, values: str, counts: Floats, sums: Floats) -> pa.Table:
    return pa.table(
        {
            "size": pa.array([size] * len(counts), pa.float64()),
            "range": pa.array([values] * len(counts), pa.string()),
            "epsilon_count": pa.array(counts, pa.float64()),
            "epsilon_sum": pa.array(sums, pa.float64()),
        }
    )


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


def _panel(rows: list[dict[str, Any]], title: str, labels: list[str], maximum: tuple[float, float]) -> AnyChart:
    library = altair()
    colours = library.Scale(domain=labels, scheme="viridis")
    base = library.Chart(library.Data(values=rows)).encode(
        x=library.X("epsilon_count:Q", title="epsilon of the count", scale=library.Scale(domain=[0, maximum[0]])),
        y=library.Y("epsilon_sum:Q", title="epsilon of the sum", scale=library.Scale(domain=[0, maximum[1]])),
        color=library.Color("range:N", title="values", sort=labels, scale=colours),
    )
    areas = base.mark_area(opacity=0.35, clip=True).encode(y2="top:Q")
    edges = base.mark_line(clip=True, strokeWidth=2)
    return library.layer(areas, edges, width=SIDE, height=SIDE, title=title)
