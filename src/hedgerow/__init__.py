"""Private SQL with honest error bars."""

from hedgerow.answer import Answer
from hedgerow.distributions import Gaussian, Laplace
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import (
    BackendError,
    BudgetError,
    CatalogError,
    ConditionNotMet,
    HedgerowError,
    InternalError,
    LedgerError,
    ParameterError,
    ParseError,
    PolicyError,
    QueryError,
    UnknownNameError,
    UnsupportedSQLError,
)
from hedgerow.session import Database, Explanation, Quote, connect

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "BackendError",
    "BudgetError",
    "CatalogError",
    "ConditionNotMet",
    "Database",
    "Explanation",
    "Gaussian",
    "HedgerowError",
    "InternalError",
    "Interval",
    "Laplace",
    "LedgerError",
    "ParameterError",
    "ParseError",
    "PolicyError",
    "QueryError",
    "Quote",
    "UnknownNameError",
    "UnsupportedSQLError",
    "connect",
]
