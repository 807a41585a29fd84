"""db.calibrate and hedgerow calibrate: what is found, what it costs, what is written."""

import json
import os
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.catalog import load_catalog
from hedgerow.cli import app
from hedgerow.session.draft import quote_parts

ROUNDING = 1 + 1e-12


@pytest.fixture
def run():
    """The program, run as people run it."""
    return lambda *words: CliRunner().invoke(app, list(words), standalone_mode=False)


def options(db):
    return ["--db", str(db.place / "data.duckdb"), "--catalog", str(db.place / "data.yaml")]


def test_all_numbers_without_bounds_are_found_and_the_limits(world, plenty):
    actual = world().calibrate("t", epsilon=plenty, by=["k"])
    ranges = {column.column: (column.lower, column.upper) for column in actual.columns}
    assert set(ranges) == {"k", "x", "d", "year", "y"}
    assert ranges["k"] == (0, 6)
    assert ranges["x"] == (0, 1536)
    assert ranges["year"][0] <= 1990
    assert 2020 <= ranges["year"][1] < 2060
    assert (actual.max_rows, actual.max_groups) == (3, 3)
    assert actual["k"].lower == 0


def test_the_limit_is_one_that_few_people_exceed(build, plenty):
    rows = "CREATE TABLE t AS SELECT i AS id, r AS x FROM range(10000) p(i), range(1000) q(r) WHERE r < {}"
    db = build(rows.format("CASE WHEN i % 200 = 0 THEN 500 ELSE 1 + i % 6 END"), "t: {unit: id}")
    actual = db.calibrate("t", [], epsilon=plenty)
    assert actual.max_rows == 6
    assert actual.columns == ()


def test_a_table_of_one_row_each_has_no_limit_to_find(world, plenty):
    actual = world().calibrate("one", ["v"], epsilon=plenty)
    assert actual.max_rows is None
    assert actual.rows is None
    assert actual["v"].lower == 0
    assert 99 <= actual["v"].upper <= 112


def test_dates_are_found_and_shown_as_dates_but_not_written(world, plenty):
    actual = world().calibrate("t", ["day"], epsilon=plenty)
    (day,) = actual.to_dict()["columns"]
    assert "2019-07-01" <= day["lower"] <= "2020-01-01"
    assert "2020-12-30" <= day["upper"] <= "2021-07-01"
    assert "columns" not in actual.catalog_patch()["tables"]["t"]


def test_bounds_that_are_declared_are_found_anew_if_asked_for(build, plenty):
    db = build(
        "CREATE TABLE t AS SELECT i AS id, i % 100 AS x FROM range(9000) r(i)",
        "t: {unit: id, max_rows: 1, columns: {x: {lower: 0, upper: 10}}}",
    )
    assert db.calibrate("t", ["X"], epsilon=plenty)["x"].upper >= 99
    assert db.calibrate("t", epsilon=plenty).columns == ()


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1, 7, 50])
@pytest.mark.parametrize(
    "mechanism", ["{epsilon: 9000, delta: 1e-3}", "{epsilon: 9000, delta: 1e-3, pure_epsilon: 9000}"]
)
def test_it_never_costs_more_than_was_stated(world, guaranteed_delta, epsilon, mechanism):
    db = world(budget=mechanism, min_frequency=10)
    actual = db.calibrate("t", epsilon=epsilon, delta=1e-6, by=["k", "name"])
    built = [entry.charge for entry in db.budget.history if entry.status == "answered"]
    assert guaranteed_delta(built, epsilon * ROUNDING)[0] <= 1e-6
    assert guaranteed_delta(built, actual.charge.epsilon * ROUNDING)[0] <= actual.charge.delta + 1e-15
    assert actual.charge.epsilon <= epsilon * ROUNDING
    assert actual.charge.delta <= 1e-6
    assert len(actual.payments) == len(built) > 0
    own = [part.epsilon for part in (*actual.columns, actual.rows, actual.groups)]
    assert max(own) <= actual.charge.epsilon * ROUNDING
    if "pure" in mechanism:
        assert sum(charge["epsilon"] for charge in built) == pytest.approx(actual.charge.epsilon)
        assert sum(own) == pytest.approx(actual.charge.epsilon)


def test_repeating_it_is_free(world, plenty, charged):
    db = world()
    first = db.calibrate("t", ["x"], epsilon=plenty)
    built = charged(db)
    again = db.calibrate("t", ["x"], epsilon=plenty)
    assert again.charge.epsilon == 0
    assert again["x"].upper == first["x"].upper
    assert charged(db) == built


def test_what_it_found_serves_questions_with_automatic_bounds(world, plenty):
    db = world()
    db.calibrate("t", ["x"], epsilon=plenty)
    assert db.sql("SELECT SUM(x) AS s FROM t", epsilon=plenty / 8, bounds="auto").receipt.payments == ()


def test_where_nobody_shares_anything_it_says_so(build):
    db = build("CREATE TABLE t AS SELECT i AS id, i AS x FROM range(5) r(i)", "t: {unit: id}", min_frequency=10)
    actual = db.calibrate("t", epsilon=1)
    assert (actual["x"].lower, actual["x"].upper, actual.max_rows) == (None, None, None)
    assert actual.catalog_patch() == {}


@pytest.mark.parametrize(
    ("words", "options", "code"),
    [
        (("nothing",), {}, "unknown-table"),
        (("places",), {}, "nothing-to-calibrate"),
        (("t", ["nothing"]), {}, "unknown-column"),
        (("t", ["name"]), {}, "nothing-to-calibrate"),
        (("one", []), {}, "nothing-to-calibrate"),
        (("t", ["x"]), {"epsilon": float("nan")}, "bad-epsilon"),
        (("t", ["id"]), {}, "unit-shown"),
        (("t", ["x"]), {"by": ["id"]}, "unit-shown"),
        (("t", ["x"]), {"epsilon": 900_000}, "bad-epsilon"),
    ],
)
def test_what_is_refused_costs_nothing(large_world, words, options, code):
    before = len(large_world.budget.history)
    with pytest.raises(hr.HedgerowError) as caught:
        large_world.calibrate(*words, **options)
    assert caught.value.code == code
    assert len(large_world.budget.history) == before


def test_without_room_for_all_of_it_nothing_is_spent(world, charged):
    db = world(budget="{epsilon: 1, delta: 1e-6}")
    with pytest.raises(hr.BudgetError) as caught:
        db.calibrate("t", epsilon=20)
    assert caught.value.code == "parts-too-dear"
    assert charged(db) == []


def test_one_more_person_changes_no_charge(world, charged, plenty):
    outlier = ["INSERT INTO t SELECT 999999, 3, 1e15, 5, 2000, DATE '2020-01-01', 'a', 1e300 FROM range(500)"]
    without, with_ = world(min_frequency=10), world(outlier, min_frequency=10)
    actual = [db.calibrate("t", epsilon=plenty, by=["k"]) for db in (without, with_)]
    ranges = [[(column.lower, column.upper) for column in calibration.columns] for calibration in actual]
    for without_, with_one in zip(*ranges, strict=True):
        assert with_one == pytest.approx(without_, abs=(without_[1] - without_[0]) / 8)
    assert actual[0].max_rows == actual[1].max_rows
    assert charged(without) == charged(with_)


def test_the_command_writes_what_it_found_and_leaves_the_rest_byte_by_byte(world, run, plenty):
    db = world()
    path = db.place / "data.yaml"
    before = path.read_text() + "# the end\n"
    path.write_text(before)
    done = run("calibrate", *options(db), "--table", "T", "--columns", "x,k", "--by", "k", "--epsilon", "50", "--write")
    assert done.return_value == 0, done.output
    after = path.read_text()
    letters = iter(after)
    assert all(letter in letters for letter in before)
    catalog = load_catalog(path)
    table = catalog.table("t")
    assert table.column("x").upper >= 1498.5
    assert (table.column("k").lower, table.column("k").upper) == (0, 6)
    assert (table.max_rows, table.max_groups) == (3, 3)
    assert table.calibrated.epsilon > 0
    assert table.column("x").calibrated.date == table.calibrated.date
    with hr.connect(db.place / "data.duckdb", catalog=path) as again:
        assert again.sql("SELECT SUM(x) AS s FROM t", epsilon=1).receipt.bounds == ()


def test_the_catalog_states_the_price_of_what_was_paid_for_before(world, charged, plenty):
    """`--write` repeats the command for free, after the owner has read what it found."""
    db = world()
    first, again = (db.calibrate("t", ["x", "k"], epsilon=plenty) for _ in range(2))
    assert again.charge.epsilon == 0
    assert replace(again, date=first.date).catalog_patch() == first.catalog_patch()
    written = first.catalog_patch()["tables"]["t"]
    assert written["columns"]["x"]["calibrated"]["epsilon"] == pytest.approx(first["x"].epsilon, rel=1e-3)
    assert written["calibrated"]["epsilon"] == pytest.approx(first.rows.epsilon, rel=1e-3)


def test_limits_that_no_longer_fit_are_lowered_so_that_the_catalog_still_loads(build, run):
    db = build(
        "CREATE TABLE t AS SELECT i // 2 AS id, i AS x FROM range(20000) r(i)",
        "t: {unit: id, max_rows: 50, max_rows_per_group: 30, max_groups: 40}",
    )
    done = run("calibrate", *options(db), "--table", "t", "--columns", "", "--epsilon", "50", "--write")
    assert done.return_value == 0, done.output
    table = load_catalog(db.place / "data.yaml").table("t")
    assert (table.max_rows, table.max_rows_per_group, table.max_groups) == (2, 2, 2)


def test_the_command_in_json_and_without_writing(world, run):
    db = world()
    before = (db.place / "data.yaml").read_bytes()
    done = run("calibrate", *options(db), "--table", "t", "--columns", "x", "--epsilon", "50", "--json")
    assert done.return_value == 0, done.output
    document = json.loads(done.stdout)
    assert document["columns"][0]["column"] == "x"
    assert document["charge"]["epsilon"] <= 50
    assert "looking at x" in done.stderr
    assert (db.place / "data.yaml").read_bytes() == before


def test_the_command_for_people(world, run):
    db = world()
    done = run("calibrate", *options(db), "--table", "t", "--columns", "x,day", "--by", "k", "--epsilon", "90")
    assert done.return_value == 0, done.output
    assert "max_rows" in done.stdout
    assert "max_groups" in done.stdout
    assert " to 202" in done.stdout


def test_a_catalog_that_cannot_be_written_is_left_alone(world, run):
    db = world()
    path = db.place / "data.yaml"
    before = path.read_bytes()
    (db.place / f".data.yaml.{os.getpid()}.new").mkdir()
    done = run("calibrate", *options(db), "--table", "t", "--columns", "x", "--epsilon", "50", "--write")
    assert done.return_value == 2
    assert path.read_bytes() == before


def test_bounds_can_be_found_from_the_command_line(world, run):
    db = world()
    words = [*options(db), "--epsilon", "400", "--bounds", "auto"]
    done = run("query", "SELECT SUM(x) AS s, COUNT(*) AS n FROM t", *words)
    assert done.return_value == 0, done.output
    assert "x was bounded by 0 and" in done.stdout
    done = run("query", "SELECT COUNT(*) AS n FROM free", *words)
    assert "one person counts for 22 rows at most" in done.stdout
    done = run("quote", "SELECT SUM(d) AS s FROM t", *words)
    assert "found first" in done.stdout + done.stderr


def test_each_part_is_quoted_and_costs_no_more_than_that(world):
    db = world()
    quoted = {part.name: part for part in quote_parts(db, "t", ["x", "year"], 2.0)}
    assert db.budget.spent.epsilon == 0
    paid = db.calibrate("t", ["x", "year"], epsilon=2.0)
    costs = {**{column.column: column.epsilon for column in paid.columns}, "rows of one person": paid.rows.epsilon}
    assert costs.keys() == quoted.keys()
    assert all(0 < quoted[name].first <= cost * 1.02 for name, cost in costs.items())
    assert all(cost <= quoted[name].maximum * ROUNDING for name, cost in costs.items())
    assert [part.first for part in quote_parts(db, "t", ["x", "year"], 2.0)] == [0.0] * 3
