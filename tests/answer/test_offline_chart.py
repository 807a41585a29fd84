"""Charts show themselves in a notebook without a network."""

import sys

import pytest

from hedgerow.error_bars.intervals.interval import Interval


@pytest.fixture
def chart(make):
    bars = [Interval(8, 12), Interval(18, 22)]
    return make({"k": ["</script><b>", "b"], "a": [10, 20], "c": [1, 2]}, a=bars, c=bars).plot(y="a")


def test_a_chart_is_its_specification_and_a_picture(chart):
    bundle = chart._repr_mimebundle_()
    (kind,) = [name for name in bundle if "vegalite" in name]
    assert bundle[kind]["$schema"].split("/v")[-1].split(".")[0] == kind.split(".v")[-1].removesuffix("+json")
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "text/html" not in bundle
    assert "<script" not in bundle["image/svg+xml"]
    assert "</script>" not in str(bundle)


def test_a_changed_chart_and_several_panels_need_no_network_either(chart, make):
    assert "image/svg+xml" in chart.properties(width=300)._repr_mimebundle_()
    bars = [Interval(8, 12)]
    several = make({"k": ["a"], "a": [10], "b": [10]}, a=bars, b=bars).plot()
    assert "image/svg+xml" in several._repr_mimebundle_()


def test_a_chart_is_still_a_chart_of_altair(chart):
    import altair as alt  # noqa: PLC0415 - an extra

    assert isinstance(chart, alt.LayerChart)
    assert type(chart.interactive()).__name__ == "LayerChart"


def test_without_the_library_for_pictures_altair_shows_the_chart(chart, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert "text/html" in chart._repr_mimebundle_()
