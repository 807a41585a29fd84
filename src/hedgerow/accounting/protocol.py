"""Shares of a budget: for a fixed number of queries (the query-budget note), or for an unknown number."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from hedgerow.accounting.gaussian import gaussian_mu
from hedgerow.arguments import positive, probability, whole
from hedgerow.errors import ParameterError
from hedgerow.special import zeta

PUBLISHED_PRICES = {"count": 1, "sum": 1, "histogram": 1, "mean": 2, "var": 3}
"""Price of each question in the query-budget note."""


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
        """Price of "count", "sum", "histogram", "mean" or "var"."""
        if question not in PUBLISHED_PRICES:
            raise ParameterError(
                f"The protocol has no question {question!r}.",
                code="parameter-question",
                hint=f"It has {', '.join(PUBLISHED_PRICES)}.",
            )
        return PUBLISHED_PRICES[question] if self.method == "published" else 1


LOGARITHMIC_SUM = 2.109742801236892
"""The sum of 1 / (n ln^2 n) over n >= 2."""

OPEN_POWER = 1.1
_DENOMINATOR = 2**60


def power_share(index: int, power: float = OPEN_POWER) -> float:
    """The share of query `index` (from 1), falling like index^-power.

    Example:
        >>> round(power_share(1), 6)
        0.094478
    """
    return float(whole("index", index) ** -power / zeta(power, 1))


def logarithmic_share(index: int) -> float:
    """The share of query `index`, 1 / (n ln^2 n) for n = index + 1."""
    n = whole("index", index) + 1
    return 1.0 / (n * math.log(n) ** 2 * LOGARITHMIC_SUM)


def doubling_share(index: int) -> float:
    """The share of query `index` where epochs of 1, 2, 4, ... queries share 6 / (pi j)^2 evenly."""
    epoch = whole("index", index).bit_length() - 1
    return 6.0 / (math.pi * (epoch + 1)) ** 2 * 2.0**-epoch


SHARES: Mapping[str, Callable[[int], float]] = {
    "power": power_share,
    "logarithmic": logarithmic_share,
    "doubling": doubling_share,
}
"""Each rule for the share of query `index`."""


def open_share(index: int) -> tuple[int, int]:
    """The share that the first `index` queries of an open schedule may take together, as an exact quotient below 1.

    What an early query did not take is left for later ones.

    Example:
        >>> numerator, denominator = open_share(1)
        >>> round(numerator / denominator, 6)
        0.094478
    """
    rest = float(zeta(OPEN_POWER, whole("index", index) + 1) / zeta(OPEN_POWER, 1))
    return _DENOMINATOR - math.ceil(rest * _DENOMINATOR), _DENOMINATOR
