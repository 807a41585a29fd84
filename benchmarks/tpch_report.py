"""The report as Markdown: one table for each target, and what the numbers rest on."""

import math
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def report(found: Results) -> str:
    """The whole page."""
    parts = [
        f"# TPC-H at scale {found.scale:g}, ten queries",
        _setting(found),
        "## Summary\n\n" + summary(found),
        "## A ledger for a few statements\n\n" + _compared(found, FEW),
        "## A ledger for many statements\n\n" + _compared(found, MANY),
        "## An equal share of one budget\n\n" + _shared(found),
        "## Expected errors of documented mechanisms\n\n" + _expected(found),
        "## Error by epsilon\n\n" + _sweep(found),
        "## Time\n\n" + _times(found.times),
        "## Queries in one budget\n\n" + _admitted(found.admitted),
    ]
    if found.peers:
        parts.append("## The other systems, as they ran here\n\n" + _peers(found))
    return "\n\n".join(parts) + "\n"


def summary(found: Results) -> str:
    """The targets, and whether they are met."""
    lines = [line for ledger in (FEW, MANY) for line in _targets(found.comparisons, ledger)]
    above = [each for each in found.shared if each.ratio > 1.0]
    lines.append(f"- An equal share of one budget: {len(found.shared) - len(above)} of {len(found.shared)} at most 1.")
    lost = sum(each.lost for each in found.comparisons if each.query == "GROUPBY_JOIN" and each.epsilon == 0.1)
    times = found.times
    lines += [
        f"- Cells lost in GROUPBY_JOIN at epsilon 0.1: {lost}.",
        f"- Time: {times.private:.0f} ms for all ten, allowed {times.limit:.0f} ms: {_met(times)}.",
    ]
    return "\n".join(lines)


def _targets(comparisons: Sequence[Comparison], ledger: str) -> list[str]:
    """Of one ledger: at most 1 everywhere, and the wanted ratio on enough of the queries."""
    own = [each for each in comparisons if each.ledger == ledger]
    above = ", ".join(f"{each.query} at {each.epsilon:g}" for each in own if not each.not_above)
    ratio, queries = WANTED[ledger]
    reached = {epsilon: sum(each.wanted for each in own if each.epsilon == epsilon) for epsilon in _epsilons(own)}
    counts = ", ".join(f"{count} at epsilon {epsilon:g}" for epsilon, count in reached.items())
    return [
        f"- A ledger for {ledger} statements, at most 1 of the best other: {above or 'everywhere'}"
        + (" are above it." if above else "."),
        f"  - At most {ratio:.2f}, wanted on {queries} of {len(QUERIES)}: {counts}.",
    ]


def _epsilons(comparisons: Sequence[Comparison]) -> list[float]:
    return sorted({each.epsilon for each in comparisons})


def headline(found: Results) -> str:
    """The table for the README: what is asked, how wrong on either ledger, against whom, how long."""
    by_query = {(each.ledger, each.query, each.epsilon): each for each in found.comparisons}
    timing = {each.name: each for each in found.times.queries}

    def row(name: str) -> list[object]:
        few, many = by_query[FEW, name, 1.0], by_query[MANY, name, 1.0]
        return [
            name,
            f"{number(few.ours)} %",
            f"{number(few.rival_error)} % ({few.rival})",
            f"{few.ratio:.2f}",
            f"{number(many.ours)} %",
            f"{number(many.rival_error)} % ({many.rival})",
            f"{many.ratio:.2f}",
            f"{timing[name].plain:.1f} ms",
            f"{timing[name].private:.0f} ms",
        ]

    head = ["query", "few statements", "best other", "ratio", "many statements", "best other", "ratio"]
    return table([*head, "plain", "private"], [row(query.name) for query in QUERIES])


def _setting(found: Results) -> str:
    return (
        f"One run. Python {platform.python_version()}, DuckDB {duckdb.__version__}, {found.times.cores} cores, "
        f"load {found.load[0]:.1f} at the start and {found.load[1]:.1f} at the end. The protected person is the "
        f"customer, delta is {DELTA:g}, the minimum frequency 1, keys are undeclared, every bound is the true extreme. "
        "`mechanism` is left alone. A ledger for a few statements keeps as much of epsilon for Laplace noise as they "
        "take and has room for as many with Gaussian noise; one for many keeps nothing (`pure_epsilon` 0, what `init` "
        "writes). Each statement is charged and run once; its noise is drawn in every trial. Errors are mean "
        "relative errors in percent (equations 2 and 3 of Matsumoto et al. 2026); a lost cell counts as 100 %."
    )


def _compared(found: Results, ledger: str) -> str:
    rows = []
    for each in found.comparisons:
        if each.ledger != ledger:
            continue
        trials = found.trials[ledger][each.query, each.epsilon]
        rows.append(
            [
                each.query,
                f"{each.epsilon:g}",
                ", ".join(trials.mechanisms),
                number(each.ours),
                f"{each.rival} ({each.basis})",
                number(each.rival_error),
                f"{each.ratio:.2f} [{each.low:.2f}, {each.high:.2f}]",
                "yes" if each.not_above else "no",
                "yes" if each.wanted else "no",
                each.lost,
            ]
        )
    head = ["query", "epsilon", "noise", "ours", "best other", "its error", "ours / best, 95 %"]
    head += ["at most 1", f"at most {WANTED[ledger][0]:.2f}", "cells lost"]
    count = max(len(trials.errors) for trials in found.trials[ledger].values())
    rivals = "either kind of noise" if ledger == FEW else "Gaussian noise"
    text = (
        f"{count} trials each, against the others with {rivals} at the same epsilon and delta. The best is the system "
        "with the least *expected* error; the ratio is to what it measured where it was asked as often as ours, and "
        "else to its expected error. Without any difference, an interval lies above 1 in one case of forty. Tumult's "
        "user is taken to spend a tenth on finding keys.\n\n"
    )
    return text + table(head, rows)


def _shared(found: Results) -> str:
    budgets = list(dict.fromkeys((each.epsilon, each.delta) for each in found.shared))
    by_place = {(each.query, each.epsilon): each for each in found.shared}
    head = ["query"]
    for epsilon, delta in budgets:
        head += [f"({epsilon:g}, {delta:g}): ours", "best other", "ratio"]
    rows = []
    for query in QUERIES:
        row: list[object] = [query.name]
        for epsilon, _ in budgets:
            each = by_place[query.name, epsilon]
            row += [number(each.ours), f"{number(each.rival_error)} ({each.rival})", f"{each.ratio:.2f}"]
        rows.append(row)
    text = (
        f"Error in percent of one of {STATEMENTS} statements that share a budget evenly, each system by its own "
        "accountant: ours divides the sum of mu squared, OpenDP and Tumult divide rho, PipelineDP divides epsilon and "
        "delta. Ours is the error measured at an epsilon of 1, scaled to the share. With Laplace noise alone everybody "
        "divides epsilon, and an equal share is an equal epsilon.\n\n"
    )
    return text + table(head, rows)


def _expected(found: Results) -> str:
    systems = list(dict.fromkeys(name for errors in found.expected.values() for name in errors))
    rows = [
        [query, f"{epsilon:g}", *(number(errors.get(name, math.nan)) for name in systems)]
        for (query, epsilon), errors in found.expected.items()
    ]
    text = "In percent; the derivations are in `benchmarks/peers/expected.py`. – : it cannot be asked.\n\n"
    return text + table(["query", "epsilon", *systems], rows)


def _sweep(found: Results) -> str:
    parts = []
    for ledger, trials in found.trials.items():
        epsilons = sorted({epsilon for _, epsilon in trials})
        rows = []
        for query in QUERIES:
            cells = [trials[query.name, epsilon] for epsilon in epsilons]
            rows.append([query.name, *(number(each.mean) + _lost(each) for each in cells)])
        head = ["query", *(f"{epsilon:g}" for epsilon in epsilons)]
        parts.append(f"A ledger for {ledger} statements, percent (cells lost in brackets):\n\n{table(head, rows)}")
    return "\n\n".join(parts) + "\n\n![error by epsilon](tpch-errors.svg)"


def _lost(trials: Trials) -> str:
    return f" ({trials.lost} of {trials.cells} lost)" if trials.lost else ""


def _times(times: Times) -> str:
    rows = [
        [
            each.name,
            f"{each.plain:.1f} [{each.plain_range[0]:.1f}, {each.plain_range[1]:.1f}]",
            f"{each.private:.1f} [{each.private_range[0]:.1f}, {each.private_range[1]:.1f}]",
            f"{each.ratio:.1f}",
            "" if each.joined is None else f"{each.joined:.1f} ms, ratio {each.joined_ratio:.1f}",
        ]
        for each in times.queries
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
    found = {(row["epsilon"], row["delta"], row["accountant"]): row["queries"] for row in rows}
    head = ["accountant", *(f"({epsilon:g}, {delta:g})" for epsilon, delta in budgets)]
    cells = [[name, *(found.get((*budget, name), "–") for budget in budgets)] for name in names]
    return "Statements of (0.1, 1e-7) each.\n\n" + table(head, cells) + "\n\n![queries](tpch-queries.svg)"


def _peers(found: Results) -> str:
    parts = []
    for run in found.peers:
        rows = []
        for (query, epsilon), trials in run.trials.items():
            expected = found.expected.get((query, epsilon), {}).get(run.system, math.nan)
            rows.append([query, f"{epsilon:g}", *_measured(run, (query, epsilon), trials, expected)])
        head = ["query", "epsilon", "error %", "standard error", "expected %", "cells lost", "seconds", "trials"]
        parts.append(f"### {run.system} {run.version} (load {run.load:.1f})\n\n" + table(head, rows))
    return "\n\n".join(parts)


def _measured(run: Run, place: tuple[str, float], trials: Trials, expected: float) -> list[object]:
    if not trials.errors:
        return ["–", "–", number(expected), "–", "–", run.said[place].replace("\n", " ").replace("|", "/")[:80]]
    seconds = sorted(run.seconds[place])
    middle: Callable[[list[float]], float] = lambda values: values[len(values) // 2]  # noqa: E731 - one line
    return [
        number(trials.mean),
        number(trials.deviation),
        number(expected),
        trials.lost,
        f"{middle(seconds):.2f}",
        len(trials.errors),
    ]
