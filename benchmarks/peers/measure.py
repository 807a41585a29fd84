"""Runs the runners, each with the Python of its own environment, and reads what they wrote.

An environment is a folder with bin/python in it, named like its runner: opendp, smartnoise, qrlew, tumult, pipelinedp.
`environments.py` makes them. A system that cannot be installed, does not start, fails or takes too long is recorded
with the reason, and the next one is asked.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
from peers.expected import KEYS_SHARE
from tpch_errors import Trials, Truth, trials_of
from tpch_queries import DELTA, QUERIES, SEGMENT, Facts

RUNNERS = {
    "opendp": "OpenDP",
    "smartnoise": "SmartNoise",
    "qrlew": "Qrlew",
    "tumult": "Tumult",
    "pipelinedp": "PipelineDP",
}
START, LEAVE = 240.0, 20.0
"""Seconds that a system may take to start and to load the tables, and to end when it is told to."""

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
    """One system's run: its trials and times by query and epsilon, and what it said where it did not answer.

    `ended` says how the run as a whole ended, where it did not end well.
    """

    system: str
    version: str
    load: float
    began: str
    ended: str
    trials: dict[tuple[str, float], Trials]
    seconds: dict[tuple[str, float], list[float]]
    said: dict[tuple[str, float], str]

    def timed(self, place: tuple[str, float]) -> list[float]:
        """Seconds of the answers to one question, without the first where there are others: ours leave it out, too."""
        return self.seconds.get(place, [])[1:] or self.seconds.get(place, [])


def export(path: Path, folder: Path) -> None:
    """The tables as Parquet, with the customer beside every row and numbers as doubles."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path), read_only=True) as connection:
        for table, text in TABLES.items():
            connection.execute(f"COPY ({text}) TO '{folder / table}.parquet'")


def job(
    table_facts: Facts, epsilons: Sequence[float], trials: int, seconds: float, answer_seconds: float
) -> dict[str, Any]:
    """Job of a runner."""
    return {
        "queries": [query.name for query in QUERIES],
        "epsilons": list(epsilons),
        "trials": trials,
        "seconds": seconds,
        "answer_seconds": answer_seconds,
        "delta": DELTA,
        "segment": SEGMENT,
        "keys_share": KEYS_SHARE,
        **dataclasses.asdict(table_facts),
    }


def run_all(environments: Path, only: Sequence[str], folder: Path, asked: dict[str, Any], results: Path) -> None:
    """Every system, one after the other; what earlier runs left of them is forgotten."""
    results.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(asked))
    for name in only or RUNNERS:
        out = results / f"{name}.json"
        out.unlink(missing_ok=True)
        began = datetime.now(UTC).isoformat(timespec="seconds")
        print(f"asking {name} …", file=sys.stderr, flush=True)
        ended = _run(environments, name, folder, out, START + asked["seconds"] + asked["answer_seconds"])
        stored = json.loads(out.read_text()) if out.exists() else {}
        nothing = {"system": RUNNERS[name], "version": "", "load": os.getloadavg()[0], "results": []}
        out.write_text(json.dumps({**nothing, **stored, "began": began, "ended": ended}, indent=None) + "\n")
        print(f"{name}: {ended or 'done'}", file=sys.stderr, flush=True)


def _run(environments: Path, name: str, folder: Path, out: Path, seconds: float) -> str:
    """Run one system to its end or to its time limit; return why it did not end well, if so."""
    python, reason = environments / name / "bin" / "python", environments / f"{name}.txt"
    if not python.exists():
        return "not installed: " + (_last_line(reason) or "there is no environment")
    command = [str(python), str(HERE / f"run_{name}.py"), "--data", str(folder), "--job", str(folder / "job.json")]
    log = environments / f"{name}.log"
    with log.open("w") as said:
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            [*command, "--out", str(out)],
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        begun = time.perf_counter()
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _stop(process)
            return f"stopped after {time.perf_counter() - begun:.0f} seconds"
        except BaseException:
            _stop(process)
            raise
    return "" if code == 0 else f"ended with {code}: {_last_line(log)}"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a runner to end, which stops its servers; then end its whole process group."""
    process.terminate()
    try:
        process.wait(LEAVE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _last_line(file: Path) -> str:
    lines = file.read_text(errors="replace").strip().splitlines() if file.exists() else []
    return lines[-1].strip()[:200] if lines else ""


def read_all(results: Path, truths: dict[str, Truth]) -> list[Run]:
    """Results of the last runs, in the order of the runners."""
    files = [results / f"{name}.json" for name in RUNNERS]
    return [_read(json.loads(path.read_text()), truths) for path in files if path.exists()]


def measured(runs: Iterable[Run]) -> dict[tuple[str, str, float], Trials]:
    """The trials of all runs."""
    return {
        (run.system, query, epsilon): trials
        for run in runs
        for (query, epsilon), trials in run.trials.items()
        if trials.errors
    }


def _read(stored: dict[str, Any], truths: dict[str, Truth]) -> Run:
    began, ended = stored.get("began", ""), stored.get("ended", "")
    run = Run(stored["system"], stored["version"], stored["load"], began, ended, {}, {}, {})
    for result in stored["results"]:
        place = result["query"], result["epsilon"]
        answers = [dict(map(tuple, answer)) for answer in result["answers"]]
        run.trials[place] = trials_of(truths[result["query"]], answers)
        run.seconds[place], run.said[place] = result["seconds"], result["said"]
    return run
