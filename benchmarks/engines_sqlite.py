"""Time of a private answer on SQLite, next to the plain query.

Plain and private run in turns in one process, which is also where SQLite runs; medians of CPU time are compared. The
unit is the customer, the query GROUPBY_JOIN of `tpch_queries`; columns and limits are those of `engines_postgres`.

    python benchmarks/engines_sqlite.py [--scale 0.1] [--runs 7]
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import tpch_data
from engines_postgres import CATALOG, COLUMNS, DECLARED, QUERY, report

import hedgerow as hr


def load(path: Path, scale: float) -> None:
    """Copy the columns that the query reads; SQLite has no decimals, and stores prices as doubles."""
    with sqlite3.connect(path) as connection, duckdb.connect(str(tpch_data.database(scale)), read_only=True) as source:
        for table, columns in COLUMNS.items():
            kinds = {name: kind.replace("BIGINT", "INTEGER") for name, kind in columns.items()}
            kinds = {name: kind.replace("DECIMAL(15,2)", "REAL") for name, kind in kinds.items()}
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
            read = [f"CAST({name} AS DOUBLE)" if kinds[name].startswith("REAL") else name for name in columns]
            rows = source.execute(f"SELECT {', '.join(read)} FROM {table}").fetchall()
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
        connection.execute("ANALYZE")


def cpu_seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "tpch.sqlite"
        load(path, options.scale)
        opened = {}
        for kind, keys in (("declared", DECLARED), ("selected", "")):
            catalog = folder / f"{kind}.yaml"
            catalog.write_text(CATALOG.format(keys=keys))
            opened[kind] = hr.connect(f"sqlite:///{path}", catalog=catalog)
        plain = sqlite3.connect(path)
        actions: dict[str, Callable[[], object]] = {"plain": lambda: plain.execute(QUERY).fetchall()}
        actions |= {kind: lambda db=db: db.sql(QUERY, reuse=False) for kind, db in opened.items()}  # type: ignore[misc]
        times: dict[str, list[float]] = {kind: [] for kind in actions}
        for _ in range(options.runs + 1):
            for kind, action in actions.items():
                times[kind].append(cpu_seconds(action))
        report({kind: statistics.median(timings[1:]) for kind, timings in times.items()})
        plain.close()
        for db in opened.values():
            db.close()


if __name__ == "__main__":
    main()
