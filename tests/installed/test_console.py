"""The console from the wheel with the extra `serve`: a stranger starts it, signs in, and gets a first answer."""

import json
import os
import shutil
import subprocess

import pytest
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
PORTS = "".join(f"\n[serve.{interface}]\nport = 0\n" for interface in ("wire", "http", "console"))


@pytest.fixture
def served(installed):
    """Output of `hedgerow serve --json` once it listens, over the demo."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium (make system-packages)")
    at = installed("hedgerow[serve]")
    settings = at.folder / "demo" / "hedgerow.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + PORTS, encoding="utf-8")
    command = [str(at.environment / "bin" / "hedgerow"), "serve", "--json", "--config", str(settings)]
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    with subprocess.Popen(  # noqa: S603 - our own words
        command, cwd=at.folder, stdout=subprocess.PIPE, text=True, env={**kept, "HOME": str(at.folder)}
    ) as server:
        yield json.loads(server.stdout.readline())
        server.terminate()


def test_the_wheel_serves_a_console_that_answers(served):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"http://{served['console']}/sign-in")
        page.fill("#name", "analyst")
        page.fill("#password", served["accounts"]["analyst"]["password"])
        page.get_by_role("button", name="Sign in").click()
        page.locator(".hr-price .hr-figure").first.wait_for()
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_role("cell", name="islands").wait_for()
        page.get_by_role("tab", name="Chart").click()
        page.get_by_role("figure", name="Chart of").wait_for()
        browser.close()
