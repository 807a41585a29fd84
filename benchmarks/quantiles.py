"""Private quantiles and distinct counts, measured: rank errors, grids, intervals, nesting, the flow.

Data and noise are fresh in every run, so digits differ from run to run.

    python benchmarks/quantiles.py [--trials 400]
"""

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hedgerow.aggregates import Rank
from hedgerow.noise.exponential import choose_many
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.ranks import gaussian_column, laplace_column
from hedgerow.release.ranks import draw_buckets, draw_nested, measure_column
from hedgerow.statistics.distinct_bounds import distinct_flow, simple_distinct
from hedgerow.statistics.quantiles import (
    BUCKETS_OF_ONE_GROUP,
    Buckets,
    Reach,
    Target,
    affordable_epsilon,
    bucket_grid,
    joint_factor,
    levels,
    mu_squared,
)

OUT = Console(width=118)
Row = tuple[str, ...]
Whole = np.ndarray[Any, np.dtype[np.int64]]
RANDOM = np.random.default_rng()
TOP = 1000
POINTS = 1 << 20
MEDIAN = Fraction(1, 2)
ONE = Reach(rows=1)
PRINTED = {(200, 0.1): 0.0337, (200, 0.5): 0.0099, (2000, 0.1): 0.0033, (2000, 0.5): 0.0006, (20000, 0.1): 0.0003}


def sample(groups: int, rows: int) -> Whole:
    """Sorted lognormal values on a fine grid from 0 to 1000, one row per group."""
    values = np.minimum(RANDOM.lognormal(3, 1, (groups, rows)), TOP)
    return np.sort(np.floor(values / TOP * (POINTS - 1)).astype(np.int64), axis=1)


def counted(values: Whole, buckets: Buckets) -> Whole:
    """Bucket counts of each row."""
    numbers = (values - buckets.low) // buckets.width
    return np.stack([np.bincount(row, minlength=buckets.count) for row in numbers])


def ranks_off(values: Whole, drawn: Whole, buckets: Buckets, quantile: Fraction) -> np.ndarray[Any, Any]:
    """Distance between the middle of each drawn bucket and the rank, as a share of the group."""
    middles = buckets.low + drawn * buckets.width + buckets.width // 2
    rows = values.shape[1]
    below = np.array([np.searchsorted(row, point) for row, point in zip(values, middles, strict=True)])
    return np.asarray(np.abs(below / rows - float(quantile)))


def mean_and_error(numbers: np.ndarray[Any, Any]) -> str:
    return f"{np.mean(numbers):.4f} ± {2 * np.std(numbers) / np.sqrt(numbers.size):.4f}"


def rank_errors(trials: int) -> Iterator[Row]:
    """The median by runs between sorted values: the finest grid there is."""
    for (rows, mu), printed in PRINTED.items():
        epsilon = affordable_epsilon(Fraction(mu) ** 2, one_group=True)
        few = max(20, min(trials, 2_000_000 // rows))
        values = sample(few, rows)
        edges = np.hstack([np.zeros((few, 1), np.int64), values, np.full((few, 1), POINTS)])
        scores = np.abs(2 * np.arange(rows + 1) - rows)
        drawn = choose_many(np.tile(scores, (few, 1)), np.diff(edges, axis=1), epsilon / 2)
        yield str(rows), str(mu), f"{printed:.4f}", mean_and_error(np.abs(drawn / rows - 0.5))


def grids(trials: int) -> Iterator[Row]:
    """Rank error of the median and seconds for a thousand groups, by the number of buckets."""
    epsilon = affordable_epsilon(Fraction(1, 4), one_group=False)
    small, large = sample(trials, 200), sample(trials, 2000)
    for count in (64, 256, 1024, 4096, 16384):
        buckets = bucket_grid(0, POINTS - 1, count)
        errors = []
        for values in (small, large):
            drawn = draw_buckets(counted(values, buckets), Target(MEDIAN), epsilon, ONE)
            errors.append(mean_and_error(ranks_off(values, drawn, buckets, MEDIAN)))
        weights = RANDOM.integers(0, 3, (1000, count)) << 30
        yield str(count), *errors, f"{fastest(partial(draw, weights)):.3f} s"


def draw(weights: Whole) -> None:
    draw_buckets(weights, Target(MEDIAN), Fraction(1), Reach(rows=1, weight_bits=30))


def fastest(work: Callable[[], None], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def limits(trials: int) -> Iterator[Row]:
    """Coverage of intervals, and their width in ranks, by confidence and noise."""
    rows, people = 5000, Bounding(1, 1, 1, weighted=False, size=10**6)
    buckets = bucket_grid(0, POINTS - 1, BUCKETS_OF_ONE_GROUP)
    values = sample(min(trials, 200), rows)
    weights = counted(values, buckets)
    exact = values[:, (rows - 1) // 2]
    for mechanism, make, budget in (("gaussian", gaussian_column, 0.04), ("laplace", laplace_column, 0.4)):
        for confidence in (0.5, 0.6, 0.95, 0.999):
            column = make(0, buckets, [Rank(MEDIAN)], budget, people, 0, 1 - confidence)
            draws, sums = column.draws, column.cumulative
            (seen,) = measure_column(weights, buckets, draws, sums, mechanism=mechanism, weight_bits=0)
            error = ranks_off(values, (seen.points - buckets.low) // buckets.width, buckets, MEDIAN)
            width = [
                np.searchsorted(row, b, "right") - np.searchsorted(row, a)
                for row, a, b in zip(values, seen.lower, seen.upper, strict=True)
            ]
            covered = np.mean((seen.lower <= exact) & (exact <= seen.upper))
            yield mechanism, str(confidence), mean_and_error(error), f"{np.mean(width):.1f}", f"{covered:.3f}"


def nesting(trials: int) -> Iterator[Row]:
    """Several quantiles at one price: each on its own, or nested; without and with a bucket that holds a third."""
    budget, rows = Fraction(1, 4), 2000
    buckets = bucket_grid(0, POINTS - 1, 4096)
    smooth = sample(trials, rows)
    heavy = np.sort(np.where(RANDOM.random(smooth.shape) < 1 / 3, POINTS // 50, smooth), axis=1)
    for count, (name, values) in (
        (c, d) for c in (2, 3, 4, 9, 19) for d in (("smooth", smooth), ("one third in a bucket", heavy))
    ):
        quantiles = [Fraction(k, count + 1) for k in range(1, count + 1)]
        weights = counted(values, buckets)
        alone = affordable_epsilon(budget / joint_factor(quantiles), one_group=False)
        nested = affordable_epsilon(budget / levels(count), one_group=False)
        singly = np.stack([draw_buckets(weights, Target(q), alone, ONE) for q in quantiles], axis=1)
        together = draw_nested(weights, quantiles, nested, ONE)
        errors = [missed(weights, drawn, quantiles) / rows for drawn in (singly, together)]
        yield str(count), name, *(f"{error:.4f}" for error in errors)


def missed(weights: Whole, drawn: Whole, quantiles: list[Fraction]) -> float:
    """The mean distance, in rows, of the wanted rank from the ranks that the drawn bucket covers."""
    upto = np.cumsum(weights, axis=1)
    rows = np.arange(len(weights))
    distances = []
    for column, quantile in enumerate(quantiles):
        wanted = float(quantile) * upto[:, -1]
        high = upto[rows, drawn[:, column]]
        low = high - weights[rows, drawn[:, column]]
        distances.append(np.maximum(np.maximum(low - wanted, wanted - high), 0))
    return float(np.mean(distances))


def distinct(_: int) -> Iterator[Row]:
    """Two thousand people with 17 values each out of 5000, Zipf 1.1: near the printed case, whose law is unknown."""
    chances = np.arange(1, 5001) ** -1.1
    owners = np.repeat(np.arange(2000), 17)
    values = RANDOM.choice(5000, len(owners), p=chances / chances.sum())
    there = len(np.unique(values))
    for share, printed in ((1, "639 / 2000"), (2, "1018 / 3177"), (5, "1889 / 3312")):
        start = time.perf_counter()
        flow = distinct_flow(owners, values, share)
        took = time.perf_counter() - start
        yield (
            str(share),
            f"{printed} of 3312",
            f"{simple_distinct(owners, values, share)} / {flow} of {there}",
            f"{took:.3f} s",
        )


def charges(_: int) -> Iterator[Row]:
    """Mu squared of a draw by its epsilon."""
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
        one, many = (float(mu_squared(epsilon, one_group=flag)) for flag in (True, False))
        yield str(float(epsilon)), f"{one:.6f}", f"{many:.6f}"


TABLES: list[tuple[str, list[str], Callable[[int], Iterator[Row]]]] = [
    ("Mean absolute rank error of the median", ["rows", "mu", "printed", "measured"], rank_errors),
    ("Buckets, mu = 0.5 over groups", ["buckets", "200 rows", "2000 rows", "1000 groups take"], grids),
    (
        "Intervals of a median, mu = 0.2 or epsilon = 0.4, 5000 rows",
        ["noise", "confidence", "rank error", "width in ranks", "covered"],
        limits,
    ),
    ("Several quantiles, mu = 0.5, 2000 rows: rank error", ["quantiles", "data", "each alone", "nested"], nesting),
    ("Distinct values: simple / flow", ["per owner", "printed", "measured", "the flow takes"], distinct),
    ("Mu squared of a draw", ["epsilon", "one group", "several (T = r)"], charges),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=400)
    trials = parser.parse_args().trials
    for title, columns, rows in TABLES:
        table = Table(*columns, title=title)
        for row in rows(trials):
            table.add_row(*row)
        OUT.print(table)


if __name__ == "__main__":
    main()
