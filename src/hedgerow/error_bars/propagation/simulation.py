"""Error bars of last resort: the SQL after the noise, run on many draws of fresh noise around the released numbers.

The noise is added twice, so what bends is bent twice: these intervals are `approximate`, and are used where no rule
gives one (docs/explanation/error-bars.md). Both ways of reading the draws, their quantiles and the reflected ones, are
valid for different functions; the interval is the hull of both. A function that bends inside the noise has its exact
value at the edge of what the draws reach, as the root of an absolute value has at zero: so the quantiles are those of a
fiftieth of the probability, and a twentieth of their distance is added on both sides. Noise also shifts what bends. The
shift of the draws from the number shown tells of the shift of that number from the exact one: where it is not small,
twice the shift is added on both sides, and where it is large there is no interval.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.compile import columns_used, quantiles_text
from hedgerow.compiled import DRAW, DRAWS, RELEASED
from hedgerow.dialects import DUCKDB
from hedgerow.distributions import Gaussian, Noise
from hedgerow.error_bars.intervals.interval import Floats, Interval, IntervalKind, Reason, Status
from hedgerow.error_bars.propagation.forms import Releases
from hedgerow.error_bars.provenance.columns import noisy_columns
from hedgerow.errors import BackendError
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.release import Estimator, NoisyTable, PostprocessEngine

Bars = list[dict[str, Interval]]

LEAST_DRAWS = 2_000
BEYOND = 50
"""Minimum number of draws beyond each end."""

FARTHER, MARGIN = 50, 0.05
"""Factor by which the quantiles are rarer than the interval may fail, and the share of their distance added to them."""

MOST_CELLS = 8_000_000
SMALL_SHIFT, LARGE_SHIFT = 0.06, 0.15
"""Shifts, in half widths of the draws: up to the first the interval is unchanged, beyond the second there is none."""

SIMULATED = Status(IntervalKind.APPROXIMATE, Reason.SIMULATED, "approximate: simulated")
BIASED = Status(
    IntervalKind.NONE,
    Reason.NOISE_BIAS,
    "unbounded: noise shifts this number too much for its width, and no rule says by how much",
)


@dataclass(frozen=True)
class SimulatedNumber:
    """Two quantiles, the minimum and the mean of the draws of one number."""

    low: float
    high: float
    minimum: float
    mean: float


@dataclass(frozen=True)
class Simulation:
    """All inputs that the SQL after the noise needs to run again."""

    engine: PostprocessEngine
    logical: LogicalPlan
    releases: Releases
    public: Mapping[str, pa.Table]

    def complete(self, bars: Bars, shown: pa.Table, beta: float) -> Bars:
        """The same error bars, with simulated ones where no rule applies."""
        open_ = {name for row in bars for name, bar in row.items() if bar.reason is Reason.NO_RULE}
        draws = draws_for(beta, self.releases.estimators) if open_ else None
        if draws is None:
            return bars
        try:
            numbers = self._run(open_, draws, beta)
        except BackendError:
            return bars
        inner = dict(zip(self.logical.names, (c.name for c in self.logical.root.columns), strict=True))
        rows = shown.to_pylist()
        return [
            {name: self._bar(bar, inner[name], row, numbers) for name, bar in by_name.items()}
            for by_name, row in zip(bars, rows, strict=True)
        ]

    def _run(self, names: set[str], draws: int, beta: float) -> dict[tuple[object, ...], dict[str, SimulatedNumber]]:
        root = self.logical.root
        numbers = [c.name for name, c in zip(self.logical.names, root.columns, strict=True) if name in names]
        tail = beta / 2 / FARTHER
        text = quantiles_text(self.logical, DUCKDB, self._keys(), numbers, (tail, 1 - tail))
        tables = draw_tables(self.releases, draws, columns_used(self.logical))
        return read_draws(self.engine.run(text, {**tables, **self.public}), draws, self._keys(), numbers)

    def _keys(self) -> list[str]:
        """The columns that identify rows: those without noise."""
        root = self.logical.root
        return [c.name for c, noisy in zip(root.columns, noisy_columns(root), strict=True) if not noisy]

    def _bar(
        self,
        bar: Interval,
        name: str,
        row: Mapping[str, object],
        numbers: Mapping[tuple[object, ...], Mapping[str, SimulatedNumber]],
    ) -> Interval:
        if bar.reason is not Reason.NO_RULE:
            return bar
        drawn = numbers.get(tuple(row[key] for key in self._keys()), {}).get(name)
        value = row[name]
        return around(None if value is None else float(value), drawn, bar)  # type: ignore[arg-type]


def draws_for(beta: float, estimators: Sequence[Estimator]) -> int | None:
    """Number of draws for an interval that fails with probability `beta`; None where that is too much to simulate.

    Nor is there anything to simulate where no group is shown: every draw of no noise is alike.
    """
    draws = max(LEAST_DRAWS, math.ceil(2 * BEYOND / beta))
    groups = sum(len(estimator.noisy.shown) for estimator in estimators)
    if not all(len(estimator.noisy.shown) for estimator in estimators):
        return None
    if any(estimator.plan.draws or estimator.plan.distinct for estimator in estimators):
        return None
    return draws if draws * max(groups, 1) <= MOST_CELLS else None


def draw_tables(releases: Releases, draws: int, read: Collection[str]) -> dict[str, pa.Table]:
    """The columns `read` of the released tables `draws` times, each time with fresh noise around the raw values.

    Privacy: post-processing of released values. The randomness need not be secret, so it is quick.
    """
    random = np.random.default_rng()
    tables = {DRAWS: pa.table({DRAW: np.arange(draws)})}
    for index, (estimator, order) in enumerate(zip(releases.estimators, releases.orders, strict=True)):
        keys = [name for name in estimator.noisy.keys.column_names if name in read]
        table = _again(estimator, order, draws, keys, random).table(read)
        numbers = pa.array(np.repeat(np.arange(draws, dtype=np.int32), len(order)))
        tables[f"{RELEASED}{index}"] = table.append_column(DRAW, numbers)
    return tables


def _again(
    estimator: Estimator, order: NDArray[np.int64], draws: int, keys: list[str], random: "np.random.Generator"
) -> Estimator:
    noisy, plan = estimator.noisy, estimator.plan
    every = np.tile(order, draws)
    coordinates = tuple(
        values[every] + _fresh(estimator, index, order, draws, random)
        for index, values in enumerate(estimator.noisy_sums)
    )
    counts = None
    if noisy.counts is not None and plan.selection is not None:
        counts = noisy.counts[every] + _drawn(plan.selection.noise, len(every), random)
    chosen = noisy.keys.select(keys).take(pa.array(every))
    return Estimator(NoisyTable(chosen, noisy.shown[every], counts, coordinates), plan)


def _fresh(
    estimator: Estimator, index: int, order: NDArray[np.int64], draws: int, random: "np.random.Generator"
) -> Floats:
    """Fresh noise for every draw of one noisy sum; where totals were measured, the noise that remains."""
    if not estimator.has_levels:
        return _drawn(estimator.plan.noisy_sums[index].noise, len(order) * draws, random)
    matrix = estimator.noise_of(index)
    drawn = _drawn(Gaussian(1.0), matrix.shape[1] * draws, random).reshape(matrix.shape[1], draws)
    return np.asarray((matrix @ drawn)[order].T.ravel())


def _drawn(noise: Noise, count: int, random: "np.random.Generator") -> Floats:
    if isinstance(noise, Gaussian):
        return np.asarray(random.standard_normal(count, dtype=np.float32) * noise.sigma)
    sizes = random.standard_exponential(count, dtype=np.float32)
    signs = random.integers(0, 2, count, dtype=np.int8) * np.int8(2) - np.int8(1)
    return np.asarray(sizes * signs * noise.scale)


def read_draws(
    table: pa.Table, draws: int, keys: Sequence[str], numbers: Sequence[str]
) -> dict[tuple[object, ...], dict[str, SimulatedNumber]]:
    """The draws of each number, by key; only where every draw gave exactly one row, with a value."""
    every = draws * (draws - 1) // 2
    result: dict[tuple[object, ...], dict[str, SimulatedNumber]] = {}
    for row in table.to_pylist():
        once = row["hedgerow_rows"] == draws and row["hedgerow_draws_sum"] == every
        result[tuple(row[key] for key in keys)] = {
            name: _drawn_of(row, i) for i, name in enumerate(numbers) if once and row[f"hedgerow_c{i}"] == draws
        }
    return result


def _drawn_of(row: dict[str, Any], index: int) -> SimulatedNumber:
    low, high = row[f"hedgerow_q{index}"]
    return SimulatedNumber(float(low), float(high), float(row[f"hedgerow_m{index}"]), float(row[f"hedgerow_a{index}"]))


def around(value: float | None, drawn: SimulatedNumber | None, otherwise: Interval) -> Interval:
    """The hull of the quantiles and of their reflection in the value; not below zero where no draw is.

    It is wider by a margin and by the shift of the draws on both sides, and there is none where the shift is large.
    """
    if value is None or drawn is None:
        return otherwise
    shift, half = abs(drawn.mean - value), (drawn.high - drawn.low) / 2
    if shift > LARGE_SHIFT * half + 1e-9 * abs(value):
        return Interval.of(-math.inf, math.inf, BIASED)
    more = 2 * MARGIN * half + (2 * shift if shift > SMALL_SHIFT * half else 0.0)
    lower = min(drawn.low, 2 * value - drawn.high, value) - more
    upper = max(drawn.high, 2 * value - drawn.low, value) + more
    return Interval.of(max(lower, 0.0) if drawn.minimum >= 0 else lower, upper, SIMULATED)
