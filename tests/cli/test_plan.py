"""hedgerow budget --plan: what a list of queries, fixed in advance, would cost together."""

import pytest

PLAN = """\
-- first; what is public
SELECT name FROM countries;
SELECT COUNT(*) FROM customers;
SELECT city, SUM(price)
FROM orders
WHERE city <> ';'
GROUP BY city;
"""


@pytest.fixture
def plan(shop):
    file = shop.folder / "plan.sql"
    file.write_text(PLAN)
    return file


def test_the_json_prices_each_statement_and_all_of_them(run_json, shop, plan):
    actual = run_json("budget", "--plan", plan, *shop.options)
    assert [row["query"].split()[1] for row in actual["queries"]] == ["name", "COUNT(*)", "city,"]
    assert [row["epsilon"] for row in actual["queries"]] == [0.0, 0.5, 0.5]
    assert actual["queries"][1]["share"] == pytest.approx(0.0247, abs=1e-4)
    assert list(actual["epsilons"]) == ["basic", "zCDP", "RDP", "PLD", "GDP"]
    assert actual["tightest"]["accountant"] in {"PLD", "GDP"}
    assert actual["tightest"]["epsilon"] == min(actual["epsilons"].values())
    assert actual["admitted"] == 3
    assert "only here" in actual["why_pld"]


def test_a_plan_costs_nothing(run_json, shop, plan):
    run_json("budget", "--plan", plan, *shop.options)
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_people_see_prices_totals_and_why_pld_is_allowed(run, shop, plan):
    shown = run("budget", "--plan", plan, *shop.options).stdout
    assert "a plan of 3 queries, fixed in advance" in shown
    assert "SELECT city, SUM(price) FROM orders WHERE city <> ';' GROUP BY city" in shown
    assert "free" in shown
    assert "(tightest)" in shown
    assert "The ledger's filter would admit all 3 of them now." in shown
    assert "PLD is valid here, and only here" in shown
    assert "Nothing was spent" in " ".join(shown.split())


def test_options_hold_for_every_statement(run_json, shop, plan):
    actual = run_json("budget", "--plan", plan, *shop.options, "--epsilon", 0.1, "--delta", 1e-9)
    assert [(row["epsilon"], row["delta"]) for row in actual["queries"]] == [(0.0, 0.0), (0.1, 1e-9), (0.1, 1e-9)]


def test_a_plan_can_come_from_standard_input(run_json, shop):
    actual = run_json("budget", "--plan", "-", *shop.options, stdin=PLAN)
    assert len(actual["queries"]) == 3


@pytest.mark.parametrize(("epsilon", "admitted", "words"), [(1.5, 5, "the first 5 of 6"), (4, 0, "none of the 6")])
def test_it_says_how_many_the_filter_would_admit(run, run_json, shop, epsilon, admitted, words):
    statements = "SELECT COUNT(*) FROM customers;" * 6
    actual = run_json("budget", "--plan", "-", *shop.options, "--epsilon", epsilon, stdin=statements)
    assert actual["admitted"] == admitted
    shown = run("budget", "--plan", "-", *shop.options, "--epsilon", epsilon, stdin=statements).stdout
    assert words in shown


def test_an_error_points_at_its_statement_in_the_file(run, shop, plan):
    plan.write_text(PLAN + "\n\nSELECT nonsense FROM customers;")
    refused = run("budget", "--plan", plan, *shop.options)
    assert refused.exit_code == 2
    assert "10 | SELECT nonsense FROM customers" in refused.stderr
    assert "  |        ^^^^^^^^" in refused.stderr


@pytest.mark.parametrize("option", [["--epsilon", "-1"], ["--mechanism", "none"]])
def test_an_option_that_cannot_be_points_at_no_statement(run, shop, plan, option):
    refused = run("budget", "--plan", plan, *shop.options, *option)
    assert refused.exit_code == 2
    assert "SELECT" not in refused.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--plan", "missing.sql"], "plan-unreadable"),
        (["--plan", "-"], "plan-empty"),
        (["--plan", "-", "--history"], "usage"),
        (["--plan", "-", "--export", "-"], "usage"),
        (["--epsilon", "0.1"], "usage"),
        (["--analyst", "alice"], "usage"),
    ],
)
def test_what_cannot_be_meant_is_refused(run, shop, words, code):
    refused = run("budget", *shop.options, *words, stdin=" -- nothing\n")
    assert refused.exit_code == 2
    assert f"[{code}]" in refused.stderr


def test_a_plan_needs_a_database(run, shop, plan):
    refused = run("budget", "--plan", plan, "--catalog", shop.catalog)
    assert refused.exit_code == 2
    assert "--db" in refused.stderr
