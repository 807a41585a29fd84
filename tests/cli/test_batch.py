"""hedgerow batch: a report for one charge, and its price for nothing."""

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
    asked = run_json("batch", report, "--epsilon", 2, *shop.options)
    assert list(asked["answers"]) == ["by_city", "prices"]
    assert asked["charge"]["epsilon"] == 2
    assert asked["answers"]["prices"]["together"] == 2
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 1
    assert run_json("batch", report, "--epsilon", 2, *shop.options)["reused"]


def test_people_read_names_titles_and_what_each_would_have_cost(run, shop, report):
    shown = run("batch", report, "--epsilon", 2, *shop.options).output
    assert "by_city: Orders by city" in shown
    assert shown.count("alone it would have cost epsilon") == 2
    assert "All 2 together" in run("batch", report, "--plan", "--epsilon", 3, *shop.options).output


def test_a_mistake_is_shown_with_its_line(run, shop, report):
    report.write_text("-- name: a b\nSELECT COUNT(*) FROM orders;")
    result = run("batch", report, *shop.options)
    assert result.exit_code == 2
    assert "1 | -- name: a b" in result.output
    report.write_text("SELECT COUNT(*) FROM orders;\nSELECT COUNT(*)\nFROM nowhere;")
    assert "3 | FROM nowhere" in run("batch", report, "--epsilon", 1, *shop.options).output
    assert run("batch", report.with_name("none.sql"), *shop.options).exit_code == 2
