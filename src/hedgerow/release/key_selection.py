"""Selection of the keys that are shown, public keys as tables, and the index of a database key among them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import ALL_KEYS, UNITS
from hedgerow.exact import ExactTable
from hedgerow.expressions.types import Type
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
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
        return SelectedKeys(keys, np.ones(keys.num_rows, bool), None, key_indices(exact.exact_keys(), plan))
    units = exact.exact_numbers(UNITS)
    eligible = np.flatnonzero(units >= plan.minimum) if len(units) else np.empty(0, np.int64)
    noisy = add_noise(units[eligible], plan.selection.shift, plan.selection.scale, plan.mechanism)
    threshold = math.ceil(plan.selection.threshold * (1 << plan.selection.shift))
    passed = np.asarray(noisy >= threshold, dtype=bool)
    rows = eligible[passed]
    counts = noisy[passed].astype(float) / 2.0**plan.selection.shift
    if plan.keys.rule is KeyRule.SELECTED:
        keys = exact.exact_keys().take(pa.array(rows))
        order = in_key_order(keys)
        return SelectedKeys(keys.take(pa.array(order)), np.ones(len(rows), bool), counts[order], rows[order])
    return _public(exact, plan, rows, counts)


def covers_every_key(exact: ExactTable, selected: SelectedKeys) -> bool:
    """Return True if all keys of the data were selected: the first pass then has the sums over the selection.

    It only decides which of two equal computations is used.
    """
    kept = int((selected.shown & (selected.source >= 0)).sum())
    return len(exact) == 0 or int(exact.exact_integers(ALL_KEYS)[0]) == kept


def _public(exact: ExactTable, plan: PrivatePlan, rows: NDArray[np.int64], values: Floats) -> SelectedKeys:
    """Return all declared keys (or the single group), with the silent ones marked."""
    keys = declared_table(plan)
    source = key_indices(exact.exact_keys(), plan)
    counts = np.full(keys.num_rows, np.nan)
    by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    for index, row in enumerate(source.tolist()):
        counts[index] = by_row.get(row, np.nan) if row >= 0 else np.nan
    return SelectedKeys(keys, ~np.isnan(counts), counts, source)


ARROW: dict[Type, pa.DataType] = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.DECIMAL: pa.float64(),
    Type.FLOAT: pa.float64(),
    Type.TEXT: pa.string(),
}

REWRITTEN = frozenset({Type.DECIMAL, Type.DATE, Type.TIMESTAMP})
"""Types of keys that a declaration and a database may write in different ways."""


MANY = 1000
"""Number of keys from which Arrow finds them faster than a dictionary."""


def declared_table(plan: PrivatePlan) -> pa.Table:
    """Return the declared keys, in the owner's order; one row without columns where there is no GROUP BY."""
    if plan.keys.rule is KeyRule.ONE:
        return pa.table({"hedgerow_one": [0]}).select([])
    columns = {named.name: [key[i] for key in plan.keys.domain] for i, named in enumerate(plan.release.keys)}
    types = (ARROW.get(named.expr.type) for named in plan.release.keys)
    return pa.table({name: pa.array(c, type=kind) for (name, c), kind in zip(columns.items(), types, strict=True)})


def in_key_order(keys: pa.Table) -> NDArray[np.int64]:
    """Return the rows of a table of keys, ordered by the keys."""
    by = [(name, "ascending") for name in keys.column_names]
    import pyarrow.compute as pc  # noqa: PLC0415 - a twentieth of a second to load, and not needed without keys

    return np.asarray(pc.sort_indices(keys, sort_keys=by).to_numpy(), dtype=np.int64)


def key_indices(keys: pa.Table, plan: PrivatePlan) -> NDArray[np.int64]:
    """Return the row of `keys` that holds each public key, or -1."""
    if plan.keys.rule is KeyRule.ONE:
        return np.zeros(1, dtype=np.int64)
    if len(plan.keys.domain) >= MANY and [named.expr.type for named in plan.release.keys] == [Type.TEXT]:
        import pyarrow.compute as pc  # noqa: PLC0415 - see `in_key_order`

        public = pa.array([key for (key,) in plan.keys.domain], keys.column(0).type)
        indices = pc.fill_null(pc.index_in(public, value_set=keys.column(0).combine_chunks()), -1)
        return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    stored = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    rows = dict(zip(_comparable(stored, plan), range(keys.num_rows), strict=True))
    return np.array([rows.get(key, -1) for key in _comparable(plan.keys.domain, plan)], dtype=np.int64)


def _comparable(keys: Iterable[tuple[object, ...]], plan: PrivatePlan) -> Iterable[tuple[object, ...]]:
    """Return keys in a form in which equal keys are equal in Python."""
    if all(named.expr.type not in REWRITTEN for named in plan.release.keys):
        return keys
    return (tuple(map(_plain, key)) for key in keys)


def _plain(value: object) -> object:
    """Return one form for numbers that are equal, and one for dates."""
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value
