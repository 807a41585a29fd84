"""Drawing values in order of size from exact bucket weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import BUCKET, KEY_INDEX, WEIGHT
from hedgerow.exact import ExactTable
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import Draw
from hedgerow.release.draw import require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.release.quantiles import measure_extreme, measure_quantile
from hedgerow.statistics.quantiles import QuantilePoints

Floats = NDArray[np.float64]
Whole = NDArray[Any]
AT_ONCE = 4_000_000
"""How many buckets of how many groups are held at once."""


@dataclass(frozen=True)
class RankColumn:
    """Grid points that were drawn, one per group, and the ends of their intervals; NaN where a group is held back."""

    points: Floats
    lower: Floats
    upper: Floats


def draw_ranks(
    exact: ExactTable, selected: SelectedKeys, plan: PrivatePlan, place: int, receipt: Receipt
) -> list[RankColumn]:
    """All draws from bucketing number `place`, in every group that is shown.

    Privacy: `release.quantiles`, with the epsilons that were charged. The weights are read here and go no further.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    draws = [draw for draw in plan.draws if draw.bucketing == place]
    found: list[list[QuantilePoints]] = [[] for _ in draws]
    at_once = max(1, AT_ONCE // plan.bucketings[place].buckets.count)
    weights = _Weights(exact, len(selected.shown), plan.bucketings[place].buckets.count)
    for start in range(0, len(shown), at_once):
        table = weights.of(shown[start : start + at_once])
        for number, draw in enumerate(draws):
            found[number].append(_measured(table, plan, draw))
    return [_column(parts, shown, len(selected.shown)) for parts in found]


class _Weights:
    """Exact weights by group and bucket."""

    def __init__(self, exact: ExactTable, groups: int, buckets: int) -> None:
        self._place, self._bucket = exact.exact_numbers(KEY_INDEX), exact.exact_numbers(BUCKET)
        self._weight = exact.exact_numbers(WEIGHT)
        self._groups, self._buckets = groups, buckets

    def of(self, groups: NDArray[np.int64]) -> Whole:
        """One row for each of these groups."""
        row = np.full(self._groups, -1)
        row[groups] = np.arange(len(groups))
        rows = row[self._place]
        there = rows >= 0
        table = np.zeros((len(groups), self._buckets), dtype=self._weight.dtype)
        table[rows[there], self._bucket[there]] = self._weight[there]
        return table


def _measured(table: Whole, plan: PrivatePlan, draw: Draw) -> QuantilePoints:
    buckets, rank = plan.bucketings[draw.bucketing].buckets, draw.rank
    if rank.extreme:
        return measure_extreme(
            table,
            buckets,
            largest=rank.quantile == 1,
            epsilon=draw.epsilon,
            limit_epsilon=draw.limit_epsilon,
            reach=draw.reach,
            beta=draw.beta,
        )
    return measure_quantile(
        table,
        buckets,
        rank.quantile,
        epsilon=draw.epsilon,
        limit_epsilon=draw.limit_epsilon,
        reach=draw.reach,
        beta=draw.beta,
        aside=rank.aside,
    )


def _column(parts: list[QuantilePoints], shown: NDArray[np.int64], groups: int) -> RankColumn:
    """The draws of all groups that are shown, at their places."""

    def whole(name: str) -> Floats:
        values = np.full(groups, np.nan)
        if parts:
            values[shown] = np.concatenate([getattr(part, name) for part in parts])
        return values

    return RankColumn(whole("points"), whole("lower"), whole("upper"))


def in_order(plan: PrivatePlan, found: Sequence[Sequence[RankColumn]]) -> tuple[RankColumn, ...]:
    """The columns of all bucketings in the order of the plan's draws."""
    left = [iter(columns) for columns in found]
    return tuple(next(left[draw.bucketing]) for draw in plan.draws)
