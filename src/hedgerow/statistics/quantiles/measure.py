"""A quantile or an extreme with its limits, for all groups at once: what a release asks for."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.statistics.quantiles.buckets import Buckets
from hedgerow.statistics.quantiles.draw import draw_buckets, draw_points
from hedgerow.statistics.quantiles.extremes import highest, lowest
from hedgerow.statistics.quantiles.limits import limit_shift, lower_target, upper_target
from hedgerow.statistics.quantiles.scores import Reach, Target, Whole

INTERVAL_SHARE = Fraction(1, 2)
"""Of the budget, for the two limits: width times error is then least (benchmarks/quantiles.py)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Released grid points, one per group: the estimate, and the lowest and highest that the quantile may be."""

    points: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]


def measure_quantile(
    weights: Whole,
    buckets: Buckets,
    quantile: Fraction,
    *,
    epsilon: Fraction,
    limit_epsilon: Fraction | None,
    reach: Reach,
    beta: float,
    aside: int = 0,
) -> Measured:
    """Draw the quantile with `epsilon` and, where given, both limits with `limit_epsilon` each.

    `aside` moves both limits outwards by so many rows.

    For every data set, with probability at least 1 - beta, every q-quantile of the weighted rows on the grid lies from
    `lower` to `upper` (docs/proofs/quantiles.md). Without limits they are the ends of the range.

    Privacy: three draws, charged one by one (`charge`); points inside buckets and widening are post-processing.

    Example:
        >>> weights, ages = np.array([[0, 900, 0]]), Buckets(low=0, high=29, width=10)
        >>> seen = measure_quantile(weights, ages, Fraction(1, 2), epsilon=Fraction(1), limit_epsilon=Fraction(1),
        ...                         reach=Reach(rows=1), beta=0.05)
        >>> int(seen.lower[0]), int(seen.upper[0])
        (10, 19)
    """
    target = Target(quantile)
    points = draw_points(buckets, draw_buckets(weights, target, epsilon, reach))
    if limit_epsilon is None:
        return _within(points, *_ends(buckets, len(points)))
    shift = limit_shift(target, limit_epsilon, reach, buckets.count, beta / 2) + (aside << reach.weight_bits)
    low = draw_buckets(weights, lower_target(target, shift), limit_epsilon, reach)
    high = draw_buckets(weights, upper_target(target, shift), limit_epsilon, reach)
    return _within(points, buckets.firsts(low), buckets.lasts(high))


def measure_extreme(
    weights: Whole,
    buckets: Buckets,
    *,
    largest: bool,
    epsilon: Fraction,
    limit_epsilon: Fraction | None,
    reach: Reach,
    beta: float,
) -> Measured:
    """MIN or MAX: a rank a little inside, and one limit; the other end is that of the public range.

    With probability at least 1 - beta the exact minimum (maximum) of a group that is not empty is at most (at least)
    the limit. Show it only where `extremes.extreme_is_safe` for a released count.

    Privacy: two draws, charged one by one. The ranks are public numbers of rows from the end.
    """
    aim = (highest if largest else lowest)(epsilon, reach, buckets.count)
    points = draw_points(buckets, draw_buckets(weights, aim, epsilon, reach))
    lower, upper = _ends(buckets, len(points))
    if limit_epsilon is not None:
        end = Target(Fraction(int(largest)))
        shift = limit_shift(end, limit_epsilon, reach, buckets.count, beta)
        if largest:
            lower = buckets.firsts(draw_buckets(weights, lower_target(end, shift), limit_epsilon, reach))
        else:
            upper = buckets.lasts(draw_buckets(weights, upper_target(end, shift), limit_epsilon, reach))
    return _within(points, lower, upper)


def _ends(buckets: Buckets, groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.full(groups, buckets.low, np.int64), np.full(groups, buckets.high, np.int64)


def _within(points: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]) -> Measured:
    """Limits that hold the estimate: widening them never makes them wrong."""
    return Measured(points, np.minimum(lower, points), np.maximum(upper, points))
