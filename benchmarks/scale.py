"""Time and memory as rows, groups, people and columns grow, and how long the noise of a million cells takes.

Every question is asked in a process of its own, plain and private, so that the peak of memory is its own. Tables are
made up, and kept in .cache until the end. `make bench` runs it:

    python benchmarks/scale.py [--rows 100000 1000000 10000000 100000000] [--runs 3] [--keep] [--out benchmarks/results]
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import speed
from rich.console import Console
from scale_cases import (
    CACHE,
    COLUMNS,
    GROUPS,
    MANY_COLUMNS,
    MEMORY,
    PEOPLE,
    Case,
    by_columns,
    by_groups,
    by_many_columns,
    by_people,
    by_rows,
    database,
)

import hedgerow as hr
from hedgerow.noise import discrete_gaussian, discrete_laplace, rounded_gaussian

CELLS = 1_000_000
WARM = 2
"""Answers that are not counted: the first two may compute what is known about a table."""

TITLES = {
    "rows": "Rows: ten for each person, a hundred groups",
    "groups": "Groups: ten million people with one row each",
    "people": "People: a million rows in a hundred groups, each person with as many as there are for it",
    "many columns": "Many columns: sums over a hundred thousand people with one row each",
    "columns": "Columns: sums over a million rows of a hundred thousand people, in a hundred groups",
}
LOG = Console(stderr=True)


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time that an action takes."""
    start = clock()
    action()
    return clock() - start


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall time, and of all threads of the process."""
    used = time.process_time()
    return seconds(action), time.process_time() - used


# In a process of its own


def child(case: Case, path: Path, kind: str, runs: int) -> dict[str, Any]:
    """One question, plain or private: median time, time spent on reading and noise, and the peak of memory in MiB."""
    parts: list[dict[str, float]] = []
    if kind == "plain":
        with duckdb.connect(str(path), read_only=True, config={"memory_limit": MEMORY}) as connection:
            times = [timed(lambda: connection.execute(case.text).to_arrow_table()) for _ in range(runs + WARM)]
            shown = len(connection.execute(case.text).fetchall())
    else:
        times, parts, shown = _private(case, path, runs)
    wall, cpu = (statistics.median(turns) for turns in zip(*times[WARM:], strict=True))
    result = {"seconds": wall, "cpu_seconds": cpu, "peak_mib": peak_mib(), "groups_shown": shown}
    names = ("read", "noise") if parts else ()
    return result | {
        f"{name}_seconds": statistics.median(part.get(name, 0.0) for part in parts[WARM:]) for name in names
    }


def peak_mib() -> float:
    """The most memory that this process held; the kernel's other figure would count who started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _private(case: Case, path: Path, runs: int) -> tuple[list[tuple[float, float]], list[dict[str, float]], int]:
    times, parts, shown = [], [], 0
    clock = speed.watch()
    with tempfile.TemporaryDirectory() as name:
        catalog = Path(name) / "scale.yaml"
        catalog.write_text(case.catalog())
        with hr.connect(path, catalog=catalog) as db:
            for _ in range(runs + WARM):
                clock.spent.clear()
                answers: list[hr.Answer] = []
                times.append(timed(lambda answers=answers: answers.append(db.sql(case.text, reuse=False))))  # type: ignore[misc]
                shown = len(answers[0])
                parts.append(dict(clock.spent))
    return times, parts, shown


# The one that starts them


def measure(case: Case, runs: int) -> dict[str, Any]:
    """Both ways to ask a case."""
    path = database(case)
    if path is None:
        return {**_place(case), "said": "not enough disk"}
    result: dict[str, Any] = _place(case)
    for kind in ("plain", "private"):
        LOG.print(f"{case.axis} {case.value:,}: {kind}")
        task = json.dumps({"case": asdict(case), "path": str(path), "kind": kind, "runs": runs})
        done = subprocess.run(  # noqa: S603 - our own arguments
            [sys.executable, __file__, "--child", task], check=False, capture_output=True, text=True
        )
        lines = done.stdout.splitlines()
        result[kind] = json.loads(lines[-1]) if done.returncode == 0 and lines else None
        if result[kind] is None:
            result["said"] = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1][:200]
    return result


def _place(case: Case) -> dict[str, Any]:
    return {"axis": case.axis, "value": case.value, "rows": case.rows}


def noise() -> list[dict[str, Any]]:
    """Time of the noise of a million cells, by sampler."""
    samplers: dict[str, tuple[Callable[[float, int], object], int]] = {
        "Gaussian": (rounded_gaussian, CELLS),
        "Gaussian, scales beyond 2^46": (discrete_gaussian, CELLS // 10),
        "Laplace": (discrete_laplace, CELLS // 10),
    }
    rows = []
    for name, (sampler, cells) in samplers.items():
        LOG.print(f"noise: {name}, {cells:,} cells")
        spent = seconds(lambda sampler=sampler, cells=cells: sampler(2.0**30, cells))  # type: ignore[misc]
        rows.append({"sampler": name, "cells": cells, "seconds": spent, "microseconds_a_cell": spent / cells * 1e6})
    return rows


def report(results: dict[str, Any]) -> str:
    """The page, as Markdown."""
    load = results["load"]
    setting = (
        f"Load {load[0]:.1f} before, {load[1]:.1f} after. Every question runs in a process of its own; times are "
        "medians after two that are not counted, CPU is that of all threads, "
        "memory is the peak of the process, Python and its libraries included."
    )
    parts = ["# Time and memory as things grow", setting]
    axes = dict.fromkeys(row["axis"] for row in results["cases"])
    parts += [f"## {TITLES[axis]}\n\n" + _table([r for r in results["cases"] if r["axis"] == axis]) for axis in axes]
    lines = ["| sampler | cells drawn | seconds | microseconds a cell |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {row['sampler']} | {row['cells']:,} | {row['seconds']:.2f} | {row['microseconds_a_cell']:.2f} |"
        for row in results["noise"]
    ]
    return "\n\n".join([*parts, "## Noise\n\n" + "\n".join(lines)]) + "\n"


def _table(rows: Sequence[dict[str, Any]]) -> str:
    head = [
        "",
        "plain s",
        "private s",
        "ratio",
        "plain CPU s",
        "private CPU s",
        "ratio",
        "reading s",
        "noise s",
        "groups shown",
        "plain MiB",
        "private MiB",
    ]
    lines = [head, ["---"] * len(head), *(_line(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _line(row: dict[str, Any]) -> list[str]:
    plain, private = row.get("plain"), row.get("private")
    if not plain or not private:
        return [f"{row['value']:,}", row.get("said", ""), *[""] * 10]
    return [
        f"{row['value']:,}",
        f"{plain['seconds']:.3f}",
        f"{private['seconds']:.3f}",
        f"{private['seconds'] / plain['seconds']:.1f}",
        f"{plain['cpu_seconds']:.3f}",
        f"{private['cpu_seconds']:.3f}",
        f"{private['cpu_seconds'] / plain['cpu_seconds']:.1f}",
        f"{private['read_seconds']:.3f}",
        f"{private['noise_seconds']:.3f}",
        f"{private['groups_shown']:,} of {plain['groups_shown']:,}",
        f"{plain['peak_mib']:.0f}",
        f"{private['peak_mib']:.0f}",
    ]


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7, 10**8])
    parser.add_argument("--groups", type=int, nargs="+", default=list(GROUPS), choices=GROUPS)
    parser.add_argument("--axes", nargs="+", choices=list(TITLES), default=list(TITLES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="keep the tables for the next time")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        task = json.loads(options.child)
        print(json.dumps(child(Case(**task["case"]), Path(task["path"]), task["kind"], task["runs"])))
        return
    began = os.getloadavg()[0]
    cases = [by_rows(rows) for rows in options.rows]
    cases += [by_groups(groups) for groups in options.groups]
    cases += [by_people(people) for people in PEOPLE] + [by_columns(columns) for columns in COLUMNS]
    cases = [case for case in cases + [by_many_columns(many) for many in MANY_COLUMNS] if case.axis in options.axes]
    results: dict[str, Any] = {"cases": [], "noise": noise()}
    for number, case in enumerate(cases):
        results["cases"].append(measure(case, options.runs))
        if not options.keep and case.table not in {later.table for later in cases[number + 1 :]}:
            _forget(case)
    results["load"] = began, os.getloadavg()[0]
    options.out.mkdir(parents=True, exist_ok=True)
    text = report(results)
    (options.out / "scale.json").write_text(json.dumps(results, indent=1))
    (options.out / "scale.md").write_text(text)
    sys.stdout.write(text)


def _forget(case: Case) -> None:
    (CACHE / f"{case.table}.duckdb").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
