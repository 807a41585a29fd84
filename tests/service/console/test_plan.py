"""The page Plan in a browser without a network."""

import re

PLAN = '''[[report]]
name = "quarterly"
times = 4
epsilon = 0.2
sql = """
-- name: wards
SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward;
"""
'''


def share_of_all(page):
    return float(page.get_by_text(re.compile(r"takes? [\d.]+%")).first.inner_text().split("%")[0].split()[-1])


def test_an_owner_sees_the_budget_that_a_year_takes_and_the_errors_that_a_budget_allows(sign_in, console):
    page = sign_in("olga", "/budget")
    before = page.locator(".hr-card", has_text="Paid questions").locator(".hr-figure").inner_text()
    page.get_by_role("link", name="Plan").click()
    page.get_by_label("Plan", exact=True).fill(PLAN)
    page.get_by_role("button", name="Find the budget").click()
    page.get_by_role("cell", name="quarterly").first.wait_for()
    assert page.get_by_text("The plan needs a budget of epsilon").count() == 1
    assert 0 < share_of_all(page) < 100
    page.get_by_label("Budget to compare with").fill("2")
    page.get_by_role("button", name="Find the errors").click()
    page.get_by_text("Prices are fitted to epsilon 2").wait_for()
    assert share_of_all(page) > 99
    page.get_by_label("Budget to compare with").fill("-3.5")
    page.get_by_role("button", name="Find the budget").click()
    page.get_by_text("epsilon must lie between").wait_for()
    page.get_by_label("Budget to compare with").fill("")
    page.get_by_label("Plan", exact=True).fill("[[report]]\nfile = '/etc/passwd'")
    page.get_by_role("button", name="Find the budget").click()
    page.get_by_role("alert").wait_for()
    page.goto(f"{console.address}/budget")
    assert page.locator(".hr-card", has_text="Paid questions").locator(".hr-figure").inner_text() == before
