"""Spark next to its own plain query: how both grow with the rows, how large this process gets, and TPC-H.

    python benchmarks/engines_spark.py                        5 and 50 million rows, partitioned Parquet
    python benchmarks/engines_spark.py --rows 1000000
    python benchmarks/engines_spark.py --rows --tpch 1        GROUPBY_JOIN alone, with declared and with selected keys

Plain and private take turns in one session, after turns that are not counted. The memory is the peak of this process,
without the one of Java. The rows are made by DuckDB in a process of its own, and removed again.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import tpch_data

import hedgerow as hr

SINGLE_FLIGHT, UNCOUNTED = 7, 3
LONG_TURNS, LONG_UNCOUNTED = 3, 1
"""For millions of rows, which take minutes."""

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
class Measured:
    """Medians of the turns in seconds, and the peak of this process so far in megabytes."""

    name: str
    plain: float
    private: float
    peak: float
    load: float

    @property
    def ratio(self) -> float:
        """How many times the plain query."""
        return self.private / self.plain


def measured(
    name: str, folder: Path, catalog: str, question: str, turns: int = SINGLE_FLIGHT, uncounted: int = UNCOUNTED
) -> Measured:
    """Both queries in turns, over a folder of Parquet files."""
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "catalog.yaml"
        written.write_text(catalog, encoding="utf-8")
        with hr.connect(f"spark://{folder}?{LIMITS}", catalog=written) as db:
            session = db._session.backend._session  # type: ignore[attr-defined]  # noqa: SLF001 - the same session
            times = [
                (_seconds(lambda: session.sql(question).toArrow()), _seconds(lambda: db.sql(question, reuse=False)))
                for _ in range(uncounted + turns)
            ][uncounted:]
    plain, private = (statistics.median(each) for each in zip(*times, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(name, plain, private, peak, os.getloadavg()[0])


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@contextmanager
def made(program: str, *arguments: str, inside: str = "") -> Iterator[Path]:
    """A folder that a process of its own has filled."""
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / inside) if inside else place
        subprocess.run([sys.executable, "-c", program, *arguments, folder], check=True)  # noqa: S603 - our own text
        yield Path(place)


def of_rows(rows: int) -> Measured:
    """One table of so many rows, 25 for each person."""
    with made(MAKE, str(rows), inside="sales") as folder:
        name = f"{rows / 1e6:g} million rows"
        return measured(name, folder, SALES, SALES_QUESTION, LONG_TURNS, LONG_UNCOUNTED)


def of_tpch(scale: float) -> list[Measured]:
    """GROUPBY_JOIN with declared keys, and with keys that must be selected."""
    stated = tpch_data.CATALOG.format(k=1, pure=0).split("  lineitem:")[0]
    listed = f"      c_mktsegment: {{values: [{', '.join(SEGMENTS)}]}}\n  orders:"
    catalogs = {
        "declared keys": stated.replace("  orders:", listed, 1),
        "selected keys": stated.replace("min_frequency: 1", "min_frequency: 10"),
    }
    with made(COPY, str(tpch_data.database(scale))) as folder:
        return [measured(f"TPC-H {scale:g}, {name}", folder, text, GROUPBY_JOIN) for name, text in catalogs.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Spark next to its own plain query.")
    parser.add_argument("--rows", type=int, nargs="*", default=[5_000_000, 50_000_000])
    parser.add_argument("--tpch", type=float, default=None)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    print(f"{'':32}{'plain s':>10}{'private s':>11}{'ratio':>8}{'peak MB':>9}{'load':>7}")
    found = [told(of_rows(rows)) for rows in asked.rows]
    found += [told(each) for each in of_tpch(asked.tpch)] if asked.tpch is not None else []
    if asked.json:
        print(json.dumps([asdict(each) | {"ratio": each.ratio} for each in found], indent=2))


def told(each: Measured) -> Measured:
    """A line for each, as it comes."""
    line = f"{each.name:32}{each.plain:10.2f}{each.private:11.2f}{each.ratio:8.2f}{each.peak:9.0f}{each.load:7.1f}"
    print(line, flush=True)
    return each


if __name__ == "__main__":
    main()
