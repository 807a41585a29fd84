"""Time of error bars: by formula next to the query, simulated next to the SQL on the table of draws.

On TPC-H at scale 1, by clerk (1 000 groups), medians of runs in turns:

    python benchmarks/interval_cost.py [--scale 1] [--runs 15] [--json FILE]
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import tpch_data
from rich.console import Console
from rich.progress import track
from rich.table import Table
from speed import seconds

import hedgerow as hr
from hedgerow.compiled import DRAW, RELEASED
from hedgerow.release import PostprocessEngine

FORMULA_LIMIT, SIMULATED_LIMIT = 0.3, 2.0
OPTIONS = {"epsilon": 10.0, "delta": 1e-6, "reuse": False}
BY_CLERK = "SELECT o_clerk, COUNT(*) AS n, AVG(o_totalprice) AS m FROM orders GROUP BY o_clerk"
FORMULAS = {
    "GROUPBY": "SELECT o_clerk, AVG(o_totalprice) AS m FROM orders GROUP BY o_clerk",
    "COUNT, AVG": BY_CLERK,
    "SUM / COUNT": "SELECT o_clerk, SUM(o_totalprice) / COUNT(*) AS m FROM orders GROUP BY o_clerk",
    "share": "SELECT o_clerk, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM orders GROUP BY o_clerk",
}
SIMULATED = {
    "STDDEV": (
        f"SELECT STDDEV(n) AS s FROM ({BY_CLERK}) AS t",
        f"SELECT {DRAW}, STDDEV(a0) FROM {RELEASED}0 GROUP BY {DRAW}",
    ),
    "MEDIAN": (
        f"SELECT MEDIAN(m) AS s FROM ({BY_CLERK}) AS t",
        f"SELECT {DRAW}, MEDIAN(a1) FROM {RELEASED}0 GROUP BY {DRAW}",
    ),
    "NTILE": (
        f"SELECT o_clerk, NTILE(4) OVER (ORDER BY m) AS s FROM ({BY_CLERK}) AS t",
        f"SELECT {DRAW}, NTILE(4) OVER (PARTITION BY {DRAW} ORDER BY a1) FROM {RELEASED}0",
    ),
}
LOG = Console(stderr=True)


def formulas(db: hr.Database, runs: int) -> list[dict[str, object]]:
    """Every query, and then a first look at its intervals."""
    rows = []
    for name, text in track(FORMULAS.items(), console=LOG, description="by formula"):
        groups = len(db.sql(text, **OPTIONS).intervals)  # type: ignore[arg-type]
        query, bars = [], []
        for _ in range(runs):
            asked: list[hr.Answer] = []
            query.append(seconds(lambda text=text, asked=asked: asked.append(db.sql(text, **OPTIONS))))  # type: ignore[misc,arg-type]
            bars.append(seconds(lambda asked=asked: asked[0].intervals))  # type: ignore[misc]
        rows.append(_row(name, groups, bars, query, FORMULA_LIMIT))
    return rows


class Watched:
    """Remembers what the after engine was last given: the table of draws, and the SQL with the quantiles over it."""

    def __init__(self) -> None:
        self.text = ""
        self.tables: Mapping[str, pa.Table] = {}
        original = PostprocessEngine.run

        def run(engine: PostprocessEngine, text: str, tables: Mapping[str, pa.Table]) -> pa.Table:
            self.text, self.tables = text, tables
            return original(engine, text, tables)

        self._original = original
        PostprocessEngine.run = run  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        """Let the engine be as it was."""
        PostprocessEngine.run = self._original  # type: ignore[method-assign]


def simulated(db: hr.Database, runs: int) -> list[dict[str, object]]:
    """A first look at simulated intervals, and the after SQL written by hand on the same draws, in turns."""
    rows: list[dict[str, object]] = []
    for name, (text, after) in track(SIMULATED.items(), console=LOG, description="simulated"):
        watched = Watched()
        answer = db.sql(text, **OPTIONS)  # type: ignore[arg-type]
        notes = {bar.note for row in answer.intervals for bar in row.values()}
        watched.stop()
        if f"{RELEASED}0" not in watched.tables or DRAW not in watched.tables[f"{RELEASED}0"].column_names:
            rows.append({"name": name, "skipped": f"no simulation: {sorted(map(str, notes))}"})
            continue
        rows.append(_beside(db, name, text, (after, watched.text), watched.tables, runs))
    return rows


def _beside(
    db: hr.Database, name: str, text: str, afters: tuple[str, str], draws: Mapping[str, pa.Table], runs: int
) -> dict[str, object]:
    engine, bars = PostprocessEngine(), []
    plain: dict[str, list[float]] = {after: [] for after in afters}
    for _ in range(runs):
        asked = db.sql(text, **OPTIONS)  # type: ignore[arg-type]
        bars.append(seconds(lambda asked=asked: asked.intervals))  # type: ignore[misc]
        for after, times in plain.items():
            times.append(seconds(lambda after=after: engine.run(after, draws)))  # type: ignore[misc]
    engine.close()
    by_hand, own = plain.values()
    own_ms = statistics.median(own) * 1e3
    return {**_row(name, len(asked), bars, by_hand, SIMULATED_LIMIT), "with_quantiles_ms": own_ms}


def _row(name: str, groups: int, bars: list[float], beside: list[float], limit: float) -> dict[str, object]:
    ratio = statistics.median(bars) / statistics.median(beside)
    return {
        "name": name,
        "rows": groups,
        "intervals_ms": statistics.median(bars) * 1e3,
        "beside_ms": statistics.median(beside) * 1e3,
        "ratio": ratio,
        "limit": limit,
        "met": ratio < limit,
    }


def report(title: str, beside: str, rows: list[dict[str, object]]) -> None:
    """Print one table."""
    more = ["with quantiles ms"] if any("with_quantiles_ms" in row for row in rows) else []
    table = Table("query", "rows", "intervals ms", f"{beside} ms", "ratio", "limit", "met", *more, title=title)
    for row in rows:
        if "skipped" in row:
            table.add_row(str(row["name"]), str(row["skipped"]))
            continue
        table.add_row(
            str(row["name"]),
            str(row["rows"]),
            *(f"{row[key]:.1f}" for key in ("intervals_ms", "beside_ms")),
            *(f"{row[key]:.2f}" for key in ("ratio", "limit")),
            "yes" if row["met"] else "no",
            *([f"{row['with_quantiles_ms']:.1f}"] if more else []),
        )
    Console(width=120).print(table)


def main() -> None:
    """Time both, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    path = tpch_data.database(options.scale)
    with tempfile.TemporaryDirectory() as folder:
        catalog = tpch_data.catalog(Path(folder))
        with hr.connect(path, catalog=catalog) as db:
            by_formula, drawn = formulas(db, options.runs), simulated(db, options.runs)
    report("Intervals by formula", "query", by_formula)
    report("Simulated intervals", "SQL on draws", drawn)
    if options.json:
        options.json.write_text(json.dumps({"formula": by_formula, "simulated": drawn}, indent=2))


if __name__ == "__main__":
    main()
