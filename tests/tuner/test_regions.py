"""The regions of Figures 3 and 4, and the pictures of them."""

import json

import pytest

from hedgerow.accuracy import average_error, enough_rows
from hedgerow.arguments import MECHANISMS
from hedgerow.errors import ParameterError
from hedgerow.tuner import applicability
from hedgerow.tuner.regions import region_chart, save_chart

RANGES = [(1, upper) for upper in (2, 10, 30, 68, 120)]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_above_the_edge_the_conditions_hold_and_below_they_do_not(mechanism):
    delta = 0.0 if mechanism == "laplace" else 1e-6
    noise = {"delta": delta, "mechanism": mechanism}
    edge = applicability([20_000], [(1, 3)], beta=0.025, most=(0.2, 0.9), **noise)
    assert edge.num_rows > 50
    for row in edge.to_pylist()[::10]:
        shared = {"lower": 1, "upper": 3, "epsilon_count": row["epsilon_count"], "beta": 0.05, **noise}
        assert average_error(20_000, epsilon_sum=row["epsilon_sum"], **shared).valid
        assert not average_error(20_000, epsilon_sum=row["epsilon_sum"] * 0.999, **shared).valid
        assert enough_rows(20_001, epsilon_count=row["epsilon_count"], beta=0.025, **noise).holds
    first = edge["epsilon_count"][0].as_py()
    assert not enough_rows(20_000, epsilon_count=first * 0.999, beta=0.025, **noise).holds


def test_the_document_says_which_regions_of_figure_3c_are_empty():
    actual = applicability([100, 300], RANGES, beta=0.025)
    seen = {(row["size"], row["range"]) for row in actual.to_pylist()}
    assert seen == {(100, "1 to 2"), (100, "1 to 10"), (300, "1 to 2"), (300, "1 to 10"), (300, "1 to 30")}


def test_edges_end_where_the_axes_end():
    actual = applicability([1_000], RANGES, beta=0.025)
    for values in ("1 to 10", "1 to 120"):
        tops = [row["epsilon_sum"] for row in actual.to_pylist() if row["range"] == values]
        assert max(tops) == pytest.approx(10, rel=1e-6)
    widest = [row["epsilon_count"] for row in actual.to_pylist() if row["range"] == "1 to 2"]
    assert max(widest) == 1.0


def test_nothing_is_a_table_without_rows():
    assert applicability([1], RANGES, beta=0.025).num_rows == 0
    assert applicability([], RANGES, beta=0.025).column_names == ["size", "range", "epsilon_count", "epsilon_sum"]


@pytest.fixture
def chart():
    regions = applicability([100, 300], RANGES, beta=0.025)
    return region_chart(regions, sizes=[100, 300], most=(1.0, 10.0), title="a title")


def test_a_picture_has_a_panel_for_each_size_and_the_axes_of_the_document(chart):
    drawn = chart.to_dict()
    assert [panel["title"] for panel in drawn["hconcat"]] == ["100 rows", "300 rows"]
    encoding = drawn["hconcat"][0]["layer"][0]["encoding"]
    assert encoding["x"]["field"] == "epsilon_count"
    assert encoding["y"]["field"] == "epsilon_sum"
    assert encoding["x"]["scale"]["domain"] == [0, 1.0]
    assert encoding["y"]["scale"]["domain"] == [0, 10.0]


@pytest.mark.parametrize(
    ("name", "begins"), [("a.png", b"\x89PNG"), ("a.svg", b"<svg"), ("a.html", b"<!DOCTYPE html>")]
)
def test_pictures_are_written_by_their_ending(chart, tmp_path, name, begins):
    save_chart(chart, tmp_path / name)
    assert (tmp_path / name).read_bytes().lstrip().startswith(begins)


def test_a_picture_can_be_read_as_vega_lite(chart, tmp_path):
    save_chart(chart, tmp_path / "a.json")
    read = json.loads((tmp_path / "a.json").read_text())
    values = read["hconcat"][0]["data"]["values"]
    assert {row["range"] for row in values} == {"1 to 2", "1 to 10"}


@pytest.mark.parametrize(("name", "code"), [("a.gif", "plot-format"), ("no/such/folder/a.png", "plot-unwritable")])
def test_a_file_that_cannot_be_is_refused(chart, tmp_path, name, code):
    with pytest.raises(ParameterError) as caught:
        save_chart(chart, tmp_path / name)
    assert caught.value.code == code
