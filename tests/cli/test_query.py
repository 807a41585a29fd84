"""hedgerow query: the answer for programs, the answer for people, and every option."""

import json

import pytest

from hedgerow.cli.errors import INTERRUPTED

BY_REGION = "SELECT region, AVG(income) AS mean_income FROM customers GROUP BY region"


def test_the_json_of_an_answer_has_the_keys_of_the_interface(run_json, shop):
    actual = run_json("query", BY_REGION, *shop.options)
    assert list(actual) == [
        "id",
        "columns",
        "rows",
        "intervals",
        "confidence",
        "charge",
        "remaining",
        "mechanisms",
        "reused",
        "notes",
    ]
    assert isinstance(actual["id"], str)
    assert actual["columns"] == ["region", "mean_income"]
    assert [row[0] for row in actual["rows"]] == ["mars", "north", "south"]
    assert len(actual["intervals"]) == 3
    assert [list(row) for row in actual["intervals"]] == [["mean_income"]] * 3
    assert list(actual["intervals"][1]["mean_income"]) == ["lower", "upper", "note", "kind", "reason"]
    assert actual["confidence"] == 0.95
    assert list(actual["charge"]) == ["epsilon", "delta", "share"]
    assert (actual["charge"]["epsilon"], actual["charge"]["delta"]) == (0.5, 1e-8)
    assert 0 < actual["charge"]["share"] < 1
    assert list(actual["remaining"]) == ["epsilon", "delta"]
    assert 0 < actual["remaining"]["epsilon"] < 3
    assert all(set(release) >= {"measure", "kind", "scale", "sensitivity"} for release in actual["mechanisms"])
    assert actual["reused"] is False


def test_a_number_lies_inside_its_interval_and_a_held_back_one_is_null_with_a_note(run_json, shop):
    actual = run_json("query", BY_REGION, *shop.options)
    (_, held_back), (_, mean), _ = actual["rows"]
    assert held_back is None
    first, second, _ = actual["intervals"]
    assert first["mean_income"]["lower"] is first["mean_income"]["upper"] is None
    assert "held back" in first["mean_income"]["note"]
    assert second["mean_income"]["lower"] < mean < second["mean_income"]["upper"]
    assert second["mean_income"]["note"] is None


def test_people_get_a_table_with_errors_a_price_and_notes(run, shop):
    result = run("query", BY_REGION, *shop.options)
    assert result.exit_code == 0
    assert " ± " in result.stdout
    assert "± at 0.95 confidence; epsilon 0.5, delta 1e-08" in result.stdout
    assert "note: mean_income: held back" in result.stdout
    assert "Made a new ledger" not in result.stdout


def test_json_stands_alone_on_standard_output_and_messages_go_elsewhere(run, shop):
    result = run("query", "SELECT COUNT(*) FROM customers", *shop.options, "--json")
    assert len(result.stdout.splitlines()) == 1
    assert json.loads(result.stdout)["columns"] == ["count(*)"]
    assert "Made a new ledger" in result.stderr


def test_a_dash_reads_the_statement_from_standard_input(run_json, shop):
    actual = run_json("query", "-", *shop.options, stdin="SELECT COUNT(*) AS n\nFROM customers\n")
    assert actual["columns"] == ["n"]


def test_the_environment_names_database_and_catalog(run_json, shop):
    env = {"HEDGEROW_DB": str(shop.database), "HEDGEROW_CATALOG": str(shop.catalog)}
    assert run_json("query", "SELECT COUNT(*) AS n FROM customers", env=env)["columns"] == ["n"]


def test_public_data_is_exact_and_free(run, run_json, shop):
    actual = run_json("query", "SELECT name FROM countries ORDER BY name", *shop.options)
    assert actual["rows"] == [["country 0"], ["country 1"], ["country 2"]]
    assert actual["intervals"] == [{}, {}, {}]
    assert actual["charge"] == {"epsilon": 0.0, "delta": 0.0, "share": 0.0}
    assert actual["id"] is None
    shown = run("query", "SELECT name FROM countries", *shop.options)
    assert "public data: exact, free" in shown.stdout


def test_options_reach_the_engine(run_json, shop):
    count = "SELECT COUNT(*) AS n FROM customers"
    actual = run_json("query", count, *shop.options, "--epsilon", 0.25, "--delta", 1e-9, "--confidence", 0.8)
    assert (actual["charge"]["epsilon"], actual["charge"]["delta"], actual["confidence"]) == (0.25, 1e-9, 0.8)
    assert actual["mechanisms"][0]["kind"] == "gaussian"
    assert run_json("query", count, *shop.options, "--min-frequency", 100_000)["rows"] == [[None]]


def test_fewer_rows_for_each_person_mean_less_noise(run_json, shop):
    count = "SELECT COUNT(*) AS n FROM orders"
    (usual,), (tighter,) = (
        [
            release["scale"]
            for release in run_json("quote", count, *shop.options, *more)["mechanisms"]
            if release["measure"] == "rows"
        ]
        for more in ([], ["--max-rows", 1])
    )
    assert tighter < usual / 5


def test_fewer_groups_for_each_person_mean_less_noise(run_json, shop):
    count = "SELECT city, COUNT(*) AS n FROM orders GROUP BY city"
    usual, tighter = (
        run_json("quote", count, *shop.options, *more)["survival"]["50%"] for more in ([], ["--max-groups", 1])
    )
    assert tighter < usual


def test_laplace_noise_is_used_where_the_owner_kept_some_epsilon_for_it(run_json, shop):
    shop.rewrite("delta: 1e-6}", "delta: 1e-6, pure_epsilon: 3.0}")
    actual = run_json("query", "SELECT COUNT(*) AS n FROM customers", *shop.options, "--mechanism", "laplace")
    assert {release["kind"] for release in actual["mechanisms"]} == {"laplace"}


def test_another_ledger_and_another_analyst_can_be_named(run_json, shop):
    other = shop.folder / "other.ledger"
    run_json("query", "SELECT COUNT(*) AS n FROM customers", *shop.options, "--ledger", other, "--analyst", "alice")
    assert not shop.ledger.exists()
    actual = run_json("budget", "--catalog", shop.catalog, "--ledger", other)
    assert list(actual["analysts"]) == ["alice"]


def test_brackets_in_a_key_are_shown_as_they_are(run, shop):
    result = run("query", "SELECT city, COUNT(*) AS n FROM orders GROUP BY city", *shop.options)
    assert all(f"city [{number}]" in result.stdout for number in range(3))


def test_a_wide_table_in_a_pipe_loses_no_digit(run, shop):
    columns = ", ".join(f"COUNT(*) + {number} AS a_rather_long_name_{number}" for number in range(6))
    result = run("query", f"SELECT {columns} FROM customers", *shop.options)
    assert "…" not in result.stdout
    assert all(f"a_rather_long_name_{number}" in result.stdout for number in range(6))


def test_everything_that_is_missing_is_said_at_once_in_words_of_the_command_line(run, shop):
    shop.rewrite("defaults: {epsilon: 0.5, delta: 1e-8}\n", "")
    shop.rewrite("    max_rows: 10\n    columns:\n      price: {lower: 0, upper: 500}\n", "")
    result = run("query", "SELECT SUM(price) AS s FROM orders", *shop.options)
    assert result.exit_code == 2
    assert "Pass --epsilon 0.3 --delta 1e-8 --max-rows 10 --bounds auto, or write CLIP" in result.stderr
    assert "  tables:\n    orders:\n      max_rows: 10\n      columns:\n        price: {lower: ???" in result.stderr


@pytest.mark.usefixtures("interrupted")
def test_control_c_stops_the_engine_and_says_that_the_question_was_charged(run, run_json, shop):
    question = ["query", "SELECT COUNT(*) AS n FROM customers", *shop.options]
    stopped = run(*question)
    assert stopped.exit_code == INTERRUPTED
    assert "Stopped. The question had been charged" in stopped.stderr
    assert "asked again, it is covered by that charge" in stopped.stderr
    assert run(*question).exit_code == 0
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 1
