"""A quoted price, as plain values: what is shown of a quote, and put into its JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hedgerow.accounting.budget import Spending
from hedgerow.accuracy_target.accuracy_first import TargetPrice
from hedgerow.answer import Mechanism


@dataclass(frozen=True)
class GroupKey:
    """One key of the groups of an answer; `values` are those that the owner declared, all of which are shown."""

    name: str
    values: tuple[str | int | float | bool, ...] | None = None


@dataclass(frozen=True)
class QuotedPrice:
    """Price of a statement, and its predicted errors.

    Attributes:
        charge: The statement's own guarantee.
        share: The largest of the fractions it would take of the three caps.
        remaining: What would be left afterwards (what is left now, if it does not fit).
        fits: Whether the ledger would admit it now.
        errors: For each noisy column, the half width of its interval in groups of 100, 1 000, 10 000 and 100 000 rows;
            infinite where it cannot be predicted. With ROLLUP, CUBE or GROUPING SETS, those of the finest groups.
        totals: With ROLLUP, CUBE or GROUPING SETS, the same for each coarser level ("total", "total by region").
        survival: The number of people from which a group is shown with 50 % and with 95 % probability.
        repeats: Number of such statements that the remaining budget buys, each anew.
        offer: With `within=`, the cost of the target error; `charge` is then the smallest sufficient one, or, if a size
            estimate would be bought first, the most that both would cost.
        receipt: If the answer is already paid for, the receipt of that charge. `charge` is then zero, and errors and
            noise are those of the stored release.
        anew: If the answer is already paid for, the cost of the question without reuse (`reuse=False`).
        groups: The keys that the people are grouped by, with their declared values.
    """

    query: str
    charge: Spending
    share: float
    remaining: Spending | None
    confidence: float
    mechanisms: tuple[Mechanism, ...]
    errors: Mapping[str, Mapping[int, float]]
    survival: Mapping[str, float] | None
    sql: tuple[str, ...]
    fits: bool = True
    notes: tuple[str, ...] = field(default=())
    repeats: int | None = None
    offer: TargetPrice | None = None
    receipt: str | None = None
    anew: Spending | None = None
    totals: Mapping[str, Mapping[str, Mapping[int, float]]] = field(default_factory=dict)
    groups: tuple[GroupKey, ...] = ()

    @property
    def reused(self) -> bool:
        """Return True if the answer is paid for already, so that asking is free."""
        return self.receipt is not None
