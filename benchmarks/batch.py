"""Twenty dashboard questions together against the same questions one by one, on TPC-H and on the demo.

Half-widths of 95 % intervals are compared, as quotes predict them from plans (averages in groups of 10 000 rows), in
two ways: at the same sum of epsilons (one by one, each for a twentieth of the batch's), and at the same cost in the
ledger (each for a twentieth of the batch's mu squared). Then all answers are bought `--rounds` times in each way, and
the root mean square errors are compared. The answers without noise are those at epsilon 1000, over the same bounded
data.

    python benchmarks/batch.py [--sf 0.05] [--epsilon 1] [--rounds 10] [--json FILE]
"""

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tpch_data
from rich.console import Console
from rich.table import Table

import hedgerow as hr
from hedgerow.accounting import event_from_dict, gaussian_epsilon
from hedgerow.demo.hospital import HospitalFiles, build

DELTA = 1e-7
NO_NOISE = 1000.0
SIZE = 10_000
PATIENTS, VISITS = "patients", "visits"

HOSPITAL = """\
dataset: hospital
budget: {epsilon: 100000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  patients:
    unit: id
    unit_unique: true
    columns:
      age: {lower: 0, upper: 105}
      region: {values: [north, south, east, west, islands]}
      sex: {values: [female, male]}
      cover: {values: [statutory, private]}
  visits:
    unit: patient_id
    max_rows: 20
    columns:
      nights: {lower: 0, upper: 30}
      cost: {lower: 0, upper: 10000}
      ward: {values: [surgery, cardiology, internal, orthopaedics, neurology, obstetrics]}
"""
TPCH = """\
dataset: tpch
budget: {epsilon: 100000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  customer:
    unit: c_custkey
    unit_unique: true
    columns:
      c_acctbal: {lower: -999.99, upper: 9999.99}
      c_mktsegment: {values: [AUTOMOBILE, BUILDING, FURNITURE, HOUSEHOLD, MACHINERY]}
      c_nationkey: {values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]}
  orders:
    unit: o_custkey
    max_rows: 41
    columns:
      o_totalprice: {lower: 0, upper: 555285.16}
      o_orderstatus: {values: [F, O, P]}
      o_orderpriority: {values: [1-URGENT, 2-HIGH, 3-MEDIUM, 4-NOT SPECIFIED, 5-LOW]}
"""


def grouped(table: str, keys: Iterable[str], measures: str) -> str:
    """One question: some measures of a table, by some keys."""
    names = ", ".join(keys)
    return f"SELECT {names + ', ' if names else ''}{measures} FROM {table}{' GROUP BY ' + names if names else ''}"


def hospital_questions() -> dict[str, str]:
    """Twenty questions of a hospital's dashboard."""
    keys = [(), ("region",), ("sex",), ("cover",), ("region", "sex"), ("region", "cover"), ("sex", "cover")]
    questions = {f"people{_by(key)}": grouped(PATIENTS, key, "COUNT(*) AS n") for key in keys}
    questions |= {f"age{_by(key)}": grouped(PATIENTS, key, "AVG(age) AS age") for key in keys[:4]}
    measures = {"visits": "COUNT(*)", "nights": "AVG(nights)", "mean_cost": "AVG(cost)", "whole_cost": "SUM(cost)"}
    for name, measure in measures.items():
        questions |= {f"{name}{_by(key)}": grouped(VISITS, key, f"{measure} AS {name}") for key in ((), ("ward",))}
    questions["smokers"] = "SELECT COUNT(*) AS n FROM patients WHERE smoker"
    return questions


def tpch_questions() -> dict[str, str]:
    """Twenty questions of a shop's dashboard."""
    customers = [(), ("c_mktsegment",), ("c_nationkey",), ("c_mktsegment", "c_nationkey")]
    orders = [(), ("o_orderstatus",), ("o_orderpriority",), ("o_orderstatus", "o_orderpriority")]
    questions = {}
    for name, measure in {"customers": "COUNT(*)", "balance": "AVG(c_acctbal)"}.items():
        questions |= {f"{name}{_by(key)}": grouped("customer", key, f"{measure} AS {name}") for key in customers}
    for name, measure in {"orders": "COUNT(*)", "price": "AVG(o_totalprice)", "sales": "SUM(o_totalprice)"}.items():
        questions |= {f"{name}{_by(key)}": grouped("orders", key, f"{measure} AS {name}") for key in orders}
    return questions


def _by(key: Iterable[str]) -> str:
    return "".join(f"-{name.removeprefix('c_').removeprefix('o_')}" for name in key)


def predicted(errors: Mapping[str, Mapping[int, float]]) -> float:
    """The error of a question: the mean of those of its columns, each for groups of `SIZE` rows."""
    return statistics.fmean(by_size[SIZE] for by_size in errors.values())


def measured(
    db: hr.Database, questions: Mapping[str, str], epsilon: float, fair: float, rounds: int
) -> dict[str, tuple[float, float]]:
    """Root mean square errors of each question one by one over those in the batch: same epsilons, same cost."""
    options: dict[str, Any] = {"delta": DELTA, "mechanism": "gaussian", "reuse": False}
    exact = db.batch(questions, epsilon=NO_NOISE, delta=DELTA, reuse=False)
    squares: dict[str, list[list[float]]] = {name: [[], [], []] for name in questions}
    for _ in range(rounds):
        together = db.batch(questions, epsilon=epsilon, delta=DELTA, reuse=False)
        for name, sql in questions.items():
            answers = [
                together[name],
                *(db.sql(sql, epsilon=one, **options) for one in (epsilon / len(questions), fair)),
            ]
            for way, answer in enumerate(answers):
                squares[name][way] += errors_of(answer, exact[name])
    ratios = {}
    for name, kept in squares.items():
        batch, *apart = (math.sqrt(statistics.fmean(errors)) for errors in kept)
        ratios[name] = apart[0] / batch, apart[1] / batch
    return ratios


def errors_of(answer: hr.Answer, exact: hr.Answer) -> list[float]:
    """The squared errors of the numbers of an answer: its last column."""
    rows = {tuple(row)[:-1]: tuple(row)[-1] for row in exact}
    values = [(tuple(row)[-1], rows[tuple(row)[:-1]]) for row in answer]
    return [(shown - true) ** 2 for shown, true in values if shown is not None and true is not None]


def compare(db: hr.Database, questions: dict[str, str], epsilon: float, rounds: int) -> list[dict[str, Any]]:
    """The error of each question one by one over its error in the batch, in both ways, predicted and measured."""
    options: dict[str, Any] = {"delta": DELTA, "mechanism": "gaussian"}
    quoted = db.quote_batch(questions, epsilon=epsilon, delta=DELTA)
    answers = db.batch(questions, epsilon=epsilon, delta=DELTA)
    cost = sum(float(event_from_dict(event).cost.gaussian) for event in db.budget.history[-1].charge["events"])
    fair = gaussian_epsilon(math.sqrt(cost / len(questions)), DELTA * (1 - 1e-6))
    bought = measured(db, questions, epsilon, fair, rounds)
    rows = []
    for name, sql in questions.items():
        together = predicted(quoted.errors[name])
        by_epsilon = db.quote(sql, epsilon=epsilon / len(questions), reuse=False, **options)
        by_cost = db.quote(sql, epsilon=fair, reuse=False, **options)
        rows.append(
            {
                "question": name,
                "error": together,
                "same sum of epsilons": predicted(by_epsilon.errors) / together,
                "same cost in the ledger": predicted(by_cost.errors) / together,
                "measured at the same sum of epsilons": bought[name][0],
                "measured at the same cost": bought[name][1],
                "alone": answers[name].receipt.alone.epsilon,
            }
        )
    return rows


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print every ratio, and the medians."""
    columns = "question", "± in the batch", "same epsilons", "measured", "same cost", "measured", "alone: epsilon"
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(
            row["question"],
            f"{row['error']:.4g}",
            f"{row['same sum of epsilons']:.2f}",
            f"{row['measured at the same sum of epsilons']:.2f}",
            f"{row['same cost in the ledger']:.3f}",
            f"{row['measured at the same cost']:.2f}",
            f"{row['alone']:.3g}",
        )
    Console().print(table)
    names = "same sum of epsilons", "same cost in the ledger"
    for name in (*names, "measured at the same sum of epsilons", "measured at the same cost"):
        values = [row[name] for row in rows]
        print(f"{name}: median {statistics.median(values):.2f}, least {min(values):.3f}, largest {max(values):.2f}")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", type=float, default=0.05)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = HospitalFiles.of(place / "demo")
        build(files)
        cases = [
            ("hospital", files.database, HOSPITAL, hospital_questions()),
            (
                "hospital-minimum-10",
                files.database,
                HOSPITAL.replace("min_frequency: 1}", "min_frequency: 10}"),
                hospital_questions(),
            ),
            ("tpch", tpch_data.database(options.sf), TPCH, tpch_questions()),
        ]
        for name, source, catalog, questions in cases:
            (place / f"{name}.yaml").write_text(catalog)
            with hr.connect(source, catalog=place / f"{name}.yaml") as db:
                rows = compare(db, questions, options.epsilon, options.rounds)
            results[name] = rows
            show(f"{name}: {len(questions)} questions", rows)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
