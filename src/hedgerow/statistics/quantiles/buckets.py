"""A public grid of equal buckets over whole numbers, and the values and error bars of its points."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE
from hedgerow.errors import InternalError

BUCKETS = 1024
"""Default maximum number of buckets if there may be many groups."""
BUCKETS_OF_ONE_GROUP = 16_384
"""The number for a single group: `benchmarks/quantiles.py` measures what finer grids bring and take."""


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
