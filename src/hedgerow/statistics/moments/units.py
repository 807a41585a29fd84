"""From centred units, in which every column lies in [-1, 1], to those of the columns."""

from dataclasses import dataclass

import numpy as np

from hedgerow.error_bars.intervals import Bounds
from hedgerow.errors import InternalError
from hedgerow.statistics.moments.family import Floats


@dataclass(frozen=True, slots=True)
class Column:
    """The range of a column: z = (x - middle) / half."""

    middle: float
    half: float

    def __post_init__(self) -> None:
        if not self.half > 0:
            raise InternalError("A column whose range has no width has no moments to estimate.")

    @property
    def offset(self) -> float:
        """The middle in units of half the width: x = 0 is z = -offset."""
        return self.middle / self.half


@dataclass(frozen=True, slots=True)
class Scale:
    """What a statistic in centred units is multiplied with, and what is then added."""

    factor: float
    shift: float = 0.0

    def values(self, centred: Floats) -> Floats:
        """Estimates in the units of the columns."""
        return np.asarray(self.shift + self.factor * centred)

    def bounds(self, centred: Bounds) -> Bounds:
        """Bounds in the units of the columns.

        Example:
            >>> ages = Column(middle=60.0, half=60.0)
            >>> found = variance_scale(ages).bounds(Bounds.of(np.array([0.25]), np.array([0.5])))
            >>> found.lower.tolist(), found.upper.tolist()
            ([900.0], [1800.0])
        """
        return Bounds(self.values(centred.lower), self.values(centred.upper), centred.statuses)


def variance_scale(column: Column) -> Scale:
    """For VAR of a column."""
    return Scale(column.half**2)


def stddev_scale(column: Column) -> Scale:
    """For STDDEV of a column."""
    return Scale(column.half)


def covariance_scale(first: Column, second: Column) -> Scale:
    """For COVAR of two columns."""
    return Scale(first.half * second.half)


def slope_scale(first: Column, second: Column) -> Scale:
    """For the slope of the second column on the first."""
    return Scale(second.half / first.half)


def intercept_scale(second: Column) -> Scale:
    """For the second column where the first is zero; ask for the intercept at the `offset` of the first."""
    return Scale(second.half, second.middle)
