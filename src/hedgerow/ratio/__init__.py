"""Ratios of counts: relative risks, odds ratios, risk differences, lifts, with sampling and noise in their intervals.

Functions take numbers and return numbers or small frozen objects; only the five charged estimators read exact counts,
and pay a ledger before they draw noise.
"""

from hedgerow.ratio.bias import binomial_prior, debias, expected_ratio
from hedgerow.ratio.comparisons import Lift, WidthParts, lift, width_parts
from hedgerow.ratio.design import count_noise, detectable_ratio, epsilon_needed, people_needed, plan_experiment, power
from hedgerow.ratio.experiments import (
    Metric,
    detectable_lift,
    experiment_sql,
    lift_epsilon,
    lift_people,
    lift_power,
)
from hedgerow.ratio.failure import Split, sample_accuracy, split_epsilon
from hedgerow.ratio.plots import forest_of, forest_plot, sweep_plot
from hedgerow.release.ratios import (
    NoisyCounts,
    NoisyRatio,
    naive,
    noisy_counts,
    noisy_log,
    propose_test_release,
    smooth,
)
from hedgerow.statistics.ratio_sensitivity import smooth_sensitivity
from hedgerow.statistics.two_by_two.estimates import RatioEstimate, odds_ratio, relative_risk, risk_difference

__all__ = [
    "Lift",
    "Metric",
    "NoisyCounts",
    "NoisyRatio",
    "RatioEstimate",
    "Split",
    "WidthParts",
    "binomial_prior",
    "count_noise",
    "debias",
    "detectable_lift",
    "detectable_ratio",
    "epsilon_needed",
    "expected_ratio",
    "experiment_sql",
    "forest_of",
    "forest_plot",
    "lift",
    "lift_epsilon",
    "lift_people",
    "lift_power",
    "naive",
    "noisy_counts",
    "noisy_log",
    "odds_ratio",
    "people_needed",
    "plan_experiment",
    "power",
    "propose_test_release",
    "relative_risk",
    "risk_difference",
    "sample_accuracy",
    "smooth",
    "smooth_sensitivity",
    "split_epsilon",
    "sweep_plot",
    "width_parts",
]
