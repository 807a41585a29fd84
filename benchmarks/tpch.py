"""The ten queries of Matsumoto et al. (2026) on TPC-H: error, cells lost, time, and queries in one budget, in one run.

Writes a report, the numbers and two figures into a folder. `make bench` runs it at scale 1:

    python benchmarks/tpch.py [--sf 1] [--trials 1000] [--runs 15] [--out benchmarks/results]

With --runs 0 nothing is timed, and the times of the last run are shown.

With --environments FOLDER the other systems are asked in the same run, each in its own environment there
(benchmarks/peers/README.md). Without it, what earlier runs of theirs left in the results is shown. With --pages the
tables of the README and of docs/explanation/benchmarks.md are written anew, too.
"""

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tpch_accountants
import tpch_figures
import tpch_pages
import tpch_times
from peers import measure
from peers.questions import questions
from rich.console import Console
from tpch_compare import compare, expected_errors, shared_budgets
from tpch_errors import Trials, Truth, ask, asking, truths
from tpch_queries import FEW, MANY, QUERIES, Facts, database, facts
from tpch_report import Results, report

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
COMPARED = (0.1, 1.0, 10.0)
SWEEP_TRIALS = 100
RECORDED = ("system", "version", "load", "began", "ended")
LOG = Console(stderr=True)
Found = dict[tuple[str, float], Trials]


def ask_all(
    path: Path, table_facts: Facts, known: Mapping[str, Truth], folder: Path, counts: Mapping[float, int], ledger: str
) -> Found:
    """Every query at every epsilon, with as many trials as `counts` says."""
    trials: Found = {}
    for epsilon, count in counts.items():
        with asking(path, table_facts, folder, ledger=ledger, epsilon=epsilon) as db:
            for query in QUERIES:
                LOG.print(f"{ledger} statements, epsilon {epsilon:g}, {count} trials: {query.name}")
                trials[query.name, epsilon] = ask(db, query, known[query.name], epsilon=epsilon, trials=count)
    return trials


def time_all(path: Path, table_facts: Facts, folder: Path, options: argparse.Namespace) -> tpch_times.Times:
    """The times, on a ledger with room for them; those of the last run where none are to be measured."""
    if not options.runs:
        return tpch_times.read(options.out / f"tpch-sf{options.sf:g}.json")
    with asking(path, table_facts, folder, ledger=MANY, epsilon=1.0) as db:
        return tpch_times.measure(db, epsilon=1.0, runs=options.runs, progress=lambda name: LOG.print(f"timing {name}"))


def ask_peers(path: Path, table_facts: Facts, options: argparse.Namespace, results: Path) -> None:
    """Every system, or those that were named."""
    with tempfile.TemporaryDirectory() as name:
        measure.export(path, Path(name))
        job = measure.job(table_facts, options.epsilons, options.answers, options.seconds, options.answer_seconds)
        measure.run_all(options.environments.resolve(), options.only or (), Path(name), job, results)


def run(options: argparse.Namespace) -> Results:
    """Everything."""
    began, when = os.getloadavg()[0], datetime.now(UTC)
    path = database(options.sf)
    table_facts, known = facts(path, options.sf), truths(path)
    peers_folder = options.out / "peers" / f"sf{options.sf:g}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = time_all(path, table_facts, folder / "times", options)
        counts = {epsilon: options.trials if epsilon in COMPARED else SWEEP_TRIALS for epsilon in EPSILONS}
        trials = {ledger: ask_all(path, table_facts, known, folder, counts, ledger) for ledger in (FEW, MANY)}
        LOG.print("counting queries in one budget")
        admitted = tpch_accountants.count_all(folder)
    if options.environments is not None:
        ask_peers(path, table_facts, options, peers_folder)
    peers = measure.read_all(peers_folder, known)
    asked = questions(path, table_facts)
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
    load, minutes = (began, os.getloadavg()[0]), (datetime.now(UTC) - when).total_seconds() / 60
    when_text = f"{when:%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes"
    return Results(options.sf, when_text, trials, comparisons, shared, expected, times, admitted, load, peers)


def as_json(results: Results) -> dict[str, Any]:
    """The numbers of a run."""

    def trials(several: Mapping[tuple[str, float], Trials]) -> list[dict[str, Any]]:
        return [
            {
                "query": query,
                "epsilon": epsilon,
                "trials": len(measured.errors),
                "mean_relative_error_percent": measured.mean,
                "standard_error": measured.deviation,
                "cells_lost": measured.lost,
                "cells": measured.cells,
                "mechanisms": measured.mechanisms,
                "mu_squared": measured.mu_squared,
            }
            for (query, epsilon), measured in several.items()
        ]

    times = results.times
    return {
        "scale": results.scale,
        "when": results.when,
        "load": results.load,
        "trials": {ledger: trials(several) for ledger, several in results.trials.items()},
        "comparisons": [dataclasses.asdict(comparison) for comparison in results.comparisons],
        "shared_budgets": [
            {**dataclasses.asdict(comparison), "ratio": comparison.ratio} for comparison in results.shared
        ],
        "expected": [{"query": q, "epsilon": e, **errors} for (q, e), errors in results.expected.items()],
        "times": [{**dataclasses.asdict(timing), "ratio": timing.ratio} for timing in times.queries],
        "times_together": {
            "plain_ms": times.plain,
            "private_ms": times.private,
            "limit_ms": times.limit,
            "geometric_mean_of_ratios": times.geometric_mean,
            "load": times.load,
            "cores": times.cores,
        },
        "queries_in_one_budget": list(results.admitted),
        "peers": [{name: getattr(run, name) for name in RECORDED} for run in results.peers],
    }


def main() -> None:
    """Run, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sf", type=float, default=1.0, help="scale factor")
    parser.add_argument("--trials", type=int, default=1000, help="at epsilon 0.1, 1 and 10; 100 elsewhere")
    parser.add_argument("--runs", type=int, default=15, help="turns of timing; 0 shows the times of the last run")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "results")
    parser.add_argument("--environments", type=Path, help="where the other systems are installed; asks them, too")
    parser.add_argument("--only", nargs="+", choices=list(measure.RUNNERS), help="of the other systems, only these")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0], help="at which they are asked")
    parser.add_argument("--answers", type=int, default=100, help="of one of them to each question, at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all answers of one of them")
    parser.add_argument("--answer-seconds", type=float, default=120.0, help="for one of their answers")
    parser.add_argument("--pages", action="store_true", help="write the tables of README and documentation, too")
    options = parser.parse_args()
    results = run(options)
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"tpch-sf{results.scale:g}"
    text = report(results)
    (options.out / f"{name}.md").write_text(text)
    (options.out / f"{name}.json").write_text(json.dumps(as_json(results), indent=1))
    tpch_figures.draw_all(options.out, results.trials[FEW], results.trials[MANY], results.expected, results.admitted)
    tpch_pages.keep(options.out, results)
    if options.pages:
        tpch_pages.write(options.out, results.scale)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
