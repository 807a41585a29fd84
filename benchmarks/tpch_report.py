"""The report as Markdown: one table for each target, and what the numbers rest on."""

import math
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
from peers.measure import Run
from tpch_compare import STATEMENTS, WANTED, Comparison, SharedBudget
from tpch_errors import Trials
from tpch_queries import DELTA, FEW, MANY, QUERIES
from tpch_times import ALLOWED, FIXED_MS, Times

Rows = Iterable[Sequence[object]]


@dataclass(frozen=True)
class Results:
    """Everything one run found; `trials` by ledger."""

    scale: float
    when: str
    trials: Mapping[str, Mapping[tuple[str, float], Trials]]
    comparisons: Sequence[Comparison]
    shared: Sequence[SharedBudget]
    expected: Mapping[tuple[str, float], Mapping[str, float]]
    times: Times
    admitted: Sequence[Mapping[str, object]]
    load: tuple[float, float]
    peers: Sequence[Run] = field(default_factory=list)


def table(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value: float) -> str:
    """Three digits."""
    return "–" if math.isnan(value) else f"{value:.3g}"


def report(results: Results) -> str:
    """The whole page."""
    parts = [
        f"# TPC-H at scale {results.scale:g}, ten queries",
        _setting(results),
        "## Summary\n\n" + summary(results),
        "## A ledger for a few statements\n\n" + _compared(results, FEW),
        "## A ledger for many statements\n\n" + _compared(results, MANY),
        "## An equal share of one budget\n\n" + _shared(results),
        "## Expected errors of documented mechanisms\n\n" + _expected(results),
        "## Error by epsilon\n\n" + _sweep(results),
        "## Time\n\n" + _times(results.times),
        "## Queries in one budget\n\n" + _admitted(results.admitted),
    ]
    if results.peers:
        parts.append("## The other systems, as they ran here\n\n" + peers_text(results))
    return "\n\n".join(parts) + "\n"


def summary(results: Results) -> str:
    """The targets, and whether they are met."""
    lines = [line for ledger in (FEW, MANY) for line in _targets(results.comparisons, ledger)]
    above = [comparison for comparison in results.shared if comparison.ratio > 1.0]
    lines.append(
        f"- An equal share of one budget: {len(results.shared) - len(above)} of {len(results.shared)} at most 1."
    )
    lost = sum(
        comparison.lost
        for comparison in results.comparisons
        if comparison.query == "GROUPBY_JOIN" and comparison.epsilon == 0.1
    )
    times = results.times
    lines += [
        f"- Cells lost in GROUPBY_JOIN at epsilon 0.1: {lost}.",
        f"- Time: {times.private:.0f} ms for all ten, allowed {times.limit:.0f} ms: {_met(times)}.",
    ]
    return "\n".join(lines)


def _targets(comparisons: Sequence[Comparison], ledger: str) -> list[str]:
    """Of one ledger: at most 1 everywhere, and the wanted ratio on enough of the queries."""
    own = [comparison for comparison in comparisons if comparison.ledger == ledger]
    above = ", ".join(f"{comparison.query} at {comparison.epsilon:g}" for comparison in own if not comparison.not_above)
    ratio, queries = WANTED[ledger]
    reached = {
        epsilon: sum(comparison.wanted for comparison in own if comparison.epsilon == epsilon)
        for epsilon in _epsilons(own)
    }
    counts = ", ".join(f"{count} at epsilon {epsilon:g}" for epsilon, count in reached.items())
    return [
        f"- A ledger for {ledger} statements, at most 1 of the best other: {above or 'everywhere'}"
        + (" are above it." if above else "."),
        f"  - At most {ratio:.2f}, wanted on {queries} of {len(QUERIES)}: {counts}.",
    ]


def _epsilons(comparisons: Sequence[Comparison]) -> list[float]:
    return sorted({comparison.epsilon for comparison in comparisons})


def _setting(results: Results) -> str:
    return (
        f"One run ({results.when}). Python {platform.python_version()}, DuckDB {duckdb.__version__}, "
        f"{results.times.cores} cores, load {results.load[0]:.1f} at the start and {results.load[1]:.1f} at the end. "
        f"The protected person is the customer, delta is {DELTA:g}, the minimum frequency 1, keys are "
        "undeclared, every bound is the true extreme. "
        "`mechanism` is left alone. A ledger for a few statements keeps as much of epsilon for Laplace noise as they "
        "take and has room for as many with Gaussian noise; one for many keeps nothing (`pure_epsilon` 0, what `init` "
        "writes). Each statement is charged and run once; its noise is drawn in every trial. Errors are mean "
        "relative errors in percent (equations 2 and 3 of Matsumoto et al. 2026); a lost cell counts as 100 %."
    )


def _compared(results: Results, ledger: str) -> str:
    rows = []
    for comparison in results.comparisons:
        if comparison.ledger != ledger:
            continue
        trials = results.trials[ledger][comparison.query, comparison.epsilon]
        rows.append(
            [
                comparison.query,
                f"{comparison.epsilon:g}",
                ", ".join(trials.mechanisms),
                number(comparison.ours),
                f"{comparison.rival} ({comparison.basis})",
                number(comparison.rival_error),
                f"{comparison.ratio:.2f} [{comparison.low:.2f}, {comparison.high:.2f}]",
                "yes" if comparison.not_above else "no",
                "yes" if comparison.wanted else "no",
                comparison.lost,
            ]
        )
    head = ["query", "epsilon", "noise", "ours", "best other", "its error", "ours / best, 95 %"]
    head += ["at most 1", f"at most {WANTED[ledger][0]:.2f}", "cells lost"]
    count = max(len(trials.errors) for trials in results.trials[ledger].values())
    rivals = "either kind of noise" if ledger == FEW else "Gaussian noise"
    text = (
        f"{count} trials each, against the others with {rivals} at the same epsilon and delta. The best is the system "
        "with the least *expected* error; the ratio is to what it measured where it was asked as often as ours, and "
        "else to its expected error. Without any difference, an interval lies above 1 in one case of forty. Tumult's "
        "user is taken to spend a tenth on finding keys.\n\n"
    )
    return text + table(head, rows)


def _shared(results: Results) -> str:
    budgets = list(dict.fromkeys((comparison.epsilon, comparison.delta) for comparison in results.shared))
    by_place = {(comparison.query, comparison.epsilon): comparison for comparison in results.shared}
    head = ["query"]
    for epsilon, delta in budgets:
        head += [f"({epsilon:g}, {delta:g}): ours", "best other", "ratio"]
    rows = []
    for query in QUERIES:
        row: list[object] = [query.name]
        for epsilon, _ in budgets:
            comparison = by_place[query.name, epsilon]
            row += [
                number(comparison.ours),
                f"{number(comparison.rival_error)} ({comparison.rival})",
                f"{comparison.ratio:.2f}",
            ]
        rows.append(row)
    text = (
        f"Error in percent of one of {STATEMENTS} statements that share a budget evenly, each system by its own "
        "accountant: ours divides the sum of mu squared, OpenDP and Tumult divide rho, PipelineDP divides epsilon and "
        "delta. Ours is the error measured at an epsilon of 1, scaled to the share. With Laplace noise alone everybody "
        "divides epsilon, and an equal share is an equal epsilon.\n\n"
    )
    return text + table(head, rows)


def _expected(results: Results) -> str:
    systems = list(dict.fromkeys(name for errors in results.expected.values() for name in errors))
    rows = [
        [query, f"{epsilon:g}", *(number(errors.get(name, math.nan)) for name in systems)]
        for (query, epsilon), errors in results.expected.items()
    ]
    text = "In percent; the derivations are in `benchmarks/peers/expected.py`. – : it cannot be asked.\n\n"
    return text + table(["query", "epsilon", *systems], rows)


def _sweep(results: Results) -> str:
    parts = []
    for ledger, trials in results.trials.items():
        epsilons = sorted({epsilon for _, epsilon in trials})
        rows = []
        for query in QUERIES:
            cells = [trials[query.name, epsilon] for epsilon in epsilons]
            rows.append([query.name, *(number(cell.mean) + _lost(cell) for cell in cells)])
        head = ["query", *(f"{epsilon:g}" for epsilon in epsilons)]
        parts.append(f"A ledger for {ledger} statements, percent (cells lost in brackets):\n\n{table(head, rows)}")
    return "\n\n".join(parts) + "\n\n![error by epsilon](tpch-errors.svg)"


def _lost(trials: Trials) -> str:
    return f" ({trials.lost} of {trials.cells} lost)" if trials.lost else ""


def _times(times: Times) -> str:
    rows = [
        [
            timing.name,
            f"{timing.plain:.1f} [{timing.plain_range[0]:.1f}, {timing.plain_range[1]:.1f}]",
            f"{timing.private:.1f} [{timing.private_range[0]:.1f}, {timing.private_range[1]:.1f}]",
            f"{timing.ratio:.1f}",
            "" if timing.joined is None else f"{timing.joined:.1f} ms, ratio {timing.joined_ratio:.1f}",
        ]
        for timing in times.queries
    ]
    text = (
        f"Medians in milliseconds with the least and the most, plain and private in turns in one process; load "
        f"{times.load[0]:.1f} before, {times.load[1]:.1f} after. Together {times.plain:.0f} ms plain and "
        f"{times.private:.0f} ms private; allowed are {ALLOWED:g} x {times.plain:.0f} + {len(times.queries)} x "
        f"{FIXED_MS:g} = {times.limit:.0f} ms: {_met(times)}. Geometric mean of the ratios: "
        f"{times.geometric_mean:.1f}.\n\n"
    )
    return text + table(["query", "plain", "private", "ratio", "plain text that joins to the person"], rows)


def _met(times: Times) -> str:
    return "met" if times.private <= times.limit else "missed"


def _admitted(rows: Sequence[Mapping[str, object]]) -> str:
    budgets = list(dict.fromkeys((row["epsilon"], row["delta"]) for row in rows))
    names = list(dict.fromkeys(str(row["accountant"]) for row in rows))
    numbers = {(row["epsilon"], row["delta"], row["accountant"]): row["queries"] for row in rows}
    head = ["accountant", *(f"({epsilon:g}, {delta:g})" for epsilon, delta in budgets)]
    cells = [[name, *(numbers.get((*budget, name), "–") for budget in budgets)] for name in names]
    return "Statements of (0.1, 1e-7) each.\n\n" + table(head, cells) + "\n\n![queries](tpch-queries.svg)"


def peers_text(results: Results) -> str:
    """Errors and seconds of all systems as they ran here, and what was not answered."""
    head = ["query", "hedgerow", *(f"{run.system} {run.version}".strip() for run in results.peers)]
    epsilons = sorted({epsilon for run in results.peers for _, epsilon in run.trials})
    parts = []
    for epsilon in epsilons:
        everybody = [results.trials[FEW], *(run.trials for run in results.peers)]
        errors = [
            [query.name, *(_error(answered.get((query.name, epsilon))) for answered in everybody)] for query in QUERIES
        ]
        parts.append(
            f"Error in percent at epsilon {epsilon:g}: the median answer, with the quartiles, and how many answers. "
            f"hedgerow's are those on the ledger for a few statements.\n\n{table(head, errors)}"
        )
    ours = {
        timing.name: f"{timing.private / 1e3:.3f} [{_range(timing.private_range)}]" for timing in results.times.queries
    }
    times = [
        [query.name, ours[query.name], *(_seconds(run.timed((query.name, 1.0))) for run in results.peers)]
        for query in QUERIES
    ]
    parts.append(f"Seconds for an answer: the median, with the least and the most.\n\n{table(head, times)}")
    parts.append("Not answered:\n\n" + "\n".join(_unanswered(results.peers)))
    return "\n\n".join(parts)


def _error(trials: Trials | None) -> str:
    if trials is None or not trials.errors:
        return "–"
    if len(trials.errors) == 1:
        return f"{number(trials.errors[0])} (1)"
    low, middle, high = statistics.quantiles(trials.errors, method="inclusive")
    return f"{number(middle)} [{number(low)}, {number(high)}] ({len(trials.errors)})"


def _seconds(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} [{min(times):.2f}, {max(times):.2f}]" if times else "–"


def _range(milliseconds: tuple[float, float]) -> str:
    return ", ".join(f"{value / 1e3:.3f}" for value in milliseconds)


def _unanswered(peers: Sequence[Run]) -> list[str]:
    """One line for each system that did not end well, and for each question it did not answer."""
    lines = []
    for run in peers:
        if run.ended:
            lines.append(f"- {run.system}: {run.ended}")
        reasons: dict[str, list[str]] = {}
        for (query, _), said in run.said.items():
            if said:
                reasons.setdefault(said, []).append(query)
        lines += [f"- {run.system}, {', '.join(dict.fromkeys(queries))}: {said}" for said, queries in reasons.items()]
    return lines or ["- nothing"]
