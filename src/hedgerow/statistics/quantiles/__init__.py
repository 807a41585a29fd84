"""Private quantiles from bucket weights: scores, prices, limits and values; `release.ranks` draws.

A group is a row of whole numbers, one for each bucket of a public grid: the weight of its rows there, out of
2^bits. The weights are never released; what is released is a bucket, drawn by the exponential mechanism
(docs/proofs/quantiles.md).
"""

from hedgerow.statistics.quantiles.buckets import (
    BUCKETS,
    BUCKETS_OF_ONE_GROUP,
    SMALL_GROUP,
    Buckets,
    QuantilePoints,
    Reach,
    Target,
    bucket_grid,
    extreme_is_safe,
    highest,
    lowest,
    rank_bound,
    rank_scores,
    score_rate,
    value_bounds,
    values_of,
)
from hedgerow.statistics.quantiles.charge import (
    INTERVAL_SHARE,
    affordable_epsilon,
    joint_factor,
    joint_range,
    joint_rank_variances,
    levels,
    mu_squared,
    nested_rank_variances,
    pure_epsilon,
)
from hedgerow.statistics.quantiles.cumulative import (
    DENOMINATOR,
    LIMIT_CELLS,
    MAX_LIMIT_CELLS,
    Strategy,
    cell_edges,
    cells_for,
    strategy,
)

__all__ = [
    "BUCKETS",
    "BUCKETS_OF_ONE_GROUP",
    "DENOMINATOR",
    "INTERVAL_SHARE",
    "LIMIT_CELLS",
    "MAX_LIMIT_CELLS",
    "SMALL_GROUP",
    "Buckets",
    "QuantilePoints",
    "Reach",
    "Strategy",
    "Target",
    "affordable_epsilon",
    "bucket_grid",
    "cell_edges",
    "cells_for",
    "extreme_is_safe",
    "highest",
    "joint_factor",
    "joint_range",
    "joint_rank_variances",
    "levels",
    "lowest",
    "mu_squared",
    "nested_rank_variances",
    "pure_epsilon",
    "rank_bound",
    "rank_scores",
    "score_rate",
    "strategy",
    "value_bounds",
    "values_of",
]
