"""Which keys are shown."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.budget import Receipt
from hedgerow.exact import ExactTable
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release.canonical import declared_table, places_of
from hedgerow.release.draw import add_noise, require

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SelectedKeys:
    """The groups of the answer.

    Attributes:
        keys: One row per group of the answer, held back or not.
        shown: Whether the group passed the test; all of them where there is none.
        counts: The noisy number of units of each group that was shown, NaN elsewhere; None without a test.
        source: For each group, its row in the table that was tested, -1 where it had none.
    """

    keys: pa.Table
    shown: NDArray[np.bool_]
    counts: Floats | None
    source: NDArray[np.int64]


def select_keys(exact_units: ExactTable, units: str, plan: PrivatePlan, receipt: Receipt) -> SelectedKeys:
    """Keep a key if its bounded count reaches the minimum frequency *and* its noisy count the threshold.

    Privacy: mechanisms.md 2.1. The exact test uses the bounded count, in which a unit changes at most C
    keys by one each; the noise and the threshold were charged for exactly that. A key that fails
    either test is silent: it does not appear, or, where the key is public, appears without a number.
    """
    require(receipt, plan)
    if plan.selection is None:
        return every_key(exact_units, plan)
    exact = exact_units.exact_integers(units)
    eligible = np.flatnonzero(exact >= plan.minimum) if len(exact) else np.empty(0, np.int64)
    noisy = add_noise(exact[eligible], plan.selection.shift, plan.selection.scale, plan.mechanism)
    floor = plan.selection.threshold * (1 << plan.selection.shift)
    passed = np.array([value >= floor for value in noisy], dtype=bool)
    rows, counts = eligible[passed], noisy[passed]
    values = np.array([float(value) for value in counts], dtype=float) / 2.0**plan.selection.shift
    if plan.keys.rule is KeyRule.SELECTED:
        return SelectedKeys(exact_units.exact_keys().take(pa.array(rows)), np.ones(len(rows), bool), values, rows)
    return _public(exact_units, plan, rows, values)


def every_key(exact_rows: ExactTable | None, plan: PrivatePlan) -> SelectedKeys:
    """All public keys, where nothing is tested."""
    keys = declared_table(plan)
    source = np.full(keys.num_rows, -1) if exact_rows is None else places_of(exact_rows.exact_keys(), plan)
    return SelectedKeys(keys, np.ones(keys.num_rows, bool), None, source)


def _public(exact_units: ExactTable, plan: PrivatePlan, rows: NDArray[np.int64], values: Floats) -> SelectedKeys:
    """All declared keys (or the one group there is), with those that stayed silent marked."""
    keys = declared_table(plan)
    source = places_of(exact_units.exact_keys(), plan)
    counts = np.full(keys.num_rows, np.nan)
    by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for place, row in enumerate(source.tolist()):
        counts[place] = by_row.get(row, np.nan) if row >= 0 else np.nan
    return SelectedKeys(keys, ~np.isnan(counts), counts, source)
