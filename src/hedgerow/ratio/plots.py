"""Charts of ratio statistics and of answers that compare people, by Altair, an optional dependency."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hedgerow.answer import Answer
from hedgerow.answer.plot import AnyChart, altair, harmless
from hedgerow.answer.plot.library import BLUE, DARK, DASHED, GREY, LEFT, RIGHT, filled, having, lacking, layer
from hedgerow.answer.plot.points import NOMINAL, QUANTITATIVE
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.statistics.two_by_two.estimates import RatioEstimate

STEP, WIDTH, HEIGHT = 28, 420, 220
Row = dict[str, Any]


def forest_plot(
    estimates: Mapping[str, RatioEstimate],
    *,
    noise: Mapping[str, Interval] | None = None,
    null: float = 1.0,
    name: str = "relative risk",
) -> AnyChart:
    """A line for each group: its estimate, a thin bar for sampling and noise, a thick one for the noise alone.

    Ratios (`null` above zero) are drawn on a logarithmic axis. An interval that is open, or reaches zero there, is
    dashed to the edge, with an arrow.

    Args:
        estimates: By the group's name: single estimates with single intervals.
        noise: Intervals about the people who were counted, for the groups that have one.
        null: The value without a difference, marked by a line.
        name: What is estimated, for the axis.

    Example:
        >>> from hedgerow.ratio import relative_risk
        >>> chart = forest_plot({"north": relative_risk(61, 38, 200, 200), "south": relative_risk(40, 41, 200, 200)})
        >>> len(chart.to_dict()["layer"])
        3
    """
    library, logarithmic = altair(), null > 0
    rows = [_row(key, estimate, logarithmic=logarithmic) for key, estimate in estimates.items()]
    inner = [
        _bar(key, interval, logarithmic=logarithmic) for key, interval in (noise or {}).items() if key in estimates
    ]
    axes = _Axes(name, [row["key"] for row in rows], logarithmic=logarithmic)
    layers = [
        *layer([{"value": null}], "rule", {"x": axes.x("value")}, color=GREY),
        *axes.bars(rows, strokeWidth=2, color=BLUE),
        *axes.bars(inner, strokeWidth=7, color=BLUE, opacity=0.45),
        *layer(having(rows, "value"), "point", axes.spot("value"), **filled("circle", 70, color=DARK)),
    ]
    return library.layer(*layers).properties(width=WIDTH, height=library.Step(STEP))


def sweep_plot(rows: Sequence[Mapping[str, Any]], *, confidence: float = 0.95) -> AnyChart:
    """Width and coverage of intervals against epsilon, side by side, a line for each method.

    Args:
        rows: Mappings with `epsilon`, `method`, `width` and `coverage`.
        confidence: What the coverage should be, marked by dashes.

    Example:
        >>> chart = sweep_plot([{"epsilon": 1.0, "method": "auto", "width": 0.8, "coverage": 0.95}])
        >>> len(chart.to_dict()["hconcat"])
        2
    """
    if not rows or any(not {"epsilon", "method", "width", "coverage"} <= set(row) for row in rows):
        raise ParameterError("Each row needs epsilon, method, width and coverage.", code="bad-plot")
    width = _curve(rows, "width", "width of the interval", logarithmic=True)
    coverage = _curve(rows, "coverage", "how often it holds", logarithmic=False)
    line = {"y": altair().Y(field="coverage", type=QUANTITATIVE)}
    nominal = layer([{"coverage": confidence}], "rule", line, **DASHED)
    return altair().hconcat(width, altair().layer(coverage, *nominal))


class _Axes:
    """The axes of a forest plot."""

    def __init__(self, name: str, keys: list[str], *, logarithmic: bool) -> None:
        self._name, self._keys, self._log = harmless(name), keys, logarithmic

    def x(self, field: str) -> AnyChart:
        scale = altair().Scale(type="log" if self._log else "linear", zero=False, padding=20)
        return altair().X(field=field, type=QUANTITATIVE, title=self._name, scale=scale)

    def y(self) -> AnyChart:
        return altair().Y(field="key", type=NOMINAL, title=None, sort=self._keys)

    def spot(self, field: str) -> dict[str, Any]:
        return {"x": self.x(field), "y": self.y(), "tooltip": self._tips()}

    def bars(self, rows: list[Row], **look: object) -> list[AnyChart]:
        """Return closed intervals as rules; open ones dashed to the edge, with an arrow."""
        shared = {"y": self.y(), "tooltip": self._tips()}
        closed = having(having(rows, "lower"), "upper")
        between = {**shared, "x": self.x("lower"), "x2": altair().X2(field="upper")}
        layers = layer(closed, "rule", between, **look)
        for end, other, edge, arrow in (("upper", "lower", "width", RIGHT), ("lower", "upper", 0, LEFT)):
            to = altair().value(edge)
            open_here = lacking(rows, end)
            for some, start in (
                (having(open_here, other), other),
                (having(lacking(open_here, other), "value"), "value"),
            ):
                layers += layer(some, "rule", {**shared, "x": self.x(start), "x2": to}, **DASHED)
            layers += layer(open_here, "point", {**shared, "x": to}, **filled(arrow, color=GREY))
        return layers

    def _tips(self) -> list[AnyChart]:
        fields = (("key", "group"), ("shown", self._name), ("interval", "interval"), ("p", "p-value"), ("note", "note"))
        return [altair().Tooltip(field=field, type=NOMINAL, title=title) for field, title in fields]


def _row(key: str, estimate: RatioEstimate, *, logarithmic: bool) -> Row:
    if not isinstance(estimate.interval, Interval) or not isinstance(estimate.value, float):
        raise ParameterError(
            "A forest plot needs single estimates, one for each group.",
            code="bad-plot",
            hint="Pass a mapping from names to results of relative_risk for single counts.",
        )
    row = _bar(key, estimate.interval, logarithmic=logarithmic)
    shown = {"shown": f"{estimate.value:.4g}", "p": f"{estimate.p_value:.3g}"}
    return {**row, **shown, **dict(_drawable([("value", estimate.value)], logarithmic=logarithmic))}


def _bar(key: str, interval: Interval, *, logarithmic: bool) -> Row:
    ends = _drawable([("lower", interval.lower), ("upper", interval.upper)], logarithmic=logarithmic)
    text = f"{interval.lower:.4g} to {interval.upper:.4g}"
    return {"key": harmless(key), "interval": text, "note": interval.note or "", **dict(ends)}


def _drawable(places: Iterable[tuple[str, float]], *, logarithmic: bool) -> list[tuple[str, float]]:
    """Return the values that have a position on the axis."""
    return [(name, at) for name, at in places if math.isfinite(at) and (at > 0 or not logarithmic)]


def _curve(rows: Sequence[Mapping[str, Any]], field: str, title: str, *, logarithmic: bool) -> AnyChart:
    library = altair()
    finite = [{**row, "method": harmless(str(row["method"]))} for row in rows if math.isfinite(row[field])]
    scale = library.Scale(type="log") if logarithmic else library.Scale(zero=False)
    encoding = {
        "x": library.X(field="epsilon", type=QUANTITATIVE, scale=library.Scale(type="log", nice=False)),
        "y": library.Y(field=field, type=QUANTITATIVE, title=title, scale=scale),
        "color": library.Color(field="method", type=NOMINAL, title="method"),
    }
    (chart,) = layer(finite, "line", encoding, point=True) or [library.Chart({"values": []}).mark_point()]
    return chart.properties(width=WIDTH * 0.7, height=HEIGHT)


NULLS = {"relative_risk": 1.0, "odds_ratio": 1.0, "lift": 0.0, "risk_difference": 0.0}
"""Value without a difference, by statistic."""

CALLED = re.compile(rf"\b({'|'.join(NULLS)})\s*\(", re.IGNORECASE)


def forest_of(answer: Answer, column: str | None = None, *, null: float | None = None) -> AnyChart:
    """A line for each row of an answer: a thin bar for sampling and noise, a thick one for the noise alone.

    Rows that were held back are left out.

    Args:
        answer: An answer with RELATIVE_RISK, ODDS_RATIO, LIFT or RISK_DIFFERENCE, usually grouped.
        column: The column with it; by default the first.
        null: Where there is no difference: 1 for ratios, 0 for lifts and differences. By default the query says it.

    Example:
        >>> import pyarrow as pa
        >>> from hedgerow.answer import Summary
        >>> told = Summary("receipt-1", "SELECT region, RELATIVE_RISK(ill, smokes) AS risk FROM people GROUP BY region")
        >>> bars = [{"risk": Interval(1.4, 1.8, population=(1.2, 2.1), p_value=0.001)}]
        >>> answer = Answer(pa.table({"region": ["north"], "risk": [1.6]}), bars, 0.95, told)
        >>> len(forest_of(answer).to_dict()["layer"])
        4
    """
    name = _column(answer, column)
    groups: dict[str, RatioEstimate] = {}
    noise: dict[str, Interval] = {}
    for index, (value, row) in enumerate(zip(answer[name], answer.intervals, strict=True)):
        bar = row[name]
        if bar.population is None:
            continue
        key = _key(answer, index, groups)
        p_value = math.nan if bar.p_value is None else bar.p_value
        groups[key] = RatioEstimate(math.nan if value is None else value, Interval(*bar.population), p_value, "auto")
        noise[key] = bar
    return forest_plot(groups, noise=noise, null=_null(answer, name) if null is None else null, name=name)


def _column(answer: Answer, name: str | None) -> str:
    names = [n for n in answer.noisy if any(n in row and row[n].population is not None for row in answer.intervals)]
    if name is None and names:
        return names[0]
    if name in names:
        return name
    raise ParameterError(
        f"Column {name!r} does not compare people." if names else "No column of this answer compares people.",
        code="bad-plot",
        hint="Ask for RELATIVE_RISK, ODDS_RATIO, LIFT or RISK_DIFFERENCE of rows that are people; others have .plot().",
    )


def _key(answer: Answer, index: int, taken: dict[str, RatioEstimate]) -> str:
    """Return the keys of a row; its number if these are not unique."""
    keys = [str(answer[name][index]) for name in answer.columns if name not in answer.noisy]
    label = ", ".join(keys) or "all"
    return label if label not in taken else f"{label} ({index + 1})"


def _null(answer: Answer, column: str) -> float:
    """The value without a difference: by the column's own name, or if all statistics of the query agree on it."""
    own = CALLED.match(column)
    nulls = {NULLS[name.lower()] for name in ([own[1]] if own else CALLED.findall(answer.receipt.query))}
    if len(nulls) == 1:
        return nulls.pop()
    raise ParameterError(
        "The query has several statistics, whose values without a difference are not the same.",
        code="bad-plot",
        hint="Pass null=1 for a ratio, null=0 for a lift or a difference.",
    )
