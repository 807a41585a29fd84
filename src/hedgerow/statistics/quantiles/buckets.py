"""A public grid of equal buckets over whole numbers: scores by distance from a rank, values of points, error bars."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arguments import probability
from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, IntervalKind, Reason, Status
from hedgerow.errors import InternalError

Whole = NDArray[Any]
SAFE = 2.0**61
LARGEST_DENOMINATOR = 2**64


LARGEST_SHARE = Fraction(1, 4)

SMALL_GROUP = Status(
    IntervalKind.CONSERVATIVE,
    Reason.SMALL_GROUP,
    "the group is too small, or the budget too small, for a private extreme",
)

BEYOND = 10
"""The buckets beyond the extreme together have at most one BEYOND-th of the weight of the one that is aimed at."""

BUCKETS = 1024
"""Default maximum number of buckets if there may be many groups."""

BUCKETS_OF_ONE_GROUP = 16_384
"""The number for a single group: `benchmarks/quantiles.py` measures what finer grids bring and take."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Maximum weight of one owner in one group: `rows`, in units of 2^-`weight_bits`."""

    rows: int
    weight_bits: int = 0

    @property
    def weight(self) -> int:
        """The largest sum of weights of one owner in one group."""
        return self.rows << self.weight_bits


@dataclass(frozen=True, slots=True)
class Target:
    """The rank `quantile` * (weight of the group) + `shift`, the shift being public, in units of weight."""

    quantile: Fraction
    shift: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1 or self.quantile.denominator > LARGEST_DENOMINATOR:
            raise InternalError("A quantile must be an exact number from 0 to 1 with a small denominator.")

    @property
    def larger_share(self) -> Fraction:
        """max(q, 1 - q): an owner of weight a moves a score by at most this times a."""
        return max(self.quantile, 1 - self.quantile)


def rank_scores(weights: Whole, target: Target) -> Whole:
    """The distance of the target rank from the ranks that each bucket covers, times the quantile's denominator.

    Bucket j of a group of weight W covers the ranks from below(j), the weight of the buckets before it, to
    upto(j) = below(j) + weight(j); the first covers everything below, the last everything above. With
    t = q W + shift the score is max(0, below(j) - t, t - upto(j)). Some bucket scores 0, whatever the data
    and the shift; without a shift they are those that hold a q-quantile, a point with weight(x < point) <= q W <=
    weight(x <= point). A tie, a value on an edge or a heavy bucket needs no rule of its own.

    Privacy: an owner who adds a_j >= 0 to each bucket, a in all, moves below(j) - t by something between -q a and
    (1 - q) a, and t - upto(j) by something between -(1 - q) a and q a. So each score moves by at most
    max(q, 1 - q) a, for any public shift.

    Args:
        weights: One row per group, one column per bucket.
        target: The rank.

    Example:
        >>> rank_scores(np.array([[4, 1, 5]]), Target(Fraction(1, 2))).tolist()
        [[2, 0, 0]]
    """
    table = np.asarray(weights)
    if table.ndim != 2 or table.shape[1] < 1 or table.dtype.kind not in "iuO":
        raise InternalError("Bucket weights must be whole numbers, one row for each group.")
    heaviest = float(np.max(np.sum(table.astype(np.float64), axis=1), initial=0.0))
    largest = (heaviest + abs(target.shift)) * target.quantile.denominator
    exact = table.astype(np.int64 if largest < SAFE else object)
    top, bottom = target.quantile.numerator, target.quantile.denominator
    upto = np.cumsum(exact, axis=1)
    wanted = top * upto[:, -1:] + bottom * target.shift
    scores = wanted - bottom * upto
    scores[:, -1:] = 0
    np.maximum(scores, 0, out=scores)
    np.maximum(scores[:, 1:], bottom * upto[:, :-1] - wanted, out=scores[:, 1:])
    return np.asarray(scores)


def score_rate(target: Target, epsilon: Fraction, reach: Reach) -> Fraction:
    """Factor of `rank_scores` with which the loss for an owner of weight a has range epsilon a / rows.

    Privacy: a score moves by at most max(q, 1 - q) a, so the loss has a range of at most
    2 rate max(q, 1 - q) a, and rate = epsilon / (2 max(q, 1 - q) rows). The scores' denominator is divided out.

    Example:
        >>> score_rate(Target(Fraction(1, 2)), Fraction(1), Reach(rows=3, weight_bits=1))
        Fraction(1, 12)
    """
    return epsilon / (2 * target.larger_share * reach.weight * target.quantile.denominator)


def rank_bound(target: Target, epsilon: Fraction, reach: Reach, buckets: int, beta: float) -> float:
    """Distance, in rows, from the target rank that a drawn bucket exceeds with probability at most `beta`.

    Some bucket scores 0 and has weight 1, and each bucket that scores t or more has weight at most exp(-rate t).

    Example:
        >>> round(rank_bound(Target(Fraction(1, 2)), Fraction(1), Reach(1), 1024, 0.05), 2)
        9.93
    """
    return float(2 * target.larger_share / epsilon) * reach.rows * math.log(buckets / probability("beta", beta))


def units(buckets: int) -> int:
    """Distance inside the extreme at which a draw aims, in noise units r / epsilon.

    A bucket beyond all values has the weight exp(-units / 2), that of the wanted rank 1. There are fewer than `buckets`
    of the former: with 2 ln(10 buckets) they rarely win, though most of the public range may be empty.

    Example:
        >>> units(1024)
        19
    """
    return math.ceil(2 * math.log(BEYOND * buckets))


def lowest(epsilon: Fraction, reach: Reach, buckets: int) -> Target:
    """The rank that MIN asks for: some rows above the lowest. It is public: no count is needed.

    Example:
        >>> lowest(Fraction(1, 2), Reach(rows=2), buckets=1024)
        Target(quantile=Fraction(0, 1), shift=76)
    """
    return Target(Fraction(0), math.ceil(units(buckets) * reach.weight / epsilon))


def highest(epsilon: Fraction, reach: Reach, buckets: int) -> Target:
    """The rank that MAX asks for: as far below the highest."""
    return Target(Fraction(1), -math.ceil(units(buckets) * reach.weight / epsilon))


def extreme_is_safe(noisy_rows: float | Fraction, epsilon: Fraction, reach: Reach, buckets: int) -> bool:
    """Return True if an extreme may be shown: its rank is in the outer quarter, by a *released* weighted count.

    Otherwise NULL with `SMALL_GROUP`: the rank might be anywhere in the group, or outside of it.

    Example:
        >>> [extreme_is_safe(n, Fraction(1), Reach(1), buckets=1024) for n in (-3, 75, 76)]
        [False, False, True]
    """
    wanted = Fraction(units(buckets) * reach.rows)
    return noisy_rows > 0 and wanted <= LARGEST_SHARE * epsilon * Fraction(noisy_rows)


@dataclass(frozen=True, slots=True)
class Buckets:
    """The whole numbers from `low` to `high`, cut into buckets of `width`; the last may be shorter.

    `low` and `high` are those of the column's grid, where k = floor((x - offset) / step + 1/2) is clamped to them. So a
    value beyond the range is in the first or the last bucket, every value is in exactly one, and a value on
    an edge is in the bucket that begins there. The number of the bucket is `(k - low) // width`, in SQL as here.

    Example:
        >>> tens = Buckets(low=0, high=24, width=10)
        >>> tens.count, tens.number(19), tens.first(2), tens.last(2), tens.size(2)
        (3, 1, 20, 24, 5)
    """

    low: int
    high: int
    width: int

    def __post_init__(self) -> None:
        if self.high < self.low or self.width < 1:
            raise InternalError("A grid of buckets needs a range that is not empty and a width of at least 1.")

    @property
    def count(self) -> int:
        """Number of buckets."""
        return (self.high - self.low) // self.width + 1

    def number(self, point: int) -> int:
        """Return the bucket of a grid point; a point beyond the range is in the nearest one."""
        return (min(max(point, self.low), self.high) - self.low) // self.width

    def first(self, number: int) -> int:
        """The lowest grid point of a bucket."""
        return self.low + number * self.width

    def last(self, number: int) -> int:
        """The highest grid point of a bucket."""
        return min(self.first(number) + self.width - 1, self.high)

    def size(self, number: int) -> int:
        """Number of grid points in a bucket."""
        return self.last(number) - self.first(number) + 1

    def firsts(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """`first` of many buckets."""
        return np.array([self.first(number) for number in numbers.tolist()], dtype=np.int64)

    def lasts(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """`last` of many buckets."""
        return np.array([self.last(number) for number in numbers.tolist()], dtype=np.int64)


def bucket_grid(low: int, high: int, at_most: int = BUCKETS) -> Buckets:
    """The finest grid of equal buckets from `low` to `high` with no more than `at_most` of them.

    Where the range has few whole numbers (a column of ages, of days in a few years) each is a bucket of its own.

    Example:
        >>> bucket_grid(0, 120).width, bucket_grid(0, 99_999).count
        (1, 1021)
    """
    if at_most < 1:
        raise InternalError("A grid needs at least one bucket.")
    return Buckets(low, high, max(1, -((low - high - 1) // at_most)))


@dataclass(frozen=True, slots=True)
class QuantilePoints:
    """Released grid points, one per group: the estimate, and the lowest and highest that the quantile may be."""

    points: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]


def values_of(points: NDArray[np.int64], *, offset: float, step: float) -> NDArray[np.float64]:
    """The values of grid points.

    Example:
        >>> values_of(np.array([3]), offset=10.0, step=0.5).tolist()
        [11.5]
    """
    return np.asarray(offset + points * step, dtype=np.float64)


def value_bounds(
    measured: QuantilePoints, *, offset: float, step: float, on_grid: bool, lowest: float, highest: float
) -> Bounds:
    """Error bars of the values before they were rounded to the grid, within the public range; conservative.

    Rounding and clamping keep the order of values, so a quantile of the rounded ones is the rounded quantile: at most
    half a step away. Where all values lie on the grid (`on_grid`: whole numbers, days) nothing is added.

    Example:
        >>> seen = QuantilePoints(np.array([4]), np.array([2]), np.array([9]))
        >>> ends = value_bounds(seen, offset=0.0, step=0.5, on_grid=False, lowest=0.0, highest=100.0)
        >>> float(ends.lower[0]), float(ends.upper[0])
        (0.75, 4.75)
    """
    aside = 0.0 if on_grid else float(Fraction(step) / 2)
    lower = values_of(measured.lower, offset=offset, step=step) - aside
    upper = values_of(measured.upper, offset=offset, step=step) + aside
    return Bounds.of(lower, upper, CONSERVATIVE).within(lowest, highest)
