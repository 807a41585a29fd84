"""Totals that were measured together with their groups: least squares, so that they add up with minimal variance.

A level is a coarser grouping: each of its cells is the total of some groups, and the cells of the next level are totals
of its cells. Groups and cells are measured independently, with normal noise of one standard deviation per level. The
estimate of a group is the one of least variance among all that are unbiased (Gauss and Markov); a total is the sum of
its groups' estimates, which is the estimate of least variance of the total, too.

Up the tree, a cell's own number is averaged with the sum of what is below it, weighted by precision. Down the tree, the
difference that remains between a cell and the sum of what is below it is given to these in proportion to their
variances.

The noise that is left is normal, so its covariance is its law, and any independent normal noises with that covariance
describe it. `noise` has as many as there are groups, few of which are in each: one for each cell of the highest level,
and below a cell those of a binary tree. Given the sum of two independent normal numbers with variances v and w, the
first is v / (v + w) of the sum plus a noise of variance v w / (v + w) that is independent of the sum, and the second is
the rest. So the noises below a cell cancel in its total. Levels that are not nested (CUBE) are solved with matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.late import csr_array

MOST_SOLVED = 2000
"""Number of groups up to which levels that are not nested are solved with matrices."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """Independent noisy numbers of one level: for each group the cell it is in, for each cell its number; and sigma."""

    cells: Indices
    values: Floats
    sigma: float


@dataclass(frozen=True)
class _Node:
    """An intermediate level: for each of its cells the best estimate from the levels below, and its variance."""

    estimates: Floats
    variances: Floats
    parents: Indices


def adjusted(values: Floats, sigma: float, levels: Sequence[Measured]) -> Floats:
    """The numbers of all groups that fit their totals best.

    Args:
        values: The noisy numbers of the groups.
        sigma: The standard deviation of their noise.
        levels: The coarser levels, the finest first.

    Example:
        >>> whole = Measured(np.array([0, 0]), np.array([13.0]), 1.0)
        >>> adjusted(np.array([4.0, 6.0]), 1.0, [whole]).tolist()
        [5.0, 7.0]
    """
    levels = _combined(len(values), levels)
    if not _are_nested(levels):
        pulls = sum((level.values[level.cells] / level.sigma**2 for level in levels), values / sigma**2)
        return np.asarray(_covariance(len(values), sigma, levels) @ pulls)
    nodes, top, _ = _upwards(values, sigma, levels)
    for node in reversed(nodes):
        below = np.bincount(node.parents, node.estimates, len(top))
        top = node.estimates + _shares(node) * (top - below)[node.parents]
    return top


def noise(groups: int, sigma: float, levels: Sequence[Measured]) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
    """The noise of the adjusted numbers: a sparse row for each group, over as many independent standard normal noises.

    Example:
        >>> whole = Measured(np.array([0, 0]), np.array([13.0]), 1.0)
        >>> rows = noise(2, 1.0, [whole]).toarray()
        >>> np.round(rows @ rows.T, 4).tolist()
        [[0.6667, -0.3333], [-0.3333, 0.6667]]
    """
    levels = _combined(groups, levels)
    if not _are_nested(levels):
        return csr_array(np.linalg.cholesky(_covariance(groups, sigma, levels)))
    nodes, top, variances = _upwards(np.zeros(groups), sigma, levels)
    used = len(top)
    matrix = csr_array((np.sqrt(variances), (np.arange(used), np.arange(used))), shape=(used, groups))
    for node in reversed(nodes):
        count = len(node.parents)
        passed = csr_array((_shares(node), (np.arange(count), node.parents)), shape=(count, matrix.shape[0]))
        matrix = passed @ matrix + _contrasts(node, used, groups)
        used = count
    return matrix.tocsr()


def _upwards(values: Floats, sigma: float, levels: Sequence[Measured]) -> tuple[list[_Node], Floats, Floats]:
    """The levels from the groups upwards, with estimates from below, and the estimates and variances of the highest."""
    estimates, variances = values, np.full(len(values), sigma**2)
    cells, nodes = np.arange(len(values)), list[_Node]()
    for level in levels:
        parents = np.zeros(len(estimates), np.int64)
        parents[cells] = level.cells
        nodes.append(_Node(estimates, variances, parents))
        count = len(level.values)
        below, doubt = np.bincount(parents, estimates, count), np.bincount(parents, variances, count)
        share = doubt / (doubt + level.sigma**2)
        estimates, variances = below + share * (level.values - below), doubt * (1 - share)
        cells = level.cells
    return nodes, estimates, variances


def _shares(node: _Node) -> Floats:
    """Return the variance of each cell divided by that of all cells with the same parent."""
    return node.variances / np.bincount(node.parents, node.variances)[node.parents]


def _contrasts(node: _Node, first: int, groups: int) -> Any:  # noqa: ANN401 - likewise
    """Noises that cancel in the parents: those of a binary tree over the cells of each, numbered from `first`."""
    count = len(node.parents)
    order = np.argsort(node.parents, kind="stable")
    parents, variances = node.parents[order], node.variances[order]
    starts = np.flatnonzero(np.append(True, parents[1:] != parents[:-1]))
    indices = np.arange(count) - np.repeat(starts, np.diff(np.append(starts, count)))
    rows, columns, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    while indices.max(initial=0) > 0:
        halves, pairs = _runs(parents, indices), _runs(parents, indices // 2)
        own, both = np.bincount(halves, variances)[halves], np.bincount(pairs, variances)[pairs]
        size = np.sqrt(own * (both - own) / both) * variances / own
        split = np.unique(pairs[indices % 2 == 1])
        chosen = np.isin(pairs, split)
        rows.append(order[chosen])
        columns.append(first + np.searchsorted(split, pairs[chosen]))
        numbers.append(np.where(indices % 2, -size, size)[chosen])
        first, indices = first + len(split), indices // 2
    entries = np.concatenate(rows), np.concatenate(columns)
    return csr_array((np.concatenate(numbers), entries), shape=(count, groups))


def _runs(parents: Indices, indices: Indices) -> Indices:
    """Return the number of the run of equal pairs of each entry."""
    return np.cumsum(np.append(False, (parents[1:] != parents[:-1]) | (indices[1:] != indices[:-1])))


def _covariance(groups: int, sigma: float, levels: Sequence[Measured]) -> Floats:
    """The covariance of the adjusted numbers of any levels, nested or not."""
    precision = np.eye(groups) / sigma**2
    for level in levels:
        precision += (level.cells[:, None] == level.cells[None, :]) / level.sigma**2
    return np.asarray(np.linalg.inv(precision))


def _combined(groups: int, levels: Sequence[Measured]) -> Sequence[Measured]:
    """Return the levels that are combined: all of them, or nested ones where a matrix of all groups is too large.

    Keys that nobody declared may have more values than was assumed when the levels were chosen.
    """
    if groups <= MOST_SOLVED or _are_nested(levels):
        return levels
    kept = list[Measured]()
    for level in sorted(levels, key=lambda one: len(one.values), reverse=True):
        if not kept or _are_nested([kept[-1], level]):
            kept.append(level)
    return kept


def _are_nested(levels: Sequence[Measured]) -> bool:
    """Return True if each cell of a level lies in one cell of the next."""
    pairs = [np.stack([fine.cells, coarse.cells]) for fine, coarse in pairwise(levels)]
    return all(np.unique(pair, axis=1).shape[1] == len(fine.values) for pair, fine in zip(pairs, levels, strict=False))


def cells_of(keys: pa.Table, names: Sequence[str]) -> Indices:
    """The cell of each group, by the values of some keys; without keys, all groups are in one cell."""
    cells = np.zeros(keys.num_rows, np.int64)
    for name in names:
        encoded = keys.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        values = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, cells = np.unique(cells * (values.max(initial=0) + 1) + values, return_inverse=True)
    return np.asarray(cells, np.int64)
