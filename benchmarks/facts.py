"""Time of a private answer with and without known facts, next to the plain query, on each engine.

Plain, private without facts and private with facts take turns in one process; medians of wall time and of the CPU time
of the process are compared (PostgreSQL works in processes of its own). The tables are those of `keys.py`, with ten
products. PostgreSQL holds a snapshot for an hour (`?snapshot=3600`).

    python benchmarks/facts.py --engine sqlite postgres clickhouse --rows 300000
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import duckdb
from keys import CATALOG, ENGINES, QUESTION, TABLES

import hedgerow as hr
from hedgerow.backends import facts

TURNS = 7
QUESTIONS = (
    QUESTION,
    "SELECT product, AVG(amount) AS mean FROM sales WHERE amount > 20 GROUP BY product",
    "SELECT SUM(amount) AS total FROM sales",
)


def milliseconds(action: Callable[[], object]) -> tuple[float, float]:
    """Wall time and CPU time."""
    start = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - start[0]) * 1000, (time.process_time() - start[1]) * 1000


def without_facts(db: hr.Database, question: str) -> object:
    with patch("hedgerow.execution.run.run_cheapest", lambda query, snapshot: snapshot.run(query)):
        return db.sql(question, reuse=False)


def compare(engine: str, rows: int) -> None:
    """Print the medians of each question on one engine."""
    with tempfile.TemporaryDirectory() as name, duckdb.connect() as source:
        for table, text in TABLES.items():
            source.execute(f"CREATE TABLE {table} AS {text.format(rows=rows, keys=10)}")
        catalog = Path(name) / "catalog.yaml"
        catalog.write_text(CATALOG, encoding="utf-8")
        with ENGINES[engine](source, Path(name)) as (opened, plain):
            held = f"{opened}&snapshot=3600" if engine == "postgres" else opened
            time.sleep(facts.SETTLED_NS / 1e9)
            with hr.connect(held, catalog=catalog) as db:
                for question in QUESTIONS:
                    actions = (
                        lambda question=question: plain(question),
                        lambda question=question: without_facts(db, question),
                        lambda question=question: db.sql(question, reuse=False),
                    )
                    turns = [[milliseconds(action) for action in actions] for _ in range(TURNS + 2)][2:]
                    columns = [list(zip(*column, strict=True)) for column in zip(*turns, strict=True)]
                    medians = [[statistics.median(times) for times in column] for column in columns]
                    shown = "".join(f"{wall:11.1f} ({cpu:7.1f})" for wall, cpu in medians)
                    print(f"{engine:12}{shown}{os.getloadavg()[0]:7.1f}  {question}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers with and without known facts, next to the plain query.")
    parser.add_argument("--engine", nargs="*", default=["sqlite", "postgres", "clickhouse"], choices=sorted(ENGINES))
    parser.add_argument("--rows", type=int, default=300_000)
    options = parser.parse_args()
    print(f"{'':12}{'plain ms (CPU)':>21}{'without':>21}{'with facts':>21}{'load':>7}")
    for engine in options.engine:
        compare(engine, options.rows)


if __name__ == "__main__":
    main()
