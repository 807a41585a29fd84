"""hedgerow budget --history: who asked what, spending over time, and how many questions like these are left."""

import re
from fractions import Fraction

import pytest

from hedgerow.accounting import GaussianEvent, LaplaceEvent, gaussian_mu
from hedgerow.accounting.budget import Charge
from hedgerow.catalog import load_catalog
from hedgerow.cli.budget_page import chart
from hedgerow.errors import BudgetError
from hedgerow.ledger import HistoryEntry, caps_for, open_ledger

PRICE = Fraction(gaussian_mu(0.1, 1e-7)) ** 2
"""Of a statement of (0.1, 1e-7): 710 of them fit under (3, 1e-6)."""


def statement(epsilon=0.1, *, laplace=False):
    if laplace:
        return Charge((LaplaceEvent(Fraction(1), 1 / Fraction(epsilon)),), epsilon, 0.0)
    return Charge((GaussianEvent(PRICE, Fraction(1), 1, Fraction(2**48)),), epsilon, 1e-7)


@pytest.fixture
def book(shop):
    """Opens the shop's ledger."""
    opened = []

    def open_it():
        opened.append(open_ledger(shop.ledger, dataset="shop", policy=load_catalog(shop.catalog).budget))
        return opened[-1]

    yield open_it
    for ledger in opened:
        ledger.close()


def test_a_line_says_who_when_price_noise_and_what_became_of_it(run, run_json, shop, book):
    run_json("query", "SELECT AVG(income) FROM customers", *shop.options, "--analyst", "alice")
    ledger = book()
    failed = ledger.charge(statement(), analyst="bob", question={"text": "SELECT 1"})
    ledger.finish(failed, None)
    ledger.charge(statement(), analyst="carol", question={"text": "SELECT 2"})
    shown = run("budget", "--catalog", shop.catalog, "--history").stdout
    assert re.search(
        r"1  20\d\d-\d\d-\d\d \d\d:\d\d  alice  epsilon 0\.5, delta 1e-08 \(2\.47 %\)\n"
        r" +answered; noise: Gaussian [\d.]+, threshold \(delta .*\n +SELECT AVG\(income\) FROM customers\n",
        shown,
    )
    assert re.search(r"bob  epsilon 0\.1, delta 1e-07 .*\n +failed; noise: Gaussian 41\.3\n +SELECT 1\n", shown)
    assert re.search(r"carol  .*\n +no answer: still running, or it never finished; noise: .*\n +SELECT 2\n", shown)
    assert re.search(r"0  .*the owner  epsilon 3, delta 1e-06\n +opened", shown)


def test_a_question_cannot_do_things_to_the_terminal(run, shop, book):
    book().charge(statement(), question={"text": "SELECT\n'\x1b[2J\x9b[red]' \u202e"})
    shown = run("budget", "--catalog", shop.catalog, "--history").stdout
    assert "SELECT ' [2J [red]'" in shown
    assert not re.search(r"[\x1b\x9b\u202e]", shown)


@pytest.mark.parametrize(("spent", "left"), [(1, 709), (3, 707), (25, 685)])
def test_it_says_how_many_queries_like_the_last_ones_are_left(run, run_json, shop, book, spent, left):
    ledger = book()
    for _ in range(spent):
        ledger.charge(statement(), question={"text": "q"})
    actual = run_json("budget", "--catalog", shop.catalog)["left"]
    assert actual == {
        "queries": left,
        "like": min(spent, 10),
        "until": "Gaussian noise",
        "like_last": left,
        "like_median": left,
    }
    assert f"left  about {left} more questions like the last one\n" in run("budget", "--catalog", shop.catalog).stdout
    details = run("budget", "--catalog", shop.catalog, "--details").stdout
    assert f"room for about {left} more queries" in details


def test_the_tightest_part_of_the_budget_says_how_many_are_left(run, run_json, shop, book):
    shop.rewrite("delta: 1e-6}", "delta: 1e-6, pure_epsilon: 1}")
    ledger = book()
    for _ in range(2):
        ledger.charge(statement(0.25, laplace=True), question={"text": "q"})
        ledger.charge(statement(), question={"text": "q"})
    assert run_json("budget", "--catalog", shop.catalog)["left"] == {
        "queries": 4,
        "like": 4,
        "until": "Laplace noise",
        "like_last": 338,
        "like_median": 2,
    }


def test_the_page_tells_the_last_question_from_the_median_one(run, shop, book):
    ledger, small = book(), statement()
    large = Charge((GaussianEvent(25 * PRICE, Fraction(1), 1, Fraction(2**48)),), 0.5, 1e-7)
    for charge in (small, small, small, large):
        ledger.charge(charge, question={"text": "q"})
    left = ledger.budget().questions_left
    assert (left.last, left.median) == (27, 682)
    expected = "left  about 27 more questions like the last one, 682 like the median one"
    assert expected in str(ledger.budget())
    assert expected in run("budget", "--catalog", shop.catalog).stdout
    for _ in range(left.last):
        ledger.charge(large, question={"text": "q"})
    with pytest.raises(BudgetError):
        ledger.charge(large, question={"text": "q"})


def test_a_number_of_queries_counts_down(run_json, shop):
    shop.rewrite("delta: 1e-6}", "delta: 1e-6, queries: 20}")
    for query in ("SELECT COUNT(*) FROM customers", "SELECT SUM(income) FROM customers"):
        run_json("query", query, *shop.options)
    actual = run_json("budget", "--catalog", shop.catalog)["left"]
    assert (actual["queries"], actual["like"]) == (18, 2)


def test_an_open_schedule_always_has_a_next_query(run, run_json, shop):
    shop.rewrite("delta: 1e-6}", "delta: 1e-6, schedule: open}")
    run_json("query", "SELECT COUNT(*) FROM customers", *shop.options)
    assert run_json("budget", "--catalog", shop.catalog)["left"]["queries"] is None
    assert "always room for another question" in run("budget", "--catalog", shop.catalog).stdout


def test_a_spent_budget_says_that_nothing_fits(run, shop, book):
    whole = Charge((GaussianEvent(Fraction(2, 5), Fraction(1), 1, Fraction(2**48)),), 2.9, 1e-7)
    book().charge(whole, question={"text": "q"})
    shown = run("budget", "--catalog", shop.catalog).stdout
    assert "left  no room for another question like the last one" in shown
    details = run("budget", "--catalog", shop.catalog, "--details").stdout
    assert "No query like the last one fits any more: Gaussian noise has run out." in details


def entries(times):
    events = [statement().events[0].to_dict()]
    charge = {"epsilon": 0.1, "delta": 1e-7, "events": events}
    return [HistoryEntry(number, time, "a", "q", charge, "answered") for number, time in enumerate(times, start=1)]


@pytest.mark.parametrize(
    ("times", "kind", "bars"),
    [
        ([f"2026-01-01T10:{minute:02}:00" for minute in range(14)], "charge", 14),
        ([f"2026-01-01T10:{minute:02}:{second:02}" for minute in range(5) for second in range(9)], "minute", 5),
        ([f"2026-01-01T{hour:02}:{minute:02}:00" for hour in range(9) for minute in range(9)], "hour", 9),
        ([f"2026-01-{day:02}T{hour:02}:00:00" for day in range(1, 15) for hour in range(24)], "day", 14),
        ([f"2026-{month:02}-{day:02}T10:00:00" for month in range(1, 13) for day in range(1, 29)], "month", 12),
        ([f"{year}-01-{day:02}T10:00:00" for year in range(2000, 2020) for day in range(1, 3)], "year", 20),
    ],
)
def test_spending_over_time_is_a_small_chart_within_eighty_columns(capsys, monkeypatch, times, kind, bars):
    monkeypatch.setenv("COLUMNS", "80")
    chart(entries(times), caps_for(0.3, 1e-6).cost)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith(f"Spending by {kind} (Gaussian noise")
    assert len(lines) == bars
    assert max(len(line) for line in lines) <= 80
    assert all("█" in line and "%" in line for line in lines)


def test_the_longest_bar_is_the_largest_spending(capsys):
    chart(entries([*["2026-01-01T10:00:00"] * 30, *["2026-01-02T10:00:00"] * 10]), caps_for(3.0, 1e-6).cost)
    first, second = capsys.readouterr().out.splitlines()[1:]
    assert first.count("█") == 24
    assert second.count("█") in {7, 8}
    assert first.split()[-2:] == ["4.22", "%"]
    assert second.split()[-2:] == ["5.63", "%"]
