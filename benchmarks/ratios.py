"""Figures and table of Shoham and Ligett (2025), recomputed, and the coverage of hedgerow's own interval beside them.

Deterministic numbers come from the formulas, the rest from simulation with fresh draws, so that digits differ from run
to run. Progress goes to standard error.

    python benchmarks/ratios.py [--draws 10000] [--own-draws 100000] [--width-draws 500] [--figures FOLDER]
        [--json FILE]
"""

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from ratios_figures import draw_all
from ratios_printed import PRINTED
from rich.console import Console
from rich.table import Table

from hedgerow import Gaussian, Laplace
from hedgerow.accuracy import gaussian_sigma
from hedgerow.distributions import Noise
from hedgerow.ratio import expected_ratio, odds_ratio, relative_risk, risk_difference, sample_accuracy
from hedgerow.statistics.two_by_two.arms import Arm, disjoint_counts, public_size, variance
from hedgerow.statistics.two_by_two.curves import ODDS_RATIO, RELATIVE_RISK, RISK_DIFFERENCE
from hedgerow.statistics.two_by_two.score import Score

LOG, OUT = Console(stderr=True), Console(width=118)
RATES = np.arange(1, 10) / 10
CELLS = list(product(RATES, RATES))
BETA, DELTA = 0.05, 1e-4
BINOMIALS = ((1 / 3, 2 / 3), (1 / 2, 1 / 2), (2 / 3, 1 / 3))
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
OTHERS = ("conservative", "log", "fieller")
LARGEST = 200.0
"""The largest ratio of counts from 1 to 200, to which widths are cut where an end is farther."""

Rows = list[dict[str, Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
GENERATOR = np.random.default_rng()


def published_noise(kind: str, epsilon: float) -> Noise:
    """Two counts that a person may move between: 2/epsilon, or Gaussian noise for half of epsilon and of delta."""
    if kind == "laplace":
        return Laplace(2 / epsilon)
    return Gaussian(float(gaussian_sigma(epsilon / 2, DELTA / 2)))


def own_noise(kind: str, epsilon: float) -> Noise:
    """Counts of different people, each for the whole of it: what `noisy_counts` adds."""
    return Laplace(1 / epsilon) if kind == "laplace" else Gaussian(float(gaussian_sigma(epsilon, DELTA)))


def drawn(noise: Noise, count: int) -> Floats:
    if isinstance(noise, Laplace):
        return GENERATOR.laplace(0, noise.scale, count)
    return GENERATOR.normal(0, noise.sigma, count)


def noisy(rate: float, size: int, noise: Noise, count: int) -> Floats:
    return GENERATOR.binomial(size, rate, count) + drawn(noise, count)


def figure_1() -> Rows:
    """Frequency with which each estimator is within 0.1 of the ratio."""
    rows = []
    for (x, y), epsilon in product(((100, 100), (50, 100), (100, 50), (100, 30)), EPSILONS):
        asked = {"epsilon": epsilon, "alpha": 0.1, "n_x": 150, "n_y": 150}
        rows.append(
            {
                "x": x,
                "y": y,
                "epsilon": epsilon,
                "noisy_counts": 1 - sample_accuracy(x, y, **asked),
                "disjoint": 1 - sample_accuracy(x, y, scale=1 / epsilon, **asked),
                "noisy_log": 1 - sample_accuracy(x, y, estimator="noisy_log", **asked),
                "naive": 1 - sample_accuracy(x, y, estimator="naive", **asked),
                "smooth": 1 - sample_accuracy(x, y, estimator="smooth", delta=1 / 150, **asked),
                "ptr": 1 - sample_accuracy(x, y, estimator="propose_test_release", delta=1 / 150, **asked),
                "smooth_1e-6": 1 - sample_accuracy(x, y, estimator="smooth", delta=1e-6, **asked),
                "ptr_1e-6": 1 - sample_accuracy(x, y, estimator="propose_test_release", delta=1e-6, **asked),
            }
        )
    return rows


def figure_2(draws: int) -> Rows:
    """Means of the ratio: of the exact counts, of the noisy ones, and what Claim 3.4 expects of the latter."""
    rows = []
    for (p_x, p_y), epsilon in product(BINOMIALS, EPSILONS):
        x, y = (GENERATOR.binomial(150, p, 2 * draws) for p in (p_x, p_y))
        noise = published_noise("laplace", epsilon)
        ratio = (x + drawn(noise, len(x))) / np.maximum(y + drawn(noise, len(y)), 1)
        claimed = expected_ratio(x, y, epsilon=epsilon)
        rows.append(
            {
                "p_x": p_x,
                "p_y": p_y,
                "epsilon": epsilon,
                "ratio": p_x / p_y,
                "exact_counts": float(np.mean(x / np.maximum(y, 1))),
                "noisy_counts": float(np.mean(ratio)),
                "standard_error": float(np.std(ratio) / np.sqrt(len(ratio))),
                "claim_3_4": float(np.mean(claimed)),
            }
        )
    return rows


def figure_3(draws: int) -> Rows:
    """Width and coverage of eight intervals, 150 people in each group."""
    rows = []
    for (p_x, p_y), epsilon in product(BINOMIALS, EPSILONS):
        x, y = (GENERATOR.binomial(150, p, draws) for p in (p_x, p_y))
        shared = {"p_x": p_x, "p_y": p_y, "epsilon": epsilon, "ratio": p_x / p_y}
        exact = {"classic": "classic", "non-private": "published"}
        rows += [{**shared, "method": name, **measured(x, y, 150, None, way, p_x / p_y)} for name, way in exact.items()]
        for kind in ("laplace", "gaussian"):
            noise = published_noise(kind, epsilon)
            seen = x + drawn(noise, draws), y + drawn(noise, draws)
            for name, way in (("4.2", "published"), ("4.5", "conservative"), ("auto", "auto")):
                few = seen if way != "auto" else tuple(part[:2000] for part in seen)
                measures = measured(*few, 150, noise, way, p_x / p_y)
                rows.append({**shared, "method": f"{kind} {name}", **measures})
    return rows


def measured(x: Floats, y: Floats, size: int, noise: Noise | None, method: str, value: float) -> dict[str, float]:
    """Mean width, median width and coverage.

    The paper's methods see counts of at least 1, as it has them, and miss where their formula has no root.
    """
    if method != "auto":
        x, y = np.maximum(x, 1), np.maximum(y, 1)
    interval = relative_risk(x, y, size, size, noise=noise, method=method).interval
    said = np.isfinite(interval.upper) | (method == "auto")
    width = (interval.upper - interval.lower)[said]
    held = said & (interval.lower <= value) & (value <= interval.upper)
    return {"width": float(np.mean(width)), "median": float(np.median(width)), "coverage": float(np.mean(held))}


def table_1(draws: int) -> Rows:
    """Coverage of Theorems 4.2 and 4.5, for epsilon 1, to which the printed numbers belong, and for the stated 0.5."""
    rows = []
    for name, text in PRINTED.items():
        kind, theorem = name.split()
        printed = np.array(text.split(), dtype=float) / 1000
        method = "published" if theorem == "4.2" else "conservative"
        for epsilon in (1.0, 0.5):
            noise = published_noise(kind, epsilon)
            coverage = np.array([covered(p_x, p_y, noise, method, draws) for p_x, p_y in CELLS])
            error = np.sqrt((printed * (1 - printed) + coverage * (1 - coverage)) / draws)
            rows.append(
                {
                    "block": name,
                    "epsilon": epsilon,
                    "printed_least": printed.min(),
                    "least": coverage.min(),
                    "mean": coverage.mean(),
                    "mean_difference": float(np.mean(coverage - printed)),
                    "largest_in_errors": float(np.max(np.abs(coverage - printed) / error)),
                    "cells": coverage.tolist(),
                }
            )
    return rows


def covered(p_x: float, p_y: float, noise: Noise, method: str, draws: int) -> float:
    x, y = noisy(p_x, 200, noise, draws), noisy(p_y, 200, noise, draws)
    return measured(x, y, 200, noise, method, p_x / p_y)["coverage"]


def accepted(p_x: float, p_y: float, sizes: tuple[int, int], noise: Noise, draws: int) -> float:
    """Coverage of our interval: at least as often as its test accepts the truth."""
    terms = public_size(noise)
    arms = [
        Arm(noisy(p, n, noise, draws), np.full(draws, float(n)), terms) for p, n in zip((p_x, p_y), sizes, strict=True)
    ]
    p_values = Score(arms[0], arms[1], RELATIVE_RISK).p_value(np.full(draws, p_x / p_y))
    return float(np.mean(p_values >= BETA))


def settings() -> list[tuple[str, str, float, Noise]]:
    makers = (("document", published_noise), ("own", own_noise))
    return [
        (whose, kind, epsilon, make(kind, epsilon))
        for (whose, make), kind, epsilon in product(makers, ("laplace", "gaussian"), (1.0, 0.5))
    ]


def own_coverage(draws: int) -> Rows:
    """Our interval on the grid of Table 1."""
    rows = []
    for whose, kind, epsilon, noise in settings():
        coverage = np.array([accepted(p_x, p_y, (200, 200), noise, draws) for p_x, p_y in CELLS])
        rows.append(
            {
                "noise": whose,
                "kind": kind,
                "epsilon": epsilon,
                "deviation": float(np.sqrt(variance(noise))),
                "least": coverage.min(),
                "mean": coverage.mean(),
                "below_0.940": int(np.sum(coverage < 0.94)),
                "cells": coverage.tolist(),
            }
        )
        LOG.print(f"  {whose} {kind} {epsilon}: {coverage.min():.4f}")
    return rows


def small_groups(draws: int) -> Rows:
    """Least coverage of every method in small groups and at small rates, noise as `noisy_counts` adds it."""
    rates, rows = (0.02, 0.05, 0.1, 0.3, 0.5, 0.9), []
    for kind, size in product(("laplace", "gaussian"), (20, 50, 200)):
        noise = own_noise(kind, 0.5)
        cells = {method: [] for method in OTHERS}
        own = []
        for p_x, p_y in product(rates, rates):
            own.append(accepted(p_x, p_y, (size, size), noise, draws))
            x, y = noisy(p_x, size, noise, draws), noisy(p_y, size, noise, draws)
            for method, seen in cells.items():
                interval = relative_risk(x, y, size, size, noise=noise, method=method).interval
                seen.append(np.mean((interval.lower <= p_x / p_y) & (p_x / p_y <= interval.upper)))
        least = {method: float(min(seen)) for method, seen in cells.items()}
        rows.append({"kind": kind, "epsilon": 0.5, "people": size, "auto": min(own), **least})
    return rows


def other_statistics(draws: int) -> Rows:
    """Least coverage over the grid for odds ratios and risk differences, and for private group sizes."""
    rows = []
    curves = {
        "odds ratio": (ODDS_RATIO, odds_ratio, "log"),
        "risk difference": (RISK_DIFFERENCE, risk_difference, "fieller"),
    }
    for (name, (curve, statistic, other)), kind, size in product(curves.items(), ("laplace", "gaussian"), (50, 200)):
        noise = own_noise(kind, 0.5)
        own, others = [], []
        for p_x, p_y in CELLS:
            value = float(curve.value(np.float64(p_x), np.float64(p_y)))
            x, y = noisy(p_x, size, noise, draws), noisy(p_y, size, noise, draws)
            arms = [Arm(count, np.full(draws, float(size)), public_size(noise)) for count in (x, y)]
            own.append(np.mean(Score(arms[0], arms[1], curve).p_value(np.full(draws, value)) >= BETA))
            interval = statistic(x, y, size, size, noise=noise, method=other).interval
            others.append(np.mean((interval.lower <= value) & (value <= interval.upper)))
        rows.append({"statistic": name, "kind": kind, "people": size, "auto": min(own), other: min(others)})
    return [
        {**row, "log": row.get("log", ""), "fieller": row.get("fieller", "")} for row in rows + private_sizes(draws)
    ]


def private_sizes(draws: int) -> Rows:
    """The relative risk where those with and those without the outcome were released."""
    rows = []
    for kind, size in product(("laplace", "gaussian"), (50, 200)):
        noise, own = own_noise(kind, 0.5), []
        for p_x, p_y in CELLS:
            arms = []
            for rate in (p_x, p_y):
                outcomes = GENERATOR.binomial(size, rate, draws)
                count = outcomes + drawn(noise, draws)
                arms.append(Arm(count, count + size - outcomes + drawn(noise, draws), disjoint_counts(noise, noise)))
            own.append(np.mean(Score(arms[0], arms[1], RELATIVE_RISK).p_value(np.full(draws, p_x / p_y)) >= BETA))
        rows.append({"statistic": "relative risk, private sizes", "kind": kind, "people": size, "auto": min(own)})
    return rows


def bootstrapped(draws: int) -> Rows:
    """Coverage of the bootstrap over nine pairs of rates; the mean is more certain than the least."""
    rows, rates = [], (0.05, 0.3, 0.9)
    for kind, size in product(("laplace", "gaussian"), (20, 50, 200)):
        noise, coverages = own_noise(kind, 0.5), []
        for p_x, p_y in product(rates, rates):
            x, y = noisy(p_x, size, noise, draws), noisy(p_y, size, noise, draws)
            ends = relative_risk(x, y, size, size, noise=noise, method="bootstrap").interval
            coverages.append(np.mean((ends.lower <= p_x / p_y) & (p_x / p_y <= ends.upper)))
        rows.append({"kind": kind, "people": size, "mean": np.mean(coverages), "least": min(coverages)})
    return rows


def own_widths(draws: int) -> Rows:
    """Widths over the grid of Table 1, relative to Theorem 4.5 on the same draws.

    Three measures, because a ratio whose denominator may be zero has no bounded interval that holds: the mean over the
    grid of median widths; of mean widths on the scale ratio / (1 + ratio); and of mean widths of what lies between 0
    and 200, where ratios of counts of at least 1 end. `same_price` compares medians with what Theorem 4.5 makes of the
    paper's noise for the same epsilon.
    """
    rows, published = [], {}
    for whose, kind, epsilon, noise in settings():
        totals = {method: np.zeros(3) for method in ("auto", *OTHERS)}
        endless = 0.0
        for p_x, p_y in CELLS:
            x, y = noisy(p_x, 200, noise, draws), noisy(p_y, 200, noise, draws)
            for method in ("auto", *OTHERS):
                counts = (np.maximum(x, 1), np.maximum(y, 1)) if method == "conservative" else (x, y)
                interval = relative_risk(*counts, 200, 200, noise=noise, method=method).interval
                totals[method] = totals[method] + _widths(interval.lower, interval.upper) / len(CELLS)
                endless += np.mean(np.isinf(interval.upper)) / len(CELLS) if method == "auto" else 0.0
        base = totals["conservative"]
        median = published.setdefault((kind, epsilon), base[0])
        row = {"noise": whose, "kind": kind, "epsilon": epsilon, "unbounded": float(endless)}
        row |= {
            name: float(part) for name, part in zip(("median", "share", "mean"), totals["auto"] / base, strict=True)
        }
        row["same_price"] = float(totals["auto"][0] / median)
        row |= {f"{method}_median": float((totals[method] / base)[0]) for method in ("log", "fieller")}
        rows.append(row)
        LOG.print(f"  {whose} {kind} {epsilon}")
    return rows


def _widths(lower: Floats, upper: Floats) -> Floats:
    """Median width, mean width as a share, and mean width of what is possible."""
    low, high = np.maximum(lower, 0.0), np.where(np.isinf(upper), 1e300, upper)
    possible = np.maximum(np.minimum(high, LARGEST) - np.minimum(low, LARGEST), 0.0)
    return np.array([np.median(upper - lower), np.mean(high / (1 + high) - low / (1 + low)), np.mean(possible)])


def report(title: str, rows: Rows) -> None:
    table = Table(title=title, title_justify="left")
    names = [name for name in rows[0] if name != "cells"]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(_shown(row[name]) for name in names))
    OUT.print(table)


def grid(title: str, cells: list[float]) -> None:
    """A 9 x 9 block as the paper prints it."""
    table = Table(title=title, title_justify="left")
    for name in ("p_x / p_y", *(f"{rate:.1f}" for rate in RATES)):
        table.add_column(name, justify="right")
    for i, rate in enumerate(RATES):
        table.add_row(f"{rate:.1f}", *(f"{cell:.3f}" for cell in cells[9 * i : 9 * i + 9]))
    OUT.print(table)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--own-draws", type=int, default=100_000)
    parser.add_argument("--width-draws", type=int, default=500)
    parser.add_argument("--figures", type=Path, help="a folder for Figures 1 to 3 and the charts of the library")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    parts = {
        "figure 1: within 0.1 of the ratio": figure_1,
        "figure 2: means": lambda: figure_2(options.draws),
        "figure 3: width and coverage, 150 people": lambda: figure_3(options.draws),
        "table 1: coverage, 200 people": lambda: table_1(options.draws),
        "own coverage: the default interval, 200 people": lambda: own_coverage(options.own_draws),
        "small groups: least coverage": lambda: small_groups(options.draws),
        "other statistics: least coverage on the grid, epsilon 0.5": lambda: other_statistics(options.draws),
        "bootstrap: coverage, epsilon 0.5": lambda: bootstrapped(options.width_draws // 2),
        "own widths: relative to Theorem 4.5": lambda: own_widths(options.width_draws),
    }
    results: dict[str, Rows] = {}
    for title, part in parts.items():
        name = title.split(":")[0]
        LOG.print(f"computing {name}")
        results[name] = part()
        report(title, results[name])
        for row in results[name]:
            if "cells" in row:
                grid(
                    ", ".join(str(value) for value in list(row.values())[:3] if not isinstance(value, list)),
                    row["cells"],
                )
    if options.figures:
        draw_all(options.figures, results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2, default=float))


if __name__ == "__main__":
    main()
