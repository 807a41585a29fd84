"""The page Explore in a browser: tables and columns, and a builder for people who do not write SQL."""

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def page(sign_in, console):
    page = sign_in("ada", "/explore")
    page.get_by_text("Build a question").wait_for()
    return page


def test_somebody_without_sql_gets_from_the_start_page_to_a_chart_with_error_bars(sign_in):
    page = sign_in("ada")
    page.get_by_role("link", name="Build one without SQL").click()
    page.get_by_label("Show", exact=True).select_option("average of age")
    page.get_by_label("By", exact=True).select_option("smoker")
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_label("Where", exact=True).select_option("age")
    page.get_by_label("Comparison", exact=True).select_option("is at least")
    page.get_by_label("Value", exact=True).fill("18")
    expect(page.locator(".hr-price-part").first).to_contain_text("of the budget")
    page.get_by_role("button", name="Ask").click()
    chart = page.get_by_role("figure", name="Chart of average_age with error bars")
    chart.locator("svg .mark-rule").first.wait_for(state="attached")
    expect(chart.locator("svg")).to_contain_text("95 % intervals")


def test_ctrl_enter_asks_from_any_control(page):
    page.get_by_label("By", exact=True).select_option("cover")
    expect(page.locator(".hr-price-part").first).to_contain_text("of the budget")
    page.get_by_label("By", exact=True).press("Control+Enter")
    page.get_by_role("figure", name="Chart of n with error bars").wait_for()


def test_the_builder_shows_the_sql_it_makes_and_takes_it_to_the_editor(page):
    sql = page.get_by_label("SQL", exact=True)
    expect(sql).to_have_text("SELECT region, COUNT(*) AS n\nFROM patients\nGROUP BY 1\nORDER BY 1")
    page.get_by_label("From", exact=True).select_option("visits")
    page.get_by_label("Show", exact=True).select_option("total of cost")
    page.get_by_label("By", exact=True).select_option("admitted, by year")
    expect(sql).to_contain_text("SELECT EXTRACT(year FROM admitted) AS year, SUM(cost) AS total_cost")
    page.get_by_label("By", exact=True).select_option("everybody together")
    page.get_by_role("button", name="Add a filter").click()
    page.get_by_label("Where", exact=True).focus()
    page.get_by_label("Where", exact=True).select_option("ward")
    value = page.locator('input[aria-label="Value"]:not([type="number"])')  # drawn anew for a column of text
    value.wait_for()
    expect(page.get_by_label("Where", exact=True)).to_be_focused()
    value.fill("it's")
    expect(sql).to_have_text("SELECT SUM(cost) AS total_cost\nFROM visits\nWHERE ward = 'it''s'")
    page.get_by_role("button", name="Remove this filter").click()
    expect(sql).to_have_text("SELECT SUM(cost) AS total_cost\nFROM visits")
    expect(page.get_by_role("button", name="Add a filter")).to_be_focused()
    page.get_by_role("button", name="Edit as SQL").click()
    expect(page.locator(".cm-content")).to_contain_text("SELECT SUM(cost) AS total_cost")


def test_tables_are_shown_with_comments_bounds_and_declared_values(page, console):
    patients = page.get_by_role("region", name="Columns of patients")
    expect(patients.get_by_role("row").filter(has_text="age")).to_contain_text(
        re.compile("0 to 1(05|10)")  # the owner's tests change it
    )
    expect(patients.get_by_role("row").filter(has_text="region")).to_contain_text("islands")
    expect(page.get_by_label("Table wards")).to_contain_text("public: exact and free")
    page.goto(f"{console.address}/explore?dataset=oddities")
    page.get_by_text("seven and less").wait_for()
    page.get_by_text("and 960 more").wait_for()


def test_an_auditor_sees_tables_and_no_builder(sign_in, console):
    page = sign_in("otto", "/explore")
    page.get_by_role("region", name="Columns of patients").wait_for()
    assert page.get_by_text("Build a question").count() == 0
