"""Time of a warm question on little data: paid for, asked again for free, and asked by many threads.

Threads are compared on the same little data, where nearly all work is Python's, and on more, where the engine works
outside of Python's lock. Beyond one row group (122 880 rows) DuckDB uses all cores for one question, so that threads
cannot gain.

`make bench` runs it:

    python benchmarks/fixed_cost.py [--runs 40] [--threads 20] [--json FILE]

Milliseconds are medians of wall time and of the CPU time of the asking thread, which other programs disturb less.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

import hedgerow as hr

PAID_MS, REPEATS_A_SECOND, SPEED_UP = 8.0, 500.0, 1.8
"""Limits we set ourselves: wall time of a paid question, free repeats, and throughput of all threads over one."""

CATALOG = """\
dataset: shop
budget: {epsilon: 100000, delta: 1e-4}
defaults: {epsilon: 0.1, delta: 1e-9, min_frequency: 10}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      age: {lower: 0, upper: 100}
      region: {values: [r0, r1, r2, r3, r4]}
"""
LITTLE, MORE = 10_000, 120_000
"""Rows of the table: of all questions, and of those that threads ask as well."""

QUESTIONS = {
    "COUNT(*)": "SELECT COUNT(*) AS n FROM people",
    "AVG by region": "SELECT region, AVG(age) AS m FROM people GROUP BY region",
}


def shop(folder: Path, rows: int = LITTLE) -> hr.Database:
    """Make a database of so many people, and connect to it."""
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, region VARCHAR)")
        connection.execute(f"INSERT INTO people SELECT range, range % 100, 'r' || range % 5 FROM range({rows})")
    (folder / "shop.yaml").write_text(CATALOG, encoding="utf-8")
    return hr.connect(folder / "shop.duckdb", catalog=folder / "shop.yaml")


def medians(ask: Callable[[], object], runs: int) -> tuple[float, float]:
    """Median milliseconds of wall time, and of the thread's CPU time."""
    ask()
    wall, cpu = [], []
    for _ in range(runs):
        begun, used = time.perf_counter(), time.thread_time()
        ask()
        wall.append(time.perf_counter() - begun)
        cpu.append(time.thread_time() - used)
    return 1e3 * statistics.median(wall), 1e3 * statistics.median(cpu)


def throughput(db: hr.Database, threads: int, questions: int) -> float:
    """Paid questions a second, asked by some threads."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: db.sql(QUESTIONS["AVG by region"], reuse=False), range(questions)))
    return questions / (time.perf_counter() - begun)


def measure(db: hr.Database, runs: int) -> dict[str, dict[str, float]]:
    measured = {}
    for name, text in QUESTIONS.items():
        repeated = medians(lambda text=text: db.sql(text), runs)  # type: ignore[misc]
        paid = medians(lambda text=text: db.sql(text, reuse=False), runs)  # type: ignore[misc]
        measured[name] = {
            "paid_ms": paid[0],
            "paid_cpu_ms": paid[1],
            "repeats_a_second": 1e3 / repeated[0],
            "repeats_a_cpu_second": 1e3 / repeated[1],
        }
    return measured


def compare_threads(db: hr.Database, threads: int, questions: int, turns: int = 3) -> dict[str, float]:
    """Ask by one thread and by all, in turns; medians."""
    throughput(db, threads, questions)
    rates = [(throughput(db, 1, questions), throughput(db, threads, questions)) for _ in range(turns)]
    one, many = (statistics.median(rounds) for rounds in zip(*rates, strict=True))
    return {"one_a_second": one, "all_a_second": many, "speed_up": many / one}


def report(measured: dict[str, dict[str, float]], threads: int) -> None:
    table = Table("question", "paid, ms", "CPU ms", f"below {PAID_MS:g}", "free, a second", "a CPU second", "reached")
    for name in QUESTIONS:
        row = measured[name]
        fast, often = row["paid_ms"] <= PAID_MS, row["repeats_a_second"] >= REPEATS_A_SECOND
        paid = (f"{row['paid_ms']:.1f}", f"{row['paid_cpu_ms']:.1f}", "yes" if fast else "no")
        free = (f"{row['repeats_a_second']:.0f}", f"{row['repeats_a_cpu_second']:.0f}", "yes" if often else "no")
        table.add_row(name, *paid, *free)
    console = Console(width=120)
    console.print(table)
    for rows in (LITTLE, MORE):
        rates = measured[f"threads, {rows} rows"]
        reached = "yes" if rates["speed_up"] >= SPEED_UP else "no"
        console.print(
            f"{rows:,} rows, {threads} threads: {rates['all_a_second']:.0f} questions a second, one thread "
            f"{rates['one_a_second']:.0f}: {rates['speed_up']:.2f} times as many ({SPEED_UP:g} reached: {reached})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with shop(folder / "little") as db:
            measured = measure(db, options.runs)
            measured[f"threads, {LITTLE} rows"] = compare_threads(db, options.threads, options.runs)
        with shop(folder / "more", MORE) as db:
            measured[f"threads, {MORE} rows"] = compare_threads(db, options.threads, options.runs)
    report(measured, options.threads)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
