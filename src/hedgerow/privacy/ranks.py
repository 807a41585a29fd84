"""Quantiles, minima and maxima: the buckets that are counted, and the budget of each draw.

Privacy: a draw in every group is charged for the exponential mechanism over weighted ranks (docs/proofs/quantiles.md):
an owner weighs at most r in a group, T over groups in the l2 norm (Gaussian noise) and A in the l1 norm (Laplace
noise), by the same weights as all sums (`bounding`). Several quantiles of one column are priced together, and their
limits come from one release of sums over cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.accounting import ApproximateEvent, BoundedRangeEvent, GaussianEvent, LaplaceEvent, SpreadRangeEvent
from hedgerow.aggregates import Rank
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.privacy import gaussian, laplace
from hedgerow.privacy.bounding import Bounding, counts_people, person_weights
from hedgerow.privacy.precision import Grid, plain, root_up
from hedgerow.privacy.sums import NoisySum
from hedgerow.statistics.quantiles import (
    BUCKETS,
    BUCKETS_OF_ONE_GROUP,
    DENOMINATOR,
    INTERVAL_SHARE,
    Buckets,
    Reach,
    affordable_epsilon,
    bucket_grid,
    cells_for,
    joint_factor,
    joint_range,
    joint_rank_variances,
    levels,
    nested_rank_variances,
)

RankEvent = BoundedRangeEvent | SpreadRangeEvent | ApproximateEvent | GaussianEvent | LaplaceEvent
PART = ("cumulative sums", ())


@dataclass(frozen=True, slots=True)
class Bucketing:
    """Rows of one column, by bucket: those where `filter` holds and `value` is not NULL.

    With `by_person` the rows of a person in a group share one weight (`bounding.person_weights`).
    """

    value: Expr
    filter: Expr | None
    grid: Grid
    buckets: Buckets
    by_person: bool = False

    def limits(self, bounding: Bounding) -> Bounding:
        """Return the limits that weigh its rows."""
        return person_weights(bounding) if self.by_person else bounding


@dataclass(frozen=True, slots=True)
class Draw:
    """One value to be drawn in every group: from which buckets, at which rank, with which epsilon.

    Its limits, which miss with probability `beta`, come from the `CumulativeSums` of its buckets. `nested` draws of the
    same buckets cut the group for each other.
    """

    bucketing: int
    rank: Rank
    epsilon: Fraction
    reach: Reach
    beta: float
    nested: bool = False


@dataclass(frozen=True, slots=True)
class CumulativeSums:
    """Noisy sums over cells of a column, from which the limits of all its draws follow; all have the noise of `sum`."""

    bucketing: int
    cells: int
    quantiles: tuple[Fraction, ...]
    sum: NoisySum


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """The draws from one bucketing, in the order of the requested ranks, the source of their limits, and the charge."""

    draws: list[Draw]
    cumulative: CumulativeSums | None
    events: list[RankEvent]


def bucketing_of(value: Expr, condition: Expr | None, rank: Rank, bounding: Bounding, bits: int) -> Bucketing:
    """Return the buckets of a value: one per whole number where there are few.

    Quantiles by group weigh people where these may have several rows; extremes always weigh rows, as the count does
    that says whether an extreme may be shown.

    Privacy: the choice follows from the statement and the limits alone.
    """
    grid = plain(range_of(value), whole=value.type is Type.INTEGER, bits=bits)
    buckets = bucket_grid(grid.low, grid.high, BUCKETS if bounding.grouped else BUCKETS_OF_ONE_GROUP)
    return Bucketing(value, condition, grid, buckets, counts_people(bounding) and not rank.extreme)


def gaussian_column(
    bucketing: int,
    buckets: Buckets,
    ranks: Sequence[Rank],
    budget: float,
    bounding: Bounding,
    weight_bits: int,
    beta: float,
) -> RankedColumn:
    """Return the draws of one column and their limits; each rank spends at most `budget` of mu squared."""
    norm_squared = Fraction(bounding.l2_squared, bounding.rows_per_group**2)
    norm = root_up(bounding.l2_squared * bounding.keys_touched) / bounding.rows_per_group
    share = Fraction(budget) * (1 - INTERVAL_SHARE)
    quantiles, extremes = _split(ranks)
    epsilons: dict[Rank, Fraction] = {}
    events: list[RankEvent] = []

    def alone(rank: Rank) -> None:
        epsilons[rank] = affordable_epsilon(share, norm_squared, one_group=not bounding.grouped)
        one = BoundedRangeEvent(epsilons[rank])
        events.append(one if not bounding.grouped else SpreadRangeEvent(epsilons[rank], norm_squared, norm))

    factor = joint_factor([rank.quantile for rank in quantiles])
    depth = Fraction(levels(len(_values(quantiles))))
    nested = _nests(quantiles, joint=factor, nested=depth)
    price, total = (depth, depth) if nested else (factor, joint_range([rank.quantile for rank in quantiles]))
    together = Fraction(0)
    if len(quantiles) > 1:
        together = affordable_epsilon(share * len(quantiles) / price, norm_squared, one_group=False)
    if together and (nested or bounding.grouped or together > affordable_epsilon(share, one_group=True)):
        epsilons.update(dict.fromkeys(quantiles, together))
        events.append(SpreadRangeEvent(together, norm_squared * price, norm * total))
    else:
        for rank in quantiles:
            alone(rank)
    for rank in extremes:
        alone(rank)
    cells = cells_for(len(ranks), buckets.count, "gaussian")
    sigma = math.sqrt(bounding.l2_squared / (float(INTERVAL_SHARE) * budget * len(ranks)))
    sums, event = gaussian.block([PART] * cells, DENOMINATOR, sigma, bounding, weight_bits)
    reach = Reach(bounding.rows_per_group, weight_bits)
    draws = [Draw(bucketing, rank, epsilons[rank], reach, beta, nested and not rank.extreme) for rank in ranks]
    return _column(draws, cells, sums[0], [*events, event])


def laplace_column(
    bucketing: int,
    buckets: Buckets,
    ranks: Sequence[Rank],
    budget: float,
    bounding: Bounding,
    weight_bits: int,
    beta: float,
) -> RankedColumn:
    """Return the draws of one column and their limits; each rank spends at most `budget` of pure epsilon."""
    norm = Fraction(bounding.l1, bounding.rows_per_group)
    share = Fraction(budget) * (1 - INTERVAL_SHARE) / norm
    quantiles, extremes = _split(ranks)
    factor, depth = joint_range([rank.quantile for rank in quantiles]), Fraction(levels(len(_values(quantiles))))
    nested = _nests(quantiles, joint=factor**2, nested=depth**2)
    price = depth if nested else factor
    epsilons = dict.fromkeys(extremes, share)
    events: list[RankEvent] = [ApproximateEvent(share * norm, Fraction(0)) for _ in extremes]
    if quantiles:
        together = share * len(quantiles) / price
        epsilons |= dict.fromkeys(quantiles, together)
        events.append(ApproximateEvent(together * price * norm, Fraction(0)))
    cells = cells_for(len(ranks), buckets.count, "laplace")
    scale = bounding.l1 / (float(INTERVAL_SHARE) * budget * len(ranks))
    sums, event = laplace.block([PART] * cells, DENOMINATOR, scale, bounding, weight_bits)
    reach = Reach(bounding.rows_per_group, weight_bits)
    draws = [Draw(bucketing, rank, epsilons[rank], reach, beta, nested and not rank.extreme) for rank in ranks]
    return _column(draws, cells, sums[0], [*events, event])


def _column(draws: list[Draw], cells: int, noise: NoisySum, events: list[RankEvent]) -> RankedColumn:
    """The column with sums over cells, the last event; where there is one bucket, without.

    Privacy: a row adds a vector of length 1 at most to the sums (`Strategy`), so an owner moves them by T or A at most.
    """
    if cells < 2:
        return RankedColumn(draws, None, events[:-1])
    quantiles = tuple(sorted({draw.rank.quantile for draw in draws}))
    return RankedColumn(draws, CumulativeSums(draws[0].bucketing, cells, quantiles, noise), events)


def _split(ranks: Sequence[Rank]) -> tuple[list[Rank], list[Rank]]:
    """Quantiles, ascending, and extremes."""
    quantiles = sorted((rank for rank in ranks if not rank.extreme), key=lambda rank: rank.quantile)
    return quantiles, [rank for rank in ranks if rank.extreme]


def _values(quantiles: Sequence[Rank]) -> list[Fraction]:
    """The different quantiles, ascending: one may be asked for by two definitions."""
    return sorted({rank.quantile for rank in quantiles})


def _nests(quantiles: Sequence[Rank], *, joint: Fraction, nested: Fraction) -> bool:
    """Return True if nested draws have the smaller error in rank, at `nested` times the price of one draw.

    Privacy: it follows from the quantiles that are asked for alone.
    """
    values = _values(quantiles)
    if len(values) < 2 or values[0] == 0 or values[-1] == 1:
        return False
    return math.prod(nested_rank_variances(values, nested)) < math.prod(joint_rank_variances(values, joint))
