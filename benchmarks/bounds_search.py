"""The search for bounds alone, many times on one column: what its choices do to the error of an answer.

Histograms of the exact values get the noise that a look has, and the search of `bounds="auto"` reads them. The error of
an answer with the bounds that it finds follows from the values (what the bounds cut off) and from the law of the noise,
so no answer has to be drawn, and hundreds of searches take seconds. `auto_bounds.py` measures the same with answers.

    python benchmarks/bounds_search.py [--searches 300] [--ledger laplace]
"""

import argparse
import math
from collections.abc import Callable, Iterator
from statistics import median
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hedgerow.accounting import gaussian_mu
from hedgerow.answer import FoundBounds
from hedgerow.calibration import bounds_search
from hedgerow.calibration.bounds_search import OF_A_STATEMENT, Counts, UnboundedValue, find_range
from hedgerow.calibration.buckets import CELLS, SMALLEST_POWER, CellRange, Histogram, octaves_of
from hedgerow.distributions import Gaussian, Laplace
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.types import Type

Floats = NDArray[np.float64]
NOISES = ("laplace", "gaussian")
VALUE = Column("x", Type.FLOAT)
ONE_ROW: Any = SimpleNamespace(limits=SimpleNamespace(one_row=True))
MU = gaussian_mu(1.0, 1e-7)
"""The mu of epsilon 1, for Gaussian noise."""


class Looks:
    """A budget of epsilon 1 that answers looks at one column with simulated noise, and adds up their shares."""

    request = SimpleNamespace(min_frequency=10)

    def __init__(self, values: Floats, noise: str) -> None:
        self.values, self.noise, self.payments, self.share = values, noise, [], 0.0

    def noise_factor(self, share: float, other: float) -> float:
        """Scale of the noise that the other share buys, over that of the noise that this one buys."""
        return share / other if self.noise == "laplace" else math.sqrt(share / other)

    def look(self, _budget: object, histogram: Any, share: float, _subject: str) -> Counts:  # noqa: ANN401 - no plan
        """Count the values of each cell, with noise."""
        self.share += share
        counts = np.bincount(histogram.plan(self.values), minlength=len(histogram.cells))
        random = np.random.default_rng()
        if self.noise == "laplace":
            law: Laplace | Gaussian = Laplace(1 / share)
            draws = random.laplace(0, 1 / share, len(counts))
        else:
            law = Gaussian(1 / (MU * math.sqrt(share)))
            draws = random.normal(0, law.sigma, len(counts))
        return Counts(histogram.cells, counts + draws, law, self.request.min_frequency)


class Values(UnboundedValue):
    """A column of one row each: the plan of a histogram is a function from values to cells."""

    may_have_both_signs = False

    def octaves(self) -> Histogram:
        """Cells by order of magnitude."""
        cells = octaves_of(VALUE)

        def indices(values: Floats) -> NDArray[np.int64]:
            sizes = np.floor(np.log2(np.abs(np.where(values == 0, 1, values)))) - SMALLEST_POWER + 1
            return (np.sign(values) * sizes).astype(np.int64) - cells[0]

        return _histogram(indices, cells)

    def cells(self, span: CellRange) -> tuple[Histogram, ...]:
        """Equal cells of a range."""

        def indices(values: Floats) -> NDArray[np.int64]:
            return np.clip(np.floor((values - span.lower) / span.width), 0, CELLS - 1).astype(np.int64)

        return (_histogram(indices, tuple(range(CELLS))),)


def _histogram(indices: Callable[[Floats], NDArray[np.int64]], cells: tuple[int, ...]) -> Histogram:
    plan: Any = indices
    return Histogram(plan, cells)


def searches(values: Floats, noise: str, count: int) -> Iterator[tuple[FoundBounds | None, float]]:
    """Search the bounds of a column so many times: the bounds, and the share of the budget that it took."""
    for _ in range(count):
        budget: Any = Looks(values, noise)
        with patch.object(bounds_search, "_look", budget.look):
            bounds = find_range(budget, Values(ONE_ROW, VALUE), OF_A_STATEMENT)
        yield bounds, budget.share


def deviation(noise: str, share: float) -> float:
    """Standard deviation of the noise of a sum with bounds 0 and 1, bought for a share of epsilon 1."""
    return math.sqrt(2) / share if noise == "laplace" else 1 / (MU * math.sqrt(share))


def clipped(values: Floats, lower: float, upper: float) -> float:
    """Distance of the sum of clipped values from that of the values."""
    return float(abs(np.maximum(values - upper, 0).sum() - np.maximum(lower - values, 0).sum()))


def noise_of(values: Floats, lower: float, upper: float, aggregate: str, unit: float) -> float:
    """Standard deviation of the noise of a sum, or of an average times the number of people."""
    if aggregate == "SUM":
        return unit * max(abs(lower), abs(upper))
    centred = 2 * (float(np.clip(values, lower, upper).mean()) - lower) / (upper - lower) - 1
    return unit * (upper - lower) * math.sqrt((1 + centred**2) / 2)


def main() -> None:
    import auto_bounds  # noqa: PLC0415 - its data sets take seconds to read, and tests need none of them

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--ledger", choices=NOISES, default="laplace")
    options = parser.parse_args()
    noise, console = options.ledger, Console(width=110)
    for name, columns in auto_bounds.COLUMNS.items():
        rows = Table("column", "SUM", "AVG", "warned", "limit held", title=f"{name} columns, {noise} noise")
        worst: dict[str, list[float]] = {"SUM": [], "AVG": []}
        for column, values in columns(5000).items():
            searched = [(b, share) for b, share in searches(values, noise, options.searches) if b is not None]
            if not searched:
                rows.add_row(column, "refused")
                continue
            for aggregate, ratios in worst.items():
                lower, upper = auto_bounds.best_bounds(values, aggregate, deviation(noise, 1))
                ends = [(lower, upper, 1.0), *((b.lower, b.upper, 1 - share) for b, share in searched)]
                best, *errors = (
                    math.hypot(
                        clipped(values, low, high), noise_of(values, low, high, aggregate, deviation(noise, share))
                    )
                    for low, high, share in ends
                )
                ratios.append(math.sqrt(float(np.mean(np.square(errors)))) / best)
            warned = np.mean([b.warning is not None for b, _ in searched])
            held = np.mean([clipped(values, b.lower, b.upper) <= (b.clipped or 0.0) + 1e-9 for b, _ in searched])
            rows.add_row(column, *(f"{ratios[-1]:.2f}" for ratios in worst.values()), f"{warned:.2f}", f"{held:.2f}")
        console.print(rows)
        for aggregate, ratios in worst.items():
            console.print(
                f"{aggregate}: ratio {median(ratios):.2f} in the median, {max(ratios):.2f} in the worst column"
            )


if __name__ == "__main__":
    main()
