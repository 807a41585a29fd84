"""Base of all accountants: they take events, and return what the events prove together.

An accountant totals a plan whose events were all fixed before the first answer was seen, or reports on the past. It
never decides whether the next question is answered: the ledger's filter does, which stays valid when questions depend
on answers (docs/proofs/ledger.md).

A report must never fail: an accountant has a number for every event that a ledger can hold, however large. Infinity
means that it proves nothing.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Self

from hedgerow.accounting.events import AnyEvent, GaussianEvent, ThresholdEvent
from hedgerow.accounting.gaussian import bracket
from hedgerow.arguments import non_negative, probability, whole

SCALE = 2**120


def as_float(exact: Fraction) -> float:
    """Return the nearest float; infinity if it is too large."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf


def total(amounts: Iterable[Fraction]) -> Fraction:
    """Return the sum, each amount rounded up to a multiple of 2^-120: exact fractions would grow with every term."""
    return Fraction(sum(math.ceil(amount * SCALE) for amount in amounts), SCALE)


class Accountant(ABC):
    """A total over events, as a guarantee.

    Args:
        events: Added at once.
    """

    def __init__(self, events: Iterable[AnyEvent] = ()) -> None:
        self._events: Counter[AnyEvent] = Counter()
        for event in events:
            self.add(event)

    def add(self, event: AnyEvent, count: int = 1) -> Self:
        """Add one event, or the same event `count` times."""
        self._events[event] += whole("count", count)
        return self

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that this accountant proves at `delta`; infinity if it proves none."""
        probability("delta", delta)
        left = delta - self._mass
        return self._epsilon(left) if left > 0.0 else self._without_delta()

    def delta(self, epsilon: float) -> float:
        """The smallest delta that this accountant proves at `epsilon`."""
        non_negative("epsilon", epsilon)
        return min(1.0, self._mass + self._delta(epsilon))

    @abstractmethod
    def _epsilon(self, delta: float) -> float:
        """Return the epsilon of everything but the mass, which is already subtracted."""

    def _delta(self, epsilon: float) -> float:
        """Return the delta of everything but the mass, which is added afterwards."""
        if self._epsilon(2.0**-1000) <= epsilon:
            return 0.0
        return min(1.0, bracket(lambda delta: delta < 1.0 and self._epsilon(delta) > epsilon)[1])

    def _without_delta(self) -> float:
        """Return the epsilon where the mass takes all of delta: only pure steps, and only without remaining mass."""
        return math.inf

    @property
    def _mass(self) -> float:
        """Return the probability that one of the events releases anything."""
        return as_float(total(self._loose_mass(event) * count for event, count in self._events.items()))

    @staticmethod
    def _loose_mass(event: AnyEvent) -> Fraction:
        return event.cost.mass

    @property
    def _surcharge(self) -> float:
        """Return the pure epsilon that discrete Gaussian noise costs for being discrete."""
        gaussian = ((event, count) for event, count in self._events.items() if isinstance(event, GaussianEvent))
        return as_float(total(event.cost.pure * count for event, count in gaussian))

    @property
    def _steps(self) -> list[tuple[AnyEvent, int]]:
        """Return the events that are more than mass, with their counts."""
        return [(event, count) for event, count in self._events.items() if not isinstance(event, ThresholdEvent)]
