"""hedgerow budget: what is spent, what remains, and the trail behind it."""

import json
import sqlite3
import sys
from fractions import Fraction

import pytest

from hedgerow.accounting import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    SpreadRangeEvent,
    ThresholdEvent,
)
from hedgerow.accounting.budget import Charge, Spending
from hedgerow.catalog import load_catalog
from hedgerow.cli.budget import write_trail
from hedgerow.cli.output import bar
from hedgerow.errors import LedgerError
from hedgerow.figures import figure, percent
from hedgerow.ledger import open_ledger
from hedgerow.session.page import spending

COUNT = "SELECT COUNT(*) AS n FROM customers"


@pytest.fixture
def queried_shop(run_json, shop):
    """A shop that was asked twice."""
    run_json("query", COUNT, *shop.options, "--epsilon", 0.2)
    run_json("query", COUNT, *shop.options, "--analyst", "alice")
    return shop


def test_the_json_of_a_budget_has_the_keys_of_the_interface(run_json, queried_shop):
    actual = run_json("budget", "--catalog", queried_shop.catalog)
    promised = ["dataset", "limit", "spent", "remaining", "used", "queries", "analysts"]
    assert list(actual) == [*promised, "lifetime", "left", "accountants"]
    assert actual["dataset"] == "shop"
    assert actual["limit"] == {"epsilon": 3.0, "delta": 1e-6}
    assert list(actual["spent"]) == list(actual["remaining"]) == ["epsilon", "delta"]
    assert list(actual["used"]) == ["gaussian", "pure", "mass"]
    assert actual["queries"] == 2
    assert set(actual["analysts"]) == {"default", "alice"}
    assert actual["spent"]["epsilon"] + actual["remaining"]["epsilon"] == pytest.approx(3.0)


def test_the_database_is_accepted_and_not_needed(run_json, queried_shop):
    queried_shop.database.unlink()
    assert run_json("budget", *queried_shop.options)["queries"] == 2


def test_people_see_bars_and_analysts(run, queried_shop):
    shown = run("budget", "--catalog", queried_shop.catalog).stdout
    assert shown.startswith("shop: 2 questions so far, of a budget of epsilon 3\nused  █")
    assert shown.count("of the budget\n") == 1
    assert not any(words in shown for words in ("delta", "Gaussian noise", "accountant"))
    details = run("budget", "--catalog", queried_shop.catalog, "--details").stdout
    assert "limit      epsilon 3, delta 1e-06" in details
    assert "Gaussian noise  █" in details
    assert "alice" in shown
    assert "SELECT" not in shown


def test_the_history_shows_who_asked_what(run, run_json, queried_shop):
    shown = run("budget", "--catalog", queried_shop.catalog, "--history").stdout
    assert shown.count(COUNT) == 2
    entries = run_json("budget", "--catalog", queried_shop.catalog, "--history")["history"]
    assert [entry["analyst"] for entry in entries] == [None, "default", "alice"]
    assert entries[1]["question"] == COUNT
    assert entries[1]["charge"]["epsilon"] == 0.2


def test_the_chain_is_verified_on_request(run, run_json, queried_shop):
    actual = run_json("budget", "--catalog", queried_shop.catalog, "--verify")["verified"]
    assert actual["charges"] == 2
    shown = run("budget", "--catalog", queried_shop.catalog, "--verify").stdout
    assert "The chain holds" in shown
    assert actual["tip"] in shown


def test_a_changed_trail_is_found(run, queried_shop):
    with sqlite3.connect(queried_shop.ledger) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        table = connection.execute(
            "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'body'"
        ).fetchone()[0]
        connection.execute(f"UPDATE {table} SET body = replace(body, '0.2', '0.1') WHERE sequence = 1")
    connection.close()
    assert run("budget", "--catalog", queried_shop.catalog, "--verify").exit_code == 3


def test_the_trail_is_printed_as_lines_of_json(run, queried_shop):
    lines = run("budget", "--catalog", queried_shop.catalog, "--export", "-").stdout.splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == list(range(len(lines)))
    assert sum(json.loads(line)["kind"] == "charged" for line in lines) == 2


def test_the_trail_is_written_to_a_file_of_its_own(run, run_json, queried_shop):
    file = queried_shop.folder / "trail.jsonl"
    assert run_json("budget", "--catalog", queried_shop.catalog, "--export", file) == {
        "export": {"file": str(file), "entries": 5}
    }
    printed = run("budget", "--catalog", queried_shop.catalog, "--export", "-").stdout
    assert file.read_text() == printed


@pytest.mark.parametrize(("name", "code"), [("shop.ledger", "export-exists"), ("nowhere/trail", "export-unwritable")])
def test_an_export_never_overwrites_a_file(run, queried_shop, name, code):
    before = queried_shop.ledger.read_bytes()
    refused = run("budget", "--catalog", queried_shop.catalog, "--export", queried_shop.folder / name)
    assert refused.exit_code == 2
    assert code in refused.stderr
    assert queried_shop.ledger.read_bytes() == before


def test_an_export_that_breaks_off_leaves_no_file(tmp_path):
    def lines():
        yield "{}"
        raise LedgerError("It broke.")

    with pytest.raises(LedgerError):
        write_trail(lines(), str(tmp_path / "trail"))
    assert list(tmp_path.iterdir()) == []


def test_each_accountant_reports_what_it_would_prove_and_says_that_it_never_decides(run, run_json, queried_shop):
    actual = run_json("budget", "--catalog", queried_shop.catalog)["accountants"]
    assert (actual["decides"], actual["delta"]) == (False, 1e-6)
    epsilons = actual["epsilons"]
    assert list(epsilons) == ["basic", "zCDP", "RDP", "PLD", "GDP"]
    assert epsilons["GDP"] == pytest.approx(epsilons["PLD"], rel=1e-3)
    assert 0 < epsilons["GDP"] < epsilons["zCDP"] < epsilons["basic"] < 0.7
    shown = run("budget", "--catalog", queried_shop.catalog, "--details").stdout
    assert "A report, which never decides" in shown
    assert f"{epsilons['zCDP']:.4g}" in shown


def test_without_the_extra_the_page_says_what_pld_needs(run, queried_shop, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    result = run("budget", "--catalog", queried_shop.catalog, "--details")
    assert result.exit_code == 0
    shown = result.stdout
    assert "pip install 'hedgerow[accountants]'" in shown
    assert "zCDP" in shown


def test_a_chart_shows_spending_over_time_and_by_analyst(run, queried_shop):
    for ending in ("svg", "html", "json"):
        file = queried_shop.folder / f"budget.{ending}"
        assert run("budget", "--catalog", queried_shop.catalog, "--chart", file).exit_code == 0
        assert all(words in file.read_text() for words in ("spending over time", "alice"))
    drawn = json.loads((queried_shop.folder / "budget.json").read_text())
    steps, bars = (drawn["datasets"][panel["data"]["name"]] for panel in drawn["vconcat"])
    used = [row["used"] for row in steps]
    assert used == sorted(used)
    assert sum(row["used"] for row in bars) == pytest.approx(used[-1])
    assert "<script src=" not in (queried_shop.folder / "budget.html").read_text()
    assert run("budget", "--catalog", queried_shop.catalog, "--chart", "budget.txt").exit_code == 2
    assert (
        run("budget", "--catalog", queried_shop.catalog, "--chart", queried_shop.folder / "nowhere" / "b.svg").exit_code
        == 2
    )


def test_an_unused_budget_has_nothing_to_report(run, run_json, shop):
    actual = run_json("budget", "--catalog", shop.catalog)
    assert actual["left"] is None
    assert actual["accountants"]["epsilons"] == {}
    shown = run("budget", "--catalog", shop.catalog, "--history").stdout
    assert "0 questions so far" in shown
    assert "accountant" not in shown


def test_every_analyst_has_a_row_with_cap_and_use(run, run_json, shop):
    shop.rewrite(
        "delta: 1e-6}", "delta: 1e-6, analysts: {default: {epsilon: 1.5}, alice: {epsilon: 2}, carol: {epsilon: 1}}}"
    )
    run_json("query", COUNT, *shop.options, "--analyst", "alice")
    run_json("query", COUNT, *shop.options, "--analyst", "bob", "--epsilon", 0.7)
    actual = run_json("budget", "--catalog", shop.catalog)["analysts"]
    assert {name: analyst["limit"]["epsilon"] for name, analyst in actual.items()} == {
        "alice": 2,
        "bob": 1.5,
        "carol": 1,
    }
    assert {name: analyst["queries"] for name, analyst in actual.items()} == {"alice": 1, "bob": 1, "carol": 0}
    assert actual["carol"]["spent"] == {"epsilon": 0.0, "delta": 0.0}
    shown = run("budget", "--catalog", shop.catalog).stdout
    assert "carol" in shown
    assert "not named in the catalog has a cap of epsilon 1.5" in shown
    assert "limits what they may spend, not what they see" in shown


def test_a_lifetime_is_shown_beside_the_period(run, run_json, shop):
    shop.rewrite("delta: 1e-6}", "delta: 1e-6, refresh: 30d, lifetime: {epsilon: 6}}")
    run_json("query", COUNT, *shop.options)
    actual = run_json("budget", "--catalog", shop.catalog)
    assert 0 < actual["lifetime"]["used"]["gaussian"] < actual["used"]["gaussian"]
    shown = run("budget", "--catalog", shop.catalog, "--details").stdout
    assert "The budget is renewed every 30 days.\n" in shown
    assert "Over all periods together, of epsilon 6" in shown


def test_a_larger_budget_counts_only_once_it_is_raised(run, run_json, queried_shop):
    queried_shop.rewrite("epsilon: 3.0", "epsilon: 4.0")
    refused = run("budget", "--catalog", queried_shop.catalog)
    assert refused.exit_code == 3
    assert "--raise" in refused.stderr
    raised = run("budget", "--catalog", queried_shop.catalog, "--raise")
    assert raised.exit_code == 0
    assert "The budget is raised" in raised.stderr
    actual = run_json("budget", "--catalog", queried_shop.catalog, "--history")
    assert actual["limit"]["epsilon"] == 4.0
    assert actual["queries"] == 2
    assert [entry["status"] for entry in actual["history"]][-1] == "raised"


def test_there_may_be_nothing_to_raise(run, run_json, queried_shop):
    result = run("budget", "--catalog", queried_shop.catalog, "--raise")
    assert result.exit_code == 0
    assert "nothing to raise" in result.stderr
    statuses = [
        entry["status"] for entry in run_json("budget", "--catalog", queried_shop.catalog, "--history")["history"]
    ]
    assert "raised" not in statuses


@pytest.mark.parametrize(
    ("fraction", "filled"), [(0.0, 0), (1e-9, 1), (0.5, 5), (0.999, 9), (1.0, 10), (1.5, 10), (-1.0, 0)]
)
def test_a_bar_looks_full_or_empty_only_where_it_is(fraction, filled):
    assert bar(fraction, 10).plain == "█" * filled + "░" * (10 - filled)


def test_figures_are_never_rounded_to_nothing_or_all():
    assert [percent(part) for part in (0.0, 1e-9, 0.0123, 0.99999, 1.0, 5e9)] == [
        "0.00 %",
        "<0.01 %",
        "1.23 %",
        ">99.99 %",
        "100.00 %",
        ">1,000 %",
    ]
    assert [figure(number) for number in (0.01234, 999.4, 123456.7)] == ["0.0123", "999", "123,457"]
    assert spending(Spending(0.5, 1e-8)) == "epsilon 0.5, delta 1e-08"


MEDIAN = "SELECT city, MEDIAN(price) AS middle FROM orders GROUP BY city"
EXTREME = [
    GaussianEvent(Fraction(10) ** 4, Fraction(1), 0, Fraction(1)),
    GaussianEvent(Fraction(1), Fraction(10) ** 40, 1, Fraction(2**48)),
    LaplaceEvent(Fraction(10) ** 4, Fraction(1)),
    LaplaceEvent(Fraction(1), Fraction(10) ** 30),
    ThresholdEvent(Fraction(1, 10**12)),
    BoundedRangeEvent(Fraction(10) ** 5),
    SpreadRangeEvent(Fraction(10) ** 2, Fraction(1), Fraction(10) ** 9),
    ApproximateEvent(Fraction(10) ** 5, Fraction(1, 10**12)),
]
REPORTS = [(), ("--details",), ("--history",), ("--verify",), ("--history", "--verify", "--json"), ("--export", "-")]


def test_a_rank_release_leaves_every_report_of_the_books_readable(run, run_json, shop):
    shop.rewrite("max_rows: 10", "max_rows: 1000\n    max_groups: 50")
    run_json("query", MEDIAN, *shop.options, "--epsilon", 2)
    for words in REPORTS:
        shown = run("budget", "--catalog", shop.catalog, *words)
        assert shown.exit_code == 0, shown.output
    epsilons = run_json("budget", "--catalog", shop.catalog)["accountants"]["epsilons"]
    assert all(epsilons[name] > 0 for name in ("basic", "zCDP", "RDP", "GDP"))


@pytest.mark.parametrize("which", [*([event] for event in EXTREME), EXTREME], ids=lambda events: events[0].kind)
def test_no_event_in_a_ledger_takes_its_reports_away(run, shop, which):
    shop.rewrite("epsilon: 3.0, delta: 1e-6", "epsilon: 1e6, delta: 1e-6, pure_epsilon: 5e5")
    with open_ledger(shop.ledger, dataset="shop", policy=load_catalog(shop.catalog).budget) as book:
        receipt = book.charge(Charge(tuple(which), 1.0, 1e-9), question={"text": "extreme"})
        book.finish(receipt, None)
    for words in REPORTS:
        shown = run("budget", "--catalog", shop.catalog, *words)
        assert shown.exit_code == 0, shown.output
    plan = shop.folder / "plan.sql"
    plan.write_text(f"{COUNT}; {MEDIAN}")
    planned = run("budget", *shop.options, "--plan", plan, "--epsilon", 1000)
    assert planned.exit_code == 0, planned.output
