"""Noisy sums."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import PLACE
from hedgerow.exact import ExactTable
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import Coordinate
from hedgerow.release.draw import Whole, add_noise, require
from hedgerow.release.ranks import RankColumn
from hedgerow.release.select_keys import SelectedKeys

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyTable:
    """What was released: keys, noisy coordinates, noisy counts. Everything after it is post-processing.

    `coordinates` holds one array per coordinate, in units of one row, NaN where a group is held back.
    """

    keys: pa.Table
    shown: NDArray[np.bool_]
    counts: Floats | None
    coordinates: tuple[Floats, ...]
    ranks: tuple[RankColumn, ...] = ()
    distinct: tuple[Floats, ...] = ()


def measure(exact_sums: ExactTable, selected: SelectedKeys, plan: PrivatePlan, receipt: Receipt) -> NoisyTable:
    """Add the noise that was paid for to each coordinate of each group that is shown.

    Privacy: each coordinate is an exact integer on its lattice; see `privacy.precision` for the lattice of the
    noise, and `privacy.bounding` for the sensitivities.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    rows = _rows(exact_sums, selected)[shown]
    sums = (
        [] if exact_sums is None else [_gather(exact_sums.exact_numbers(f"s{i}"), rows) for i in range(len(plan.sums))]
    )
    coordinates = []
    for coordinate in plan.coordinates:
        values = np.full(len(selected.shown), np.nan)
        values[shown] = _noisy(coordinate, sums, len(shown), plan)
        coordinates.append(values)
    return NoisyTable(selected.keys, selected.shown, selected.counts, tuple(coordinates))


def _rows(exact_sums: ExactTable, selected: SelectedKeys) -> NDArray[np.int64]:
    """For each group, its row in the table of sums, -1 where it has none."""
    if PLACE not in exact_sums.names:
        return selected.source
    rows = np.full(len(selected.shown), -1)
    rows[exact_sums.exact_integers(PLACE).astype(np.int64)] = np.arange(len(exact_sums))
    return rows


def _gather(column: Whole, rows: NDArray[np.int64]) -> Whole:
    """The entries of `column` at `rows`, zero where a group has no row."""
    return np.asarray(np.append(column, 0)[rows])


def _noisy(coordinate: Coordinate, sums: list[Whole], count: int, plan: PrivatePlan) -> Floats:
    exact = _combined(coordinate.combination, sums, count)
    noisy = add_noise(exact, coordinate.shift, coordinate.scale, plan.mechanism)
    step = float(coordinate.denominator << plan.weight_bits) * 2.0**coordinate.shift
    return noisy.astype(float) / step


def _combined(combination: tuple[tuple[int, int], ...], sums: list[Whole], count: int) -> Whole:
    """An integer combination of sums, in integers of any size; one sum alone stays as it is."""
    if len(combination) == 1 and combination[0][1] == 1:
        return sums[combination[0][0]]
    exact = np.zeros(count, dtype=object)
    for index, factor in combination:
        exact = exact + sums[index].astype(object) * factor
    return exact
