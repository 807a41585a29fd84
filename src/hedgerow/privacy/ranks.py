"""Quantiles, minima and maxima: the buckets that are counted, and the budget of each draw.

Privacy: a draw in every group is charged for the exponential mechanism over weighted ranks (docs/proofs/quantiles.md):
an owner weighs at most r in a group, and over all groups at most T in the l2 norm (Gaussian noise) or A in the l1 norm
(Laplace noise), by the same weights as all sums (`bounding`). The estimate and each limit of its interval are separate
draws.
"""

from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import ApproximateEvent, BoundedRangeEvent, SpreadRangeEvent
from hedgerow.aggregates import Rank
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.grid import Grid, plain
from hedgerow.privacy.precision import root_up
from hedgerow.statistics.quantiles import (
    BUCKETS,
    BUCKETS_OF_ONE_GROUP,
    INTERVAL_SHARE,
    Buckets,
    Reach,
    bucket_grid,
    split,
)

RankEvent = BoundedRangeEvent | SpreadRangeEvent | ApproximateEvent


@dataclass(frozen=True, slots=True)
class Bucketing:
    """Rows of one column, by bucket: those where `filter` holds and `value` is not NULL."""

    value: Expr
    filter: Expr | None
    grid: Grid
    buckets: Buckets


@dataclass(frozen=True, slots=True)
class Draw:
    """One value to be drawn in every group: its buckets, rank and epsilons."""

    bucketing: int
    rank: Rank
    epsilon: Fraction
    limit_epsilon: Fraction
    reach: Reach
    beta: float


def bucketing_of(value: Expr, condition: Expr | None, *, grouped: bool, bits: int) -> Bucketing:
    """Return the buckets of a value: one per whole number where there are few."""
    grid = plain(range_of(value), whole=value.type is Type.INTEGER, bits=bits)
    return Bucketing(
        value, condition, grid, bucket_grid(grid.low, grid.high, BUCKETS if grouped else BUCKETS_OF_ONE_GROUP)
    )


def gaussian_draw(
    bucketing: int, rank: Rank, budget: float, bounding: Bounding, weight_bits: int, beta: float
) -> tuple[Draw, list[RankEvent]]:
    """Return a draw that spends at most `budget` of mu squared, including its limits, and its events."""
    limits = 1 if rank.extreme else 2
    norm_squared = Fraction(bounding.l2_squared, bounding.rows_per_group**2)
    one = not bounding.grouped
    epsilon, limit = split(Fraction(budget), INTERVAL_SHARE, norm_squared, limits=limits, one_group=one)
    events: list[RankEvent] = [
        BoundedRangeEvent(e) if one else SpreadRangeEvent(e, norm_squared, _largest_weight_sum(bounding))
        for e in (epsilon, *([limit] * limits))
        if e is not None
    ]
    return Draw(bucketing, rank, epsilon, limit or epsilon, Reach(bounding.rows_per_group, weight_bits), beta), events


def laplace_draw(
    bucketing: int, rank: Rank, budget: float, bounding: Bounding, weight_bits: int, beta: float
) -> tuple[Draw, list[RankEvent]]:
    """Return a draw that spends at most `budget` of pure epsilon, including its limits, and its events."""
    limits = 1 if rank.extreme else 2
    norm = _norm(bounding)
    share = Fraction(budget) / norm
    epsilon, limit = share * (1 - INTERVAL_SHARE), share * INTERVAL_SHARE / limits
    events: list[RankEvent] = [ApproximateEvent(e * norm, Fraction(0)) for e in (epsilon, *([limit] * limits))]
    return Draw(bucketing, rank, epsilon, limit, Reach(bounding.rows_per_group, weight_bits), beta), events


def _largest_weight_sum(bounding: Bounding) -> Fraction:
    """Return the largest sum of weights over groups whose l2 norm is at most T, by Cauchy and Schwarz.

    It exceeds A: weights that are bounded in the l2 norm reach every key in which an owner has a row.
    """
    return root_up(bounding.l2_squared * bounding.keys_touched) / bounding.rows_per_group


def _norm(bounding: Bounding) -> Fraction:
    """Return A / r, the largest sum of an owner's weights over groups where their l1 norm is bounded."""
    return Fraction(bounding.l1, bounding.rows_per_group)
