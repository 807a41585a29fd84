"""What an answer says about its own making. Nothing in it depends on private data."""

from dataclasses import dataclass, field
from typing import Any

from hedgerow.budget import Spending

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
    """

    id: str | None
    query: str
    mechanisms: tuple[Mechanism, ...] = ()
    min_frequency: int = 1
    charge: Spending = field(default=FREE)
    share: float = 0.0
    remaining: Spending | None = None
    reused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The part of the command line's JSON that is about cost."""
        left = self.remaining
        return {
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share},
            "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
            "mechanisms": [mechanism.to_dict() for mechanism in self.mechanisms],
            "reused": self.reused,
        }
