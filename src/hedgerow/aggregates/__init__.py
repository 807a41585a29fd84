"""The aggregates of SQL, one file each. Importing the package registers them."""

from hedgerow.aggregates import avg, bins, count, pairs, ranks, risk, spread, total
from hedgerow.aggregates.base import (
    Aggregate,
    DistinctCount,
    Drawn,
    Estimate,
    Form,
    Kind,
    MeasuredSums,
    NeededSums,
    Rank,
    Ratio,
    Selected,
    lookup,
    names,
    shared_noises,
)

__all__ = [
    "Aggregate",
    "DistinctCount",
    "Drawn",
    "Estimate",
    "Form",
    "Kind",
    "MeasuredSums",
    "NeededSums",
    "Rank",
    "Ratio",
    "Selected",
    "avg",
    "bins",
    "count",
    "lookup",
    "names",
    "pairs",
    "ranks",
    "risk",
    "shared_noises",
    "spread",
    "total",
]
