"""hedgerow check: the owner's command."""

import json

import duckdb


def test_a_sound_catalog_passes_with_symbols(run, shop):
    result = run("check", *shop.options)
    assert result.exit_code == 0
    assert "✓ `unit_unique` holds: the database enforces it." in result.stdout
    assert "?" in result.stdout


def test_it_says_that_it_is_not_for_analysts(run, shop):
    assert "For the owner" in run("check", *shop.options).stdout
    assert "For the owner" in run("check", *shop.options, "--json").stderr


def test_it_says_whose_the_settings_of_the_connection_are(run_json, shop):
    actual = [finding for finding in run_json("check", *shop.options)["findings"] if finding["subject"] == "connection"]
    assert any(finding["level"] == "ok" and "read-only" in finding["message"] for finding in actual)
    assert any("pass in" in finding["message"] for finding in actual)


def test_the_json_lists_every_finding(run_json, shop):
    actual = run_json("check", *shop.options)
    assert list(actual) == ["ok", "findings"]
    assert actual["ok"] is True
    assert all(list(finding) == ["level", "subject", "message", "basis"] for finding in actual["findings"])
    assert {finding["level"] for finding in actual["findings"]} == {"ok", "warning", "unknown"}


def test_a_unit_that_is_not_unique_is_an_error(run, shop):
    with duckdb.connect(str(shop.database)) as connection:
        connection.execute("CREATE TABLE guests AS SELECT i % 10 AS id FROM range(20) t(i)")
    shop.rewrite("tables:\n", "tables:\n  guests: {unit: id, unit_unique: true}\n")
    result = run("check", *shop.options)
    assert result.exit_code == 2
    assert "✗ `unit_unique` does not hold" in result.stdout
    actual = run("check", *shop.options, "--json")
    assert actual.exit_code == 2
    assert json.loads(actual.stdout)["ok"] is False


def test_a_missing_database_is_a_failure_of_the_database(run, shop):
    shop.database.unlink()
    assert run("check", *shop.options).exit_code == 3


def test_nothing_is_charged_and_no_ledger_is_made(run, shop):
    run("check", *shop.options)
    assert not shop.ledger.exists()
