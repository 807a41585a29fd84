"""What an answer says about its own making. Nothing in it depends on private data."""

from dataclasses import dataclass, field
from typing import Any

from hedgerow.accounting.budget import Spending

FREE = Spending(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One noisy measure: what it is, which noise it got, and what one unit can change it by.

    `threshold` is there for the count that chose the groups: a group is shown from that noisy count on.
    """

    measure: str
    kind: str
    scale: float
    sensitivity: float
    threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        shown: dict[str, Any] = {
            "measure": self.measure,
            "kind": self.kind,
            "scale": self.scale,
            "sensitivity": self.sensitivity,
        }
        return shown if self.threshold is None else {**shown, "threshold": self.threshold}


@dataclass(frozen=True, slots=True)
class Payment:
    """One of several charges that an answer needed: what for, its entry in the ledger, and how much."""

    purpose: str
    id: str
    charge: Spending
    share: float

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        paid = {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share}
        return {"for": self.purpose, "id": self.id, **paid}


@dataclass(frozen=True, slots=True)
class FoundBounds:
    """Bounds that nobody stated: found privately, with a charge of their own, or by an answer that had been bought.

    `of` is the expression in words; `basis` is "bought" or "earlier answer".
    """

    of: str
    lower: float
    upper: float
    basis: str

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"of": self.of, "lower": self.lower, "upper": self.upper, "basis": self.basis}


@dataclass(frozen=True, slots=True)
class Summary:
    """The receipt that comes with an answer.

    Attributes:
        id: The entry in the ledger; None where nothing was charged.
        query: The text that was asked.
        mechanisms: Every noisy measure.
        min_frequency: How many people a group rests on at least; 1 means no rule.
        charge: The statement's own guarantee.
        share: The largest of the fractions it took of the three caps.
        remaining: What is left afterwards; None for public data.
        reused: Whether the answer came from the ledger, free of charge.
        payments: Where a size estimate or bounds were bought first: all charges. `charge` and `share` are their sums.
        bounds: With `bounds="auto"`, the bounds that were found.
        max_rows: With `bounds="auto"`, how many rows one person counts for, where nobody had said so.
    """

    id: str | None
    query: str
    mechanisms: tuple[Mechanism, ...] = ()
    min_frequency: int = 1
    charge: Spending = field(default=FREE)
    share: float = 0.0
    remaining: Spending | None = None
    reused: bool = False
    payments: tuple[Payment, ...] = ()
    bounds: tuple[FoundBounds, ...] = ()
    max_rows: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The part of the command line's JSON that is about cost."""
        left = self.remaining
        several: dict[str, Any] = {}
        if self.payments:
            several["payments"] = [payment.to_dict() for payment in self.payments]
        if self.bounds:
            several["bounds"] = [found.to_dict() for found in self.bounds]
        if self.max_rows is not None:
            several["max_rows"] = self.max_rows
        return {
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share},
            "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
            "mechanisms": [mechanism.to_dict() for mechanism in self.mechanisms],
            "reused": self.reused,
            **several,
        }
