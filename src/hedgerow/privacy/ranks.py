"""Values in order of size: which buckets are counted, and what each draw may spend.

Privacy: a draw in every group is charged for the exponential mechanism over weighted ranks (docs/proofs/quantiles.md):
an owner weighs at most r in a group, T over groups in the l2 norm (Gaussian noise) and A in the l1 norm (Laplace
noise), by the same weights as all sums (`bounding`). The estimate and each limit of its interval are draws of their
own.
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
    """The rows of one column, by bucket: those where `filter` holds and `value` is there."""

    value: Expr
    filter: Expr | None
    grid: Grid
    buckets: Buckets


@dataclass(frozen=True, slots=True)
class Draw:
    """One value to be drawn in every group: from which buckets, at which rank, with which epsilons."""

    bucketing: int
    rank: Rank
    epsilon: Fraction
    limit_epsilon: Fraction
    reach: Reach
    beta: float


def bucketing_of(value: Expr, condition: Expr | None, *, grouped: bool, bits: int) -> Bucketing:
    """The buckets of a value: each whole number its own where they are few."""
    grid = plain(range_of(value), whole=value.type is Type.INTEGER, bits=bits)
    return Bucketing(
        value, condition, grid, bucket_grid(grid.low, grid.high, BUCKETS if grouped else BUCKETS_OF_ONE_GROUP)
    )


def gaussian_draw(
    place: int, rank: Rank, budget: float, bounding: Bounding, weight_bits: int, beta: float
) -> tuple[Draw, list[RankEvent]]:
    """A draw that spends at most `budget` of mu squared, with its limits; and its events."""
    limits = 1 if rank.extreme else 2
    norm_squared = Fraction(bounding.l2_squared, bounding.rows_per_group**2)
    one = not bounding.grouped
    epsilon, limit = split(Fraction(budget), INTERVAL_SHARE, norm_squared, limits=limits, one_group=one)
    events: list[RankEvent] = [
        BoundedRangeEvent(e) if one else SpreadRangeEvent(e, norm_squared, _spread(bounding))
        for e in (epsilon, *([limit] * limits))
        if e is not None
    ]
    return Draw(place, rank, epsilon, limit or epsilon, Reach(bounding.rows_per_group, weight_bits), beta), events


def laplace_draw(
    place: int, rank: Rank, budget: float, bounding: Bounding, weight_bits: int, beta: float
) -> tuple[Draw, list[RankEvent]]:
    """A draw that spends at most `budget` of pure epsilon, with its limits; and its events."""
    limits = 1 if rank.extreme else 2
    norm = _norm(bounding)
    share = Fraction(budget) / norm
    epsilon, limit = share * (1 - INTERVAL_SHARE), share * INTERVAL_SHARE / limits
    events: list[RankEvent] = [ApproximateEvent(e * norm, Fraction(0)) for e in (epsilon, *([limit] * limits))]
    return Draw(place, rank, epsilon, limit, Reach(bounding.rows_per_group, weight_bits), beta), events


def _spread(bounding: Bounding) -> Fraction:
    """The largest sum of weights over groups where their l2 norm is at most T: all keys alike, by Cauchy and Schwarz.

    It is more than A: weights that are bounded in the l2 norm reach every key that an owner has a row in.
    """
    return root_up(bounding.l2_squared * bounding.keys_touched) / bounding.rows_per_group


def _norm(bounding: Bounding) -> Fraction:
    """A / r: the largest sum of an owner's weights over groups, where their l1 norm is bounded."""
    return Fraction(bounding.l1, bounding.rows_per_group)
