"""Figures 1 to 4 of Russo et al. (2025), with their axes, from what `quotients.py` measured."""

from pathlib import Path
from typing import Any

import altair as alt

from hedgerow.tuner import applicability
from hedgerow.tuner.regions import region_chart, save_chart

UPPERS = (2, 10, 30, 68, 120)
REGIONS = {
    "figure-3a": ([1_000, 1_000_000], 0.1, (1.0, 10.0)),
    "figure-3b": ([1_000, 1_000_000], 0.1, (0.1, 1.0)),
    "figure-3c": ([100, 300], 0.1, (1.0, 10.0)),
    "figure-4-gamma-0.001": ([1_000_000], 0.001, (0.1, 1.0)),
    "figure-4-gamma-0.5": ([1_000_000], 0.5, (0.1, 1.0)),
}


def draw_all(folder: Path, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_chart(soundness(first), folder / "figure-1.png")
    save_chart(matrices(second, [(10, 0.1), (100, 0.1)]), folder / "figure-2a.png")
    save_chart(matrices(second, [(10, 0.001), (10, 0.5)]), folder / "figure-2b.png")
    for name, (sizes, gamma, most) in REGIONS.items():
        regions = applicability(sizes, [(1, upper) for upper in UPPERS], beta=0.025, gamma=gamma, most=most)
        save_chart(region_chart(regions, sizes=sizes, most=most, title=f"gamma = {gamma:g}"), folder / f"{name}.png")


def soundness(rows: list[dict[str, Any]]) -> alt.LayerChart:
    """Plot observed against allowed frequencies of exceeding the bound; the diagonal divides sound from unsound."""
    points = [
        {
            "allowed": row["beta"],
            "measured": row[name],
            "what": what,
            "rows": f"{row['rows']:,}",
            "conditions": "hold" if min(row["valid_count"], row["valid_sum"]) >= 0.9 else "fail",
        }
        for row in rows
        for name, what in (("first_order_missed", "first order"), ("exact_missed", "exact interval"))
    ]
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("allowed:Q", title="beta, theoretical"),
            y=alt.Y("measured:Q", title="beta, measured"),
            shape=alt.Shape("rows:N", title="rows"),
            color=alt.Color(
                "conditions:N", title="conditions", scale=alt.Scale(domain=["hold", "fail"], range=["green", "red"])
            ),
            opacity=alt.Opacity(
                "what:N", title="", scale=alt.Scale(domain=["first order", "exact interval"], range=[1, 0.4])
            ),
        )
    )
    line = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 0.3, "y": 0.3}])).mark_line(color="gray")
    return alt.layer(line.encode(x="x:Q", y="y:Q"), chart, width=380, height=380)


def matrices(rows: list[dict[str, Any]], kinds: list[tuple[int, float]]) -> alt.HConcatChart:
    """One cell for each pair of budgets: how often alpha* was exceeded, or why it does not apply."""
    return alt.hconcat(*(matrix([row for row in rows if (row["upper"], row["gamma"]) == kind], kind) for kind in kinds))


def matrix(rows: list[dict[str, Any]], kind: tuple[int, float]) -> alt.LayerChart:
    values = [
        {**row, "state": _state(row), "text": f"{row['missed']:.3f}" if row["budget_holds"] else ""} for row in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("epsilon_count:O", title="epsilon of the count"),
        y=alt.Y("epsilon_sum:O", title="epsilon of the sum", sort="descending"),
    )
    states = ["within 0.05", "exceeded", "count condition below 90 %", "budget condition fails"]
    colours = alt.Scale(domain=states, range=["#8fce8f", "#d9534f", "#f0ad4e", "#f7e27c"])
    cells = base.mark_rect(stroke="white").encode(color=alt.Color("state:N", title="", scale=colours))
    title = f"b = {kind[0]}, gamma = {kind[1]:g}"
    return alt.layer(cells, base.mark_text().encode(text="text:N"), width=240, height=240, title=title)


def _state(row: dict[str, Any]) -> str:
    if not row["budget_holds"]:
        return "budget condition fails"
    if row["applies"] < 0.9:
        return "count condition below 90 %"
    return "within 0.05" if row["missed"] <= 0.05 else "exceeded"
