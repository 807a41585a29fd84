"""Code that all runners share: read a job, repeat questions, write answers. Standard library only.

A runner runs in the environment of its system, where nothing of ours is installed. It is started as

    python run_system.py --data FOLDER --job FILE --out FILE

FOLDER holds customer.parquet, orders.parquet and lineitem.parquet; the job says which queries, epsilons and bounds, how
many trials, how many seconds all questions may take together, and how many one answer may take. Questions are asked in
rounds, each once in a round, so that every question gets its share of the time; what was found is written after each.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

Numbers = Mapping[str | None, float]
Ask = Callable[[float], Numbers]
"""Asks one query at an epsilon: numbers by key, by None where there are no keys."""

CANNOT = "cannot be asked"


@dataclass(frozen=True)
class Job:
    """Questions and bounds: the true extremes, for all systems alike."""

    data: Path
    queries: list[str]
    epsilons: list[float]
    trials: int
    seconds: float
    answer_seconds: float
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
    signal.signal(signal.SIGTERM, _leave)
    parser = argparse.ArgumentParser()
    for name in ("data", "job", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    job = Job(options.data, **json.loads(options.job.read_text()))
    ways = prepare(job)
    places = [(query, epsilon) for query in job.queries for epsilon in job.epsilons]
    results: dict[tuple[str, float], dict[str, Any]] = {}
    for query, epsilon in places:
        said = "" if query in ways else CANNOT
        results[query, epsilon] = {"query": query, "epsilon": epsilon, "answers": [], "seconds": [], "said": said}
    record = {"system": system, "version": version, "load": os.getloadavg()[0], "results": list(results.values())}
    began = time.perf_counter()
    for _ in range(job.trials):
        for query, epsilon in places:
            result = results[query, epsilon]
            if result["said"] or (result["answers"] and time.perf_counter() - began > job.seconds):
                continue
            _ask_once(result, ways[query], epsilon, job.answer_seconds)
            options.out.write_text(json.dumps(record))


def _ask_once(result: dict[str, Any], ask: Ask, epsilon: float, most: float) -> None:
    """Add one answer with its seconds, or the reason why this question is not asked again."""
    begun = time.perf_counter()
    try:
        with _within(most) as late:
            answer = [(key, float(value)) for key, value in ask(epsilon).items() if value is not None]
    except Exception as error:  # noqa: BLE001 - whatever another system raises is its answer
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        result["said"] = f"no answer after {most:g} seconds" if late else words
    else:
        result["answers"].append(answer)
        result["seconds"].append(time.perf_counter() - begun)
    ended = result["said"] or f"{result['seconds'][-1]:.2f} s"
    print(f"{result['query']} at {epsilon:g}: {ended}", file=sys.stderr, flush=True)


@contextmanager
def _within(seconds: float) -> Iterator[list[bool]]:
    """Raise in an answer that takes longer, as soon as Python runs again; the list is then not empty.

    Libraries raise errors of their own in place of this one.
    """
    late: list[bool] = []

    def stop(*_: object) -> None:
        late.append(True)
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield late
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _leave(number: int, _: FrameType | None) -> None:
    """End as usual, so that servers of this process are stopped."""
    sys.exit(f"ended by signal {number}")
