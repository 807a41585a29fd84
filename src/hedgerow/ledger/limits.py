"""Limits of a ledger: the three sums of the filter, their caps as integers, the terms (docs/proofs/ledger.md)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from hedgerow.accounting import gaussian_epsilon, gaussian_mu
from hedgerow.accounting.budget import Charge, Cost, Spending
from hedgerow.catalog.model import BudgetPolicy, Cap
from hedgerow.errors import InternalError, LedgerError
from hedgerow.recently_used import once_per_plan

SCALE = 2**80
"""Charges and caps are whole multiples of 1 / SCALE: charges rounded up, caps down."""

RESERVE = Fraction(1, 10**6)
"""Pure epsilon reserved for the discreteness of integer Gaussian noise (docs/proofs/noise.md)."""

MASS_SHARE = Fraction(1, 10)
"""Share of delta for thresholds."""


@dataclass(frozen=True, slots=True)
class Units:
    """An amount in each coordinate, in units of 1 / SCALE.

    `deliberate` is the part of `pure` that statements asked for (Laplace noise and the like). The rest is the surcharge
    of discrete noise. Without the distinction, an analyst could spend the reserve of the surcharge on one tiny Laplace
    statement, and no Gaussian statement would be admitted again.
    """

    gaussian: int = 0
    pure: int = 0
    mass: int = 0
    deliberate: int = 0

    @staticmethod
    @once_per_plan
    def of(charge: Charge) -> "Units":
        """Return the amount that `charge` takes, rounded up."""
        cost = charge.cost
        requested = sum(
            (event.cost.pure for event in charge.events if not getattr(event, "surcharge_only", False)), Fraction(0)
        )
        amounts = (cost.gaussian, cost.pure, cost.mass, requested)
        if min(amounts) < 0:
            raise InternalError("A charge would give something back to the ledger.")
        return Units(*(math.ceil(amount * SCALE) for amount in amounts))

    @classmethod
    def from_dict(cls, stored: Mapping[str, str]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**{name: int(amount) for name, amount in stored.items()})

    def to_dict(self) -> dict[str, str]:
        """The amounts as text: they exceed 64 bits."""
        return {
            "gaussian": str(self.gaussian),
            "pure": str(self.pure),
            "mass": str(self.mass),
            "deliberate": str(self.deliberate),
        }

    def __add__(self, other: "Units") -> "Units":
        return Units(
            self.gaussian + other.gaussian,
            self.pure + other.pure,
            self.mass + other.mass,
            self.deliberate + other.deliberate,
        )

    def __sub__(self, other: "Units") -> "Units":
        return Units(
            self.gaussian - other.gaussian,
            self.pure - other.pure,
            self.mass - other.mass,
            self.deliberate - other.deliberate,
        )


@dataclass(frozen=True, slots=True)
class Caps:
    """Total amount of each coordinate, and the guarantee `limit` that this proves.

    `deliberate` caps the pure epsilon that statements may ask for; `gaussian_delta` is the part of delta
    set aside for Gaussian noise.
    """

    gaussian: int
    pure: int
    mass: int
    deliberate: int
    limit: Spending
    gaussian_delta: float

    @property
    def units(self) -> Units:
        """The caps as an amount."""
        return Units(self.gaussian, self.pure, self.mass, self.deliberate)

    @property
    def cost(self) -> Cost:
        """The three caps as fractions."""
        return as_cost(self.units)

    def overrun(self, spent: Units) -> str | None:
        """The first coordinate in which `spent` exceeds the caps, if there is one."""
        if spent.gaussian > self.gaussian:
            return "gaussian"
        if spent.pure > self.pure or spent.deliberate > self.deliberate:
            return "pure"
        return "mass" if spent.mass > self.mass else None

    def fractions(self, spent: Units) -> dict[str, float]:
        """`spent` as a part of each of the three caps."""
        return {name: _part(getattr(spent, name), getattr(self, name)) for name in ("gaussian", "pure", "mass")}

    def proves(self, spent: Units) -> Spending:
        """Return the guarantee that caps as low as `spent` would prove: for display only."""
        noisy = spent.gaussian > 0
        epsilon = gaussian_epsilon(math.sqrt(spent.gaussian / SCALE), self.gaussian_delta) if noisy else 0.0
        spending = Spending(spent.pure / SCALE + epsilon, spent.mass / SCALE + (self.gaussian_delta if noisy else 0.0))
        if self.overrun(spent):
            return spending
        return Spending(min(spending.epsilon, self.limit.epsilon), min(spending.delta, self.limit.delta))


@lru_cache(maxsize=4096)
def caps_for(epsilon: float, delta: float, pure_epsilon: float = 0.0, *, reserve: Fraction = RESERVE) -> Caps:
    """The caps with which everything together is (epsilon, delta)-DP.

    Privacy: with sums of mu squared, pure epsilon and mass that never exceed M2, E and Dinf, the
    transcript is (e + E, gaussian_delta(e, sqrt(M2)) + Dinf)-DP for every e >= 0, however the analyst
    adapts (docs/proofs/ledger.md). Here Dinf = delta/10, E = pure_epsilon + reserve (never more
    than epsilon) and e = epsilon - E, so the reserve comes out of epsilon and the guarantee is
    (epsilon, delta) itself. M2 is the lower end of a verified bracket, and everything is rounded down.

    Example:
        >>> caps = caps_for(3.0, 1e-6)
        >>> round(float(caps.cost.gaussian), 6), float(caps.cost.mass)
        (0.415918, 1e-07)
    """
    pure = min(Fraction(pure_epsilon) + reserve, Fraction(epsilon))
    mass = math.floor(Fraction(delta) * MASS_SHARE * SCALE)
    left = _round_down(Fraction(delta) - Fraction(mass, SCALE))
    mu = gaussian_mu(_round_down(Fraction(epsilon) - pure), left)
    return Caps(
        gaussian=math.floor(Fraction(mu) ** 2 * SCALE),
        pure=math.floor(pure * SCALE),
        mass=mass,
        deliberate=math.floor(Fraction(pure_epsilon) * SCALE),
        limit=Spending(epsilon, delta),
        gaussian_delta=left,
    )


def as_cost(units: Units) -> Cost:
    """The three coordinates as fractions, none below zero."""
    return Cost(*(Fraction(max(0, amount), SCALE) for amount in (units.gaussian, units.pure, units.mass)))


def _round_down(exact: Fraction) -> float:
    """Return the largest float that is not above `exact`."""
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def _part(amount: int, cap: int) -> float:
    """Return the quotient, and 0 or 1 where the divisor is zero."""
    if amount <= 0:
        return 0.0
    return amount / cap if cap else math.inf


@dataclass(frozen=True, slots=True)
class LedgerTerms:
    """The guarantee of a ledger: per period of `refresh`, or forever, and over a lifetime."""

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
        """Read what `to_dict` wrote."""
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
        """Caps of one period, or of all time where nothing refreshes."""
        return caps_for(self.epsilon, self.delta, self.pure_epsilon)

    @property
    def lifetime_caps(self) -> Caps | None:
        """Caps of all periods together, if the owner set a limit."""
        return None if self.lifetime is None else self.part(self.lifetime)

    def part(self, cap: Cap) -> Caps:
        """Return the caps of a smaller or larger budget with the same split (docs/proofs/ledger.md)."""
        pure = min(self.pure_epsilon * (cap.epsilon / self.epsilon), cap.epsilon)
        return caps_for(cap.epsilon, self.delta if cap.delta is None else cap.delta, pure)

    def require(self, terms: "LedgerTerms") -> None:
        """Refuse terms that promise less privacy than these, or split the budget differently."""
        if self._widened_by(terms):
            raise LedgerError(
                "The catalog's budget is larger than the one this ledger was made for.",
                code="ledger-budget-larger",
                hint="Raise it on purpose with `hedgerow budget --raise`; the history will say so.",
            )
        if self.caps.overrun(terms.caps.units):
            raise LedgerError(
                "The catalog keeps another part of epsilon for Laplace noise (pure_epsilon) than this ledger does.",
                code="ledger-split",
                hint="The split is fixed in advance: restore pure_epsilon, or begin a new ledger.",
            )

    def _widened_by(self, terms: "LedgerTerms") -> bool:
        """Return True if `terms` allow more in a period, more periods, or more in a lifetime."""
        if terms.epsilon > self.epsilon or terms.delta > self.delta:
            return True
        if terms.refresh is None:
            return False
        if self.refresh is None or terms.refresh < self.refresh:
            return True
        mine, theirs = self.lifetime_caps, terms.lifetime_caps
        return mine is not None and (theirs is None or mine.overrun(theirs.units) is not None)


def how_many(charge: Charge, left: Cost) -> int | None:
    """Return how often `charge` fits into what is left; None if it takes nothing."""
    units = Units.of(charge)
    pairs = [(units.gaussian, left.gaussian), (units.deliberate, left.pure), (units.mass, left.mass)]
    fits = [max(int(remaining * SCALE // amount), 0) for amount, remaining in pairs if amount]
    return min(fits, default=None)
