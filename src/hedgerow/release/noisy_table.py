"""Noisy sums, and noisy counts of distinct values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import KEY_INDEX, OWNER, VALUE
from hedgerow.exact import ExactTable
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.plan import PrivatePlan, Terms
from hedgerow.privacy.sums import NoisySum
from hedgerow.release.draw import Whole, add_noise, require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.release.ranks import RankColumn
from hedgerow.release.totals import cells_of
from hedgerow.statistics.distinct_bounds import distinct_flow

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyTable:
    """Released keys, noisy sums and noisy counts. Everything after it is post-processing.

    `noisy_sums` holds one array for each, in units of one row, NaN where a group is held back. `levels` holds the same
    for each level of totals: for every group, the noisy total of the cell that it is in. `noises` and `whole` are those
    of a table that is made of the groups of a finer one (`coarser`): for each noisy sum the matrix of its noise, and
    its values as integers that add up in all such tables. `totals` holds sums of values as they are shown, by their
    linear forms in noisy sums (`lattice`); releases of earlier versions, and imagined ones, have none.
    """

    keys: pa.Table
    shown: NDArray[np.bool_]
    counts: Floats | None
    noisy_sums: tuple[Floats, ...]
    ranks: tuple[RankColumn, ...] = ()
    distinct: tuple[Floats, ...] = ()
    levels: tuple[tuple[Floats, ...], ...] = ()
    noises: tuple[Any, ...] = ()
    whole: tuple[Floats, ...] = ()
    totals: Mapping[Terms, Floats] = field(default_factory=dict)


def measure(exact_sums: ExactTable, selected: SelectedKeys, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    """Add the noise that was paid for to each sum of each group that is shown, and to each measured total of these.

    Privacy: each sum is an exact integer on its lattice; see `privacy.precision` for the lattice of the
    noise, and `privacy.bounding` for the sensitivities; for totals, `privacy.levels`. A total is added up from the
    weighted sums of the groups that are shown, and gets noise of its own.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    rows = _rows(exact_sums, selected)[shown]
    # A group without a row gets the zero at the end.
    sums = [np.asarray(np.append(exact_sums.exact_numbers(f"s{i}"), 0)[rows]) for i in range(len(plan.sums))]
    groups = np.arange(len(shown))
    noisy_sums = _measured(plan.noisy_sums, sums, selected, groups, plan)
    keys = selected.keys.take(pa.array(shown)) if plan.levels else selected.keys
    names = [key.name for key in plan.release.keys]
    levels = tuple(
        _measured(level.noisy_sums, sums, selected, cells_of(keys, [names[i] for i in level.keys]), plan)
        for level in plan.levels
    )
    return NoisyTable(selected.keys, selected.shown, selected.counts, noisy_sums, levels=levels)


def _measured(
    noisy_sums: Sequence[NoisySum],
    sums: list[Whole],
    selected: SelectedKeys,
    cells: NDArray[np.int64],
    plan: PrivatePlan,
) -> tuple[Floats, ...]:
    """Return the noisy total of each group's cell, for each noisy sum; NaN for groups that are held back."""
    columns = []
    for noisy_sum in noisy_sums:
        values = np.full(len(selected.shown), np.nan)
        values[selected.shown] = _noisy(noisy_sum, sums, cells, plan)[cells]
        columns.append(values)
    return tuple(columns)


def _rows(exact_sums: ExactTable, selected: SelectedKeys) -> NDArray[np.int64]:
    """Return, for each group, its row in the table of sums, -1 if it has none."""
    if KEY_INDEX not in exact_sums.names:
        return selected.source
    rows = np.full(len(selected.shown), -1)
    rows[exact_sums.exact_integers(KEY_INDEX).astype(np.int64)] = np.arange(len(exact_sums))
    return rows


def _noisy(noisy_sum: NoisySum, sums: list[Whole], cells: NDArray[np.int64], plan: PrivatePlan) -> Floats:
    """Return the noisy total of each cell; zeros if the sum has no scale, because it is not measured."""
    if not noisy_sum.scale:
        return np.zeros(int(cells.max(initial=-1)) + 1)
    exact = _totals(_combined(noisy_sum.combination, sums, len(cells)), cells)
    noisy = add_noise(exact, noisy_sum.shift, noisy_sum.scale, plan.mechanism)
    step = float(noisy_sum.denominator << plan.weight_bits) * 2.0**noisy_sum.shift
    return noisy.astype(float) / step


def _totals(exact: Whole, cells: NDArray[np.int64]) -> Whole:
    """The exact total of each cell, in integers of any size; unchanged if each group is a cell."""
    count = int(cells.max(initial=-1)) + 1
    if count == len(cells):
        return exact[np.argsort(cells)]
    totals = np.zeros(count, dtype=object)
    np.add.at(totals, cells, exact.astype(object))
    return totals


def _combined(combination: tuple[tuple[int, int], ...], sums: list[Whole], count: int) -> Whole:
    """An integer combination of sums, in integers of any size; a single sum is unchanged."""
    if len(combination) == 1 and combination[0][1] == 1:
        return sums[combination[0][0]]
    exact = np.zeros(count, dtype=object)
    for index, factor in combination:
        exact = exact + sums[index].astype(object) * factor
    return exact


def count_values(exact: ExactTable, selected: SelectedKeys, plan: PrivatePlan, index: int, receipt: Receipt) -> Floats:
    """Return count number `index` of distinct values in every shown group, with the noise that was paid for."""
    require(receipt, plan)
    counted, shown = plan.distinct[index], np.flatnonzero(selected.shown)
    counts = _flows(exact, counted) if counted.flow else _counts(exact)
    exactly = np.array([counts.get(group, 0) for group in shown.tolist()], dtype=object)
    noisy = add_noise(exactly, counted.shift, counted.scale, plan.mechanism)
    values = np.full(len(selected.shown), np.nan)
    values[shown] = noisy.astype(float) / 2.0**counted.shift
    return values


def _counts(exact: ExactTable) -> dict[int, int]:
    indices, counts = exact.exact_integers(KEY_INDEX).tolist(), exact.exact_integers(VALUE).tolist()
    return {int(group): int(count) for group, count in zip(indices, counts, strict=True)}


def _flows(exact: ExactTable, counted: Distinct) -> dict[int, int]:
    """Return the largest number of values of each group that can be assigned to people, at most d to each."""
    indices, owners, values = (exact.exact_integers(name).astype(np.int64) for name in (KEY_INDEX, OWNER, VALUE))
    order = np.argsort(indices, kind="stable")
    groups, starts = np.unique(indices[order], return_index=True)
    parts = np.split(order, starts[1:]) if len(groups) else []
    return {
        int(group): distinct_flow(owners[part], values[part], counted.level.per_owner)
        for group, part in zip(groups.tolist(), parts, strict=True)
    }
