"""MEDIAN of a million rows in 1 000 groups, against the plain grouped median: medians of seven runs, in turns.

python benchmarks/median_speed.py [--rows N] [--groups N] [--runs N]
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import hedgerow as hr

QUERY = "SELECT g, MEDIAN(x) AS middle FROM t GROUP BY g"
CATALOGS = {
    "one row each": {"unit": "id", "unit_unique": True},
    "four rows each": {"unit": "person", "max_rows": 4},
}


def main() -> None:
    """Print one line for each way that people own rows."""
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp())
    connection = duckdb.connect(str(folder / "rows.duckdb"))
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, person BIGINT NOT NULL, g INTEGER NOT NULL, x DOUBLE)")
    connection.execute(
        f"INSERT INTO t SELECT i, i // 4, hash(i) % {arguments.groups}, hash(i + 1) % 100000 / 100.0"
        f" FROM range({arguments.rows}) AS s(i)"
    )
    for name, table in CATALOGS.items():
        print(f"{name:>16}: {_compare(connection, folder, name, table, arguments.runs)}")


def _compare(
    connection: duckdb.DuckDBPyConnection, folder: Path, name: str, table: dict[str, object], runs: int
) -> str:
    catalog = {
        "dataset": name.replace(" ", "_"),
        "tables": {"t": {**table, "columns": {"x": {"lower": 0, "upper": 1000}}}},
        "budget": {"epsilon": 1e6, "delta": 0.1},
        "defaults": {"epsilon": 1.0, "delta": 1e-9, "min_frequency": 10},
    }
    path = folder / f"{catalog['dataset']}.yaml"
    path.write_text(json.dumps(catalog))
    with hr.connect(connection, catalog=str(path)) as db:
        private = lambda: len(db.sql(QUERY, reuse=False))  # noqa: E731
        plain = lambda: connection.sql(QUERY).to_arrow_table().num_rows  # noqa: E731
        private()
        times = [(_seconds(plain), _seconds(private)) for _ in range(runs)]
    ours, theirs = statistics.median(t[1] for t in times), statistics.median(t[0] for t in times)
    return f"plain {theirs:.3f} s, private {ours:.3f} s, ratio {ours / theirs:.1f}"


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
