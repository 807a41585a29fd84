"""Figures 2 and 3 of Matsumoto et al. (2026): error by epsilon for each query, queries in one budget by accountant."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
from peers.expected import OURS
from tpch_errors import Trials
from tpch_queries import QUERIES

from hedgerow.tuner.regions import save_chart

Figure = alt.Chart | alt.LayerChart | alt.FacetChart

LEAST = 1e-7
"""Errors below this, in percent, are drawn here: a logarithm has no zero."""


def draw_all(
    folder: Path,
    few: Mapping[tuple[str, float], Trials],
    many: Mapping[tuple[str, float], Trials],
    expected: Mapping[tuple[str, float], Mapping[str, float]],
    admitted: Sequence[Mapping[str, object]],
) -> None:
    """Both figures."""
    folder.mkdir(parents=True, exist_ok=True)
    save_chart(errors(few, many, expected), folder / "tpch-errors.svg")
    save_chart(queries(admitted), folder / "tpch-queries.svg")


def errors(
    few: Mapping[tuple[str, float], Trials],
    many: Mapping[tuple[str, float], Trials],
    expected: Mapping[tuple[str, float], Mapping[str, float]],
) -> alt.TopLevelMixin:
    """A panel for each query: ours as points and lines, the others' expected errors as dashed lines."""
    points: list[dict[str, object]] = []
    for kind, trials in ((f"{OURS}, few statements", few), (f"{OURS}, many", many)):
        points += [
            {"query": name, "epsilon": epsilon, "error": max(measured.mean, LEAST), "system": kind, "kind": "measured"}
            for (name, epsilon), measured in trials.items()
        ]
    points += [
        {"query": name, "epsilon": epsilon, "error": max(error, LEAST), "system": system, "kind": "expected"}
        for (name, epsilon), by_system in expected.items()
        for system, error in by_system.items()
    ]
    panels = [_panel([point for point in points if point["query"] == query.name], query.name) for query in QUERIES]
    figure: alt.TopLevelMixin = alt.concat(*panels, columns=5).configure_legend(orient="bottom")
    return figure


def _panel(points: list[dict[str, object]], name: str) -> Figure:
    systems = list(dict.fromkeys(str(point["system"]) for point in points))
    base = alt.Chart(alt.Data(values=points)).encode(  # type: ignore[no-untyped-call]
        x=alt.X(
            "epsilon:Q", scale=alt.Scale(type="log"), title="epsilon", axis=alt.Axis(values=[0.1, 1, 10], grid=False)
        ),
        y=alt.Y(
            "error:Q",
            scale=alt.Scale(type="log"),
            title="mean relative error, %",
            axis=alt.Axis(grid=False, tickCount=4, format="~g"),
        ),
        color=alt.Color("system:N", title="", sort=systems, legend=alt.Legend(symbolType="stroke")),
    )
    lines = base.mark_line().encode(
        strokeDash=alt.StrokeDash(
            "kind:N", title="", sort=["measured", "expected"], legend=alt.Legend(symbolType="stroke")
        )
    )
    dots = base.transform_filter("datum.kind == 'measured'").mark_point(filled=True, size=25)
    return alt.layer(lines, dots, width=150, height=150, title=name)


def queries(rows: Sequence[Mapping[str, object]]) -> alt.HConcatChart:
    """A panel for each budget, the accountants by what they admit."""
    budgets = list(dict.fromkeys((row["epsilon"], row["delta"]) for row in rows))
    return alt.hconcat(
        *(_bars([row for row in rows if (row["epsilon"], row["delta"]) == budget], budget) for budget in budgets)
    )


def _bars(rows: list[Mapping[str, object]], budget: tuple[object, object]) -> Figure:
    base = alt.Chart(alt.Data(values=[dict(row) for row in rows])).encode(  # type: ignore[no-untyped-call]
        x=alt.X("queries:Q", title="queries of (0.1, 1e-7)"), y=alt.Y("accountant:N", title="", sort="-x")
    )
    words = base.mark_text(align="left", dx=3).encode(text="queries:Q")
    return alt.layer(base.mark_bar(), words, width=190, height=180, title=f"({budget[0]:g}, {budget[1]:g})")
