"""Time of the console on the demo: from keystroke to price on the server, a thousand rows in a browser, 20 consoles.

    python benchmarks/console.py

Prices are timed in the server's process, as CPU time and as time, for a statement that is typed letter by letter. Rows
and consoles are timed in Debian's Chromium, which shares the machine with the server.
"""

import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

import hedgerow as hr
from hedgerow.demo import HospitalFiles, build
from hedgerow.errors import HedgerowError
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.gateway import Gateway
from hedgerow.service.statement_queue import ServiceLimits

ROOT = Path(__file__).parents[1]
TYPED = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM patients WHERE age > 17 GROUP BY region"
CONSOLES = 20


def price_times(folder: Path) -> tuple[list[float], list[float]]:
    """Return the seconds, and the seconds of CPU, of the price of each text that a typist passes through."""
    access = open_access(folder / "benchmark-access.db")
    ada = Identity("ada", Role.ANALYST)
    access.add(ada)
    taken, used = [], []

    async def work(gateway: Gateway) -> None:
        for end in range(6, len(TYPED) + 1):
            began, cpu = time.perf_counter(), time.process_time()
            with suppress(
                HedgerowError
            ):  # most texts on the way are no questions yet: they get a reason in place of a price
                await gateway.quote(ada, "hospital", TYPED[:end], interface="console")
            taken.append(time.perf_counter() - began)
            used.append(time.process_time() - cpu)

    with hr.connect(folder / "hospital.duckdb", catalog=folder / "hospital.yaml") as database:
        asyncio.run(work(Gateway({"hospital": database}, access, ServiceLimits())))
    access.close()
    return taken, used


def sign_in(page: Page, console: dict[str, object]) -> None:
    page.set_default_timeout(120_000)
    page.goto(f"{console['address']}/sign-in")
    page.fill("#name", "ada")
    page.fill("#password", console["passwords"]["ada"])  # type: ignore[index]
    page.get_by_role("button", name="Sign in").click()
    page.locator(".hr-price .hr-figure").first.wait_for()


def row_times(page: Page, console: dict[str, object]) -> tuple[float, float]:
    """Return the seconds from the click to a thousand rows, and the longest that the browser did not respond."""
    page.goto(f"{console['address']}/?dataset=oddities")
    page.locator(".cm-content").fill("SELECT g, COUNT(*) AS n FROM many GROUP BY g ORDER BY g")
    page.wait_for_timeout(2_000)
    page.evaluate("""() => {
        window.longest = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((task) => {
            window.longest = Math.max(window.longest, task.duration);
        })).observe({ type: "longtask" });
    }""")
    began = time.perf_counter()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("1 to 100 of 1,000").wait_for()
    return time.perf_counter() - began, page.evaluate("window.longest") / 1000


def typing_times(pages: list[Page]) -> list[float]:
    """Return the seconds from a change of the text to its price, with all consoles open, in each of them in turn."""
    taken = []
    for number, page in enumerate(pages):
        page.locator(".cm-content").fill("")
        page.wait_for_timeout(300)
        began = time.perf_counter()
        page.locator(".cm-content").fill(f"SELECT COUNT(*) AS n{number} FROM patients WHERE age > {number}")
        page.locator(".hr-price").get_by_text(f"n{number}", exact=True).wait_for()
        taken.append(time.perf_counter() - began)
    return taken


def in_browser(folder: Path) -> None:
    command = [sys.executable, str(ROOT / "tests/service/console/serve_console.py"), str(folder)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as server,  # noqa: S603
        sync_playwright() as playwright,
    ):
        console = json.loads(server.stdout.readline())  # type: ignore[union-attr]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        pages = [browser.new_context().new_page() for _ in range(CONSOLES)]
        sign_in(pages[0], console)
        seconds, longest = row_times(pages[0], console)
        print(f"1,000 rows: {seconds:.2f} s from the click to the table; longest task of the browser {longest:.2f} s")
        pages[0].goto(str(console["address"]))
        for page in pages[1:]:
            sign_in(page, console)
        taken = typing_times(pages)
        print(
            f"{CONSOLES} open consoles: price {statistics.median(taken):.2f} s after the change (median), "
            f"{max(taken):.2f} s at most; the pause of 0.12 s and the browser are included"
        )
        browser.close()
        server.stdin.close()  # type: ignore[union-attr]


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        build(HospitalFiles.of(folder))
        taken, used = price_times(folder)
        print(
            f"keystroke to price: median {1000 * statistics.median(taken):.1f} ms "
            f"({1000 * statistics.median(used):.1f} ms of CPU), largest after the first "
            f"{1000 * max(taken[1:]):.0f} ms, over {len(taken)} texts"
        )
        (folder / "served").mkdir()
        in_browser(folder / "served")


if __name__ == "__main__":
    main()
