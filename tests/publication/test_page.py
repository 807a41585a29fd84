"""The page in a browser: accessible in light, in dark and on a phone, and complete without a network."""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no chromium (make system-packages)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize(("scheme", "screen"), [("light", DESK), ("dark", PHONE)])
def test_axe_finds_nothing_and_nothing_is_loaded(browser, release, scheme, screen):
    context = browser.new_context(color_scheme=scheme, viewport=screen)
    page, loaded, problems = context.new_page(), [], []
    page.on("request", lambda request: loaded.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    address = (release / "index.html").as_uri()
    page.goto(address)
    for details in page.locator("summary").all():
        details.click()
    violations = [
        (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in Axe().run(page).response["violations"]
    ]
    assert (violations, problems) == ([], [])
    assert set(loaded) == {address}
    width, seen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width <= seen
    context.close()
