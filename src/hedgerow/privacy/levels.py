"""Levels of totals: which of ROLLUP, CUBE and GROUPING SETS are measured on their own, and with how much of the budget.

Privacy: with one integer weight per owner and key, capped so that an owner's weighted rows add up to at most A (the l1
cap of `bounding`), each row of norm at most one moves its cell of a level by at most its weight. So one owner moves all
cells of a level together by at most A in the sum of norms, and by at most A in l2: a level with noise sigma costs
A^2 / sigma^2 of mu^2. The same cap holds the groups themselves within T in l2: the squares of numbers in [0, r] that
add up to at most A = min(R, r C) add up to at most T^2, the value at the corner where as many as possible are r.
Levels and groups compose: their costs are added. A total runs over the groups that are shown, whose keys are public by
then; nothing of a group that is held back is in it.

The shares minimise the predicted sum of the variances of all numbers that are shown, for as many groups as the keys
could make. With product keys of n_i values, the contrasts that depend on exactly the keys A have dimension
prod (n_i - 1) over A, and measuring a level L with precision p adds p prod n_j (over the keys j not in L) to the
precision of every contrast with A inside L. That makes both the sum and its derivatives closed; the shares are those of
an A-optimal design, found by the multiplicative algorithm, whose every step lowers the sum (Yu 2010).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from hedgerow.plan.nodes import Grouped, LogicalPlan, Release, Released, inside
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.keys import KeyRule, Keys

Level = tuple[int, ...]
"""The keys of a level, by position."""

MANY_KEYS = 12
ASSUMED_VALUES = 30
"""Number of values of a key that nobody declared, for the choice of shares alone."""

SOLVED_GROUPS = 1000
"""Maximum number of groups (`ASSUMED_VALUES` of each key that nobody declared) for which any levels are measured; above
it only nested ones, which need no matrix."""

WORTH = 5e-4
"""Optimal share below which a level is not measured: its total is the sum of its groups."""

SMALLEST_SHARE = 0.01
"""Minimum share of a measured level: with many groups, a total would get too little although everybody reads it."""

FINEST_SHARE = 0.01
"""Minimum share of the groups: if they are not shown, they only relate the totals to each other."""

STEPS = 200


@dataclass(frozen=True, slots=True)
class LevelShare:
    """A measured level, and its share of the budget of the measures."""

    keys: Level
    share: float


def shown_levels(plan: LogicalPlan, release: Release) -> tuple[Level, ...]:
    """The distinct grouping sets over a release; none if it has no totals."""
    sets = [
        node.sets
        for node in inside(plan.root)
        if isinstance(node, Grouped) and isinstance(node.source, Released) and node.source.release == release
    ]
    return tuple(dict.fromkeys(level for levels in sets for level in levels or ()))


def level_shares(levels: Sequence[Level], keys: Keys, count: int, bounding: Bounding) -> tuple[LevelShare, ...]:
    """The levels that are worth measuring next to the groups, and the share of mu squared of each.

    Args:
        levels: The grouping sets that are shown.
        keys: The rule for keys, with their values where these are declared.
        count: Number of keys.
        bounding: The limits of one owner.
    """
    finest = tuple(range(count))
    coarser = [level for level in levels if level != finest]
    if not coarser or count > MANY_KEYS:
        return ()
    sizes = declared_sizes(keys, count) or [ASSUMED_VALUES] * count
    if math.prod(sizes) > SOLVED_GROUPS:
        coarser = nested(coarser)
    costs = [float(bounding.l2_squared), *[float(bounding.l1**2)] * len(coarser)]
    measured = [finest, *coarser]
    shares, _ = optimal_shares(measured, levels, sizes, costs)
    worth = [index for index, share in enumerate(shares) if index == 0 or share >= WORTH]
    shares, _ = optimal_shares([measured[i] for i in worth], levels, sizes, [costs[i] for i in worth])
    weights = np.maximum(shares[1:], SMALLEST_SHARE)
    granted = weights * min(1.0, (1 - FINEST_SHARE) / max(float(weights.sum()), SMALLEST_SHARE))
    return tuple(LevelShare(measured[i], float(share)) for i, share in zip(worth[1:], granted, strict=True))


def level_bounding(bounding: Bounding) -> Bounding:
    """The limits of one owner in a level: all their weighted rows may be in one cell."""
    return replace(bounding, rows=bounding.l1, rows_per_group=bounding.l1, groups=1)


def declared_sizes(keys: Keys, count: int) -> list[int] | None:
    """Number of values of each key; None where the keys are not public."""
    if keys.rule is not KeyRule.DECLARED:
        return None
    return [len({key[i] for key in keys.domain}) for i in range(count)]


def nested(levels: Sequence[Level]) -> list[Level]:
    """The longest sequence of levels in which each level has a subset of the keys of the previous one."""
    longest: dict[Level, list[Level]] = {}
    for level in sorted(levels, key=len, reverse=True):
        above = [sequence for other, sequence in longest.items() if set(level) < set(other)]
        longest[level] = [*max(above, key=len, default=[]), level]
    return max(longest.values(), key=len)


def optimal_shares(
    measured: Sequence[Level],
    shown: Sequence[Level],
    sizes: Sequence[int],
    costs: Sequence[float],
    cell_weights: Sequence[float] = (),
) -> tuple[NDArray[np.float64], float]:
    """Return the shares of levels that minimise the weighted sum of variances of all shown cells, and that sum.

    Args:
        measured: The levels that are measured.
        shown: The levels that are shown.
        sizes: The number of values of each key.
        costs: What a measured level costs at variance 1.
        cell_weights: The weight of a cell of each shown level; 1 by default.
    """
    shares, loss = _optimal_shares(tuple(measured), tuple(shown), tuple(sizes), tuple(costs), tuple(cell_weights))
    return shares.copy(), loss


@lru_cache(maxsize=512)  # a batch is priced with many splits of its budget, most of which ask for the same shares
def _optimal_shares(
    measured: Sequence[Level],
    shown: Sequence[Level],
    sizes: Sequence[int],
    costs: Sequence[float],
    cell_weights: Sequence[float],
) -> tuple[NDArray[np.float64], float]:
    subsets = list(chain.from_iterable(combinations(range(len(sizes)), k) for k in range(len(sizes) + 1)))
    dimensions = np.array([math.prod(sizes[i] - 1 for i in subset) for subset in subsets], float)
    weights = dimensions * (_within(subsets, shown, sizes) @ np.array(cell_weights or [1.0] * len(shown)))
    precisions = _within(subsets, measured, sizes) / np.array(costs)
    shares = np.full(len(measured), 1.0 / len(measured))
    used = weights > 0
    weights, precisions = weights[used], precisions[used]
    for _ in range(STEPS):
        gains = (weights / (precisions @ shares) ** 2) @ precisions
        shares = shares * np.sqrt(gains)
        shares = shares / shares.sum()
    return shares, float((weights / (precisions @ shares)).sum())


def _within(subsets: Sequence[Level], levels: Sequence[Level], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the number of groups in a cell of each level, for each subset of its keys."""
    groups = [math.prod(size for i, size in enumerate(sizes) if i not in level) for level in levels]
    pairs = [(set(level), float(count)) for level, count in zip(levels, groups, strict=True)]
    return np.array([[count if set(subset) <= level else 0.0 for level, count in pairs] for subset in subsets])
