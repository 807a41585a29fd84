"""Error against epsilon, before anything is paid."""

import math
import sys
from itertools import pairwise

import pytest

import hedgerow as hr
from hedgerow.answer.plot import plot_curve

PEOPLE = """
people:
  unit: id
  unit_unique: true
  columns:
    income: {lower: 0, upper: 1000}
wards:
  public: true
"""
TABLES = [
    "CREATE TABLE people (id BIGINT PRIMARY KEY, income DOUBLE, city VARCHAR)",
    "CREATE TABLE wards AS SELECT i AS ward, 10 * i AS beds FROM range(3) t(i)",
]
MEANS = "SELECT city, COUNT(*) AS people, AVG(income) AS mean_income FROM people GROUP BY city"
SIZES = ["100 rows", "1,000 rows", "10,000 rows", "100,000 rows"]


@pytest.fixture(scope="module")
def towns(build_once):
    """Two databases with the same catalog: one is empty, one is not."""
    full = "INSERT INTO people SELECT i, i % 1000, ['a', 'b'][1 + i % 2] FROM range(5000) t(i)"
    return build_once(TABLES, PEOPLE), build_once([*TABLES, full], PEOPLE)


@pytest.fixture(scope="module")
def town(towns):
    return towns[1]


def lines(panel, layers):
    """The curve of each size, as pairs of epsilon and error."""
    (line,) = [layer for layer in layers(panel) if layer.kind == "line"]
    actual = {}
    for row in line.rows:
        actual.setdefault(row["size"], []).append((row["epsilon"], row["error"]))
    return actual


def test_each_noisy_column_has_a_curve_for_each_size_on_logarithmic_axes(town, panels, layers):
    actual = panels(town.quote(MEANS, epsilon=0.5).plot())
    assert [panel["title"]["text"].split(":")[0] for panel in actual] == ["people", "mean_income"]
    line = next(layer for layer in layers(actual[1]) if layer.kind == "line")
    assert (line.field("x"), line.field("y"), line.field("color")) == ("epsilon", "error", "size")
    assert line.encoding["x"]["scale"]["type"] == line.encoding["y"]["scale"]["type"] == "log"
    assert line.encoding["color"]["scale"]["domain"] == SIZES
    assert "95 %" in actual[1]["title"]["text"]


def test_the_curve_goes_through_what_was_quoted_and_marks_it(town, panels, layers):
    quote = town.quote(MEANS, epsilon=0.5)
    panel = panels(quote.plot())[1]
    quoted = quote.charge.epsilon
    curves = lines(panel, layers)
    assert [dict(curves[size])[quoted] for size in SIZES] == list(quote.errors["mean_income"].values())
    (mark,) = [layer for layer in layers(panel) if layer.kind == "rule"]
    assert [row["epsilon"] for row in mark.rows] == [quoted]


def test_every_point_of_the_curve_is_what_a_quote_at_that_price_says(town, panels, layers):
    curves = lines(panels(town.quote(MEANS, epsilon=0.5).plot())[1], layers)
    epsilons = [epsilon for epsilon, _ in curves["1,000 rows"]]
    assert len(epsilons) == 17
    assert max(epsilons) / min(epsilons) == pytest.approx(100)
    for epsilon, error in curves["1,000 rows"][::5]:
        assert error == town.quote(MEANS, epsilon=epsilon).errors["mean_income"][1_000]


def test_more_epsilon_never_means_a_larger_error(town, panels, layers):
    for curve in lines(panels(town.quote(MEANS, epsilon=0.5, mechanism="gaussian").plot())[1], layers).values():
        errors = [error for _, error in sorted(curve)]
        assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(errors))
        assert errors[-1] < errors[0]


def test_where_size_does_not_matter_there_is_one_curve(town, panels, layers):
    (panel,) = panels(town.quote("SELECT SUM(income) AS total FROM people", epsilon=0.5).plot())
    assert list(lines(panel, layers)) == ["any size"]


def test_the_curve_reads_no_private_row(towns):
    empty, full = (db.quote(MEANS, epsilon=0.5).plot().to_dict() for db in towns)
    assert empty == full


def test_a_curve_costs_nothing(town):
    before = (town.budget.spent, town.budget.queries)
    town.quote(MEANS, epsilon=0.5).plot()
    assert (town.budget.spent, town.budget.queries) == before


def test_errors_at_another_price_can_be_asked_for(town):
    quote = town.quote(MEANS, epsilon=0.5)
    assert quote.errors_at(2.0) == town.quote(MEANS, epsilon=2.0).errors
    with pytest.raises(hr.ParameterError):
        quote.errors_at(-1)


def test_where_the_owner_sets_the_price_there_is_a_curve_all_the_same(build, panels, layers):
    db = build(TABLES, PEOPLE, budget="{epsilon: 3, delta: 1e-6, queries: 100}", defaults="delta: 1e-8")
    quote = db.quote("SELECT AVG(income) AS mean_income FROM people")
    curve = sorted(lines(panels(quote.plot())[0], layers)["10,000 rows"])
    assert curve[0][1] > quote.errors["mean_income"][10_000] > curve[-1][1]


def test_public_data_has_no_error_to_plot(town):
    with pytest.raises(hr.ParameterError) as caught:
        town.quote("SELECT ward, beds FROM wards").plot()
    assert caught.value.code == "bad-plot"


def test_what_nobody_can_say_is_an_arrow_at_the_top(layers):
    errors = {0.1: {"r": {100: math.inf, 1_000: 5.0}}, 1.0: {"r": {100: 4.0, 1_000: 0.5}}}
    chart = plot_curve(errors, 1.0, 0.95)
    (arrow,) = [layer for layer in layers(chart) if layer.mark.get("shape") == "triangle-up"]
    assert [(row["epsilon"], row["size"], "error" in row) for row in arrow.rows] == [(0.1, "100 rows", False)]
    assert arrow.encoding["y"] == {"value": 0}
    assert chart.to_dict()["title"]["subtitle"] == ["▲ nothing could be said"]


def test_a_quote_becomes_a_picture(town, tmp_path):
    town.quote(MEANS, epsilon=0.5).plot().save(tmp_path / "quote.png")
    assert (tmp_path / "quote.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_without_altair_the_error_names_the_extra(town, monkeypatch):
    quote = town.quote(MEANS, epsilon=0.5)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(hr.ParameterError, match=r"hedgerow\[plots\]"):
        quote.plot()


def test_the_chart_of_a_real_answer_has_its_released_numbers_and_no_others(town, panels, layers):
    answer = town.sql(MEANS, epsilon=1.0)
    for name, panel in zip(("people", "mean_income"), panels(answer.plot()), strict=True):
        released = {*answer[name], *(end for row in answer.intervals for end in (row[name].lower, row[name].upper))}
        drawn = {row[part] for layer in layers(panel) for row in layer.rows for part in ("value", "lower", "upper")}
        assert drawn == released
