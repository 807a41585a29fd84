"""Drawing quantiles and extremes from exact bucket weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import BUCKET, KEY_INDEX, WEIGHT
from hedgerow.exact import ExactTable
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import CumulativeSums, Draw
from hedgerow.release.draw import require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.release.quantiles import (
    Cells,
    LimitRequest,
    Numbers,
    cumulative_limits,
    draw_buckets,
    draw_nested,
    draw_points,
    noisy_cell_sums,
    range_ends,
)
from hedgerow.statistics.quantiles import (
    Buckets,
    QuantilePoints,
    Target,
    cell_edges,
    highest,
    lowest,
    strategy,
)

Floats = NDArray[np.float64]
Whole = NDArray[Any]
AT_ONCE = 4_000_000
"""Maximum number of buckets, over all groups, that are held at once."""


@dataclass(frozen=True)
class RankColumn:
    """Grid points that were drawn, one per group, and the ends of their intervals; NaN where a group is held back."""

    points: Floats
    lower: Floats
    upper: Floats


def draw_ranks(
    exact: ExactTable, selected: SelectedKeys, plan: PrivatePlan, index: int, receipt: Receipt
) -> list[RankColumn]:
    """Return all draws from bucketing number `index`, in every shown group.

    Privacy: `release.quantiles`, with the epsilons that were charged. The weights are read here and go no further.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    draws, buckets = [draw for draw in plan.draws if draw.bucketing == index], plan.bucketings[index].buckets
    shared = next((sums for sums in plan.cumulative if sums.bucketing == index), None)
    parts: list[list[QuantilePoints]] = [[] for _ in draws]
    at_once = max(1, AT_ONCE // buckets.count)
    weights = _Weights(exact, len(selected.shown), buckets.count)
    for start in range(0, len(shown), at_once):
        table = weights.of(shown[start : start + at_once])
        columns = measure_column(table, buckets, draws, shared, mechanism=plan.mechanism, weight_bits=plan.weight_bits)
        for part, points in zip(parts, columns, strict=True):
            part.append(points)
    return [_column(part, shown, len(selected.shown)) for part in parts]


class _Weights:
    """Exact weights by group and bucket."""

    def __init__(self, exact: ExactTable, groups: int, buckets: int) -> None:
        self._place, self._bucket = exact.exact_numbers(KEY_INDEX), exact.exact_numbers(BUCKET)
        self._weight = exact.exact_numbers(WEIGHT)
        self._groups, self._buckets = groups, buckets

    def of(self, groups: NDArray[np.int64]) -> Whole:
        """The weights of some groups, one row for each."""
        row = np.full(self._groups, -1)
        row[groups] = np.arange(len(groups))
        rows = row[self._place]
        wanted = rows >= 0
        table = np.zeros((len(groups), self._buckets), dtype=self._weight.dtype)
        table[rows[wanted], self._bucket[wanted]] = self._weight[wanted]
        return table


def measure_column(
    table: Whole,
    buckets: Buckets,
    draws: Sequence[Draw],
    shared: CumulativeSums | None,
    *,
    mechanism: str,
    weight_bits: int,
) -> list[QuantilePoints]:
    """Values and limits of all draws from one column, from its exact weights: one row for each group.

    For every data set and every quantile of it, with probability at least 1 - beta, the quantile of the weighted rows
    on the grid lies between its limits. Without sums over cells (`shared`), these are the ends of the range.

    Privacy: the draws and the sums that give limits are charged one by one; all else is post-processing.
    """
    drawn = _drawn_buckets(table, buckets, draws)
    limits = [range_ends(buckets, len(table))] * len(draws)
    if shared is not None:
        cells = Cells.merge(table, buckets, cell_edges(drawn, buckets.count, shared.cells))
        released = strategy(shared.cells, shared.quantiles, mechanism)
        sums = noisy_cell_sums(cells, released, shared.sum, mechanism=mechanism, weight_bits=weight_bits)
        limits = [
            cumulative_limits(cells, sums, released.form(draw.rank.quantile), _wanted(draw), shared.sum.noise)
            for draw in draws
        ]
    columns = zip(draws, drawn.T, limits, strict=True)
    return [_held(draw, draw_points(buckets, column), *ends) for draw, column, ends in columns]


def _drawn_buckets(table: Whole, buckets: Buckets, draws: Sequence[Draw]) -> Numbers:
    """A bucket for each draw (columns) in each group (rows); draws that are nested cut the group for each other."""
    nested = [draw for draw in draws if draw.nested]
    values = sorted({draw.rank.quantile for draw in nested})
    together = draw_nested(table, values, nested[0].epsilon, nested[0].reach) if nested else None
    columns = []
    for draw in draws:
        if draw.nested and together is not None:
            columns.append(together[:, values.index(draw.rank.quantile)])
        else:
            columns.append(draw_buckets(table, _aim(draw, buckets), draw.epsilon, draw.reach))
    return np.stack(columns, axis=1)


def _aim(draw: Draw, buckets: Buckets) -> Target:
    """Return the rank that a draw aims at: for an extreme, a little inside."""
    if not draw.rank.extreme:
        return Target(draw.rank.quantile)
    return (highest if draw.rank.quantile else lowest)(draw.epsilon, draw.reach, buckets.count)


def _wanted(draw: Draw) -> LimitRequest:
    """Return both limits of a quantile; for an extreme, the one on its inner side."""
    rank = draw.rank
    if rank.extreme:
        return LimitRequest(rank.quantile, draw.beta, lower=rank.quantile == 1, upper=rank.quantile == 0)
    return LimitRequest(rank.quantile, draw.beta, aside=rank.aside)


def _held(draw: Draw, points: Numbers, lower: Numbers, upper: Numbers) -> QuantilePoints:
    """Clip a quantile to its limits, which keep their level; for an extreme, move the limit beyond the value."""
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    if draw.rank.extreme:
        return QuantilePoints(points, np.minimum(lower, points), np.maximum(upper, points))
    return QuantilePoints(np.clip(points, lower, upper), lower, upper)


def _column(parts: list[QuantilePoints], shown: NDArray[np.int64], groups: int) -> RankColumn:
    """Return the draws of all shown groups, at their indices."""

    def whole(name: str) -> Floats:
        values = np.full(groups, np.nan)
        if parts:
            values[shown] = np.concatenate([getattr(part, name) for part in parts])
        return values

    return RankColumn(whole("points"), whole("lower"), whole("upper"))


def in_order(plan: PrivatePlan, columns_of_bucketings: Sequence[Sequence[RankColumn]]) -> tuple[RankColumn, ...]:
    """The columns of all bucketings in the order of the plan's draws."""
    left = [iter(columns) for columns in columns_of_bucketings]
    return tuple(next(left[draw.bucketing]) for draw in plan.draws)
