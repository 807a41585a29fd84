"""Errors of noisy numbers: formulas to use on their own, without data or database."""

from hedgerow.accuracy.predictions import average_error, quotient_error
from hedgerow.accuracy.propositions import (
    Condition,
    Prediction,
    balanced_budget,
    enough_rows,
    gaussian_error,
    gaussian_sigma,
    laplace_error,
    race_to_the_top,
    steady_sum,
    sum_uncertainty,
)
from hedgerow.accuracy.query_budget import mean_bound, variance_bound
from hedgerow.accuracy.quotients import quotient_interval

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
    "race_to_the_top",
    "steady_sum",
    "sum_uncertainty",
    "variance_bound",
]
