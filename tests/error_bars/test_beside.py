"""The error bar of a number does not depend on what stands beside it."""

import duckdb
import pytest

import hedgerow as hr

CATALOG = """
dataset: town
budget: {epsilon: 1000, delta: 1e-3, pure_epsilon: 900}
defaults: {epsilon: 1, delta: 1e-6, min_frequency: 1}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      region: {values: [north, south]}
      year: {values: [2024, 2025]}
      age: {lower: 0, upper: 100}
"""
EXPRESSIONS = {
    "an average": "AVG(age)",
    "a rate": "1000.0 * COUNT(*) FILTER (WHERE age > 50) / COUNT(*)",
    "a product": "AVG(age) * COUNT(*)",
    "a number times a key": "COUNT(*) * year",
    "a branch by a text": "CASE WHEN region = 'north' THEN COUNT(*) ELSE 0 END",
    "a branch by a number": "CASE WHEN COUNT(*) > 100 THEN AVG(age) ELSE 0 END",
    "a rounded rate": "ROUND(SUM(age) / COUNT(*), 1)",
    "a length times an average": "LENGTH(region) * AVG(age)",
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    place = tmp_path_factory.mktemp("beside")
    with duckdb.connect(str(place / "town.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, region TEXT, year INTEGER, age DOUBLE)")
        connection.execute(
            "INSERT INTO people SELECT i, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END, 2024 + i % 2, i % 97 "
            "FROM range(2000) r(i)"
        )
    (place / "town.yaml").write_text(CATALOG, encoding="utf-8")
    with hr.connect(str(place / "town.duckdb"), catalog=str(place / "town.yaml")) as opened:
        yield opened


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_window_column_changes_no_other_error_bar(db, expression, mechanism):
    query = f"SELECT region, year, {expression} AS x FROM people GROUP BY region, year"
    alone = db.sql(query, mechanism=mechanism)
    beside = db.sql(f"SELECT *, RANK() OVER (ORDER BY x) AS place FROM ({query}) AS whole", mechanism=mechanism)
    assert beside.receipt.reused
    assert [row["x"] for row in beside.intervals] == [row["x"] for row in alone.intervals]


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_total_over_groups_changes_an_average_as_little_as_a_shown_count(db, mechanism):
    average = "SELECT region, AVG(age) AS x, {} AS n FROM people GROUP BY region"
    counted, total = (db.sql(average.format(n), mechanism=mechanism) for n in ("COUNT(*)", "SUM(COUNT(*)) OVER ()"))
    assert total.receipt.reused
    assert [row["x"] for row in total.intervals] == [row["x"] for row in counted.intervals]


def test_a_condition_on_keys_decides_which_branch_an_error_bar_covers(db):
    query = "SELECT region, CASE WHEN region = 'north' THEN COUNT(*) ELSE 0 END AS n FROM people GROUP BY region"
    north, south = db.sql(query).intervals
    assert 500 < north["n"].lower <= north["n"].upper < 1000
    assert (south["n"].lower, south["n"].upper) == (0, 0)
