"""Runs the runners, each with the Python of its own environment, and reads what they wrote.

An environment is a folder with bin/python in it, named like its runner: opendp, smartnoise, qrlew, tumult, pipelinedp.
README.md says what to install where. What is not there is left out.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from peers.expected import KEYS_SHARE
from tpch_errors import Trials, Truth, trials_of
from tpch_queries import DELTA, QUERIES, SEGMENT, Facts

RUNNERS = ("opendp", "smartnoise", "qrlew", "tumult", "pipelinedp")
HERE = Path(__file__).resolve().parent
TABLES = {
    "customer": "SELECT c_custkey AS custkey, c_nationkey, c_acctbal::DOUBLE AS c_acctbal, c_mktsegment FROM customer",
    "orders": "SELECT o_custkey AS custkey, o_orderkey, o_orderstatus, o_totalprice::DOUBLE AS o_totalprice "
    "FROM orders",
    "lineitem": "SELECT o_custkey AS custkey, l_extendedprice::DOUBLE AS l_extendedprice, "
    "l_discount::DOUBLE AS l_discount FROM lineitem JOIN orders ON l_orderkey = o_orderkey",
}


@dataclass(frozen=True)
class Run:
    """One system's run: its trials and times by query and epsilon, and what it said where it did not answer."""

    system: str
    version: str
    load: float
    trials: dict[tuple[str, float], Trials]
    seconds: dict[tuple[str, float], list[float]]
    said: dict[tuple[str, float], str]


def environments(folder: Path) -> dict[str, Path]:
    """The Python of each environment that is there."""
    found = {name: folder / name / "bin" / "python" for name in RUNNERS}
    return {name: python for name, python in found.items() if python.exists()}


def export(path: Path, folder: Path) -> None:
    """The tables as Parquet, with the customer beside every row and numbers as doubles."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path), read_only=True) as connection:
        for table, text in TABLES.items():
            connection.execute(f"COPY ({text}) TO '{folder / table}.parquet'")


def job(found: Facts, epsilons: Sequence[float], trials: int, seconds: float) -> dict[str, Any]:
    """What a runner is asked to do."""
    return {
        "queries": [query.name for query in QUERIES],
        "epsilons": list(epsilons),
        "trials": trials,
        "seconds": seconds,
        "delta": DELTA,
        "segment": SEGMENT,
        "keys_share": KEYS_SHARE,
        **dataclasses.asdict(found),
    }


def run_all(pythons: dict[str, Path], folder: Path, asked: dict[str, Any], results: Path) -> None:
    """Every system, one after the other."""
    results.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(asked))
    for name, python in pythons.items():
        script, out = HERE / f"run_{name}.py", results / f"{name}.json"
        command = [str(python), str(script), "--data", str(folder), "--job", str(folder / "job.json")]
        print(f"asking {name} …", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(  # noqa: S603 - our own arguments
                [*command, "--out", str(out)],
                check=False,
                env={**os.environ, "PYTHONPATH": str(HERE)},
                timeout=most_seconds(asked),
            )
        except subprocess.TimeoutExpired:
            print(f"{name} was stopped: it took too long", file=sys.stderr)
            continue
        if done.returncode:
            print(f"{name} ended with {done.returncode}", file=sys.stderr)


START = 300.0
"""Seconds that a system may take to start and to load the tables."""


def most_seconds(asked: dict[str, Any]) -> float:
    """Seconds after which a system is stopped: each query may take twice its time at each epsilon."""
    return START + 2 * float(asked["seconds"]) * len(asked["queries"]) * len(asked["epsilons"])


def read_all(results: Path, truths: dict[str, Truth]) -> list[Run]:
    """What is there of earlier runs."""
    return [_read(json.loads(path.read_text()), truths) for path in sorted(results.glob("*.json"))]


def measured(runs: Iterable[Run]) -> dict[tuple[str, str, float], Trials]:
    """The trials of all runs."""
    return {
        (run.system, query, epsilon): trials
        for run in runs
        for (query, epsilon), trials in run.trials.items()
        if trials.errors
    }


def _read(stored: dict[str, Any], truths: dict[str, Truth]) -> Run:
    run = Run(stored["system"], stored["version"], stored["load"], {}, {}, {})
    for result in stored["results"]:
        place = result["query"], result["epsilon"]
        answers = [dict(map(tuple, answer)) for answer in result["answers"]]
        run.trials[place] = trials_of(truths[result["query"]], answers)
        run.seconds[place], run.said[place] = result["seconds"], result["said"]
    return run
