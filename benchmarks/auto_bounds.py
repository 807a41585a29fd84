"""How wrong answers are with bounds that nobody stated, next to the same answers with the bounds of an oracle.

The oracle knows the smallest and the largest value, and its bounds cost nothing; `bounds="auto"` finds its own for a
part of the same epsilon. Both are compared with the exact answer over values as they are. Noise is fresh in every
trial; rows are read once, for what the database computes is the same each time.

    python benchmarks/auto_bounds.py [--scale 0.1] [--trials 200] [--epsilon 1] [--pure 0] [--k 10] [--json FILE]
"""

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import tpch_data
from rich.console import Console
from rich.progress import track
from rich.table import Table

import hedgerow as hr
from hedgerow.backends.duckdb import _Snapshot as Snapshot
from hedgerow.execution import run as engine_run

OUT = Console(width=110)
JOINED = "lineitem JOIN orders ON l_orderkey = o_orderkey"
EXPRESSIONS = [
    ("c_acctbal", "customer"),
    ("o_totalprice", "orders"),
    ("l_quantity", "lineitem"),
    ("l_extendedprice", "lineitem"),
    ("l_discount", "lineitem"),
    ("l_tax", "lineitem"),
    ("l_linenumber", "lineitem"),
    ("l_extendedprice * (1 - l_discount)", "lineitem"),
    ("l_receiptdate - l_shipdate", "lineitem"),
    ("l_shipdate - o_orderdate", JOINED),
]
CATALOG = """\
dataset: tpch
budget: {{epsilon: 1000000, delta: 1e-2, pure_epsilon: {pure}}}
defaults: {{epsilon: 1, delta: 1e-7, min_frequency: {k}}}
tables:
  customer: {{unit: c_custkey, unit_unique: true}}
  orders: {{unit: o_custkey, max_rows: 41}}
  lineitem:
    unit: {{through: orders, on: {{l_orderkey: o_orderkey}}}}
    max_rows: 178
"""


def read_once() -> None:
    """Let every statement that the database has answered be answered from memory; all under one nonce."""
    known: dict[str, Any] = {}
    run = Snapshot.run

    def remembered(self: Snapshot, query: Any) -> Any:  # noqa: ANN401 - whatever the engine passes
        if query.sql not in known:
            known[query.sql] = run(self, query)
        return known[query.sql]

    Snapshot.run = remembered  # type: ignore[method-assign]
    engine_run.nonce = lambda: "0" * 32


def exact(path: Path, expression: str, source: str) -> dict[str, float]:
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute(
            f"SELECT SUM(x), AVG(x), MIN(x), MAX(x) FROM (SELECT CAST({expression} AS DOUBLE) AS x FROM {source})"
        ).fetchone()
    return dict(zip(("SUM", "AVG", "lower", "upper"), map(float, found or ()), strict=True))


def rms(errors: list[float]) -> float:
    return math.sqrt(sum(error * error for error in errors) / len(errors))


def trials(db: hr.Database, count: int, epsilon: float, truths: list[dict[str, float]]) -> list[dict[str, Any]]:
    rows = []
    work = [(e, s, t, a) for (e, s), t in zip(EXPRESSIONS, truths, strict=True) for a in ("SUM", "AVG")]
    for expression, source, truth, aggregate in track(work, description="answers", console=Console(stderr=True)):
        oracle = f"SELECT {aggregate}(CLIP({expression}, {truth['lower']!r}, {truth['upper']!r})) AS x FROM {source}"
        auto = f"SELECT {aggregate}({expression}) AS x FROM {source}"
        errors: dict[str, list[float]] = {"oracle": [], "auto": []}
        found = {}
        for _ in range(count):
            best = db.sql(oracle, epsilon=epsilon, reuse=False)
            ours = db.sql(auto, epsilon=epsilon, reuse=False, bounds="auto")
            errors["oracle"].append(best["x"][0] - truth[aggregate])
            errors["auto"].append(ours["x"][0] - truth[aggregate])
            (bounds,) = ours.receipt.bounds
            place = bounds.lower, bounds.upper
            found[place] = found.get(place, 0) + 1
        usual = max(found, key=lambda pair: found[pair])
        rows.append(
            {
                "expression": expression,
                "aggregate": aggregate,
                "range": [truth["lower"], truth["upper"]],
                "usually": list(usual),
                "oracle": rms(errors["oracle"]),
                "auto": rms(errors["auto"]),
                "ratio": rms(errors["auto"]) / rms(errors["oracle"]),
            }
        )
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="Root mean square error, bounds found and bounds known")
    for name in ("aggregate", "expression", "values", "bounds found, usually", "known", "found", "ratio"):
        table.add_column(name, justify="left" if name in {"aggregate", "expression"} else "right")
    for row in rows:
        ends = [f"{low:g} … {high:g}" for low, high in (row["range"], row["usually"])]
        numbers = (f"{row['oracle']:.3g}", f"{row['auto']:.3g}", f"{row['ratio']:.2f}")
        table.add_row(row["aggregate"], row["expression"], *ends, *numbers)
    OUT.print(table)
    for aggregate in ("SUM", "AVG"):
        within = sum(row["ratio"] <= 2 for row in rows if row["aggregate"] == aggregate)
        OUT.print(f"{aggregate}: within twice the oracle's error for {within} of {len(EXPRESSIONS)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--pure", type=float, default=0.0)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    path = tpch_data.database(options.scale)
    truths = [exact(path, expression, source) for expression, source in EXPRESSIONS]
    read_once()
    with tempfile.TemporaryDirectory() as folder:
        catalog = Path(folder) / "tpch.yaml"
        catalog.write_text(CATALOG.format(pure=options.pure, k=options.k))
        with hr.connect(path, catalog=catalog) as db:
            rows = trials(db, options.trials, options.epsilon, truths)
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
