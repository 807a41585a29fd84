"""Time of the start: `import hedgerow`, `hedgerow --version`, and a first answer next to the libraries it needs.

New processes run in turns; the CPU seconds of each end with its last line, and medians are compared. `make bench` runs
it:

    python benchmarks/startup.py [--runs 7] [--json FILE]

Byte code is kept in a folder of its own, which the first turn fills and no measurement counts: an installed package has
byte code, too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

IMPORTS, FIRST = "import duckdb, sqlglot, opendp.measurements", "a first answer"
# opendp.prelude would import scikit-learn and pandas, too, where they are installed.
LIMITS = {"hedgerow --version": 0.3, "hedgerow --help": 0.3}
MORE = 0.5
"""CPU seconds that a first answer may take beyond importing DuckDB, sqlglot and OpenDP."""

PROCESSES = {
    "python": "",
    "import hedgerow": "import hedgerow",
    "hedgerow --version": "from hedgerow.cli import app\ntry: app(['--version'])\nexcept SystemExit: pass",
    "hedgerow --help": "from hedgerow.cli import app\ntry: app(['--help'])\nexcept SystemExit: pass",
    IMPORTS: IMPORTS,
    FIRST: "import hedgerow\ndb = hedgerow.connect('shop.duckdb', catalog='shop.yaml')\n"
    "db.sql('SELECT COUNT(*) FROM people')",
}
CLOCK = "\nimport sys, time; sys.stderr.write(f'CPU {time.process_time()}\\n')"
CATALOG = """\
dataset: shop
budget: {epsilon: 1000, delta: 1e-4}
defaults: {epsilon: 1, delta: 1e-7}
tables:
  people: {unit: id, unit_unique: true}
"""


def shop(folder: Path) -> None:
    """Make a database of ten thousand people, with its catalog."""
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO people SELECT range FROM range(10000)")
    (folder / "shop.yaml").write_text(CATALOG, encoding="utf-8")


def cpu_seconds(code: str, folder: Path) -> float:
    """Run some code in a new process, and return its CPU seconds up to the end of the code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    (folder / "shop.ledger").unlink(missing_ok=True)
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", code + CLOCK], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return next(float(line[4:]) for line in done.stderr.splitlines() if line.startswith("CPU "))


def measure(runs: int) -> dict[str, list[float]]:
    """Run each process in turns."""
    times: dict[str, list[float]] = {name: [] for name in PROCESSES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shop(folder)
        for turn in range(runs + 1):
            for process, code in PROCESSES.items():
                spent = cpu_seconds(code, folder)
                if turn:
                    times[process].append(spent)
    return times


def report(times: dict[str, list[float]]) -> None:
    table = Table("process", "CPU s, median", "from", "to", "limit", "met")
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        limit = medians[IMPORTS] + MORE if name == FIRST else LIMITS.get(name)
        words = ("", "") if limit is None else (f"{limit:.2f}", "yes" if medians[name] <= limit else "no")
        table.add_row(name, f"{medians[name]:.2f}", f"{min(values):.2f}", f"{max(values):.2f}", *words)
    console = Console(width=100)
    console.print(table)
    console.print(f"A first answer takes {medians[FIRST] - medians[IMPORTS]:.2f} s more than those imports.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    times = measure(options.runs)
    report(times)
    if options.json:
        options.json.write_text(json.dumps({"cpu_s": times}, indent=2))


if __name__ == "__main__":
    main()
