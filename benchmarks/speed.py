"""Time of a private answer, next to the plain query on a connection with the same settings.

Both run in turns in one process; medians are compared. `make bench` runs it at scale 1:

    python benchmarks/speed.py [--scale 1] [--runs 15] [--without-facts] [--json FILE]

Facts about rows that cannot change are known before the runs that count; with `--without-facts` none is kept.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tpch_data
from rich.console import Console
from rich.progress import track
from rich.table import Table

import hedgerow as hr
from hedgerow.backends.duckdb import _DuckDBSnapshot as Snapshot
from hedgerow.execution import run as engine_run
from hedgerow.execution.session import Session
from hedgerow.ledger import Ledger
from hedgerow.session import corridor

FIXED_MS = 20.0
WARM_UPS = 3
"""After so many questions every fact is known, also where a WHERE leaves it to the second question to compute it."""

QUERIES = [
    ("COUNT", "unique", "SELECT COUNT(*) FROM customer"),
    ("AVG", "unique", "SELECT AVG(c_acctbal) FROM customer"),
    ("SUM WHERE", "unique", "SELECT SUM(c_acctbal) FROM customer WHERE c_acctbal > 0"),
    ("AVG BY", "unique", "SELECT c_mktsegment, AVG(c_acctbal), COUNT(*) FROM customer GROUP BY c_mktsegment"),
    ("COUNT", "owner", "SELECT COUNT(*) FROM orders"),
    ("AVG", "owner", "SELECT AVG(o_totalprice) FROM orders"),
    ("GROUPBY", "owner", "SELECT o_orderstatus, AVG(o_totalprice) FROM orders GROUP BY o_orderstatus"),
    (
        "BY PRIORITY",
        "owner",
        "SELECT o_orderpriority, AVG(o_totalprice), COUNT(*) FROM orders GROUP BY o_orderpriority",
    ),
    ("PATH", "join", "SELECT AVG(l_discount) FROM lineitem JOIN orders ON l_orderkey = o_orderkey"),
    (
        "JOIN",
        "join",
        (
            "SELECT COUNT(*), SUM(o_totalprice) FROM customer JOIN orders ON c_custkey = o_custkey "
            "WHERE c_mktsegment = 'BUILDING'"
        ),
    ),
    (
        "GROUPBY_JOIN",
        "join",
        (
            "SELECT c_mktsegment, o_orderpriority, COUNT(*), AVG(o_totalprice) "
            "FROM customer JOIN orders ON c_custkey = o_custkey GROUP BY 1, 2"
        ),
    ),
    (
        "THREE TABLES",
        "join",
        (
            "SELECT c_mktsegment, SUM(l_extendedprice * (1 - l_discount)) FROM customer, orders, lineitem "
            "WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey GROUP BY c_mktsegment"
        ),
    ),
    ("PER PERSON", "join", "SELECT AVG(m) FROM (SELECT MAX(o_totalprice) AS m FROM orders GROUP BY o_custkey) AS t"),
    (
        "EXISTS",
        "join",
        (
            "SELECT COUNT(*) FROM customer WHERE EXISTS "
            "(SELECT 1 FROM orders WHERE o_custkey = c_custkey AND o_orderstatus = 'P')"
        ),
    ),
]
PARTS = ("plan", "price", "charge", "read", "noise", "store", "answer")
ALLOWED = {"unique": 3.0, "owner": 6.0, "join": 6.0}


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class Stopwatch:
    """Time spent in the parts of a private answer, by wrapping their entry points."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def wrap(self, owner: object, name: str, label: str) -> None:
        """Count the time spent in `owner.name` under `label`."""
        original = getattr(owner, name)

        def timed(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.spent[label] = self.spent.get(label, 0.0) + time.perf_counter() - start

        setattr(owner, name, timed)


def watch() -> Stopwatch:
    clock = Stopwatch()
    clock.wrap(corridor, "bind_statement", "plan")
    clock.wrap(Session, "price", "price")
    clock.wrap(Ledger, "charge", "charge")
    clock.wrap(Snapshot, "run", "read")
    clock.wrap(engine_run, "select_keys", "noise")
    clock.wrap(engine_run, "measure", "noise")
    clock.wrap(Ledger, "finish", "store")
    clock.wrap(corridor, "build_answer", "answer")
    return clock


def compare(db: hr.Database, runs: int) -> list[dict[str, object]]:
    """Every query, plain and private in turns."""
    plain_connection = db._session.backend._connection  # type: ignore[attr-defined]  # noqa: SLF001 - the same settings
    clock = watch()
    rows = []
    for name, path, text in track(QUERIES, console=Console(stderr=True), description="timing"):
        for _ in range(WARM_UPS):
            db.sql(text, reuse=False)
        plain, ours, parts = [], [], []
        for _ in range(runs):
            plain.append(seconds(lambda text=text: plain_connection.cursor().execute(text).fetchall()))  # type: ignore[misc]
            clock.spent.clear()
            ours.append(seconds(lambda text=text: db.sql(text, reuse=False)))  # type: ignore[misc]
            parts.append(dict(clock.spent))
        rows.append(_row(name, path, plain, ours, parts))
    return rows


def _row(
    name: str, path: str, plain: list[float], ours: list[float], parts: list[dict[str, float]]
) -> dict[str, object]:
    middle, private = statistics.median(plain) * 1e3, statistics.median(ours) * 1e3
    limit = ALLOWED[path] * middle + FIXED_MS
    return {
        "query": name,
        "path": path,
        "plain_ms": middle,
        "plain_spread_ms": [min(plain) * 1e3, max(plain) * 1e3],
        "private_ms": private,
        "private_spread_ms": [min(ours) * 1e3, max(ours) * 1e3],
        "ratio": private / middle,
        "limit_ms": limit,
        "met": private <= limit,
        "parts_ms": {k: statistics.median([p.get(k, 0.0) for p in parts]) * 1e3 for k in PARTS},
    }


def report(rows: list[dict[str, object]]) -> None:
    table = Table("query", "path", "plain ms", "private ms", "ratio", "limit ms", "met", *PARTS)
    for row in rows:
        low, high = row["plain_spread_ms"]  # type: ignore[misc]
        least, most = row["private_spread_ms"]  # type: ignore[misc]
        table.add_row(
            str(row["query"]),
            str(row["path"]),
            f"{row['plain_ms']:.1f} [{low:.1f}, {high:.1f}]",
            f"{row['private_ms']:.1f} [{least:.1f}, {most:.1f}]",
            f"{row['ratio']:.1f}",
            f"{row['limit_ms']:.0f}",
            "yes" if row["met"] else "no",
            *(f"{part:.1f}" for part in row["parts_ms"].values()),  # type: ignore[attr-defined]
        )
    Console(width=160).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--without-facts", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    path = tpch_data.database(options.scale)
    with tempfile.TemporaryDirectory() as folder:
        catalog = tpch_data.catalog(Path(folder))
        with hr.connect(path, catalog=catalog) as db:
            if options.without_facts:
                db._session.backend._path = None  # type: ignore[attr-defined]  # noqa: SLF001 - as if it might change
            rows = compare(db, options.runs)
    report(rows)
    if options.json:
        options.json.write_text(json.dumps({"queries": rows}, indent=2))


if __name__ == "__main__":
    main()
