"""Budget, history, dashboards, and the owner's pages, in a browser without a network."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

TYPED = ", and these while the page is changing"
WARDS = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


def paid(page, console):
    """The number of questions that everybody has paid for, as the owner's page says."""
    page.goto(f"{console.address}/budget")
    return page.locator(".hr-card", has_text="Paid questions").locator(".hr-figure").inner_text()


def open_answer(page, console, words="ward"):
    page.goto(f"{console.address}/history?q={words}")
    page.get_by_role("button", name=re.compile(r"Open question \d+, free")).first.click()
    page.wait_for_url("**/answer?**")
    page.get_by_role("cell", name="cardiology").wait_for()


def test_the_budget_is_told_in_questions_over_time_by_analyst_and_for_a_price(sign_in, console):
    page = sign_in("olga", "/budget")
    assert (
        int(page.locator(".hr-card", has_text="Questions left").locator(".hr-figure").inner_text().replace(",", ""))
        > 10
    )
    page.get_by_role("img", name="Used share of the budget from 0").wait_for()
    page.get_by_role("cell", name="ada", exact=True).wait_for()
    fitting = []
    share = page.get_by_text(re.compile(r"Each takes .* of the budget"))
    for price in ("0.11", "0.44"):
        share.wait_for()
        before = page.locator(".hr-said").text_content()
        page.get_by_label("at a price of epsilon").fill(price)
        expect(page.locator(".hr-said")).not_to_have_text(before)
        share.wait_for()
        fitting.append(int(re.search(r"([\d,]+) more fit", page.locator(".hr-said").inner_text())[1].replace(",", "")))
    assert fitting[0] > 2 * fitting[1] > 0
    newcomer = sign_in("ben", "/budget")  # who has paid for nothing, while others have
    newcomer.get_by_role("heading", name="You have paid for no question yet").wait_for()
    newcomer.get_by_text("known once you have paid for a question").wait_for()
    newcomer.get_by_text(re.compile("^0 of them by you; of a budget of epsilon")).wait_for()


def test_a_question_is_found_in_the_history_and_its_answer_has_an_address_with_the_same_digits(sign_in, console):
    page, owner, stranger = sign_in("ada"), sign_in("olga"), sign_in("eve")
    before = paid(owner, console)
    page.goto(f"{console.address}/history")
    page.get_by_label("Search questions").fill("ward nothing")
    page.get_by_text(re.compile("^0 of ")).wait_for()
    open_answer(page, console)
    digits = page.locator(".hr-answer-table").inner_text()
    assert "±" in digits
    owner.goto(page.url)
    owner.get_by_role("cell", name="cardiology").wait_for()
    assert owner.locator(".hr-answer-table").inner_text() == digits
    stranger.goto(page.url)
    stranger.get_by_text("This account has access to no dataset").wait_for()
    assert stranger.locator(".hr-answer-table").count() == 0
    assert paid(owner, console) == before


def test_tiles_are_arranged_shared_and_exported_into_a_file_that_needs_nothing(sign_in, console, browser, tmp_path):
    page, other = sign_in("ada"), sign_in("ben")
    for title in ("Visits", "Again <b>visits</b>"):
        open_answer(page, console)
        page.get_by_role("button", name="Add to a dashboard").first.click()
        page.get_by_label("Dashboard", exact=True).click()
        page.get_by_role("option", name="a new dashboard" if title == "Visits" else "<i>Wards</i>").click()
        if title == "Visits":
            page.get_by_label("Name of the new dashboard").fill("<i>Wards</i>")
        page.get_by_label("Title of the tile").fill(title)
        page.get_by_role("button", name="Add", exact=True).click()
        page.wait_for_url("**/dashboard?**")
    address = page.url
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Move before: Again").click()
    moved = page.locator(".hr-tile").first
    moved.get_by_role("button", name="Move behind: Again").wait_for()
    moved.get_by_role("textbox", name="Text").fill("Words <script>alert(1)</script>")
    moved.get_by_role("textbox", name="Title").focus()
    moved.get_by_label("Width", exact=True).click()
    page.get_by_role("option", name="full width").click()
    moved.get_by_role("textbox", name="Text").press("End")
    moved.get_by_role("textbox", name="Text").press_sequentially(TYPED, delay=15)
    expect(moved).to_have_class(re.compile("hr-w3"))
    expect(moved.get_by_role("textbox", name="Text")).to_have_value(f"Words <script>alert(1)</script>{TYPED}")
    page.get_by_role("button", name="Done").click()
    page.get_by_text("Words <script>alert(1)</script>").wait_for()
    assert page.locator(".hr-tile h3").all_inner_texts() == ["Again <b>visits</b>", "Visits"]
    other.goto(address)
    other.get_by_text("There is no such dashboard").wait_for()
    page.get_by_role("button", name="Share").click()
    page.get_by_text("shared with all").wait_for()
    other.goto(address)
    other.locator(".hr-tile svg").first.wait_for()
    assert other.get_by_role("button", name="Arrange").count() == 0
    with other.expect_download() as download:
        other.get_by_role("button", name="Export").click()
    file = tmp_path / "wards.html"
    download.value.save_as(file)
    check_export(browser, file)


def check_export(browser, file):
    """The file shows charts, numbers and texts offline and without scripts, and has none."""
    assert not re.search(r"<script|\son\w+=|(?:src|href)=", file.read_text(), re.IGNORECASE)
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("h1").inner_text() == "<i>Wards</i>"
    assert page.locator("section h2").all_inner_texts() == ["Again <b>visits</b>", "Visits"]
    assert page.locator("section").first.locator("p").first.inner_text() == f"Words <script>alert(1)</script>{TYPED}"
    assert page.locator("figure[aria-label] svg").count() == 2
    assert "±" in page.get_by_role("row", name="cardiology").first.inner_text()
    assert page.locator("caption").count() == page.locator("table").count() == 2
    context.close()


def edit(page, old, new):
    """Replace words in the editor of the catalog."""
    page.locator(".cm-content[aria-label]").wait_for()
    page.evaluate(
        """async ([old, fresh]) => {
            const view = await getElement(document.querySelector(".nicegui-codemirror").id.slice(1)).editorPromise;
            const at = view.state.doc.toString().indexOf(old);
            view.dispatch({changes: {from: at, to: at + old.length, insert: fresh}});
        }""",
        [old, new],
    )


def test_the_catalog_is_edited_with_its_faults_beside_the_lines_and_saved_with_a_numbered_copy(sign_in, console):
    page, file = sign_in("olga", "/catalog"), Path(console.folder) / "hospital.yaml"
    before = file.read_text()
    edit(page, "upper: 105", "upper: -105")
    page.locator(".hr-lens", has_text="is above").wait_for()
    line = 1 + before[: before.index("upper: 105")].count("\n")
    page.get_by_role("button", name=f"Go to line {line}", exact=True).wait_for()
    assert page.get_by_role("button", name="Save").is_disabled()
    edit(page, "upper: -105", "upper: 110")
    page.get_by_text("Nothing is wrong").wait_for()
    page.get_by_role("button", name="Check against the data").click()
    page.locator(".hr-level-good", has_text="verified").first.wait_for()
    page.locator(".cm-line .hr-lens-ok", has_text="verified").first.wait_for()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text(re.compile(r"\d+ of \d+ stored answers would still be given again")).wait_for()
    page.get_by_role("cell", name=WARDS).wait_for()
    edit(page, "upper: 110", "upper: 109")  # what was compared was about the text before
    page.get_by_role("cell", name=WARDS).wait_for(state="detached")
    edit(page, "upper: 109", "upper: 110")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved, and in force").wait_for()
    assert file.read_text() == before.replace("upper: 105", "upper: 110", 1)
    assert file.with_name("hospital.yaml.1").read_text() == before
    page.goto(f"{console.address}/explore")
    page.get_by_text("110").first.wait_for()


def test_fields_and_columns_are_completed_in_the_catalog(sign_in, console):
    page = sign_in("olga", "/catalog")
    page.get_by_label("Text of the catalog").press("Control+End")
    for typed, proposed, shown in (
        ("max_rows_p", "max_rows_per_group", "rows of one person"),
        ("nig", "nights", "visits"),
    ):
        page.keyboard.press("Enter")
        page.keyboard.type(typed)
        first = page.locator(".cm-tooltip-autocomplete li").first
        expect(first).to_contain_text(proposed)
        expect(first).to_contain_text(shown)
        page.keyboard.press("Escape")


def test_a_calibration_names_its_price_and_goes_into_the_text_that_keeps_its_comments(sign_in, console):
    page = sign_in("olga", "/catalog")
    assert page.get_by_label("Table").input_value() == "visits"  # nothing is left to find about patients
    page.get_by_text(re.compile("All of it takes at most epsilon 0.1 of the")).wait_for()
    page.get_by_label("Columns").click()
    page.get_by_role("option", name="nights").click()
    page.keyboard.press("Escape")
    page.get_by_label("For at most epsilon").fill("0.3")
    page.get_by_text(re.compile("All of it takes at most epsilon 0.3 of the")).wait_for()
    parts = page.get_by_role("region", name="What, Epsilon of the first look, At most")
    prices = [re.findall(r"0\.\d+", row) for row in parts.get_by_role("row").all_inner_texts()[1:]]
    assert len(prices) == 2  # nights, and the rows of one person
    assert all(0 < float(first) <= float(most) <= 0.3 for first, most in prices)
    page.get_by_role("button", name="Calibrate and pay").click()
    page.get_by_text(re.compile("Paid: epsilon 0.[23]")).wait_for()
    page.get_by_role("button", name="Put into the text").click()
    page.get_by_text("Changed, not saved.").wait_for()
    written = page.locator(".cm-content").inner_text()
    assert "calibrated" in written
    assert "#" in written
    page.goto(f"{console.address}/history?q=calibrate")
    page.get_by_text("it has no answer here").first.wait_for()
    assert page.get_by_role("button", name=", free").count() == 0


def test_accounts_are_added_capped_renewed_and_removed(sign_in, console):
    page = sign_in("olga", "/analysts")
    page.get_by_label("Name", exact=True).fill("zoe")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("These are shown once").wait_for()
    first = page.locator(".hr-notice code").all_inner_texts()
    page.get_by_label("Cap on epsilon of zoe").fill("0.7")
    page.get_by_role("button", name="Set the cap of zoe").click()
    page.get_by_text("zoe may spend epsilon 0.7").wait_for()
    assert re.search(r"zoe: *\{?epsilon: 0\.7", (Path(console.folder) / "hospital.yaml").read_text())
    page.get_by_role("button", name="New secrets for zoe").click()
    page.get_by_role("button", name="Yes").click()
    page.wait_for_function(f"!document.body.innerText.includes({first[1]!r})")
    page.get_by_text("These are shown once").wait_for()
    page.reload()
    page.get_by_role("button", name="Remove zoe").click()
    assert page.get_by_text("hr_").count() == 0
    page.get_by_role("button", name="Yes").click()
    page.get_by_role("button", name="Remove zoe").wait_for(state="detached")


def test_an_auditor_verifies_the_ledger_takes_it_along_and_asks_nothing(sign_in, console):
    page = sign_in("otto")
    page.wait_for_url(f"{console.address}/audit?dataset=hospital")
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("fit together").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    lines = download.value.path().read_text().splitlines()
    assert page.locator(".hr-hash").inner_text() in lines[-1]


@pytest.mark.parametrize("who", ["ada", "otto"])
def test_who_is_no_owner_gets_nothing_of_the_owners_pages(sign_in, who):
    for address in ("/catalog", "/analysts", "/plan"):
        page = sign_in(who, address)
        page.get_by_text("This page is not for your role.").wait_for()
        assert page.locator(".cm-content, .hr-account-row").count() == 0
