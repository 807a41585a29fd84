"""Private quantiles from bucket weights: scores, prices, limits and values; `release.quantiles` draws.

A group is a row of whole numbers, one for each bucket of a public grid: the weight of its rows there, out of
2^bits. The weights are never released; what is released is a bucket, drawn by the exponential mechanism
(docs/proofs/quantiles.md).
"""

from hedgerow.statistics.quantiles.buckets import (
    BUCKETS,
    BUCKETS_OF_ONE_GROUP,
    Buckets,
    QuantilePoints,
    bucket_grid,
    value_bounds,
    values_of,
)
from hedgerow.statistics.quantiles.charge import (
    INTERVAL_SHARE,
    affordable_epsilon,
    joint_factor,
    levels,
    mu_squared,
    nested_mu_squared,
    pure_epsilon,
    split,
)
from hedgerow.statistics.quantiles.targets import (
    SMALL_GROUP,
    Reach,
    Target,
    extreme_is_safe,
    highest,
    limit_shift,
    lower_target,
    lowest,
    rank_bound,
    rank_scores,
    score_rate,
    upper_target,
)

__all__ = [
    "BUCKETS",
    "BUCKETS_OF_ONE_GROUP",
    "INTERVAL_SHARE",
    "SMALL_GROUP",
    "Buckets",
    "QuantilePoints",
    "Reach",
    "Target",
    "affordable_epsilon",
    "bucket_grid",
    "extreme_is_safe",
    "highest",
    "joint_factor",
    "levels",
    "limit_shift",
    "lower_target",
    "lowest",
    "mu_squared",
    "nested_mu_squared",
    "pure_epsilon",
    "rank_bound",
    "rank_scores",
    "score_rate",
    "split",
    "upper_target",
    "value_bounds",
    "values_of",
]
