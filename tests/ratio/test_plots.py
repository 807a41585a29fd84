"""Charts of ratio statistics."""

import math

import pytest

from hedgerow import Laplace
from hedgerow.errors import ParameterError
from hedgerow.ratio import forest_plot, relative_risk, risk_difference, sweep_plot

GROUPS = {
    "north": relative_risk(61, 38, 200, 200, noise=Laplace(1.0)),
    "south": relative_risk(60, 3, 200, 200, noise=Laplace(3.0)),
    "</script>": relative_risk(1, 38, 200, 200, noise=Laplace(3.0)),
}


def drawn(chart):
    """Every row of every layer, with the mark that draws it."""
    actual = chart.to_dict()
    layers = actual.get("layer") or [layer for panel in actual["hconcat"] for layer in panel.get("layer", [panel])]
    data = actual.get("datasets", {})
    rows = []
    for layer in layers:
        source = layer.get("data", actual.get("data", {}))
        values = source.get("values") or data.get(source.get("name"), [])
        rows += [(layer["mark"]["type"], row) for row in values]
    return rows


def test_a_group_has_a_point_and_a_bar():
    rows = drawn(forest_plot(GROUPS))
    bars = [row for mark, row in rows if mark == "rule" and row.get("key") == "north"]
    points = [row for mark, row in rows if mark == "point" and row.get("key") == "north"]
    assert math.isclose(bars[0]["lower"], GROUPS["north"].interval.lower)
    assert math.isclose(points[0]["value"], GROUPS["north"].value)


def test_an_open_interval_is_dashed_to_the_edge_with_an_arrow():
    chart = forest_plot({"south": GROUPS["south"]}).to_dict()
    marks = [layer["mark"] for layer in chart["layer"]]
    assert any(mark.get("strokeDash") for mark in marks)
    assert any(mark.get("shape") == "triangle-right" for mark in marks)


def test_on_a_logarithmic_axis_zero_is_an_open_end():
    chart = forest_plot({"small": GROUPS["</script>"]}).to_dict()
    assert any(layer["mark"].get("shape") == "triangle-left" for layer in chart["layer"])
    assert all(row.get("lower", 1) > 0 for _, row in drawn(forest_plot(GROUPS)))


def test_both_intervals_are_drawn():
    inner = relative_risk(61, 38, 200, 200, noise=Laplace(1.0), population=False).interval
    rows = drawn(forest_plot({"north": GROUPS["north"]}, noise={"north": inner, "elsewhere": inner}))
    bars = [row for mark, row in rows if mark == "rule" and "lower" in row]
    assert len(bars) == 2
    assert bars[1]["upper"] - bars[1]["lower"] < bars[0]["upper"] - bars[0]["lower"]


def test_a_difference_has_a_plain_axis():
    chart = forest_plot({"north": risk_difference(61, 38, 200, 200)}, null=0.0, name="risk difference").to_dict()
    assert {layer["encoding"]["x"]["scale"]["type"] for layer in chart["layer"]} == {"linear"}


def test_names_of_groups_cannot_end_a_script():
    assert "</script" not in forest_plot(GROUPS).to_json()


def test_width_and_coverage_stand_side_by_side():
    rows = [
        {"epsilon": epsilon, "method": method, "width": width, "coverage": 0.95}
        for epsilon, width in ((0.5, math.inf), (1.0, 0.8))
        for method in ("auto", "log")
    ]
    actual = drawn(sweep_plot(rows))
    assert sum("width" in row and mark == "line" for mark, row in actual) >= 2
    assert any(row == {"coverage": 0.95} for mark, row in actual if mark == "rule")
    assert len(sweep_plot(rows).to_dict()["hconcat"]) == 2


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="single estimates"):
        forest_plot({"many": relative_risk([1, 2], [3, 4], 10, 10)})
    with pytest.raises(ParameterError, match="needs epsilon"):
        sweep_plot([{"epsilon": 1.0}])
