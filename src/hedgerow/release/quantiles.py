"""Draw quantiles and extremes from exact bucket weights, for all groups at once: buckets, points inside, limits.

The only module that reads bucket weights and random bits together (docs/proofs/quantiles.md).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.noise.exponential import choose_many, uniform_below
from hedgerow.statistics.quantiles.buckets import Buckets, QuantilePoints
from hedgerow.statistics.quantiles.targets import (
    Reach,
    Target,
    Whole,
    highest,
    limit_shift,
    lower_target,
    lowest,
    rank_scores,
    score_rate,
    upper_target,
)

AT_ONCE = 32
"""Groups that are scored at once, so that they stay in the processor's cache."""


def draw_buckets(weights: Whole, target: Target, epsilon: Fraction, reach: Reach) -> NDArray[np.int64]:
    """One bucket for each row of weights, with probability proportional to exp(-rate * score).

    All buckets of the grid have the same width but for the last, and the same prior weight.

    Privacy: for an owner who weighs a_g <= `reach` in group g, the draw of that group is (epsilon a_g / reach)-bounded
    range (`scores`), exactly (`noise.exponential`). Over groups see `charge.mu_squared`.

    Example:
        >>> draw_buckets(np.array([[0, 900, 0]]), Target(Fraction(1, 2)), Fraction(1), Reach(rows=1)).tolist()
        [1]
    """
    rate = score_rate(target, epsilon, reach)
    drawn = np.empty(len(weights), dtype=np.int64)
    for start in range(0, len(weights), AT_ONCE):
        scores = rank_scores(weights[start : start + AT_ONCE], target)
        drawn[start : start + AT_ONCE] = choose_many(scores, np.ones(scores.shape[1], dtype=np.int64), rate)
    return drawn


def draw_points(buckets: Buckets, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """A uniform grid point of each drawn bucket: post-processing, always within the range."""
    numbers = drawn.tolist()
    inside = uniform_below([buckets.size(number) for number in numbers])
    return np.array([buckets.first(number) + offset for number, offset in zip(numbers, inside, strict=True)], np.int64)


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
) -> QuantilePoints:
    """Draw the quantile with `epsilon` and, where given, both limits with `limit_epsilon` each.

    `aside` moves both limits outwards by so many rows.

    For every data set, with probability at least 1 - beta, every q-quantile of the weighted rows on the grid lies from
    `lower` to `upper` (docs/proofs/quantiles.md). Without limits they are the ends of the range.

    Privacy: three draws, charged one by one (`statistics.quantiles.charge`); points inside buckets and widening
    are post-processing.

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
) -> QuantilePoints:
    """MIN or MAX: a rank a little inside, and one limit; the other end is that of the public range.

    With probability at least 1 - beta the exact minimum (maximum) of a group that is not empty is at most (at least)
    the limit. Show it only where `extreme_is_safe` for a released count.

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


def _within(points: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]) -> QuantilePoints:
    """Limits that hold the estimate: widening them never makes them wrong."""
    return QuantilePoints(points, np.minimum(lower, points), np.maximum(upper, points))


Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of buckets in every group, the weights inside it (0 elsewhere), and which quantiles lie there.

    `first` to `last` are positions in the list of quantiles, both included; `low` and `high` the quantiles that cut it.
    """

    weights: Whole
    begin: Numbers
    end: Numbers
    first: int
    last: int
    low: Fraction
    high: Fraction


def draw_nested(weights: Whole, quantiles: list[Fraction], epsilon: Fraction, reach: Reach) -> Numbers:
    """Buckets for several quantiles: one row per group, one column per quantile, ascending in each row.

    The middle quantile is drawn from all buckets. The bucket it falls into cuts the group in two: those before it,
    those after it, and half of its own weight for each (rounded down for the lower part, up for the upper). Each part
    is then treated alike, its quantiles taken relative to the two that cut it out. An error in a cut is passed on to
    what is drawn inside, and a bucket heavier than the distance of two quantiles can carry them away. So it has no
    bound on ranks; it pays from about five quantiles on, on columns without heavy buckets (benchmarks/quantiles.py).

    Privacy: the parts of a level share no weight. An owner who adds a to a group adds non-negative whole numbers to
    the parts, a in all: halving a bucket of weight w by floor and by ceiling adds up to w before and after. A part's
    draw reads nothing but its own weights, the cuts (released) and public numbers, so a level costs one draw
    over groups and parts together: `charge.nested_mu_squared`, and `charge.pure_epsilon` times `charge.levels`.

    Example:
        >>> quartiles = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
        >>> draw_nested(np.array([[900, 0, 900, 900, 900]]), quartiles, Fraction(9), Reach(1)).shape
        (1, 3)
    """
    if not quantiles or sorted(set(quantiles)) != quantiles or not 0 < quantiles[0] <= quantiles[-1] < 1:
        raise InternalError("Nested quantiles must be distinct, ascending, and between 0 and 1.")
    table = np.asarray(weights)
    groups, count = table.shape
    begin, end = np.zeros(groups, np.int64), np.full(groups, count - 1, np.int64)
    parts = [_Part(table, begin, end, 0, len(quantiles) - 1, Fraction(0), Fraction(1))]
    drawn = np.empty((groups, len(quantiles)), dtype=np.int64)
    while parts:
        part = parts.pop()
        middle = (part.first + part.last + 1) // 2
        drawn[:, middle] = _draw(part, quantiles[middle], epsilon, reach)
        parts += _cut(part, middle, quantiles[middle], drawn[:, middle])
    return drawn


def _draw(part: _Part, quantile: Fraction, epsilon: Fraction, reach: Reach) -> Numbers:
    """One bucket of the part for each group, by the weights inside the part alone."""
    target = Target((quantile - part.low) / (part.high - part.low))
    places = np.arange(part.weights.shape[1])
    inside = (part.begin[:, None] <= places) & (places <= part.end[:, None])
    return choose_many(rank_scores(part.weights, target), inside.astype(np.int64), score_rate(target, epsilon, reach))


def _cut(part: _Part, middle: int, quantile: Fraction, drawn: Numbers) -> list[_Part]:
    """The parts below and above the drawn buckets in which quantiles are left to draw."""
    parts = []
    places = np.arange(part.weights.shape[1])
    own = np.where(places == drawn[:, None], part.weights, 0)
    if part.first < middle:
        below = np.where(places < drawn[:, None], part.weights, own // 2)
        parts.append(_Part(below, part.begin, drawn.copy(), part.first, middle - 1, part.low, quantile))
    if middle < part.last:
        above = np.where(places > drawn[:, None], part.weights, own - own // 2)
        parts.append(_Part(above, drawn.copy(), part.end, middle + 1, part.last, quantile, part.high))
    return parts
