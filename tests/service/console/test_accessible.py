"""The console for everybody: axe on every page in light and dark, the keyboard alone, screens from phone to 4K."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from hedgerow.service.console.frame import PAGES

SERIOUS = {"serious", "critical"}
QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY region"


def findings(page):
    """Return what axe finds on a page, without what it calls minor or moderate."""
    response = Axe().run(page).response
    return [
        (finding["id"], finding["help"], [node["html"][:200] for node in finding["nodes"][:3]])
        for finding in response["violations"]
        if finding["impact"] in SERIOUS
    ]


def opened(page, console, address):
    page.goto(f"{console.address}{address}")
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    return page


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious_on_any_page(sign_in, console, scheme):
    page = sign_in("olga", color_scheme=scheme)
    by_page = {title: findings(opened(page, console, information.address)) for title, information in PAGES.items()}
    assert {title: said for title, said in by_page.items() if said} == {}


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious_in_answers_and_refusals(sign_in, console, scheme):
    page = opened(sign_in("ada", color_scheme=scheme), console, "/")
    page.locator(".cm-content").fill(QUESTION)
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("cell", name="islands").wait_for()
    table = findings(page)
    page.get_by_role("tab", name="Chart").click()
    page.get_by_role("img", name="Chart of").wait_for()
    chart = findings(page)
    page.locator(".cm-content").fill("SELECT AVG(agee) FROM patients")
    page.get_by_role("button", name="Write it so").wait_for()
    assert (table, chart, findings(page)) == ([], [], [])


def test_the_keyboard_alone_leads_to_an_answer(sign_in, console):
    page = opened(sign_in("ada"), console, "/")
    page.locator(".hr-price .hr-figure").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "SQL question"
    page.keyboard.press("Escape")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").endswith("Ask"):
            break
    page.keyboard.press("Enter")
    page.get_by_role("cell", name="islands").wait_for()


def test_focus_is_visible(sign_in, console):
    page = opened(sign_in("ada"), console, "/explore")
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


def test_the_menu_of_a_narrow_screen_unfolds(sign_in, console):
    page = sign_in("ada")
    page.set_viewport_size({"width": 360, "height": 740})
    opened(page, console, "/")
    link = page.get_by_role("link", name="Explore")
    expect(link).not_to_be_visible()
    page.get_by_role("button", name="Menu").click()
    link.click()
    page.wait_for_url("**/explore**")


def test_nothing_moves_for_people_who_want_less_motion(sign_in, console):
    page = opened(sign_in("ada", reduced_motion="reduce"), console, "/")
    motion = page.evaluate("""[...document.querySelectorAll("*")].filter((element) => {
        const style = getComputedStyle(element);
        return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
    }).length""")
    assert motion == 0


def test_light_and_dark_are_switched_and_remembered(sign_in, console):
    page = opened(sign_in("ada", color_scheme="light"), console, "/explore")
    expect(page.locator("body.body--dark")).to_have_count(0)
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("body.body--dark")).to_have_count(1)
    opened(page, console, "/")
    expect(page.locator("body.body--dark")).to_have_count(1)
