"""How wrong noisy numbers may be: formulas to use on their own, without data or database."""

from hedgerow.accuracy.average import average_error
from hedgerow.accuracy.noise_error import gaussian_error, gaussian_sigma, laplace_error
from hedgerow.accuracy.prediction import Condition, Prediction
from hedgerow.accuracy.propositions import balanced_budget, enough_rows, steady_sum, sum_uncertainty
from hedgerow.accuracy.query_budget import mean_bound, variance_bound
from hedgerow.accuracy.quotients import quotient_interval
from hedgerow.accuracy.sum_quotient import quotient_error

__all__ = [
    "Condition",
    "Prediction",
    "average_error",
    "balanced_budget",
    "enough_rows",
    "gaussian_error",
    "gaussian_sigma",
    "laplace_error",
    "mean_bound",
    "quotient_error",
    "quotient_interval",
    "steady_sum",
    "sum_uncertainty",
    "variance_bound",
]
