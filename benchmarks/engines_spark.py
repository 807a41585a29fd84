"""Spark next to its own plain query: how both grow with the rows, how large this process gets, and TPC-H.

    python benchmarks/engines_spark.py                        5, 20 and 50 million rows, partitioned Parquet
    python benchmarks/engines_spark.py --rows 1000000 --turns 1
    python benchmarks/engines_spark.py --rows --tpch 1        GROUPBY_JOIN alone, with declared and with selected keys

Three statements take turns in one session, after turns that are not counted: the plain query, the private one when
nothing is known about the rows (the first question, which computes the facts), and the private one with these facts.
Times are wall time and, in parentheses, processor time of Java and Python together, which means more on a busy machine.
The memory is the peak of this process, without the one of Java. The rows are made by DuckDB in a process of its own and
kept in .cache/spark.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tpch_data

import hedgerow as hr
from hedgerow.backends.facts import KeptFacts

TURNS, UNCOUNTED = 5, 2
CACHE = Path(__file__).parents[1] / ".cache" / "spark"

LIMITS = "cores=2&memory=4g"
BUDGET = (
    "budget: {epsilon: 100000, delta: 1e-3, pure_epsilon: 0}\ndefaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}"
)
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
SALES = f"""dataset: sales
{BUDGET}
tables:
  sales:
    unit: person
    max_rows: 40
    columns:
      amount: {{lower: 0, upper: 1000}}
      region: {{values: [{", ".join(f"r{n}" for n in range(10))}]}}
"""
SALES_QUESTION = "SELECT region, AVG(amount) AS mean FROM sales GROUP BY region"
GROUPBY_JOIN = (
    "SELECT c_mktsegment, AVG(o_totalprice) AS mean FROM customer JOIN orders ON c_custkey = o_custkey "
    "GROUP BY c_mktsegment"
)
MAKE = """
import duckdb, sys
rows, folder = int(sys.argv[1]), sys.argv[2]
duckdb.execute("SET threads = 2")
duckdb.execute("SET enable_progress_bar = false")
duckdb.execute(f'''
    COPY (
        SELECT CAST(hash(i) % ({rows} // 25 + 1) AS BIGINT) AS person, 'r' || (hash(i + 1) % 10) AS region,
            (hash(i + 2) % 100000) / 100.0 AS amount, CAST(i % 8 AS VARCHAR) AS part
        FROM range({rows}) AS made(i)
    ) TO '{folder}' (FORMAT parquet, PARTITION_BY (part))
''')
"""
COPY = """
import duckdb, sys
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    for table in ("customer", "orders"):
        connection.execute(f"COPY {table} TO '{sys.argv[2]}/{table}.parquet' (FORMAT parquet)")
"""


@dataclass(frozen=True)
class Seconds:
    """Medians of wall time and of processor time."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Measured:
    """The plain query, the first question and a later one; and the peak of this process so far in megabytes."""

    name: str
    plain: Seconds
    first: Seconds
    later: Seconds
    peak: float
    load: float


def measured(name: str, folder: Path, catalog: str, question: str, turns: int) -> Measured:
    """All three in turns, over a folder of Parquet files."""
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "catalog.yaml"
        written.write_text(catalog, encoding="utf-8")
        with hr.connect(f"spark://{folder}?{LIMITS}", catalog=written) as db:
            backend: Any = db._session.backend  # noqa: SLF001 - the same session, and what it knows
            java = backend._session._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001 - likewise

            def plain() -> None:
                backend._session.sql(question).toArrow()  # noqa: SLF001 - likewise

            def first() -> None:
                backend.facts = KeptFacts()
                db.sql(question, reuse=False)

            def later() -> None:
                db.sql(question, reuse=False)

            actions = (plain, first, later)
            times = [[_seconds(action, java) for action in actions] for _ in range(UNCOUNTED + turns)][UNCOUNTED:]
    seconds = [
        Seconds(statistics.median(one.wall for one in column), statistics.median(one.cpu for one in column))
        for column in zip(*times, strict=True)
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(name, seconds[0], seconds[1], seconds[2], peak, os.getloadavg()[0])


def _seconds(action: Callable[[], object], java: int) -> Seconds:
    start, before = time.perf_counter(), time.process_time() + _processor_time(java)
    action()
    return Seconds(time.perf_counter() - start, time.process_time() + _processor_time(java) - before)


def _processor_time(process: int) -> float:
    """Seconds that a process has used, in user and in system mode."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_folder(program: str, name: str, *arguments: str, inside: str = "") -> Path:
    """Return a folder that a process of its own has filled, now or in an earlier run."""
    folder = CACHE / name
    if not folder.is_dir():
        unfinished = CACHE / f"{name}.part"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        target = str(unfinished / inside)
        subprocess.run([sys.executable, "-c", program, *arguments, target], check=True)  # noqa: S603 - our own text
        unfinished.rename(folder)
    return folder


def of_rows(rows: int, turns: int) -> Measured:
    """One table of so many rows, 25 for each person."""
    folder = make_folder(MAKE, f"sales-{rows}", str(rows), inside="sales")
    return measured(f"{rows / 1e6:g} million rows", folder, SALES, SALES_QUESTION, turns)


def of_tpch(scale: float, turns: int) -> list[Measured]:
    """GROUPBY_JOIN with declared keys, and with keys that must be selected."""
    stated = tpch_data.CATALOG.format(k=1, pure=0).split("  lineitem:")[0]
    listed = f"      c_mktsegment: {{values: [{', '.join(SEGMENTS)}]}}\n  orders:"
    catalogs = {
        "declared keys": stated.replace("  orders:", listed, 1),
        "selected keys": stated.replace("min_frequency: 1", "min_frequency: 10"),
    }
    folder = make_folder(COPY, f"tpch-{scale:g}", str(tpch_data.database(scale)))
    return [measured(f"TPC-H {scale:g}, {name}", folder, text, GROUPBY_JOIN, turns) for name, text in catalogs.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Spark next to its own plain query.")
    parser.add_argument("--rows", type=int, nargs="*", default=[5_000_000, 20_000_000, 50_000_000])
    parser.add_argument("--tpch", type=float, default=None)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    print(f"{'':28}{'plain s':>16}{'first s':>16}{'later s':>16}{'first':>14}{'later':>14}{'peak MB':>9}{'load':>6}")
    results = [told(of_rows(rows, asked.turns)) for rows in asked.rows]
    results += [told(measured) for measured in of_tpch(asked.tpch, asked.turns)] if asked.tpch is not None else []
    if asked.json:
        print(json.dumps([asdict(measured) for measured in results], indent=2))


def told(measured: Measured) -> Measured:
    """A line for each, as it comes: seconds, and how many times the plain query."""
    plain, private = measured.plain, (measured.first, measured.later)
    cells = [f"{s.wall:.2f} ({s.cpu:.2f})" for s in (plain, *private)]
    ratios = [f"{s.wall / plain.wall:.1f} ({s.cpu / plain.cpu:.1f})" for s in private]
    line = "".join([*(f"{cell:>16}" for cell in cells), *(f"{ratio:>14}" for ratio in ratios)])
    print(f"{measured.name:28}{line}{measured.peak:9.0f}{measured.load:6.1f}", flush=True)
    return measured


if __name__ == "__main__":
    main()
