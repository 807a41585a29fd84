"""Figures 1 to 3 of Shoham and Ligett (2025), with their axes, from what `ratios.py` measured."""

from pathlib import Path
from typing import Any

import altair as alt

from hedgerow.ratio import forest_plot, relative_risk, sweep_plot
from hedgerow.tuner.regions import save_chart

Rows = list[dict[str, Any]]
ESTIMATORS = ("noisy_counts", "disjoint", "noisy_log", "naive", "smooth", "ptr")
MEANS = ("ratio", "exact_counts", "noisy_counts", "claim_3_4")


def draw_all(folder: Path, results: dict[str, Rows]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_chart(panels(results["figure 1"], ("x", "y"), ESTIMATORS, "within 0.1"), folder / "figure-1.png")
    save_chart(panels(results["figure 2"], ("p_x", "p_y"), MEANS, "mean"), folder / "figure-2.png")
    sets = sorted({(row["p_x"], row["p_y"]) for row in results["figure 3"]})
    for number, pair in enumerate(sets, start=1):
        rows = [row for row in results["figure 3"] if (row["p_x"], row["p_y"]) == pair]
        save_chart(sweep_plot(rows), folder / f"figure-3-{number}.png")
    groups = {f"{x} of 200 against {y}": relative_risk(x, y, 200, 200) for x, y in ((61, 38), (40, 41), (9, 3))}
    save_chart(forest_plot(groups), folder / "forest.png")


def panels(rows: Rows, keys: tuple[str, str], names: tuple[str, ...], title: str) -> alt.HConcatChart:
    """One panel for each pair of parameters, a line for each name."""
    sets = list(dict.fromkeys((row[keys[0]], row[keys[1]]) for row in rows))
    return alt.hconcat(*(panel(rows, keys, pair, names, title) for pair in sets))


def panel(
    rows: Rows, keys: tuple[str, str], pair: tuple[float, float], names: tuple[str, ...], title: str
) -> alt.Chart:
    points = [
        {"epsilon": row["epsilon"], "value": row[name], "what": name.replace("_", " ")}
        for row in rows
        if (row[keys[0]], row[keys[1]]) == pair
        for name in names
    ]
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
            color=alt.Color("what:N", title=""),
        )
        .properties(width=240, height=200, title=f"{keys[0]} = {pair[0]:.3g}, {keys[1]} = {pair[1]:.3g}")
    )
