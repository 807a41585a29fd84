"""What SQL offers, one file each. Importing the package registers them."""

from hedgerow.aggregates import avg, count, total
from hedgerow.aggregates.base import (
    Aggregate,
    Estimate,
    Form,
    Kind,
    Measured,
    Need,
    Ratio,
    Selected,
    lookup,
    names,
    shared_noises,
)

__all__ = [
    "Aggregate",
    "Estimate",
    "Form",
    "Kind",
    "Measured",
    "Need",
    "Ratio",
    "Selected",
    "avg",
    "count",
    "lookup",
    "names",
    "shared_noises",
    "total",
]
