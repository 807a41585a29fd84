"""A console over the demo's hospital, in a process of its own, and a browser to look at it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect, sync_playwright

from hedgerow.demo import HospitalFiles, build

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def console(tmp_path_factory):
    """Address of the console, and passwords by account: ada asks, olga owns, otto audits."""
    folder = tmp_path_factory.mktemp("console")
    build(HospitalFiles.of(folder))
    command = [sys.executable, str(Path(__file__).parent / "serve_console.py"), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own words
        line = server.stdout.readline()
        assert line, "the console did not start"
        yield SimpleNamespace(**json.loads(line))
        server.stdin.close()  # it ends when nobody writes to it any more
    assert server.returncode == 0


@pytest.fixture(scope="module")
def browser():
    """A browser. It ends with each module: until then its event loop runs in this thread, and others cannot."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium (make system-packages)")
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def sign_in(console, browser):
    """A function that returns a page on which somebody has signed in. What fails in a browser fails the test."""
    contexts, problems = [], []

    def signed_in(name, **settings):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **settings)
        contexts.append(context)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(f"failed: {request.url}: {request.failure}"))
        page.on(
            "request",
            lambda request: (
                problems.append(request.url)
                if not request.url.startswith((console.address, "data:", "blob:"))
                else None
            ),
        )
        page.goto(f"{console.address}/sign-in")
        page.fill("#name", name)
        page.fill("#password", console.passwords[name])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{console.address}/")
        return page

    yield signed_in
    for context in contexts:
        context.close()
    assert [problem for problem in problems if not problem.endswith("ERR_ABORTED")] == []  # by leaving a page
