"""The page Ask in a browser: editor, completion, refusals with rewrites, price and error, answers, files, copies."""

import io
import re

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from .oddities import GROUPS, SCRIPT

BY_REGION = "SELECT region, COUNT(*) AS n FROM patients GROUP BY region"


@pytest.fixture
def page(sign_in):
    """The page, with the price of its first question."""
    page = sign_in("ada")
    page.locator(".hr-price .hr-figure").first.wait_for()
    return page


def write(page, sql):
    """Replace the text of the editor."""
    page.locator(".cm-content").fill(sql)


def price(page):
    return page.locator(".hr-price-part").nth(0)


def errors(page):
    return page.locator(".hr-price-part").nth(1)


def groups(page):
    return page.locator(".hr-price-part").nth(2)


def asked(page, sql):
    """Ask a question, and wait for the answer."""
    write(page, sql)
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("tab", name="Table").wait_for()
    expect(page.get_by_role("button", name="Ask")).to_be_enabled()


def test_a_first_visit_leads_to_an_answer_in_one_click(page):
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("cell", name="islands").wait_for()
    assert "±" in page.locator(".hr-answer-table").inner_text()


def test_sql_is_highlighted(page):
    expect(page.locator(".hr-token-keyword").first).to_have_text("SELECT")


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("SELECT reg", "region"),
        ("SELECT COUNT(*) FROM pati", "patients"),
        ("SELECT QUAN", "QUANTILE"),
        ("SELECT COUNT(*) FROM patients WHERE region = 'isl", "'islands'"),
        ("SELECT COUNT(*) FROM visits v WHERE v.diag", "diagnosis"),
    ],
)
def test_names_functions_and_keys_are_completed_from_the_catalog(page, typed, proposed):
    write(page, "")
    page.locator(".cm-content").press_sequentially(typed[:-1])
    page.wait_for_timeout(300)  # the list follows what is typed after it has opened
    page.locator(".cm-content").press_sequentially(typed[-1])
    first = page.locator(".cm-tooltip-autocomplete li").first
    expect(first).to_contain_text(proposed)
    page.wait_for_timeout(100)  # CodeMirror ignores Enter for a moment after the list has opened
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_contain_text(proposed)


def test_a_refused_part_is_underlined_and_explained_and_one_click_rewrites_it(page):
    write(page, "SELECT AVG(agee) AS mean FROM patients")
    page.get_by_text("There is no column 'agee'").wait_for()
    page.get_by_text("Did you mean 'age'?").wait_for()
    expect(page.locator(".cm-content .hr-refused")).to_have_text("agee")
    page.get_by_role("button", name="Write it so").click()
    expect(page.locator(".cm-content")).to_have_text("SELECT AVG(age) AS mean FROM patients")
    expect(price(page)).to_contain_text("of the budget")
    expect(page.locator(".cm-content .hr-refused")).to_have_count(0)


@pytest.mark.parametrize(
    ("sql", "better"),
    [
        ("SELECT * FROM patients", "SELECT COUNT(*) FROM patients"),
        ("SELECT sex, COUNT(*) FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"),
    ],
)
def test_other_refusals_are_rewritten_in_one_click(page, sql, better):
    write(page, sql)
    page.get_by_role("button", name="Write it so").click()
    expect(page.locator(".cm-content")).to_have_text(better)


def test_price_and_error_follow_the_text(page):
    write(page, "SELECT COUNT(*) AS several FROM patients WHERE age > 17")
    expect(price(page)).to_contain_text("epsilon 0.2")
    expect(errors(page)).to_contain_text("several")
    expect(groups(page)).to_contain_text("everybody together")


def test_the_groups_of_an_answer_are_foreseen(page):
    write(page, BY_REGION)
    expect(groups(page)).to_contain_text("islands")
    write(page, "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis")
    expect(groups(page)).to_contain_text(re.compile("Values of diagnosis appear from about [0-9,]+ people on"))


def test_a_wanted_error_becomes_a_price_and_a_price_an_error(page):
    write(page, "SELECT COUNT(*) AS n FROM patients WHERE age > 50")
    expect(price(page)).to_contain_text("epsilon 0.2.")
    epsilon, error = page.get_by_label("epsilon", exact=True), page.get_by_label("wanted error ±")
    slider = page.get_by_role("slider")
    before = float(slider.input_value())
    error.fill("500")
    expect(epsilon).not_to_have_value("0.2")
    assert float(epsilon.input_value()) < 0.1
    expect(slider).not_to_have_value(f"{before:.0f}")
    slider.fill("80")
    expect(error).not_to_have_value("500")
    assert float(error.input_value()) < 100
    page.get_by_role("button", name="Usual price").click()
    expect(epsilon).to_have_value("0.2")


def test_ctrl_enter_asks_and_the_same_question_is_free_afterwards(page):
    write(page, "SELECT smoker, COUNT(*) AS n FROM patients GROUP BY smoker")
    expect(price(page)).to_contain_text("epsilon 0.2")
    page.locator(".cm-content").press("Control+Enter")
    expect(price(page)).to_contain_text("paid for already")


def test_a_running_question_shows_progress_and_is_stopped(page, console):
    page.goto(f"{console.address}/?dataset=oddities&sql=SELECT%20SUM(x)%20AS%20s%20FROM%20endless")
    expect(price(page)).to_contain_text("epsilon 0.5")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("was cancelled").wait_for()
    expect(page.get_by_role("progressbar")).not_to_be_visible()
    expect(page.get_by_text("stays charged")).to_be_visible()


def test_an_answer_is_shown_as_table_chart_and_text(page):
    asked(page, BY_REGION)
    cell = page.locator(".hr-answer-table tbody tr").first.locator("td").nth(1)
    expect(cell).to_contain_text("±")
    expect(cell.locator(".hr-bar-interval")).to_have_count(1)
    page.get_by_role("tab", name="Chart").click()
    expect(page.get_by_role("img", name="Chart of n with error bars").locator("svg")).to_be_visible()
    page.get_by_role("tab", name="Text").click()
    page.get_by_text("┃ region").wait_for()
    expect(page.get_by_role("list", name="Notes")).to_contain_text("usually held back")


def test_rows_are_sorted_by_a_click_on_a_heading(page):
    asked(page, BY_REGION)
    first = page.locator(".hr-answer-table tbody tr").first
    page.get_by_role("button", name="n", exact=True).click()
    expect(first).to_contain_text("islands")
    page.get_by_role("button", name="n ↑").click()
    expect(first).not_to_contain_text("islands")


def test_an_answer_is_downloaded(page):
    asked(page, BY_REGION)
    content = {}
    for name in ("CSV", "Parquet", "PNG", "SVG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        content[name] = download.value.path().read_bytes()
    assert b"n_lower" in content["CSV"]
    assert "n_upper" in pq.read_table(io.BytesIO(content["Parquet"])).column_names
    assert content["PNG"].startswith(b"\x89PNG")
    assert content["SVG"].startswith(b"<svg")


def test_a_question_is_copied_as_sql_python_and_curl(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked(page, BY_REGION)
    for name, words in (("SQL", "SELECT region"), ("Python", "hr.connect("), ("curl", "curl http://")):
        page.get_by_role("button", name=f"Copy as {name}").click()
        page.get_by_text(f"Copied as {name}.").wait_for()
        assert words in page.evaluate("navigator.clipboard.readText()")


def test_nothing_moves_when_an_answer_arrives(page):
    write(page, "SELECT region, COUNT(*) AS n FROM patients WHERE age > 33 GROUP BY region")
    expect(price(page)).to_contain_text("of the budget")
    page.evaluate("""() => {
        window.shifts = [];
        new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map((entry) => entry.value)))
            .observe({ type: "layout-shift" });
    }""")
    places = [page.get_by_role("button", name="Ask"), page.locator(".hr-answer-place"), page.locator(".hr-price")]
    before = [place.bounding_box() for place in places]
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("cell", name="islands").wait_for()
    after = [place.bounding_box() for place in places]
    assert [(box["x"], box["y"]) for box in before] == [(box["x"], box["y"]) for box in after]
    assert sum(page.evaluate("window.shifts")) < 0.02


def test_a_thousand_rows_are_shown_page_by_page(page, console):
    page.goto(f"{console.address}/?dataset=oddities")
    page.locator(".hr-price .hr-figure").first.wait_for()
    asked(page, "SELECT g, COUNT(*) AS n FROM many GROUP BY g ORDER BY g")
    page.get_by_text(f"1 to 100 of {GROUPS:,}").wait_for()
    page.get_by_role("button", name="Next rows").click()
    page.get_by_text(f"101 to 200 of {GROUPS:,}").wait_for()
    page.get_by_role("cell", name="100", exact=True).wait_for()


def test_text_of_data_and_catalog_is_never_taken_for_html(page, console):
    for address in ("/?dataset=oddities", "/explore?dataset=oddities", "/history?dataset=oddities"):
        page.goto(f"{console.address}{address}")
        page.wait_for_timeout(500)
        assert page.locator("img[src=x]").count() == 0
        assert page.title().endswith("· hedgerow")
    page.goto(f"{console.address}/?dataset=oddities")
    name = f'"{SCRIPT}"'
    asked(page, f"SELECT {name}, COUNT(*) AS {name} FROM {name} GROUP BY {name}".replace("AS " + name, 'AS "<b>n</b>"'))
    page.get_by_role("cell", name=SCRIPT, exact=True).wait_for()
    page.get_by_role("tab", name="Chart").click()
    page.get_by_role("img", name="Chart of").wait_for()
    write(page, f'SELECT "{SCRIPT}x" FROM {name}')
    page.get_by_text("There is no column").wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "Ask · hedgerow"
