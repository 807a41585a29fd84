"""The console for everybody: axe on every page in light and dark, the keyboard alone, screens from phone to 4K."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from hedgerow.service.console.listener import PAGES

SERIOUS = {"moderate", "serious", "critical"}
QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY region"


CONTRAST = {"runOnly": ["color-contrast", "link-in-text-block"], "resultTypes": ["violations"]}
"""The checks whose results may differ between light and dark."""


def findings(page):
    """Return what axe finds on a page in light and in dark, without what it calls minor."""
    responses = [Axe().run(page, options={"resultTypes": ["violations"]}).response]
    page.emulate_media(color_scheme="dark")
    page.locator("body.body--dark").wait_for()
    responses.append(page.evaluate("(options) => axe.run(document, options)", CONTRAST))
    page.emulate_media(color_scheme="light")
    page.locator("body:not(.body--dark)").wait_for()
    return [
        (finding["id"], finding["help"], [node["html"][:200] for node in finding["nodes"][:3]])
        for response in responses
        for finding in response["violations"]
        if finding["impact"] in SERIOUS
    ]


UNREACHABLE = """() => [...document.querySelectorAll("button, a, input, select, textarea, summary, [onclick]")]
    .filter((control) => control.checkVisibility() && !control.disabled && !control.closest("[role=tablist]"))
    .filter((control) => control.tabIndex < 0)
    .map((control) => control.outerHTML.slice(0, 200))"""
"""Controls that the Tab key does not lead to. Tabs are one stop for all of them, and arrow keys lead from one on."""

NAMES = """(element) => [element.getAttribute("aria-label"), element.labels?.[0]?.innerText, element.innerText]
    .filter(Boolean).flatMap((name) => name.split("\\n")).map((name) => name.trim())"""
"""Names of a control: for screen readers, of its label, and each line of its text; an icon is a line of its own."""

IS_THERE = f"""(name) => [...document.querySelectorAll("a, button, input, select, textarea, .cm-content")]
    .some((element) => element.checkVisibility() && ({NAMES})(element).includes(name))"""

TAB_STOP = f"""() => {{
    const element = document.activeElement;
    return [element.matches(".cm-content"), element.matches("[tabindex='-1']") ? [] : ({NAMES})(element)];
}}"""
"""True in an editor, which takes Tab for itself until Escape, and the names of the control that has the focus."""


IS_DRAWN = """() => window.did_handshake
    && [...document.querySelectorAll(".hr-price-content, .hr-said")].every((place) => place.childElementCount)
    && [...document.querySelectorAll(".hr-editor")].every((part) => part.querySelector(".cm-content[aria-label]"))"""
"""True once a page has its connection, and prices and an editor where there are any."""


def opened(page, console, address):
    """Open a page, and wait until it is drawn."""
    page.goto(f"{console.address}{address}")
    return drawn(page)


def drawn(page):
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_function(IS_DRAWN)
    return page


def tab_to(page, name):
    """Wait until a control is on the page, and press Tab until it has the focus. Escape leaves an editor."""
    page.wait_for_function(IS_THERE, arg=name)
    in_editor, _ = page.evaluate(TAB_STOP)
    for _ in range(80):
        if in_editor:
            page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        in_editor, names = page.evaluate(TAB_STOP)
        if name in names:
            return
    raise AssertionError(f"Tab does not lead to {name}.")


def press(page, name):
    """Go to a control with Tab, and press it with Enter."""
    tab_to(page, name)
    page.keyboard.press("Enter")


def type_into(page, name, text):
    """Go to a field with Tab, and replace what is in it."""
    tab_to(page, name)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


@pytest.fixture
def calm(sign_in):
    """A function that signs in where colours change at once, so that axe meets no colour in between."""

    def enter(name, address="/"):
        return drawn(sign_in(name, address, color_scheme="light", reduced_motion="reduce"))

    return enter


def test_axe_finds_nothing_serious_on_any_page_and_tab_leads_to_every_control(calm, console):
    page = calm("olga")
    by_page = {}
    for title, information in PAGES.items():
        opened(page, console, information.address)
        by_page[title] = [*findings(page), *page.evaluate(UNREACHABLE)]
    assert {title: said for title, said in by_page.items() if said} == {}


def test_axe_finds_nothing_serious_in_what_a_question_leads_to(calm, console):
    page, by_state = calm("olga"), {}
    page.locator(".cm-content").fill(QUESTION)
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("cell", name="islands").wait_for()
    by_state["table"] = findings(page)
    page.get_by_role("tab", name="Chart").click()
    page.get_by_role("figure", name="Chart of").wait_for()
    by_state["chart"] = findings(page)
    page.locator(".cm-content").fill("SELECT AVG(agee) FROM patients")
    page.get_by_role("button", name="Rewrite").wait_for()
    by_state["refusal"] = findings(page)
    opened(page, console, "/history?q=ward")
    page.get_by_role("button", name=", free").first.click()
    page.get_by_role("cell", name="cardiology").wait_for()
    by_state["kept answer"] = findings(page)
    page.get_by_role("button", name="Add to a dashboard").click()
    page.get_by_label("Name of the new dashboard").fill("Looked at")
    by_state["dialog"] = findings(page)
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/dashboard?**")
    page.locator(".hr-tile svg").first.wait_for()
    by_state["dashboard"] = findings(page)
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Done").wait_for()
    by_state["arranged"] = findings(page)
    assert {state: said for state, said in by_state.items() if said} == {}


def test_axe_finds_nothing_serious_on_the_form_that_signs_in(browser, console):
    page = browser.new_page()
    page.goto(f"{console.address}/sign-in")
    page.fill("#name", "nobody")
    page.fill("#password", "wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    said = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        said += Axe().run(page).response["violations"]
    page.close()
    assert said == []


def test_an_analyst_uses_every_page_by_keyboard_alone(sign_in, console):
    page = drawn(sign_in("ada"))
    page.locator(".hr-price .hr-figure").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "SQL question"
    press(page, "Ask")
    page.get_by_role("cell", name="islands").wait_for()
    opened(page, console, "/explore")
    tab_to(page, "By")
    page.keyboard.press("ArrowDown")
    press(page, "Ask")
    page.get_by_role("figure", name="Chart of n").wait_for()
    opened(page, console, "/budget")
    type_into(page, "at a price of epsilon", "0.31")
    page.get_by_text("Each takes").wait_for()
    opened(page, console, "/history")
    type_into(page, "Search questions, analysts and days", "ward")
    page.get_by_text(re.compile("^[0-9]+ of ")).wait_for()
    press(page, page.get_by_role("button", name=", free").first.get_attribute("aria-label"))
    page.wait_for_url("**/answer?**")
    press(page, "Add to a dashboard")
    press(page, "Dashboard")
    page.get_by_role("option", name="a new dashboard").wait_for()
    for key in ("ArrowUp", "ArrowUp", "Enter"):  # from the first to none, and from there to the last: a new one
        page.keyboard.press(key)
    type_into(page, "Name of the new dashboard", "By keyboard")
    press(page, "Add")
    page.wait_for_url("**/dashboard?**")
    press(page, "Arrange")
    type_into(page, "Title", "Typed")
    press(page, "Done")
    page.get_by_role("heading", name="Typed").wait_for()
    opened(page, console, "/dashboards")
    type_into(page, "Title", "Another one")
    page.keyboard.press("Enter")
    page.wait_for_url("**/dashboard?**")


def test_an_owner_uses_every_page_by_keyboard_alone(sign_in, console):
    analyst = drawn(sign_in("ada"))
    analyst.locator(".cm-content").fill("SELECT COUNT(*) AS oldest FROM patients WHERE age > 77")
    analyst.locator(".hr-price").get_by_text("oldest").wait_for()
    type_into(analyst, "epsilon", "0.9")
    analyst.get_by_text("Above 0.5 the owner decides").wait_for()
    press(analyst, "Ask")
    analyst.get_by_text("It is now request").wait_for()
    page = drawn(sign_in("olga", "/requests"))
    press(page, "Grant")
    page.get_by_text("granted: it is answered").first.wait_for()
    analyst.goto(f"{console.address}/requests")
    press(analyst, "Ask it now")
    analyst.wait_for_url("**/answer?**")
    opened(page, console, "/plan")
    press(page, "Find the budget")
    page.get_by_text("needs a budget of epsilon").wait_for()
    opened(page, console, "/catalog")
    tab_to(page, "Text of the catalog")
    page.keyboard.press("Control+End")
    page.keyboard.type("# more")
    page.get_by_text("Changed, not saved.").wait_for()
    press(page, "Revert")
    page.get_by_text("As it is in force.").wait_for()
    opened(page, console, "/analysts")
    type_into(page, "Name", "kim")
    press(page, "Add")
    page.get_by_text("These are shown once").wait_for()
    press(page, "Remove kim")
    page.get_by_role("dialog").wait_for()
    press(page, "Yes")
    page.get_by_role("button", name="Remove kim").wait_for(state="detached")
    opened(page, console, "/audit")
    press(page, "Verify")
    page.get_by_text("fit together").wait_for()


def test_focus_is_visible(sign_in, console):
    page = drawn(sign_in("ada", "/explore"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 1280, 3840])
def test_pages_fit_screens_from_phone_to_4k(sign_in, console, width):
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    for information in PAGES.values():
        opened(page, console, information.address)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), information.address


def test_the_menu_of_a_narrow_screen_unfolds_and_its_charts_keep_the_size_of_their_text(sign_in, console):
    page = drawn(sign_in("ada"))
    page.set_viewport_size({"width": 360, "height": 740})
    link = page.get_by_role("link", name="Explore")
    expect(link).not_to_be_visible()
    page.get_by_role("button", name="Menu").click()
    link.click()
    page.wait_for_url("**/explore**")
    drawn(page).get_by_role("button", name="Ask").click()
    word = page.get_by_role("figure", name="Chart of n").locator("text", has_text="islands")
    assert word.bounding_box()["height"] > 12  # of letters that lean; those of a wide chart would shrink to a half


def test_nothing_moves_for_people_who_want_less_motion(sign_in, console):
    page = drawn(sign_in("ada", reduced_motion="reduce"))
    motion = page.evaluate("""[...document.querySelectorAll("*")].filter((element) => {
        const style = getComputedStyle(element);
        return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
    }).length""")
    assert motion == 0


def test_light_and_dark_are_switched_and_remembered(sign_in, console):
    page = drawn(sign_in("ada", "/explore", color_scheme="light"))
    expect(page.locator("body.body--dark")).to_have_count(0)
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("body.body--dark")).to_have_count(1)
    opened(page, console, "/")
    expect(page.locator("body.body--dark")).to_have_count(1)
