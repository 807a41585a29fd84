"""Tables that pages show, made by the benchmark: kept beside its results, and copied into the pages.

A page has a pair of comments, `<!-- made by benchmarks/tpch.py: NAME -->` and `<!-- end of NAME -->`, around each table
of the run at scale 1. A test compares what lies between them with what was kept.
"""

import math
import re
from pathlib import Path

from tpch_compare import Comparison
from tpch_queries import FEW, MANY, QUERIES
from tpch_report import Results, number, peers_text, table
from tpch_times import ALLOWED, FIXED_MS, TOGETHER_MS

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "explanation" / "benchmarks.md")
BLOCK = re.compile(r"(<!-- made by benchmarks/tpch\.py: ([a-z-]+) -->\n)(.*?)(<!-- end of \2 -->\n)", re.DOTALL)
DOCUMENTED = {FEW: ("OpenDP", "Tumult", "PipelineDP"), MANY: ("OpenDP", "Tumult", "PipelineDP", "DPSQL+")}
"""Systems whose expected errors the pages list; on a ledger for many statements with Gaussian noise."""


def folder(out: Path, scale: float) -> Path:
    """Path of the stored tables of a run."""
    return out / f"tpch-sf{scale:g}-tables"


def keep(out: Path, results: Results) -> None:
    """Keep every table of a run."""
    tables = {
        "headline": headline(results),
        "few": compared(results, FEW),
        "many": compared(results, MANY),
        "shared": shared(results),
        "times": times(results),
    }
    if results.peers:
        tables["peers"] = f"{_setting(results)}\n\n{peers_text(results)}"
    folder(out, results.scale).mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        (folder(out, results.scale) / f"{name}.md").write_text(f"\n{text}\n\n")


def write(out: Path, scale: float) -> None:
    """Copy the tables into the pages."""
    for page in PAGES:
        old = page.read_text()
        new = BLOCK.sub(lambda block: block[1] + (folder(out, scale) / f"{block[2]}.md").read_text() + block[4], old)
        page.write_text(new)


def headline(results: Results) -> str:
    """Table of the README: errors on either ledger, the best other system, and the time with and without privacy."""
    by_query = _by_query(results)
    timing = {query_times.name: query_times for query_times in results.times.queries}

    def row(name: str) -> list[object]:
        cells: list[object] = [name]
        for ledger in (FEW, MANY):
            comparison = by_query[ledger, name, 1.0]
            rival = comparison.rival.removesuffix(", Gaussian")
            cells += [
                f"{number(comparison.ours)} %",
                f"{number(comparison.rival_error)} % ({rival})",
                f"{comparison.ratio:.2f}",
            ]
        return [*cells, f"{timing[name].plain:.1f} ms", f"{timing[name].private:.0f} ms"]

    head = ["query", "few statements", "best other", "ratio", "many statements", "best other", "ratio"]
    return table([*head, "plain", "private"], [row(query.name) for query in QUERIES])


def _setting(results: Results) -> str:
    loads = ", ".join(f"{run.system} {run.load:.1f}" for run in results.peers)
    others = f"; when the other systems began: {loads}" if loads else ""
    return (
        f"One run ({results.when}; {results.times.cores} cores). Load of the machine: {results.load[0]:.1f} at the "
        f"start, {results.load[1]:.1f} at the end{others}."
    )


def compared(results: Results, ledger: str) -> str:
    """Errors on one ledger at epsilon 1 beside those that others expect, and the ratios at three epsilons."""
    by_query, suffix = _by_query(results), ", Gaussian" if ledger == MANY else ""

    def row(name: str) -> list[object]:
        expected = results.expected[name, 1.0]
        known = [expected.get(system + suffix, expected.get(system, math.nan)) for system in DOCUMENTED[ledger]]
        ratios = [f"{by_query[ledger, name, epsilon].ratio:.2f}" for epsilon in (1.0, 0.1, 10.0)]
        trials = results.trials[ledger][name, 1.0]
        return [name, ", ".join(trials.mechanisms), number(trials.mean), *map(number, known), *ratios]

    head = ["query", "noise", "hedgerow", *DOCUMENTED[ledger], "ours / best", "at 0.1", "at 10"]
    return table(head, [row(query.name) for query in QUERIES])


def shared(results: Results) -> str:
    """One of a hundred statements that share (3, 1e-6)."""
    rows = [
        [
            comparison.query,
            number(comparison.ours),
            f"{number(comparison.rival_error)} ({comparison.rival})",
            f"{comparison.ratio:.2f}",
        ]
        for comparison in results.shared
        if comparison.epsilon == 3.0
    ]
    return table(["query", "hedgerow", "best other", "ours / best"], rows)


def times(results: Results) -> str:
    """Medians of plain and private, with the least and the most."""
    rows = [
        [
            timing.name,
            f"{timing.plain:.1f} [{timing.plain_range[0]:.1f}, {timing.plain_range[1]:.1f}]",
            f"{timing.private:.1f} [{timing.private_range[0]:.1f}, {timing.private_range[1]:.1f}]",
            f"{timing.ratio:.1f}",
        ]
        for timing in results.times.queries
    ]
    taken = results.times
    total = ["together", f"{taken.plain:.0f}", f"{taken.private:.0f}", f"{taken.private / taken.plain:.1f}"]
    limits = {f"{ALLOWED:g} times plain + {FIXED_MS:g} ms each = {taken.limit:.0f} ms": taken.limit}
    limits[f"{TOGETHER_MS:g} ms"] = TOGETHER_MS
    met = ", ".join(f"{words} ({'met' if taken.private <= most else 'missed'})" for words, most in limits.items())
    load = f"Load {taken.load[0]:.1f} before, {taken.load[1]:.1f} after. Limits that we set ourselves for all: {met}."
    return f"{load}\n\n" + table(["query", "plain, ms", "private, ms", "ratio"], [*rows, total])


def _by_query(results: Results) -> dict[tuple[str, str, float], Comparison]:
    return {(comparison.ledger, comparison.query, comparison.epsilon): comparison for comparison in results.comparisons}
