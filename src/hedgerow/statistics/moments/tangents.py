"""Statistics to first order: their value at the noisy moments, and how it changes with each of the six."""

import numpy as np

from hedgerow.statistics.moments.central import COVARIANCE, VAR_FIRST, VAR_SECOND, Form, gradient
from hedgerow.statistics.moments.estimates import corrected
from hedgerow.statistics.moments.family import Floats
from hedgerow.statistics.moments.noisy import Moments

Tangent = tuple[Floats, Floats]
"""A value per group, and a gradient with a row per moment and a column per group."""


def variance(moments: Moments, *, sample: bool = False) -> Tangent:
    """Of the first column."""
    value = corrected(moments, VAR_FIRST)
    found = value, gradient(moments, VAR_FIRST, np.clip(value, 0.0, 1.0))
    return _sampled(moments, found) if sample else found


def covariance(moments: Moments, *, sample: bool = False) -> Tangent:
    """Of both columns."""
    value = corrected(moments, COVARIANCE)
    found = value, gradient(moments, COVARIANCE, np.clip(value, -1.0, 1.0))
    return _sampled(moments, found) if sample else found


def correlation(moments: Moments) -> Tangent:
    """Of both columns; nan where a variance is not positive."""
    (first, by_first), (second, by_second) = (_positive(moments, form) for form in (VAR_FIRST, VAR_SECOND))
    cross, by_cross = covariance(moments)
    root = np.sqrt(first * second)
    value = np.clip(cross / root, -1.0, 1.0)
    return value, by_cross / root - value / 2 * (by_first / first + by_second / second)


def intercept_above(moments: Moments, offset: float) -> Tangent:
    """Where the line meets z = -offset, times the variance of z: mean w Var z - (mean z + offset) Cov."""
    (spread, by_spread), (cross, by_cross) = variance(moments), covariance(moments)
    first, second = moments.means
    along = first + offset
    steep = second * by_spread - along * by_cross
    steep[0] += (cross * first - spread * second) / moments.rows
    steep[1] -= cross / moments.rows
    steep[2] += spread / moments.rows
    return np.asarray(second * spread - along * cross), np.asarray(steep)


def _positive(moments: Moments, form: Form) -> Tangent:
    value = corrected(moments, form)
    value = np.where(value > 0, np.minimum(value, 1.0), np.nan)
    return value, gradient(moments, form, value)


def _sampled(moments: Moments, found: Tangent) -> Tangent:
    """The same times n / (n - 1), which itself moves with the noisy count."""
    value, steep = found
    rows = np.maximum(moments.rows, 2.0)
    factor = rows / (rows - 1.0)
    steeper = steep * factor
    steeper[0] -= value / (rows - 1.0) ** 2
    return value * factor, steeper
