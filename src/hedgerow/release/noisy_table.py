"""Noisy sums."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import KEY_INDEX
from hedgerow.exact import ExactTable
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import NoisySum
from hedgerow.release.draw import Whole, add_noise, require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.release.ranks import RankColumn

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyTable:
    """Released keys, noisy sums and noisy counts. Everything after it is post-processing.

    `noisy_sums` holds one array for each, in units of one row, NaN where a group is held back.
    """

    keys: pa.Table
    shown: NDArray[np.bool_]
    counts: Floats | None
    noisy_sums: tuple[Floats, ...]
    ranks: tuple[RankColumn, ...] = ()
    distinct: tuple[Floats, ...] = ()


def measure(exact_sums: ExactTable, selected: SelectedKeys, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    """Add the noise that was paid for to each sum of each group that is shown.

    Privacy: each sum is an exact integer on its lattice; see `privacy.precision` for the lattice of the
    noise, and `privacy.bounding` for the sensitivities.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    rows = _rows(exact_sums, selected)[shown]
    sums = (
        [] if exact_sums is None else [_gather(exact_sums.exact_numbers(f"s{i}"), rows) for i in range(len(plan.sums))]
    )
    noisy_sums = []
    for noisy_sum in plan.noisy_sums:
        values = np.full(len(selected.shown), np.nan)
        values[shown] = _noisy(noisy_sum, sums, len(shown), plan)
        noisy_sums.append(values)
    return NoisyTable(selected.keys, selected.shown, selected.counts, tuple(noisy_sums))


def _rows(exact_sums: ExactTable, selected: SelectedKeys) -> NDArray[np.int64]:
    """For each group, its row in the table of sums, -1 where it has none."""
    if KEY_INDEX not in exact_sums.names:
        return selected.source
    rows = np.full(len(selected.shown), -1)
    rows[exact_sums.exact_integers(KEY_INDEX).astype(np.int64)] = np.arange(len(exact_sums))
    return rows


def _gather(column: Whole, rows: NDArray[np.int64]) -> Whole:
    """The entries of `column` at `rows`, zero where a group has no row."""
    return np.asarray(np.append(column, 0)[rows])


def _noisy(noisy_sum: NoisySum, sums: list[Whole], count: int, plan: PrivatePlan) -> Floats:
    exact = _combined(noisy_sum.combination, sums, count)
    noisy = add_noise(exact, noisy_sum.shift, noisy_sum.scale, plan.mechanism)
    step = float(noisy_sum.denominator << plan.weight_bits) * 2.0**noisy_sum.shift
    return noisy.astype(float) / step


def _combined(combination: tuple[tuple[int, int], ...], sums: list[Whole], count: int) -> Whole:
    """An integer combination of sums, in integers of any size; one sum alone stays as it is."""
    if len(combination) == 1 and combination[0][1] == 1:
        return sums[combination[0][0]]
    exact = np.zeros(count, dtype=object)
    for index, factor in combination:
        exact = exact + sums[index].astype(object) * factor
    return exact
