"""A fixed number of queries that share a budget evenly (the query-budget note; docs/explanation/sources.md)."""

import math
from dataclasses import dataclass
from typing import Literal

from hedgerow.accounting.gaussian import gaussian_mu
from hedgerow.arguments import positive, probability, whole
from hedgerow.errors import ParameterError

PUBLISHED_PRICES = {"count": 1, "sum": 1, "histogram": 1, "mean": 2, "var": 3}
"""What each question takes off the counter, in the query-budget note."""


def query_budget_sigma(epsilon: float, delta: float) -> float:
    """Noise that makes t queries of sqrt(t) sigma each (epsilon, delta)-DP: the note's equation 12.

    Example:
        >>> round(query_budget_sigma(3.0, query_budget_delta(100_000)), 6)
        2.040663
    """
    logarithm = -math.log(probability("delta", delta))
    return (math.sqrt(logarithm) + math.sqrt(logarithm + positive("epsilon", epsilon))) / (math.sqrt(2.0) * epsilon)


def query_budget_delta(rows: float) -> float:
    """The note's equation 1: one over rows^1.5. `rows` is a public figure, never a count of the data.

    Example:
        >>> f"{query_budget_delta(100_000):.4e}"
        '3.1623e-08'
    """
    if positive("rows", rows) <= 1.0:
        raise ParameterError("rows must be above 1: with fewer there is nobody to hide among.", code="parameter-rows")
    return 1.0 / (rows * math.sqrt(rows))


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """The note's protocol: `queries` basic queries, and then the dataset is closed.

    With `method="published"` sigma is equation 12, and a mean counts as two queries, a variance as three. With
    `"exact"` sigma is that of exact composition, and with our joint releases each counts as one.

    Example:
        >>> budget = QueryBudget(2000, 3.0, query_budget_delta(100_000))
        >>> round(budget.noise(), 2), budget.price("mean")
        (91.26, 2)
    """

    queries: int
    epsilon: float
    delta: float
    method: Literal["published", "exact"] = "published"

    def __post_init__(self) -> None:
        whole("queries", self.queries)
        positive("epsilon", self.epsilon)
        probability("delta", self.delta)

    @property
    def sigma(self) -> float:
        """The noise of all queries together, for values of at most 1."""
        if self.method == "published":
            return query_budget_sigma(self.epsilon, self.delta)
        return 1.0 / gaussian_mu(self.epsilon, self.delta)

    def noise(self, magnitude: float = 1.0) -> float:
        """The noise of one basic query over values of at most `magnitude`: equations 2, 3 and 6."""
        return math.sqrt(self.queries) * self.sigma * positive("magnitude", magnitude)

    def price(self, question: str) -> int:
        """What "count", "sum", "histogram", "mean" or "var" takes off the counter."""
        if question not in PUBLISHED_PRICES:
            raise ParameterError(
                f"The protocol has no question {question!r}.",
                code="parameter-question",
                hint=f"It has {', '.join(PUBLISHED_PRICES)}.",
            )
        return PUBLISHED_PRICES[question] if self.method == "published" else 1
