"""A budget to read: limit, spent, remaining, by analyst, with history."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.ledger.filters import Filter


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Who asked what, when, at which price.

    `status` is "answered", "failed", or "charged" where the answer never came: the charge stays. The
    owner's own acts are in the history too, as "opened" and "raised". `params` are the values bound to the question's
    placeholders, as plain JSON.
    """

    sequence: int
    time: str
    analyst: str | None
    question: str
    charge: Mapping[str, Any]
    status: str
    params: Any = None


@dataclass(frozen=True, slots=True)
class AnalystView:
    """What one analyst has used of the total, or of a cap of their own."""

    limit: Spending | None
    spent: Spending
    remaining: Spending
    used: Mapping[str, float]
    queries: int

    def to_dict(self) -> dict[str, Any]:
        """The view as plain JSON."""
        return {
            "limit": None if self.limit is None else _pair(self.limit),
            "spent": _pair(self.spent),
            "remaining": _pair(self.remaining),
            "used": dict(self.used),
            "queries": self.queries,
        }


@dataclass(frozen=True)
class BudgetView:
    """How much may still be learnt. It is for reading; the filter decides.

    `spent` is what the caps of this ledger would still prove, 0 at the start and `limit` when they are
    full; `used` are the fractions of the three caps. `history` is read when it is first looked at.
    """

    dataset: str
    limit: Spending
    spent: Spending
    remaining: Spending
    used: Mapping[str, float]
    queries: int
    analysts: Mapping[str, AnalystView]
    load: Callable[[], Sequence[HistoryEntry]] = field(repr=False, compare=False)

    @property
    def history(self) -> Sequence[HistoryEntry]:
        """Every charge in order, and what became of it."""
        return self.load()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "dataset": self.dataset,
            "limit": _pair(self.limit),
            "spent": _pair(self.spent),
            "remaining": _pair(self.remaining),
            "used": dict(self.used),
            "queries": self.queries,
            "analysts": {name: analyst.to_dict() for name, analyst in self.analysts.items()},
        }


def analyst_view(of: Filter, queries: int, *, capped: bool) -> AnalystView:
    """What a filter over one analyst's charges says."""
    used = of.caps.fractions(of.spent)
    return AnalystView(of.caps.limit if capped else None, of.spending, of.left, used, queries)


def _pair(spending: Spending) -> dict[str, float]:
    return {"epsilon": spending.epsilon, "delta": spending.delta}
