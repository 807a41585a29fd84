"""Comparison of two groups: relative risk, odds ratio and risk difference, from counts that may be noisy."""

from hedgerow.statistics.two_by_two.estimates import RatioEstimate, odds_ratio, relative_risk, risk_difference

__all__ = ["RatioEstimate", "odds_ratio", "relative_risk", "risk_difference"]
