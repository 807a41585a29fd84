"""A console over the demo's hospital, served by an installed wheel, and a browser to look at it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect, sync_playwright

from ...installed.environments import Layer
from ...installed.wheel import environment, once, wheel

__all__ = ["environment", "once", "wheel"]

CHROMIUM = shutil.which("chromium")
SERVE = "hedgerow[serve]"
VIEWPORT = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def console(tmp_path_factory, once, environment):
    """Address of the console, and passwords by account: ada asks, olga owns, otto audits."""
    with once("layers"):
        for layer in (Layer(), Layer((SERVE,))):
            layer.make()
    folder = tmp_path_factory.mktemp("console")
    program = Path(__file__).parent / "serve_console.py"
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    log = folder / "server.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(  # noqa: S603 - our own words
            [environment(SERVE) / "bin" / "python", program, folder],
            cwd=folder,
            env={**kept, "HOME": str(folder)},
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as server,
    ):
        line = server.stdout.readline()
        assert line, "the console did not start"
        yield SimpleNamespace(**json.loads(line))
        server.stdin.close()  # it ends when nobody writes to it any more
    assert server.returncode == 0
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def browser():
    """A browser. It ends with each module: until then its event loop runs in this thread, and others cannot."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium (make system-packages)")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitors:
    """Signed-in browsers: one for each account and kind of browser, which keeps its cookie and what it has loaded.

    They sign in without the form, which tests of its own fill in.

    The first page of each is used again by the next test, because a new one takes twice as long to open.
    """

    def __init__(self, console, browser):
        self._console, self._browser = console, browser
        self._contexts, self._idle, self.problems = {}, {}, []

    def __call__(self, name, address="/", *, fresh=False, **settings):
        """Open a page for an account. A `fresh` browser signs in anew and shares its session with no test."""
        key = object() if fresh else (name, *sorted(settings.items()))
        if key not in self._contexts:
            self._contexts[key] = self._signed_in(name, settings)
        page = self._idle.pop(key, None) or self._page(self._contexts[key])
        page.goto(f"{self._console.address}{address}")
        return page

    def _page(self, context):
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("requestfailed", lambda request: self.problems.append(f"failed: {request.url}: {request.failure}"))
        return page

    def _signed_in(self, name, settings):
        context = self._browser.new_context(viewport=VIEWPORT, **settings)
        context.set_default_timeout(30_000)
        context.on("request", self._watch)
        form = {"name": name, "password": self._console.passwords[name]}
        assert context.request.post(f"{self._console.address}/sign-in", form=form, max_redirects=0).status == 303
        return context

    def _watch(self, request):
        if not request.url.startswith((self._console.address, "data:", "blob:")):
            self.problems.append(request.url)

    def leave(self):
        """Leave every page; return what failed in the browser since the last time."""
        for key, context in list(self._contexts.items()):
            if not isinstance(key, tuple):  # a fresh one
                self._contexts.pop(key).close()
                continue
            first, *others = context.pages
            for page in others:
                page.close()
            first.goto("about:blank")
            first.set_viewport_size(VIEWPORT)
            self._idle[key] = first
        problems, self.problems = self.problems, []
        return [problem for problem in problems if not problem.endswith("ERR_ABORTED")]  # by leaving a page


@pytest.fixture(scope="module")
def visitors(console, browser):
    return Visitors(console, browser)


@pytest.fixture
def sign_in(visitors):
    """A function that returns a page on which somebody has signed in. What fails in a browser fails the test."""
    yield visitors
    assert visitors.leave() == []
