"""What SQL offers, one file each. Importing the package registers them."""

from hedgerow.aggregates import avg, count, total
from hedgerow.aggregates.base import Aggregate, Estimate, Form, Kind, Measured, Need, Selected, lookup, names

__all__ = [
    "Aggregate",
    "Estimate",
    "Form",
    "Kind",
    "Measured",
    "Need",
    "Selected",
    "avg",
    "count",
    "lookup",
    "names",
    "total",
]
