"""Price of a wanted error where the size of the group had to be bought first, and how often the error is kept.

Each setting asks for a random relative error of a random group, with a random limit. The total charge is compared with
the least that would have done had the size been known.

    python benchmarks/within.py [--settings 300] [--confidence 0.95] [--json FILE]
"""

import argparse
import json
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from rich.console import Console
from rich.progress import track
from rich.table import Table

import hedgerow as hr

ROWS = 200_000
CATALOG = """\
dataset: within
budget: {epsilon: 100000, delta: 1e-3, pure_epsilon: 50000}
defaults: {delta: 1e-7, min_frequency: 1}
tables:
  people:
    unit: id
    unit_unique: true
    columns:
      income: {lower: 0, upper: 100}
      age: {lower: 18, upper: 65}
"""
EXPRESSIONS = ("COUNT(*)", "SUM(income)", "AVG(age)", "SUM(income) / SUM(age)")
ROOMS = {
    "limit up to 3 times the least": (1, 3),
    "limit 3 to 10 times": (3, 10),
    "limit 10 to 100 times": (10, 100),
    "limit beyond": (100, math.inf),
}
LOG = Console(stderr=True)


@dataclass(frozen=True)
class Setting:
    """One question: an expression over the first `size` people, a relative error, a limit, a kind of noise."""

    expression: str
    size: int
    fraction: float
    epsilon: float
    mechanism: str

    @property
    def query(self) -> str:
        """The statement."""
        return f"SELECT {self.expression} AS v FROM people WHERE id < {self.size}"


@dataclass(frozen=True)
class Outcome:
    """Result of a setting.

    `room` is the limit over the least that would have done, `ratio` the charge over it, None where it was refused.
    """

    setting: Setting
    room: float
    ratio: float | None
    estimate: float
    kept: bool
    marked: bool


def draw() -> Setting:
    """A setting that may or may not be within reach."""
    return Setting(
        random.choice(EXPRESSIONS),
        round(10 ** random.uniform(2, math.log10(ROWS))),
        10 ** random.uniform(-2, -0.5),
        10 ** random.uniform(-1.5, 0.5),
        random.choice(["gaussian", "laplace"]),
    )


def make(folder: Path) -> hr.Database:
    """People whose incomes and ages depend on their number."""
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, income INTEGER NOT NULL, age INTEGER NOT NULL)")
        connection.execute(
            "INSERT INTO people SELECT i, (i * 7919) % 80, 18 + (i * 104729) % 48 FROM range(?) r(i)", [ROWS]
        )
    catalog = folder / "people.yaml"
    catalog.write_text(CATALOG)
    return hr.connect(folder / "people.duckdb", catalog=catalog)


def outcome(db: hr.Database, setting: Setting, exact: float, confidence: float) -> Outcome | None:
    """Ask; None where the error is out of reach even for a known size."""
    amount = setting.fraction * abs(exact)
    known = ("abs", amount, setting.size)
    try:
        least = db.quote(setting.query, within=known, confidence=confidence, mechanism=setting.mechanism)
    except hr.BudgetError:
        return None
    if least.charge.epsilon > setting.epsilon or least.offer is None or least.offer.basis == "size estimate":
        return None
    room = setting.epsilon / least.charge.epsilon
    try:
        answer = db.sql(
            setting.query,
            within=setting.fraction,
            epsilon=setting.epsilon,
            confidence=confidence,
            mechanism=setting.mechanism,
            reuse=False,
        )
    except hr.BudgetError:
        return Outcome(setting, room, None, 0.0, kept=False, marked=False)
    marked = "misses" in (answer.intervals[0]["v"].note or "")
    first, _ = answer.receipt.payments
    ratio = answer.receipt.charge.epsilon / least.charge.epsilon
    kept = abs(answer["v"][0] - exact) <= amount
    return Outcome(setting, room, ratio, first.charge.epsilon / answer.receipt.charge.epsilon, kept, marked)


def collect(db: hr.Database, plain: duckdb.DuckDBPyConnection, settings: int, confidence: float) -> list[Outcome]:
    """As many outcomes as asked for, of settings that a known size would bring within reach."""
    outcomes: list[Outcome] = []
    for number in track(range(settings), console=LOG, description="asking"):
        while len(outcomes) == number:
            setting = draw()
            row = plain.execute(setting.query).fetchone() or (0.0,)
            measured = outcome(db, setting, float(row[0]), confidence)
            outcomes += [] if measured is None else [measured]
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The numbers of the report."""
    answered = [case for case in outcomes if case.ratio is not None]
    ratios = [case.ratio for case in answered if case.ratio is not None]
    promised = [case for case in answered if not case.marked]
    return {
        "settings": len(outcomes),
        "refused": len(outcomes) - len(answered),
        "median_ratio": statistics.median(ratios) if ratios else math.nan,
        "ninth_decile_ratio": sorted(ratios)[int(0.9 * len(ratios))] if ratios else math.nan,
        "worst_ratio": max(ratios, default=math.nan),
        "median_share_of_estimate": statistics.median([e.estimate for e in answered]) if answered else math.nan,
        "marked": len(answered) - len(promised),
        "kept": sum(case.kept for case in promised) / max(1, len(promised)),
    }


def rows_of(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """In all, and by expression, noise, and how much was to spare."""
    parts: dict[str, Callable[[Outcome], bool]] = {"all": lambda _: True}
    parts |= {name: lambda o, name=name: o.setting.expression == name for name in EXPRESSIONS}  # type: ignore[misc]
    parts |= {kind: lambda o, kind=kind: o.setting.mechanism == kind for kind in ("gaussian", "laplace")}  # type: ignore[misc]
    parts |= {
        name: lambda o, low=low, high=high: low <= o.room < high  # type: ignore[misc]
        for name, (low, high) in ROOMS.items()
    }
    chosen = {name: [case for case in outcomes if test(case)] for name, test in parts.items()}
    return {name: summary(group) for name, group in chosen.items() if group}


def report(rows: dict[str, dict[str, float]], confidence: float) -> None:
    """Print the table."""
    table = Table("questions", "settings", "refused", "median", "9th decile", "worst", "estimate", "marked", "kept")
    for name, row in rows.items():
        table.add_row(
            name,
            f"{row['settings']:.0f}",
            f"{row['refused']:.0f}",
            *(f"{row[key]:.2f}" for key in ("median_ratio", "ninth_decile_ratio", "worst_ratio")),
            f"{row['median_share_of_estimate']:.0%}",
            f"{row['marked']:.0f}",
            f"{row['kept']:.1%}",
        )
    console = Console(width=120)
    console.print("Total charge over the least that would have done had the size been known:")
    console.print(table)
    console.print(
        "estimate: the part of the charge that the size estimate took, in the median. "
        f"kept: how often the error of unmarked answers was as asked; at least {confidence:.0%} is promised."
    )


def main() -> None:
    """Ask, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=300)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with make(folder) as db, duckdb.connect() as plain:
            plain.execute(
                "CREATE TABLE people AS SELECT i AS id, (i * 7919) % 80 AS income, 18 + (i * 104729) % 48 AS age "
                "FROM range(?) r(i)",
                [ROWS],
            )
            rows = rows_of(collect(db, plain, options.settings, options.confidence))
    report(rows, options.confidence)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
