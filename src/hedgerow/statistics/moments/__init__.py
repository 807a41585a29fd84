"""Second moments as pure mathematics: noisy sums of z, z^2, z w in; variances, covariances and their bounds out."""

from hedgerow.statistics.moments.covariance_bounds import (
    correlation_bounds,
    covariance_bounds,
    intercept_bounds,
    r2_bounds,
    slope_bounds,
)
from hedgerow.statistics.moments.estimates import (
    corr,
    covar_pop,
    covar_samp,
    regr_intercept,
    regr_r2,
    regr_slope,
    stddev_pop,
    stddev_samp,
    var_pop,
    var_samp,
)
from hedgerow.statistics.moments.families import BERNSTEIN, BILINEAR, CORNERS, CORRELATION, TENSOR, lambda_family
from hedgerow.statistics.moments.family import Family, inverse, mixing, unit_covariance
from hedgerow.statistics.moments.noisy import Moments
from hedgerow.statistics.moments.norms import largest_absolute_norm, largest_norm_squared
from hedgerow.statistics.moments.units import (
    Column,
    Scale,
    covariance_scale,
    intercept_scale,
    slope_scale,
    stddev_scale,
    variance_scale,
)
from hedgerow.statistics.moments.variance_bounds import stddev_bounds, variance_bounds

__all__ = [
    "BERNSTEIN",
    "BILINEAR",
    "CORNERS",
    "CORRELATION",
    "TENSOR",
    "Column",
    "Family",
    "Moments",
    "Scale",
    "corr",
    "correlation_bounds",
    "covar_pop",
    "covar_samp",
    "covariance_bounds",
    "covariance_scale",
    "intercept_bounds",
    "intercept_scale",
    "inverse",
    "lambda_family",
    "largest_absolute_norm",
    "largest_norm_squared",
    "mixing",
    "r2_bounds",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "slope_bounds",
    "slope_scale",
    "stddev_bounds",
    "stddev_pop",
    "stddev_samp",
    "stddev_scale",
    "unit_covariance",
    "var_pop",
    "var_samp",
    "variance_bounds",
    "variance_scale",
]
