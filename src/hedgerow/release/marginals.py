"""Tables that are measured together: noise on residuals, and the tables that these make (`privacy.marginals`)."""

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.errors import InternalError
from hedgerow.exact import ExactTable
from hedgerow.privacy.plan import Marginals, PrivatePlan, Residual, Terms
from hedgerow.release.draw import Whole, add_noise, require
from hedgerow.release.key_selection import SelectedKeys, key_indices
from hedgerow.release.lattice import lattice_step, shown_sums
from hedgerow.release.noisy_table import NoisyTable

Floats = NDArray[np.float64]
Keyset = tuple[int, ...]
Cells = tuple[NDArray[np.int64], float]
"""Cells as whole numbers of steps, and the step."""


def measure_together(
    exact: ExactTable, selected: Sequence[SelectedKeys], plans: Sequence[PrivatePlan], receipt: Receipt
) -> list[NoisyTable]:
    """Add noise to the residuals of all tables, and make every table of them.

    Privacy: docs/proofs/marginals.md. Noise is added to the exact integers of a table, and only its projection leaves:
    computed in integers, so that no rounding depends on the part that is thrown away. A group that is held back has no
    number; its rows are in the totals, as they are in those of a statement without that key.

    Args:
        exact: The sums by all keys of all tables.
        selected: The keys of each table.
        plans: The tables.
        receipt: The receipt of the charge for all of them.
    """
    together = plans[0].marginal.together if plans[0].marginal is not None else None
    if together is None:
        raise InternalError("Tables were measured together, but no plan asks for it.")
    require(receipt, together.finest)
    for plan in plans:
        require(receipt, plan)
    sums = _dense(exact, together)
    released = [
        {residual.keys: _projected(residual, sums, together) for residual in residuals}
        for residuals in together.residuals
    ]
    forms = {_of_measures(terms, plan): None for plan in plans for terms in shown_sums(plan)}
    cells = {form: _cells_shown(form, released, together) for form in forms}
    return [_table(one, plan, released, together, cells) for one, plan in zip(selected, plans, strict=True)]


def _measures(plan: PrivatePlan) -> tuple[int, ...]:
    return () if plan.marginal is None else plan.marginal.measures


def _dense(exact: ExactTable, together: Marginals) -> list[Whole]:
    """Return the exact sums as arrays with an axis for each key."""
    rows = key_indices(exact.exact_keys(), together.finest)
    columns = []
    for i in range(len(together.finest.sums)):
        column = np.append(exact.exact_numbers(f"s{i}").astype(object), 0)
        columns.append(column[rows].reshape(together.sizes))
    return columns


def _projected(residual: Residual, sums: Sequence[Whole], together: Marginals) -> Floats:
    """Return the noisy residual, in units of one row."""
    noisy_sum, plan = residual.noisy_sum, together.finest
    others = tuple(axis for axis in range(len(together.sizes)) if axis not in residual.keys)
    total = np.asarray(sums[noisy_sum.combination[0][0]].sum(axis=others), dtype=object)
    noisy = add_noise(total.reshape(-1), noisy_sum.shift, noisy_sum.scale, plan.mechanism)
    whole = noisy.astype(object).reshape(total.shape)
    scale = 1
    for axis, key in enumerate(residual.keys):
        size = together.sizes[key]
        whole = whole * size - whole.sum(axis=axis, keepdims=True)
        scale *= size
    step = float(noisy_sum.denominator << plan.weight_bits) * 2.0**noisy_sum.shift * scale
    return np.asarray(whole.astype(float) / step)


def _table(
    selected: SelectedKeys,
    plan: PrivatePlan,
    released: Sequence[Mapping[Keyset, Floats]],
    together: Marginals,
    cells: Mapping[Terms, Cells],
) -> NoisyTable:
    """Return one table: for every cell the sum of the residuals of all subsets of its keys.

    Its sums of values, as they are shown, are sums of the cells by all keys of all tables.
    """
    keys = () if plan.marginal is None else plan.marginal.keys
    noisy_sums, totals = [], {}
    for number in _measures(plan):
        values = table_of(keys, released[number], together.sizes).reshape(-1)
        noisy_sums.append(np.where(selected.shown, values, np.nan))
    for terms in shown_sums(plan):
        steps, step = cells[_of_measures(terms, plan)]
        others, ordered = tuple(axis for axis in range(steps.ndim) if axis not in keys), sorted(keys)
        table = np.transpose(steps.sum(axis=others), [ordered.index(key) for key in keys])
        totals[terms] = np.where(selected.shown, table.reshape(-1) * step, np.nan)
    return NoisyTable(selected.keys, selected.shown, selected.counts, tuple(noisy_sums), totals=totals)


def _of_measures(terms: Terms, plan: PrivatePlan) -> Terms:
    """Return a linear form of a table's noisy sums as one of the measures of all tables."""
    measures = _measures(plan)
    return tuple((measures[index], factor) for index, factor in terms)


def _cells_shown(form: Terms, released: Sequence[Mapping[Keyset, Floats]], together: Marginals) -> Cells:
    """Return a sum of values by all keys of all tables on a lattice, as whole numbers of steps, and the step.

    No table by all keys may have been measured. Its cells follow from the residuals that were, with 0 for the others:
    these are in no table that is shown. It has at most `MAX_DECLARED` cells, as has the table of exact sums.
    """
    whole = np.zeros(together.sizes)
    for number, factor in form:
        whole = whole + factor * table_of(range(whole.ndim), released[number], together.sizes)
    residuals = [(factor, residual.noisy_sum) for number, factor in form for residual in together.residuals[number]]
    step = lattice_step(whole, [abs(factor) * math.sqrt(one.noise.variance) for factor, one in residuals])
    return np.asarray(np.round(whole / step), np.int64), step


def table_of(keys: Sequence[int], residuals: Mapping[Keyset, Floats], sizes: Sequence[int]) -> Floats:
    """Return the table by `keys`, with an axis for each in their order, that residuals make; missing ones are 0.

    Example:
        >>> halves = {(): np.array(10.0), (0,): np.array([2.0, -2.0])}
        >>> table_of([0], halves, [2]).tolist()
        [7.0, 3.0]
    """
    ordered = sorted(keys)
    table = np.zeros([sizes[key] for key in ordered])
    for count in range(len(ordered) + 1):
        for keyset in filter(residuals.__contains__, combinations(ordered, count)):
            shape = [sizes[key] if key in keyset else 1 for key in ordered]
            beyond = reduce(lambda product, key: product * sizes[key], set(ordered) - set(keyset), 1)
            table = table + residuals[keyset].reshape(shape) / beyond
    return np.asarray(np.transpose(table, [ordered.index(key) for key in keys]))
