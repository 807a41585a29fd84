"""What a ledger was made for: the promise that its owner cannot widen by editing the catalog."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from hedgerow.catalog.model import BudgetPolicy, Cap
from hedgerow.errors import LedgerError
from hedgerow.ledger.caps import Caps, caps_for


@dataclass(frozen=True, slots=True)
class LedgerTerms:
    """The guarantee of a ledger: per period of `refresh`, or for ever, and over a lifetime."""

    epsilon: float
    delta: float
    pure_epsilon: float
    refresh: timedelta | None
    lifetime: Cap | None

    @classmethod
    def of(cls, policy: BudgetPolicy) -> Self:
        """The terms that a catalog states."""
        return cls(policy.epsilon, policy.delta, policy.pure_epsilon, policy.refresh, policy.lifetime)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        refresh, lifetime = stored["refresh"], stored["lifetime"]
        return cls(
            stored["epsilon"],
            stored["delta"],
            stored["pure_epsilon"],
            None if refresh is None else timedelta(seconds=refresh),
            None if lifetime is None else Cap(**lifetime),
        )

    def to_dict(self) -> dict[str, Any]:
        """The terms as plain JSON."""
        lifetime = self.lifetime
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "pure_epsilon": self.pure_epsilon,
            "refresh": None if self.refresh is None else self.refresh.total_seconds(),
            "lifetime": None if lifetime is None else {"epsilon": lifetime.epsilon, "delta": lifetime.delta},
        }

    @property
    def caps(self) -> Caps:
        """Of one period, or of all time where nothing refreshes."""
        return caps_for(self.epsilon, self.delta, self.pure_epsilon)

    @property
    def lifetime_caps(self) -> Caps | None:
        """Over all periods together, where the owner set a limit."""
        return None if self.lifetime is None else self.part(self.lifetime)

    def part(self, cap: Cap) -> Caps:
        """The caps of a smaller or larger budget with the same split (docs/proofs/ledger.md)."""
        pure = min(self.pure_epsilon * (cap.epsilon / self.epsilon), cap.epsilon)
        return caps_for(cap.epsilon, self.delta if cap.delta is None else cap.delta, pure)

    def require(self, asked: "LedgerTerms") -> None:
        """Refuse terms that promise less privacy than these, or split the budget otherwise."""
        if self._widened_by(asked):
            raise LedgerError(
                "The catalog's budget is larger than the one this ledger was made for.",
                code="ledger-budget-larger",
                hint="Raise it on purpose with `hedgerow budget --raise`; the history will say so.",
            )
        if self.caps.overrun(asked.caps.units):
            raise LedgerError(
                "The catalog keeps another part of epsilon for Laplace noise (pure_epsilon) than this ledger does.",
                code="ledger-split",
                hint="The split is fixed in advance: restore pure_epsilon, or begin a new ledger.",
            )

    def _widened_by(self, asked: "LedgerTerms") -> bool:
        """Whether `asked` allows more in a period, more periods, or more in a lifetime."""
        if asked.epsilon > self.epsilon or asked.delta > self.delta:
            return True
        if asked.refresh is None:
            return False
        if self.refresh is None or asked.refresh < self.refresh:
            return True
        mine, theirs = self.lifetime_caps, asked.lifetime_caps
        return mine is not None and (theirs is None or mine.overrun(theirs.units) is not None)
