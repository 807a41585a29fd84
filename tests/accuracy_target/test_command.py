"""--within, as people and programs use it."""

import json
import re

import pytest
from typer.testing import CliRunner

from hedgerow.cli import app

COUNT = "SELECT COUNT(*) AS n FROM t"


@pytest.fixture
def run(world, monkeypatch):
    """Runs `hedgerow` on the world; with --json, reads what it prints."""
    for name in ("HEDGEROW_DB", "HEDGEROW_CATALOG", "HEDGEROW_OWNER_LOG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    db = world()
    db.close()

    def invoke(command, *words, code=0):
        files = ["--db", str(db.place / "data.duckdb"), "--catalog", str(db.place / "data.yaml")]
        result = CliRunner().invoke(app, [command, *words, *files])
        assert result.exit_code == code, result.output
        return json.loads(result.stdout) if "--json" in words else result.stdout

    return invoke


@pytest.mark.parametrize(("within", "error"), [("abs:100", 100), ("1%@20000", 200), ("0.01@20000", 200)])
def test_the_least_that_does_is_spent_at_once(run, within, error):
    actual = run("query", COUNT, "--within", within, "--json")
    bars = actual["intervals"][0]["n"]
    assert 0.97 * error < (bars["upper"] - bars["lower"]) / 2 <= error
    assert "payments" not in actual


def test_a_size_estimate_is_a_payment_of_its_own(run):
    actual = run("query", COUNT, "--within", "1%", "--epsilon", "1", "--json")
    assert [payment["for"] for payment in actual["payments"]] == ["size estimate", "answer"]
    assert actual["charge"]["epsilon"] == sum(payment["epsilon"] for payment in actual["payments"]) <= 1


def test_people_read_both_payments_and_which_groups_miss(run):
    shown = run("query", "SELECT g, COUNT(*) AS n FROM t GROUP BY g", "--within", "5%", "--epsilon", "0.1")
    assert re.search(r"\(size estimate \d+%, answer \d+% of that\)", shown)
    assert "note: n: misses 5 %" in shown


def test_a_quote_says_the_price_of_an_error(run):
    actual = run("quote", COUNT, "--within", "5%@1000", "--json")
    assert actual["within"]["basis"] == "stated size"
    assert actual["within"]["target"] == "5 % in groups of 1,000 or more"
    assert list(actual["within"]["cheapest"]["n"]) == ["1000"]
    assert actual["repeats"] > 1000
    assert actual["fits"]


def test_people_read_the_price_of_an_error(run):
    shown = run("quote", "SELECT AVG(y) AS m FROM t", "--within", "5%", "--epsilon", "1")
    assert "The smallest epsilon for an error of 5 %, by the number of rows in a group:" in shown
    assert "none: the value may be zero" in shown
    assert "such questions, from what is left now" in shown
    assert "note: A size estimate would be bought first" in shown


def test_an_error_out_of_reach_is_a_refusal(run):
    failed = run("query", COUNT, "--within", "abs:100", "--epsilon", "0.001", "--json", code=1)
    assert failed["error"]["code"] == "within-too-dear"


def test_an_error_that_cannot_be_is_wrong_usage(run):
    failed = run("query", COUNT, "--within", "0%", "--json", code=2)
    assert failed["error"]["code"] == "bad-within"
