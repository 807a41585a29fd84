"""Pay first, then draw: what all charged estimators have in common."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from hedgerow.accounting.budget import Charge, Event, Receipt
from hedgerow.accounting.parameters import positive
from hedgerow.errors import ParameterError

Neighbours = Literal["add-remove", "replace"]
NEIGHBOURS: tuple[Neighbours, ...] = ("add-remove", "replace")
"""Data with and without one person, who is in at most one of the two counts; or two data sets that differ in one
person, who may then move from one count to the other, or be in both."""

FINENESS = 30
"""A grid is at least 2^30 times as fine as the sensitivity."""


class Ledger(Protocol):
    """What is asked of a ledger: `hedgerow.ledger.Ledger` has it."""

    def charge(
        self, charge: Charge, *, analyst: str | None = None, question: Mapping[str, Any], queries: int = 1
    ) -> Receipt:
        """Write a charge durably, or refuse it."""

    def finish(self, receipt: Receipt, release: bytes | None) -> None:
        """Note how a charge ended."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What is asked of which ledger, by whom, for how much."""

    ledger: Ledger
    analyst: str | None
    estimator: str
    epsilon: float
    delta: float = 0.0

    def pay(self, *events: Event) -> Receipt:
        """The receipt, without which no noise is drawn."""
        text = f"hedgerow.ratio.{self.estimator}"
        charge = Charge(tuple(events), self.epsilon, self.delta)
        return self.ledger.charge(charge, analyst=self.analyst, question={"text": text}, queries=1)

    def close(self, receipt: Receipt, released: Mapping[str, float | None]) -> None:
        """Note in the ledger what was released."""
        self.ledger.finish(receipt, json.dumps(dict(released)).encode())


def exact_count(name: str, value: object) -> int:
    """An exact count; the message does not show it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"{name} must be an exact count: a whole number, not below 0.", code="parameter-whole")
    return value


def declared(name: str, value: object, least: int = 1) -> int:
    """A public bound."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}.", code="parameter-whole")
    return value


def scale_for(sensitivity: int | Fraction, epsilon: float | Fraction) -> float:
    """The least scale with which integers that move by `sensitivity` cost at most `epsilon`."""
    exact = Fraction(sensitivity) / Fraction(epsilon)
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def grid_for(sensitivity: Fraction) -> Fraction:
    """A power of two that is at most 2^-30 of the sensitivity: public, because the sensitivity is."""
    return Fraction(2) ** (math.floor(math.log2(sensitivity)) - FINENESS)


def budget(epsilon: object) -> float:
    """An epsilon above zero."""
    return positive("epsilon", epsilon)
