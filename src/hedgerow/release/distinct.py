"""Noisy counts of distinct values."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import KEY_INDEX, OWNER, VALUE
from hedgerow.exact import ExactTable
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release.draw import add_noise, require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.statistics.distinct_bounds import distinct_flow

Floats = NDArray[np.float64]


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
    places, counts = exact.exact_integers(KEY_INDEX).tolist(), exact.exact_integers(VALUE).tolist()
    return {int(group): int(count) for group, count in zip(places, counts, strict=True)}


def _flows(exact: ExactTable, counted: Distinct) -> dict[int, int]:
    """By group, the largest number of values that can be assigned to people, at most d to each."""
    places, owners, values = (exact.exact_integers(name).astype(np.int64) for name in (KEY_INDEX, OWNER, VALUE))
    order = np.argsort(places, kind="stable")
    groups, starts = np.unique(places[order], return_index=True)
    parts = np.split(order, starts[1:]) if len(groups) else []
    return {
        int(group): distinct_flow(owners[part], values[part], counted.level.per_owner)
        for group, part in zip(groups.tolist(), parts, strict=True)
    }
