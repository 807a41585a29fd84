"""What the runners have in common: a job to read, questions to repeat, answers to write. Standard library only.

A runner runs in the environment of its system, where nothing of ours is installed. It is started as

    python run_system.py --data FOLDER --job FILE --out FILE

FOLDER holds customer.parquet, orders.parquet and lineitem.parquet; the job says which queries, epsilons and bounds, how
many trials, and how many seconds each query may take. After that time a query stops with the trials it has.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Numbers = Mapping[str | None, float]
Ask = Callable[[float], Numbers]
"""Asks one query at an epsilon: numbers by key, by None where there are no keys."""


@dataclass(frozen=True)
class Job:
    """What to ask, with which bounds: the true extremes, for all systems alike."""

    data: Path
    queries: list[str]
    epsilons: list[float]
    trials: int
    seconds: float
    delta: float
    segment: str
    acctbal: tuple[float, float]
    totalprice: tuple[float, float]
    extendedprice: tuple[float, float]
    discount: tuple[float, float]
    orders_each: int
    lines_each: int
    statuses_each: int
    keys_share: float
    sizes: dict[str, int] = field(default_factory=dict)

    def table(self, name: str) -> str:
        """The file of a table."""
        return str(self.data / f"{name}.parquet")


def variance(count: float, total: float, squares: float) -> float:
    """Of a sample, from sums."""
    return max(0.0, (squares - total * total / count) / (count - 1))


def covariance(count: float, total: float, other: float, products: float) -> float:
    """Of a sample, from sums."""
    return (products - total * other / count) / (count - 1)


def main(system: str, version: str, prepare: Callable[[Job], Mapping[str, Ask]]) -> None:
    """Ask everything in the job that `prepare` has a way to ask, and write what came back."""
    parser = argparse.ArgumentParser()
    for name in ("data", "job", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    job = Job(options.data, **json.loads(options.job.read_text()))
    ways = prepare(job)
    found: dict[str, Any] = {"system": system, "version": version, "load": os.getloadavg()[0], "results": []}
    for query in job.queries:
        for epsilon in job.epsilons:
            result = _repeat(job, ways.get(query), epsilon)
            print(f"{system} {query} {epsilon:g}: {result['said']}", file=sys.stderr, flush=True)
            found["results"].append({"query": query, "epsilon": epsilon, **result})
            options.out.write_text(json.dumps(found))


def _repeat(job: Job, ask: Ask | None, epsilon: float) -> dict[str, Any]:
    if ask is None:
        return {"answers": [], "seconds": [], "said": "cannot be asked"}
    answers: list[list[tuple[str | None, float]]] = []
    times: list[float] = []
    began = time.perf_counter()
    while len(answers) < job.trials and time.perf_counter() - began < job.seconds:
        start = time.perf_counter()
        try:
            answers.append([(key, float(value)) for key, value in ask(epsilon).items() if value is not None])
        except Exception as error:  # noqa: BLE001 - whatever another system raises is its answer
            return {"answers": answers, "seconds": times, "said": f"{type(error).__name__}: {str(error)[:300]}"}
        times.append(time.perf_counter() - start)
    return {"answers": answers, "seconds": times, "said": f"{len(answers)} trials"}
