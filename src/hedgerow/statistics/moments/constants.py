"""How much a release errs, known before it is made: mean squared errors to first order, as constants.

Times sigma^2 / n^2, with sigma the standard deviation of the noise in one coordinate and n the number of rows, they are
the mean squared errors for columns of range one; for other columns they grow with the squares of the statistic's units.
"""

import numpy as np

from hedgerow.statistics.moments.central import COVARIANCE, VAR_FIRST, Form, around
from hedgerow.statistics.moments.family import MOMENTS, Family, Floats, unit_covariance


def variance_constant(family: Family, mean: Floats, variance: Floats) -> Floats:
    """For the variance of the first column, whose mean and variance these are when its range is [0, 1].

    Example:
        >>> from hedgerow.statistics.moments.families import lambda_family
        >>> variance_constant(lambda_family(), np.array([0.5]), np.array([1 / 12])).round(4).tolist()
        [0.0717]
    """
    means = 2 * np.asarray(mean, dtype=float) - 1, np.zeros(np.shape(mean))
    return _constant(family, VAR_FIRST, means, variance)


def covariance_constant(family: Family, means: tuple[Floats, Floats], covariance: Floats) -> Floats:
    """For the covariance of two columns with these means and covariance when their ranges are [0, 1].

    Example:
        >>> from hedgerow.statistics.moments.families import BILINEAR
        >>> covariance_constant(BILINEAR, (np.array([0.5]), np.array([0.5])), np.array([0.0])).tolist()
        [0.25]
    """
    first, second = (2 * np.asarray(each, dtype=float) - 1 for each in means)
    return _constant(family, COVARIANCE, (first, second), covariance)


def _constant(family: Family, form: Form, means: tuple[Floats, Floats], value: Floats) -> Floats:
    gradient = around(form, *means)
    gradient[0] -= 4 * np.asarray(value, dtype=float)
    places = [MOMENTS.index(each) for each in family.moments]
    noise = unit_covariance(family)
    return np.asarray(np.einsum("ig,ij,jg->g", gradient[places], noise, gradient[places]) / 16)
