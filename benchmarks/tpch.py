"""The ten queries of Matsumoto et al. (2026) on TPC-H: error, cells lost, time, and queries in one budget, in one run.

Writes a report, the numbers and two figures into a folder. `make bench` runs it at scale 1:

    python benchmarks/tpch.py [--sf 1] [--trials 1000] [--runs 15] [--out benchmarks/results]

With --runs 0 nothing is timed, and the times of the last run are shown.

With --environments FOLDER the other systems are asked in the same run, each in its own environment there
(benchmarks/peers/README.md). Without it, what earlier runs of theirs left in the results is shown.
"""

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tpch_accountants
import tpch_figures
import tpch_times
from peers import measure
from peers.questions import questions
from rich.console import Console
from tpch_compare import compare, expected_errors, shared_budgets
from tpch_errors import Trials, Truth, ask, asking, truths
from tpch_queries import FEW, MANY, QUERIES, Facts, database, facts
from tpch_report import Results, headline, report

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
COMPARED = (0.1, 1.0, 10.0)
SWEEP_TRIALS = 100
LOG = Console(stderr=True)
Found = dict[tuple[str, float], Trials]


def ask_all(
    path: Path, found: Facts, known: Mapping[str, Truth], folder: Path, counts: Mapping[float, int], ledger: str
) -> Found:
    """Every query at every epsilon, with as many trials as `counts` says."""
    trials: Found = {}
    for epsilon, count in counts.items():
        with asking(path, found, folder, ledger=ledger, epsilon=epsilon) as db:
            for query in QUERIES:
                LOG.print(f"{ledger} statements, epsilon {epsilon:g}, {count} trials: {query.name}")
                trials[query.name, epsilon] = ask(db, query, known[query.name], epsilon=epsilon, trials=count)
    return trials


def time_all(path: Path, found: Facts, folder: Path, options: argparse.Namespace) -> tpch_times.Times:
    """The times, on a ledger with room for them; those of the last run where none are to be measured."""
    if not options.runs:
        return tpch_times.read(options.out / f"tpch-sf{options.sf:g}.json")
    with asking(path, found, folder, ledger=MANY, epsilon=1.0) as db:
        return tpch_times.measure(db, epsilon=1.0, runs=options.runs, progress=lambda name: LOG.print(f"timing {name}"))


def ask_peers(path: Path, found: Facts, options: argparse.Namespace, results: Path) -> None:
    """Every system that has an environment."""
    pythons = measure.environments(options.environments)
    if options.only:
        pythons = {name: python for name, python in pythons.items() if name in options.only}
    with tempfile.TemporaryDirectory() as name:
        measure.export(path, Path(name))
        job = measure.job(found, COMPARED, options.trials, options.seconds)
        measure.run_all(pythons, Path(name), job, results)


def run(options: argparse.Namespace) -> Results:
    """Everything."""
    began = os.getloadavg()[0]
    path = database(options.sf)
    found, known = facts(path, options.sf), truths(path)
    peers_folder = options.out / "peers" / f"sf{options.sf:g}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = time_all(path, found, folder / "times", options)
        counts = {epsilon: options.trials if epsilon in COMPARED else SWEEP_TRIALS for epsilon in EPSILONS}
        trials = {ledger: ask_all(path, found, known, folder, counts, ledger) for ledger in (FEW, MANY)}
        LOG.print("counting queries in one budget")
        admitted = tpch_accountants.count_all(folder)
    if options.environments is not None:
        ask_peers(path, found, options, peers_folder)
    peers = measure.read_all(peers_folder, known)
    asked = questions(path, found)
    expected = {
        (query.name, epsilon): expected_errors(asked[query.name], epsilon) for query in QUERIES for epsilon in EPSILONS
    }
    comparisons = [
        compare(ledger, asked[query.name], epsilon, trials[ledger][query.name, epsilon], measure.measured(peers))
        for ledger in (FEW, MANY)
        for query in QUERIES
        for epsilon in COMPARED
    ]
    shared = shared_budgets([asked[query.name] for query in QUERIES], trials[MANY])
    load = began, os.getloadavg()[0]
    return Results(options.sf, trials, comparisons, shared, expected, times, admitted, load, peers)


def as_json(found: Results) -> dict[str, Any]:
    """The numbers of a run."""

    def trials(several: Mapping[tuple[str, float], Trials]) -> list[dict[str, Any]]:
        return [
            {
                "query": query,
                "epsilon": epsilon,
                "trials": len(each.errors),
                "mean_relative_error_percent": each.mean,
                "standard_error": each.deviation,
                "cells_lost": each.lost,
                "cells": each.cells,
                "mechanisms": each.mechanisms,
                "mu_squared": each.mu_squared,
            }
            for (query, epsilon), each in several.items()
        ]

    times = found.times
    return {
        "scale": found.scale,
        "load": found.load,
        "trials": {ledger: trials(several) for ledger, several in found.trials.items()},
        "comparisons": [dataclasses.asdict(each) for each in found.comparisons],
        "shared_budgets": [{**dataclasses.asdict(each), "ratio": each.ratio} for each in found.shared],
        "expected": [{"query": q, "epsilon": e, **errors} for (q, e), errors in found.expected.items()],
        "times": [{**dataclasses.asdict(each), "ratio": each.ratio} for each in times.queries],
        "times_together": {
            "plain_ms": times.plain,
            "private_ms": times.private,
            "limit_ms": times.limit,
            "geometric_mean_of_ratios": times.geometric_mean,
            "load": times.load,
            "cores": times.cores,
        },
        "queries_in_one_budget": list(found.admitted),
        "peers": [{"system": run.system, "version": run.version, "load": run.load} for run in found.peers],
    }


def main() -> None:
    """Run, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", type=float, default=1.0, help="scale factor")
    parser.add_argument("--trials", type=int, default=1000, help="at epsilon 0.1, 1 and 10; 100 elsewhere")
    parser.add_argument("--runs", type=int, default=15, help="turns of timing; 0 shows the times of the last run")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "results")
    parser.add_argument("--environments", type=Path, help="where the other systems are installed; asks them, too")
    parser.add_argument("--only", nargs="+", help="of the other systems, only these")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one of their queries at one epsilon")
    options = parser.parse_args()
    found = run(options)
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"tpch-sf{found.scale:g}"
    text = report(found)
    (options.out / f"{name}.md").write_text(text)
    (options.out / f"{name}-headline.md").write_text(headline(found) + "\n")
    (options.out / f"{name}.json").write_text(json.dumps(as_json(found), indent=1))
    tpch_figures.draw_all(options.out, found.trials[FEW], found.trials[MANY], found.expected, found.admitted)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
