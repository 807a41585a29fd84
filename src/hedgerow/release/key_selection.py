"""Selection of the keys that are shown."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import ALL_KEYS, UNITS
from hedgerow.exact import ExactTable
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release.canonical import declared_table, in_key_order, places_of
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


def select_keys(exact: ExactTable, plan: PrivatePlan, receipt: Receipt) -> SelectedKeys:
    """Keep a key if its bounded count reaches the minimum frequency *and* its noisy count the threshold.

    Privacy: docs/proofs/selection.md. The exact test uses the bounded count, in which a unit changes at most C
    keys by one each; the noise and the threshold were charged for exactly that. A key that fails
    either test is silent: it does not appear, or, if the key is public, appears without a number. The keys are sorted:
    the order in which the engine returned them may reveal whose row came first, and no charge covers that.
    """
    require(receipt, plan)
    if plan.selection is None:
        keys = declared_table(plan)
        return SelectedKeys(keys, np.ones(keys.num_rows, bool), None, places_of(exact.exact_keys(), plan))
    units = exact.exact_numbers(UNITS)
    eligible = np.flatnonzero(units >= plan.minimum) if len(units) else np.empty(0, np.int64)
    noisy = add_noise(units[eligible], plan.selection.shift, plan.selection.scale, plan.mechanism)
    least = math.ceil(plan.selection.threshold * (1 << plan.selection.shift))
    passed = np.asarray(noisy >= least, dtype=bool)
    rows = eligible[passed]
    counts = noisy[passed].astype(float) / 2.0**plan.selection.shift
    if plan.keys.rule is KeyRule.SELECTED:
        keys = exact.exact_keys().take(pa.array(rows))
        order = in_key_order(keys)
        return SelectedKeys(keys.take(pa.array(order)), np.ones(len(rows), bool), counts[order], rows[order])
    return _public(exact, plan, rows, counts)


def covers_every_key(exact: ExactTable, selected: SelectedKeys) -> bool:
    """Return whether all keys of the data were selected: the first pass then has the sums over the selection.

    It only decides which of two equal computations is used.
    """
    kept = int((selected.shown & (selected.source >= 0)).sum())
    return len(exact) == 0 or int(exact.exact_integers(ALL_KEYS)[0]) == kept


def _public(exact: ExactTable, plan: PrivatePlan, rows: NDArray[np.int64], values: Floats) -> SelectedKeys:
    """Return all declared keys (or the single group), with the silent ones marked."""
    keys = declared_table(plan)
    source = places_of(exact.exact_keys(), plan)
    counts = np.full(keys.num_rows, np.nan)
    by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for index, row in enumerate(source.tolist()):
        counts[index] = by_row.get(row, np.nan) if row >= 0 else np.nan
    return SelectedKeys(keys, ~np.isnan(counts), counts, source)
