"""Take pictures of every page of the console, in light and dark and at three widths: `make screenshots`.

The console is that of the tests, over the demo, in a process of its own. The pictures are in build/screenshots.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from playwright.sync_api import Browser, Page, expect, sync_playwright

from hedgerow.service.console.listener import PAGES

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "screenshots"
HEIGHTS = {400: 860, 1280: 860, 1920: 1080}
QUESTION = """\
SELECT diagnosis, COUNT(*) AS visits, AVG(cost) AS mean_cost
FROM visits
GROUP BY diagnosis
ORDER BY mean_cost DESC"""
TYPO = "SELECT region, AVG(agee) AS mean_age\nFROM patients\nGROUP BY region"


@contextmanager
def served() -> Iterator[SimpleNamespace]:
    """Serve a console, and return its address and passwords."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "tests/service/console/serve_console.py"), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as server:  # noqa: S603
            assert server.stdout is not None and server.stdin is not None  # noqa: S101, PT018 - they are pipes
            yield SimpleNamespace(**json.loads(server.stdout.readline()))
            server.stdin.close()


def sign_in(page: Page, address: str, name: str, password: str) -> None:
    """Sign in."""
    page.goto(f"{address}/sign-in")
    page.fill("#name", name)
    page.fill("#password", password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{address}/")


def ask(page: Page) -> None:
    """Ask, and wait until the answer is there."""
    page.locator(".hr-price .hr-figure").first.wait_for()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("tab", name="Chart").wait_for()
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()


def furnish(browser: Browser, address: str, passwords: dict[str, str]) -> dict[str, str]:
    """Keep an answer, put it on a dashboard, and let a question wait; return the addresses of both pages by title."""
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    sign_in(page, address, "ada", passwords["ada"])
    page.locator(".cm-content").fill("SELECT smoker, AVG(age) AS mean_age FROM patients GROUP BY smoker")
    page.locator(".hr-price").get_by_text("mean_age").wait_for()
    page.get_by_label("epsilon", exact=True).fill("0.8")
    page.get_by_text("Above 0.5 the owner decides").wait_for()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("It is now request").wait_for()
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    sign_in(page, address, "olga", passwords["olga"])
    addresses = {}
    for words in ("ward", "old", "ward"):
        page.goto(f"{address}/history?q={words}")
        page.get_by_role("button", name=", free").first.click()
        page.wait_for_url("**/answer?**")
        addresses.setdefault("Answer", page.url)
        page.get_by_role("button", name="Add to a dashboard").first.click()
        named = page.get_by_label("Name of the new dashboard")
        if "Dashboard" not in addresses:
            named.fill("Visits and patients")
        page.get_by_role("button", name="Add", exact=True).click()
        page.wait_for_url("**/dashboard?**")
        addresses["Dashboard"] = page.url
    return addresses


def pictures(page: Page, address: str, addresses: dict[str, str], suffix: str) -> None:
    """Take pictures of every page, of an answer as table and as chart, of a refusal, and of the builder."""

    def take(name: str) -> None:
        page.mouse.move(0, 0)
        page.evaluate("() => { window.scrollTo(0, 0); document.activeElement?.blur(); }")
        page.wait_for_timeout(400)
        page.screenshot(path=OUT / f"{name}-{suffix}.png", full_page=True)

    for title, information in PAGES.items():
        page.goto(addresses.get(title, f"{address}{information.address}"))
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(800)
        take(title.lower().replace(" ", "-"))
    page.goto(f"{address}/")
    page.locator(".cm-content").fill(QUESTION)
    page.wait_for_timeout(800)
    ask(page)
    take("ask-table")
    page.get_by_role("tab", name="Chart").click()
    page.get_by_role("figure", name="Chart of").wait_for()
    take("ask-chart")
    page.locator(".cm-content").fill(TYPO)
    page.get_by_role("button", name="Rewrite").wait_for()
    take("ask-refused")
    page.goto(f"{address}/explore")
    ask(page)
    page.get_by_role("figure", name="Chart of").wait_for()
    take("explore-chart")


def main() -> None:
    """Take all pictures."""
    browser_path = shutil.which("chromium")
    if browser_path is None:
        sys.exit("There is no chromium: make system-packages installs it.")
    OUT.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=30_000)
    with served() as console, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        address, passwords = console.address, console.passwords
        addresses = furnish(browser, address, passwords)
        for scheme in ("light", "dark"):
            for width, height in HEIGHTS.items():
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                page.set_default_timeout(60_000)
                page.goto(f"{address}/sign-in")
                page.screenshot(path=OUT / f"sign-in-{scheme}-{width}.png")
                sign_in(page, address, "olga", passwords["olga"])
                pictures(page, address, addresses, f"{scheme}-{width}")
                context.close()
        browser.close()
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
