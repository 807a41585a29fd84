"""Composition of charges: exact formulas, the events of a charge, and accountants over them."""

from hedgerow.accounting.accountants import GDP, PLD, RDP, ZCDP, Accountant, Basic, zcdp_delta
from hedgerow.accounting.events import (
    AnyEvent,
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureAsGaussianEvent,
    SpreadRangeEvent,
    ThresholdEvent,
    bounded_range_mu,
    event_from_dict,
    pure_mu,
)
from hedgerow.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from hedgerow.accounting.protocol import QueryBudget, query_budget_delta, query_budget_sigma
from hedgerow.accounting.selection import (
    laplace_threshold,
    selection_delta,
    selection_mass,
    statement_threshold,
    threshold,
)

__all__ = [
    "GDP",
    "PLD",
    "RDP",
    "ZCDP",
    "Accountant",
    "AnyEvent",
    "ApproximateEvent",
    "Basic",
    "BoundedRangeEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "PureAsGaussianEvent",
    "QueryBudget",
    "SpreadRangeEvent",
    "ThresholdEvent",
    "bounded_range_mu",
    "event_from_dict",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "laplace_threshold",
    "pure_mu",
    "query_budget_delta",
    "query_budget_sigma",
    "selection_delta",
    "selection_mass",
    "statement_threshold",
    "threshold",
    "zcdp_delta",
]
