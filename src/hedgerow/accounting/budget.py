"""Price of a statement (`Budget`), its cost (`Cost`, `Charge`), and the proof that it was paid (`Receipt`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Cost:
    """The three coordinates of the ledger's filter, as exact fractions.

    `gaussian` is a sum of mu squared (Gaussian differential privacy), `pure` a sum of epsilons,
    `mass` a probability with which a release may be arbitrary.
    """

    gaussian: Fraction = Fraction(0)
    pure: Fraction = Fraction(0)
    mass: Fraction = Fraction(0)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.gaussian + other.gaussian, self.pure + other.pure, self.mass + other.mass)


class Event(Protocol):
    """One step of a release: its mechanism, sensitivity and scale.

    The meaning of an event never changes once released; a new mechanism is a new event.
    """

    @property
    def cost(self) -> Cost:
        """Cost of the step in the three coordinates."""

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON, with its kind under "kind"."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A list of events, and the guarantee (`epsilon`, `delta`) that the statement has on its own."""

    events: tuple[Event, ...]
    epsilon: float
    delta: float

    @property
    def cost(self) -> Cost:
        """The sum over all events."""
        return sum((event.cost for event in self.events), Cost())


@dataclass(frozen=True, slots=True)
class Budget:
    """Price of a statement as a guarantee of its own, and the noise that it asks for.

    `mu` is set if the owner's protocol, and not the statement, sets the noise; it agrees with (epsilon, delta). `part`
    says that it is one part of a statement: delta is then its part of the threshold mass.
    """

    epsilon: float
    delta: float | None
    mechanism: str = "auto"
    mu: float | None = None
    part: bool = False


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """Rest of the ledger's caps: public numbers for planning; admission is decided by the ledger.

    `fair_mass` is the threshold mass that goes with a cost of noise, so that mass never runs out first. `as_of` is the
    position of the ledger that the numbers were computed from.
    """

    gaussian_left: Fraction
    pure_left: Fraction
    fair_mass: Callable[[Cost], Fraction]
    as_of: object = None


@dataclass(frozen=True, slots=True)
class Spending:
    """An (epsilon, delta) for display: a limit, spending, or a remainder."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a charge is durable. Without one, no noise is drawn and nothing is released.

    `share` is the largest of the fractions that the charge took of the three caps.
    """

    id: str
    sequence: int
    charge: Charge
    share: float
    remaining: Spending
    details: Mapping[str, Any] = field(default_factory=dict)
