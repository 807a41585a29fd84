"""The page Ask in a browser: editor, completion, refusals with rewrites, price and error, answers, files, copies."""

import io
import os
import re
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from .oddities import GROUPS, SCRIPT

BY_REGION = "SELECT region, COUNT(*) AS n FROM patients GROUP BY region"
LATER = "() => { const now = Date.now; Date.now = () => now() + 100 }"
"""CodeMirror ignores Enter for a moment after a list has opened: here the moment is over."""


@pytest.fixture
def page(sign_in):
    """The page, with the price of its first question."""
    page = sign_in("ada")
    page.locator(".hr-price .hr-figure").first.wait_for()
    return page


def write(page, sql):
    """Replace the text of the editor."""
    page.locator(".cm-content[aria-label]").fill(sql)


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
    write(page, "SELECT COUNT(*) AS n, AVG(age) AS count FROM patients")
    expect(page.locator(".cm-content .hr-token-function")).to_have_text(["COUNT", "AVG"])


COMPLETIONS = (
    ("SELECT reg", "region", "text"),
    ("SELECT COUNT(*) FROM pati", "patients", "table"),
    ("SELECT QUANTILE", "QUANTILE", "(x, 0.9)"),
    ("SELECT COUNT(*) FROM patients WHERE region = 'isl", "'islands'", "region"),
    ("SELECT COUNT(*) FROM visits v WHERE v.diag", "diagnosis", "visits"),
    ("SELECT COUNT(*) FROM patients WHERE region = ", "'east'", "region"),
    ("SELECT COUNT(*) FROM patients WHERE region IN ('east', ", "'east'", "region"),
)
"""Typed text, its first proposal, and the words beside the proposal."""


def test_names_functions_and_keys_are_completed_from_the_catalog_with_their_types_and_arguments(page):
    page.get_by_label("SQL question").wait_for()
    for typed, proposed, shown in COMPLETIONS:
        write(page, typed)
        page.locator(".cm-content").press("Control+End")
        page.keyboard.press("Control+Space")
        first = page.locator(".cm-tooltip-autocomplete li").first
        expect(first).to_contain_text(proposed)
        expect(first).to_contain_text(shown)
        if proposed == "QUANTILE":
            expect(page.locator(".cm-completionInfo")).to_have_text("value that nine of ten do not exceed")
        page.evaluate(LATER)
        page.keyboard.press("Enter")
        expect(page.locator(".cm-content")).to_contain_text(proposed)
        expect(page.locator(".cm-tooltip-autocomplete")).to_have_count(0)


def test_completions_follow_what_is_typed_letter_by_letter(page):
    page.get_by_label("SQL question").wait_for()
    write(page, "")
    for typed, proposed in (
        ("select reg", "region"),
        (", cou", "COUNT"),
        ("*) AS n FRO", "FROM"),
        (" pati", "patients"),
        (" WHERE region = 'is", "'islands'"),
        (" gro", "GROUP BY"),
    ):
        page.keyboard.type(typed)
        expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text(proposed)
        page.evaluate(LATER)
        page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_have_text(
        "select region, COUNT(*) AS n FROM patients WHERE region = 'islands' GROUP BY"
    )


def test_a_refused_part_is_underlined_and_explained_and_one_click_rewrites_it(page):
    write(page, "/* \N{EVERGREEN TREE} */ SELECT AVG(agee) AS mean FROM patients")  # two units of UTF-16, one character
    page.get_by_text("There is no column 'agee'").wait_for()
    page.get_by_text("Did you mean 'age'?").wait_for()
    expect(page.locator(".cm-content .hr-refused")).to_have_text("agee")
    page.get_by_role("button", name="Rewrite").click()
    expect(page.locator(".cm-content")).to_contain_text("SELECT AVG(age) AS mean FROM patients")
    expect(price(page)).to_contain_text("of the budget")
    expect(page.locator(".cm-content .hr-refused")).to_have_count(0)


def test_other_refusals_are_rewritten_in_one_click(page):
    for sql, better in (
        ("SELECT * FROM patients", "SELECT COUNT(*) FROM patients"),
        ("SELECT sex, COUNT(*) FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"),
    ):
        write(page, sql)
        page.locator(".hr-rewrite", has_text=better).wait_for()
        page.get_by_role("button", name="Rewrite").click()
        expect(page.locator(".cm-content")).to_have_text(better)


def test_price_and_error_follow_the_text(page):
    write(page, "SELECT COUNT(*) AS several FROM patients WHERE age > 17")
    expect(price(page)).to_contain_text("epsilon 0.2")
    expect(errors(page)).to_contain_text("several")
    expect(errors(page)).to_contain_text("in a group of 1,000 rows")
    expect(groups(page)).to_contain_text("everybody together")
    page.get_by_text("The whole quote").click()
    expect(page.locator(".hr-details")).to_contain_text("several")
    write(page, "SELECT COUNT(*) AS fewer FROM patients WHERE age > 99")
    expect(page.locator(".hr-details")).to_contain_text("fewer")
    expect(page.locator(".hr-details[open]")).to_have_count(1)  # what was unfolded stays


def test_the_groups_of_an_answer_are_foreseen(page):
    write(page, BY_REGION)
    expect(groups(page)).to_contain_text("islands")
    write(page, "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis")
    expect(groups(page)).to_contain_text(re.compile("Values of diagnosis appear from about [0-9,]+ people on"))
    write(page, "SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS n FROM visits GROUP BY 1")
    expect(groups(page)).to_contain_text("Values of month appear")


def test_smaller_groups_are_shown_where_a_person_counts_in_fewer(page):
    write(page, "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis")
    expect(groups(page)).to_contain_text("Values of diagnosis appear")
    usual = re.search("about [0-9,]+ people", groups(page).inner_text())[0]
    page.get_by_label("groups of one person").select_option("1 at most")
    expect(groups(page)).not_to_contain_text(usual)
    fewer = re.search("about [0-9,]+ people", groups(page).inner_text())[0]
    usual_people, fewer_people = (int(re.sub("[^0-9]", "", said)) for said in (usual, fewer))
    assert fewer_people < usual_people
    page.get_by_label("groups of one person").select_option("as declared")
    expect(groups(page)).to_contain_text(usual)


@pytest.mark.parametrize(("unit", "wanted"), [("the value's unit", "500"), ("% of the value", "5")])
def test_a_wanted_error_becomes_a_price_and_a_price_an_error(page, unit, wanted):
    write(page, "SELECT COUNT(*) AS many FROM patients WHERE age > 50")
    expect(errors(page)).to_contain_text("many")
    epsilon, error = page.get_by_label("epsilon", exact=True), page.get_by_label("wanted error ±")
    slider = page.get_by_role("slider")
    page.get_by_label("error in").select_option(unit)
    page.get_by_label("in groups of").select_option("10000")
    expect(error).to_have_value("46.4" if unit == "the value's unit" else "0.464")
    error.fill(wanted)
    expect(epsilon).to_have_value("0.0166")  # 500 are 5 % of 10,000
    price_before = slider.input_value()
    slider.fill("80")
    expect(error).not_to_have_value(wanted)
    assert 0 < float(error.input_value()) < float(wanted) / 5
    assert slider.input_value() != price_before
    page.get_by_role("button", name="Usual price").click()
    expect(epsilon).to_have_value("0.2")


def test_ctrl_enter_asks_and_the_same_question_is_free_afterwards(page):
    write(page, "SELECT smoker, COUNT(*) AS n FROM patients GROUP BY smoker")
    expect(price(page)).to_contain_text("epsilon 0.2")
    page.locator(".cm-content").press("Control+Enter")
    expect(price(page)).to_contain_text("paid for already")


def test_a_running_question_shows_progress_and_is_stopped(sign_in):
    page = sign_in("ada", "/?dataset=oddities&sql=SELECT%20SUM(x)%20AS%20s%20FROM%20endless")
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
    chart = page.get_by_role("figure", name="Chart of n with error bars")
    expect(chart.locator("path title", has_text="region: islands; n:").first).to_contain_text("interval: [")
    expect(chart.locator('[role=graphics-symbol][aria-label^="region: islands; n:"]')).to_have_count(1)
    page.get_by_role("tab", name="Text").click()
    page.get_by_text("┃ region").wait_for()
    expect(page.get_by_role("list", name="Notes")).to_contain_text("usually held back")


def test_the_chart_takes_its_form_from_the_type_of_the_key(page):
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("tab", name="Chart").click()
    for number, (key, drawn) in enumerate(
        (("diagnosis", "rect"), ("DATE_TRUNC('month', admitted)", "line"), ("FLOOR(nights / 5) * 5", "symbol"))
    ):
        write(page, f"SELECT {key} AS k, COUNT(*) AS n{number} FROM visits GROUP BY 1 ORDER BY 1")
        page.get_by_role("button", name="Ask").click()
        chart = page.get_by_role("figure", name=f"Chart of n{number} with error bars")
        chart.locator(f".mark-{drawn}").first.wait_for(state="attached")
        assert chart.locator(".mark-rule").count() > 0
        others = {"rect", "line"} - {drawn}
        assert [name for name in others if chart.locator(f".mark-{name}[role=graphics-object] path").count()] == []


def test_rows_are_sorted_by_a_click_on_a_heading(page):
    asked(page, BY_REGION)
    first = page.locator(".hr-answer-table tbody tr").first
    page.get_by_role("button", name="n", exact=True).click()
    expect(first).to_contain_text("islands")
    expect(page.get_by_role("button", name="n ↑")).to_be_focused()
    page.keyboard.press("Enter")
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


PROGRAMS = {"Python": (sys.executable, "-c"), "curl": ("bash", "-c")}


def copied(page, name):
    """Copy the question as code, and return the code."""
    page.get_by_role("button", name=f"Copy as {name}").click()
    page.get_by_text(f"Copied as {name}.").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def printed(console, *command):
    """Return what a program of ada's prints."""
    environ = {"PATH": os.environ["PATH"], "HEDGEROW_TOKEN": console.tokens["ada"]}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout  # noqa: S603


def test_a_question_is_copied_with_its_options_as_code_that_gives_the_same_answer(page, console):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    write(page, BY_REGION)
    expect(groups(page)).to_contain_text("islands")
    page.get_by_label("epsilon", exact=True).fill("0.37")
    expect(price(page)).to_contain_text("epsilon 0.37")
    page.get_by_role("button", name="Ask").click()
    islands = page.locator(".hr-answer-table tbody tr", has_text="islands").locator("td").nth(1)
    shown = islands.inner_text().split()[0]
    assert copied(page, "SQL") == BY_REGION
    for language, program in PROGRAMS.items():
        code = copied(page, language)
        assert "0.37" in code
        said = printed(console, *program, code)
        assert "islands" in said
        assert shown in said or shown.replace(",", "") in said


def test_a_question_with_parameters_is_copied_and_edited_with_their_values(sign_in, console):
    page = sign_in("ada", "/history?q=old")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=", free").last.click()
    shown = page.locator(".hr-answer-table tbody td").first.inner_text().split()[0]
    for language, program in PROGRAMS.items():
        said = printed(console, *program, copied(page, language))
        assert shown in said or shown.replace(",", "") in said
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The address of this answer is copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Open in the editor").click()
    expect(page.locator(".cm-content")).to_contain_text("WHERE age > 64 AND region <> 'it''s'")
    expect(price(page)).to_contain_text("paid for already")


def test_a_price_stays_within_what_the_owner_allows_one_question(sign_in):
    page = sign_in("ada", "/?dataset=oddities&sql=SELECT%20COUNT(*)%20AS%20n%20FROM%20many")
    expect(price(page)).to_contain_text("epsilon 0.5")
    page.get_by_label("wanted error ±").fill("90")
    expect(page.get_by_label("epsilon", exact=True)).not_to_have_value("0.5")
    expect(price(page)).to_contain_text("of the budget: epsilon")
    page.get_by_role("slider").fill("100")
    expect(page.get_by_label("epsilon", exact=True)).to_have_value("2")
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "epsilon 2")
    expect(price(page)).to_contain_text("of the budget: epsilon 2")


def test_where_the_catalog_sets_the_price_nobody_is_asked_for_one(sign_in, console):
    page = sign_in("ada", "/?dataset=counted&sql=SELECT%20COUNT(*)%20AS%20n%20FROM%20many")
    expect(price(page)).to_contain_text("of the budget: epsilon")
    expect(page.get_by_role("slider")).not_to_be_visible()
    expect(page.get_by_label("epsilon", exact=True)).not_to_be_visible()
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".hr-answer-table .hr-bar")).to_have_count(1)
    page.goto(f"{console.address}/budget?dataset=counted")
    page.get_by_text("Each takes").wait_for()
    expect(page.get_by_label("at a price of epsilon")).not_to_be_visible()


def test_typing_goes_on_while_a_refusal_of_the_text_before_is_on_its_way(page):
    page.evaluate(
        """async () => {
            const view = await getElement(document.querySelector(".nicegui-codemirror").id.slice(1)).editorPromise;
            const end = () => view.state.doc.length;
            view.dispatch({changes: {from: 0, to: end(), insert: "SELECT AVG(agee) FROM patients"}});
            const send = window.socket.emit, held = [];
            window.socket.emit = (...message) => { held.push(message) };
            view.dispatch({changes: {from: end(), insert: " WHERE age > 17"}});
            window.release = () => { window.socket.emit = send; held.forEach((one) => window.socket.emit(...one)) };
        }"""
    )
    page.get_by_text("There is no column 'agee'").wait_for()
    page.evaluate("window.release()")
    expect(page.locator(".cm-content .hr-refused")).to_have_text("agee")
    expect(page.locator(".cm-content")).to_have_text("SELECT AVG(agee) FROM patients WHERE age > 17")


@pytest.mark.parametrize(("address", "width"), [("", 400), ("", 1280), ("explore", 1280), ("explore", 1920)])
def test_nothing_moves_when_an_answer_arrives(sign_in, address, width):
    page = sign_in("ada", f"/{address}")
    page.set_viewport_size({"width": width, "height": 1080})
    if address:
        page.get_by_label("By", exact=True).select_option("sex")
    else:
        write(page, f"SELECT region, COUNT(*) AS at_{width} FROM patients WHERE age > {width // 40} GROUP BY region")
    expect(groups(page) if address else errors(page)).to_contain_text("sex" if address else f"at_{width}")
    places = [page.get_by_role("button", name="Ask"), page.locator(".hr-answer-place"), page.locator(".hr-price")]
    places[0].scroll_into_view_if_needed()
    page.evaluate("""() => {
        window.shifts = [];
        new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map((entry) => entry.value)))
            .observe({ type: "layout-shift" });
    }""")
    before = [place.bounding_box() for place in places]
    page.get_by_role("button", name="Ask").click()
    page.locator(".hr-answer-place svg" if address else ".hr-answer-table").first.wait_for()
    expect(price(page)).to_contain_text("Free")
    after = [place.bounding_box() for place in places]
    assert [(box["x"], box["y"]) for box in before] == [(box["x"], box["y"]) for box in after]
    assert sum(page.evaluate("window.shifts")) < 0.02


def test_a_thousand_rows_are_shown_page_by_page(sign_in):
    page = sign_in("ada", "/?dataset=oddities")
    page.locator(".hr-price .hr-figure").first.wait_for()
    asked(page, "SELECT g, COUNT(*) AS n FROM many GROUP BY g ORDER BY g")
    page.get_by_text(f"1 to 100 of {GROUPS:,}").wait_for()
    page.get_by_role("button", name="Next rows").click()
    page.get_by_text(f"101 to 200 of {GROUPS:,}").wait_for()
    page.get_by_role("cell", name="100", exact=True).wait_for()


def test_text_of_data_and_catalog_is_never_taken_for_html(sign_in, console):
    page = sign_in("ada", "/explore?dataset=oddities")
    expect(page.get_by_role("heading", name=SCRIPT)).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "Explore · hedgerow"
    page.goto(f"{console.address}/?dataset=oddities")
    expect(page.locator(".cm-content")).to_contain_text(SCRIPT)
    name = f'"{SCRIPT}"'
    asked(page, f"SELECT {name}, COUNT(*) AS {name} FROM {name} GROUP BY {name}".replace("AS " + name, 'AS "<b>n</b>"'))
    page.get_by_role("cell", name=SCRIPT, exact=True).wait_for()
    page.get_by_role("tab", name="Chart").click()
    page.get_by_role("figure", name="Chart of").wait_for()
    write(page, f'SELECT "{SCRIPT}x" FROM {name}')
    page.get_by_text("There is no column").wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "Ask · hedgerow"
    page.goto(f"{console.address}/history?dataset=oddities")
    expect(page.locator(".hr-history")).to_contain_text(SCRIPT)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "History · hedgerow"
