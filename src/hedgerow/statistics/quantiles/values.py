"""From released grid points to values and error bars."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals import Bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE


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
