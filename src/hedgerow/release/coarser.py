"""Tables that are made of the shown groups of a finer one: they are about the same rows, and add up.

A finer table was released with the totals of some of its keys (`totals`). A table by some of its keys adds up the
estimates of the groups that are shown; a group that is held back there is in none of these tables. Noise is normal, so
that of the sums has a covariance that follows from that of the groups. Sums of values are on one lattice in all groups
(`lattice`), so that those of the tables are exact.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.distributions import Gaussian
from hedgerow.errors import InternalError
from hedgerow.late import csr_array
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release.estimate import Estimator
from hedgerow.release.key_selection import declared_table, in_key_order, key_indices
from hedgerow.release.noisy_table import NoisyTable
from hedgerow.release.totals import cells_of

Indices = NDArray[np.int64]


def coarser_table(finest: Estimator, plan: PrivatePlan) -> Estimator:
    """Return a table that is made of the shown groups of a finer one.

    Args:
        finest: The finer table.
        plan: The plan of the table; `made_of` has its keys by their positions in the finer one.
    """
    keys, row_of = table_rows(finest, plan)
    count = keys.num_rows
    shown = np.zeros(count, bool)
    shown[row_of] = True
    groups, indices = np.flatnonzero(finest.noisy.shown), np.flatnonzero(shown)
    adds = csr_array((np.ones(len(groups)), (row_of, np.arange(len(groups)))), shape=(count, len(groups)))
    sums, whole, noises = [], [], []
    for index, values in enumerate(finest.noisy_sums):
        sums.append(np.where(shown, np.bincount(row_of, values[groups], count), np.nan))
        whole.append(np.where(shown, np.bincount(row_of, finest.rounded(values)[groups], count), np.nan))
        noises.append(_noise(adds[indices] @ _noise_of(finest, index)[groups], indices, count, len(groups)))
    totals = {
        terms: np.where(shown, np.bincount(row_of, values[groups], count), np.nan)
        for terms, values in finest.noisy.totals.items()
    }
    table = NoisyTable(keys, shown, None, tuple(sums), noises=tuple(noises), whole=tuple(whole), totals=totals)
    return Estimator(table, replace(plan, levels=(), marginal=None))


def table_rows(finest: Estimator, plan: PrivatePlan) -> tuple[pa.Table, Indices]:
    """Return the keys of the table, and for each shown group of the finer one its row in it."""
    if plan.made_of is None:
        raise InternalError("A table was made of finer groups, but no plan asks for it.")
    groups = finest.noisy.keys.take(pa.array(np.flatnonzero(finest.noisy.shown)))
    if plan.keys.rule is KeyRule.ONE:
        return declared_table(plan), np.zeros(groups.num_rows, np.int64)
    names = [finest.plan.release.keys[position].name for position in plan.made_of]
    cells = cells_of(groups, names)
    _, firsts = np.unique(cells, return_index=True)
    cell_keys = groups.select(names).take(pa.array(firsts)).rename_columns([key.name for key in plan.release.keys])
    if plan.keys.rule is KeyRule.SELECTED:
        order = in_key_order(cell_keys)
        return cell_keys.take(pa.array(order)), np.argsort(order)[cells]
    indices = key_indices(cell_keys, plan)
    row_of = np.zeros(len(firsts), np.int64)
    row_of[indices[indices >= 0]] = np.flatnonzero(indices >= 0)
    return declared_table(plan), row_of[cells]


def _noise_of(finest: Estimator, index: int) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
    """The noise of the groups, over standard normal noises."""
    if finest.has_levels:
        return finest.noise_of(index)
    law, shown = finest.plan.noisy_sums[index].noise, np.flatnonzero(finest.noisy.shown)
    if not isinstance(law, Gaussian):
        raise InternalError("Tables were made of finer groups, but their noise is not Gaussian.")
    size = len(finest.noisy.shown)
    return csr_array((np.full(len(shown), law.sigma), (shown, np.arange(len(shown)))), shape=(size, size))


def _noise(matrix: Any, indices: Indices, count: int, groups: int) -> Any:  # noqa: ANN401 - likewise
    """Noises with the covariance of some rows of noises, as many as there are rows; nothing in the other rows.

    Where each row is a group, its noises are already as few as that.
    """
    if len(indices) < groups:
        matrix = csr_array(np.linalg.cholesky((matrix @ matrix.T).toarray()))
    entries = matrix.tocoo()
    return csr_array((entries.data, (indices[entries.coords[0]], indices[entries.coords[1]])), shape=(count, count))
