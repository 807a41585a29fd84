"""hedgerow batch: a report for one charge, and its price for nothing."""

import math

import pytest

REPORT = """
-- name: by_city
-- title: Orders by city
SELECT city, COUNT(*) AS orders FROM orders GROUP BY city;
-- name: prices
SELECT city, AVG(price) AS price FROM orders GROUP BY city;
"""


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.sql"
    path.write_text(REPORT)
    return path


def test_a_plan_costs_nothing_and_the_answers_one_charge(run_json, shop, report):
    quoted = run_json("batch", report, "--plan", "--epsilon", 2, *shop.options)
    assert list(quoted["queries"]) == ["by_city", "prices"]
    assert quoted["releases"] == 1
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0
    answered = run_json("batch", report, "--epsilon", 2, *shop.options)
    assert list(answered["answers"]) == ["by_city", "prices"]
    assert answered["charge"]["epsilon"] == 2
    assert answered["answers"]["prices"]["together"] == 2
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 1
    assert run_json("batch", report, "--epsilon", 2, *shop.options)["reused"]


def test_tables_that_must_add_up_are_one_release(run, run_json, shop, report):
    report.write_text(REPORT + "-- name: all\nSELECT COUNT(*) AS orders FROM orders;")
    quoted = run_json("batch", report, "--plan", "--add-up", "--epsilon", 2, *shop.options)
    assert quoted["releases"] == 1
    refused = run("batch", report, "--add-up", "--mechanism", "laplace", "--epsilon", 2, *shop.options)
    assert refused.exit_code == 2
    assert "cannot be made to add up with Laplace noise: by_city, prices, all" in " ".join(refused.output.split())


def test_people_read_names_titles_and_what_each_would_have_cost(run, run_json, shop, report):
    shown = run("batch", report, "--epsilon", 2, *shop.options).output
    assert "by_city: Orders by city" in shown
    assert shown.count("alone it would have cost epsilon") == 2
    planned = " ".join(run("batch", report, "--plan", "--epsilon", 3, *shop.options).output.split())
    assert "All 2 together" in planned
    quoted = run_json("batch", report, "--plan", "--epsilon", 3, *shop.options)
    least = math.ceil(quoted["survival"]["by_city"]["50%"])
    assert f"Groups with fewer than about {least:,} people are usually held back: by_city, prices." in planned


def test_a_mistake_is_shown_with_its_line(run, shop, report):
    report.write_text("-- name: a b\nSELECT COUNT(*) FROM orders;")
    result = run("batch", report, *shop.options)
    assert result.exit_code == 2
    assert "1 | -- name: a b" in result.output
    report.write_text("SELECT COUNT(*) FROM orders;\nSELECT COUNT(*)\nFROM nowhere;")
    assert "3 | FROM nowhere" in run("batch", report, "--epsilon", 1, *shop.options).output
    assert run("batch", report.with_name("none.sql"), *shop.options).exit_code == 2
