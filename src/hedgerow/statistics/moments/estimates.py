"""Estimates of second moments from noisy ones, their errors, and their units.

Estimates of variances, covariances, correlations and regression lines from noisy moments, in centred units.

Everything here is arithmetic on what was released. The noise has a small systematic effect on a quotient of noisy
sums; where the count is large enough, that effect is known well enough to be subtracted.

How much a release errs, known before it is made: mean squared errors to first order, as constants.

Multiplied by sigma^2 / n^2, with sigma the standard deviation of the noise in one coordinate and n the number of
rows, they are the mean squared errors for columns of range one; for other columns they grow with the squares of the
statistic's units.
"""

from dataclasses import dataclass

import numpy as np

from hedgerow.error_bars.intervals import Bounds
from hedgerow.errors import InternalError
from hedgerow.statistics.moments.families import MOMENTS, Family, Floats, unit_covariance
from hedgerow.statistics.moments.noisy import (
    COVARIANCE,
    FIRST,
    PRODUCT,
    SECOND,
    VAR_FIRST,
    VAR_SECOND,
    Form,
    Moments,
    around,
    bias,
    central,
    gradient,
)

CORRECTED_FROM = 10.0
"""Minimum count of a group, in standard deviations of its noise, for a correction of bias."""


def var_pop(moments: Moments) -> Floats:
    """Variance of the first column, clipped to the largest variance at its mean; swap the columns for the second.

    Example:
        >>> from hedgerow.distributions import Gaussian
        >>> from hedgerow.statistics.moments.families import BERNSTEIN
        >>> seen = Moments.of(BERNSTEIN, np.array([[350.0], [300.0], [350.0]]), Gaussian(5.0))
        >>> var_pop(seen).round(4).tolist()
        [0.4]
    """
    moments.require(FIRST)
    return np.clip(corrected(moments, VAR_FIRST), 0.0, 1.0 - moments.means[0] ** 2)


def var_samp(moments: Moments) -> Floats:
    """`var_pop` with n - 1 in the denominator; nan where there is no more than one row."""
    return var_pop(moments) * sample_factor(moments)


def stddev_pop(moments: Moments) -> Floats:
    """The root of `var_pop`."""
    return np.sqrt(var_pop(moments))


def stddev_samp(moments: Moments) -> Floats:
    """The root of `var_samp`."""
    return np.sqrt(var_samp(moments))


def covar_pop(moments: Moments) -> Floats:
    """Covariance, clipped by the Cauchy-Schwarz inequality with the known or the largest possible variances."""
    moments.require(PRODUCT)
    limit = np.sqrt(np.prod([_largest_variance(moments, column) for column in (0, 1)], axis=0))
    return np.clip(corrected(moments, COVARIANCE), -limit, limit)


def covar_samp(moments: Moments) -> Floats:
    """`covar_pop` with n - 1 in the denominator; nan where there is no more than one row."""
    return covar_pop(moments) * sample_factor(moments)


def corr(moments: Moments) -> Floats:
    """Correlation; NaN where the estimate of a variance is below the standard deviation of its own noise."""
    first, second = var_pop(moments), var_pop(moments.exchanged())
    clear = is_clear(moments, VAR_FIRST) & is_clear(moments, VAR_SECOND)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covar_pop(moments) / np.sqrt(first * second)
    return np.where(clear, np.clip(correlation, -1.0, 1.0), np.nan)


def regr_slope(moments: Moments) -> Floats:
    """Slope of the second column on the first; nan where the variance of the first is below its noise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = covar_pop(moments) / var_pop(moments)
    return np.where(is_clear(moments, VAR_FIRST), slope, np.nan)


def regr_intercept(moments: Moments, offset: float = 0.0) -> Floats:
    """Value of the regression line at z = -offset; nan where there is no slope.

    Args:
        moments: Of both columns.
        offset: The middle of the first column's range in units of half its width. Then z = -offset is x = 0.
    """
    first, second = moments.means
    return np.asarray(second - regr_slope(moments) * (first + offset))


def regr_r2(moments: Moments) -> Floats:
    """The square of the correlation."""
    return corr(moments) ** 2


def corrected(moments: Moments, form: Form) -> Floats:
    """A central moment without the bias of the noise, where the count is large enough; not clipped."""
    large = moments.count > CORRECTED_FROM * moments.sigma
    return np.asarray(central(moments, form) - np.where(large, bias(moments, form), 0.0))


def is_clear(moments: Moments, form: Form) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return True if a central moment is at least one standard deviation of its own noise, to first order."""
    value = np.maximum(corrected(moments, form), 0.0)
    noise = moments.noise_stddev(gradient(moments, form, value))
    return np.asarray((value >= noise) & (value > 0))


def sample_factor(moments: Moments) -> Floats:
    """N / (n - 1); nan where there is no more than one row."""
    rows = moments.rows
    return np.divide(rows, rows - 1.0, out=np.full_like(rows, np.nan), where=rows > 1.0)


def _largest_variance(moments: Moments, column: int) -> Floats:
    known = set(SECOND if column else FIRST) <= set(moments.known)
    if known:
        return var_pop(moments.exchanged() if column else moments)
    return np.asarray(1.0 - moments.means[column] ** 2)


def variance_constant(family: Family, mean: Floats, variance: Floats) -> Floats:
    """Constant for the variance of the first column, from its mean and variance when its range is [0, 1].

    Example:
        >>> from hedgerow.statistics.moments.families import lambda_family
        >>> variance_constant(lambda_family(), np.array([0.5]), np.array([1 / 12])).round(4).tolist()
        [0.0717]
    """
    means = 2 * np.asarray(mean, dtype=float) - 1, np.zeros(np.shape(mean))
    return _constant(family, VAR_FIRST, means, variance)


def covariance_constant(family: Family, means: tuple[Floats, Floats], covariance: Floats) -> Floats:
    """Constant for the covariance of two columns, from their means and covariance when their ranges are [0, 1].

    Example:
        >>> from hedgerow.statistics.moments.families import BILINEAR
        >>> covariance_constant(BILINEAR, (np.array([0.5]), np.array([0.5])), np.array([0.0])).tolist()
        [0.25]
    """
    first, second = (2 * np.asarray(mean, dtype=float) - 1 for mean in means)
    return _constant(family, COVARIANCE, (first, second), covariance)


def _constant(family: Family, form: Form, means: tuple[Floats, Floats], value: Floats) -> Floats:
    gradient = around(form, *means)
    gradient[0] -= 4 * np.asarray(value, dtype=float)
    places = [MOMENTS.index(moment) for moment in family.moments]
    noise = unit_covariance(family)
    return np.asarray(np.einsum("ig,ij,jg->g", gradient[places], noise, gradient[places]) / 16)


@dataclass(frozen=True, slots=True)
class ScaledColumn:
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
    """Factor of a statistic in centred units, and the term that is then added."""

    factor: float
    shift: float = 0.0

    def values(self, centred: Floats) -> Floats:
        """Estimates in the units of the columns."""
        return np.asarray(self.shift + self.factor * centred)

    def bounds(self, centred: Bounds) -> Bounds:
        """Bounds in the units of the columns.

        Example:
            >>> ages = ScaledColumn(middle=60.0, half=60.0)
            >>> bounds = variance_scale(ages).bounds(Bounds.of(np.array([0.25]), np.array([0.5])))
            >>> bounds.lower.tolist(), bounds.upper.tolist()
            ([900.0], [1800.0])
        """
        return Bounds(self.values(centred.lower), self.values(centred.upper), centred.statuses)


def variance_scale(column: ScaledColumn) -> Scale:
    """For VAR of a column."""
    return Scale(column.half**2)


def stddev_scale(column: ScaledColumn) -> Scale:
    """For STDDEV of a column."""
    return Scale(column.half)


def covariance_scale(first: ScaledColumn, second: ScaledColumn) -> Scale:
    """For COVAR of two columns."""
    return Scale(first.half * second.half)


def slope_scale(first: ScaledColumn, second: ScaledColumn) -> Scale:
    """For the slope of the second column on the first."""
    return Scale(second.half / first.half)


def intercept_scale(second: ScaledColumn) -> Scale:
    """For the second column where the first is zero; ask for the intercept at the `offset` of the first."""
    return Scale(second.half, second.middle)
