"""What a wanted error costs: in all, and column by column for groups of public sizes. Reads no private row."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.accuracy_target.accuracy_first import AccuracyFirst
from hedgerow.accuracy_target.cheapest import cheapest
from hedgerow.accuracy_target.error_forecast import Foresight
from hedgerow.catalog.load_budget import EPSILONS

SIZES = (100, 1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Offer:
    """The price of an error.

    Attributes:
        target: The error that was asked for, in words.
        epsilon: The least that reaches it; with `estimate`, the most that estimate and answer together would cost.
        basis: How the sizes of groups are known: "stated size", "any size", "earlier answer" or "size estimate".
        estimate: What a size estimate would cost that has to be bought first; None where none has.
        cheapest: For each noisy column, the least epsilon for groups of 100, 1 000, 10 000 and 100 000 (or of the
            stated size) whatever their values; infinite where no epsilon does.
        fits: Whether it is within what the statement may cost.
    """

    target: str
    epsilon: float
    basis: str
    estimate: float | None
    cheapest: Mapping[str, Mapping[int, float]]
    fits: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        by_column = {
            name: {str(size): epsilon if math.isfinite(epsilon) else None for size, epsilon in sizes.items()}
            for name, sizes in self.cheapest.items()
        }
        return {
            "target": self.target,
            "basis": self.basis,
            "size_estimate": self.estimate,
            "cheapest": by_column,
        }


def offered(asked: AccuracyFirst) -> Offer:
    """The offer for a statement with a target."""
    known = asked.known_price()
    by_column = _by_column(asked)
    if known is not None:
        fits = known.epsilon <= asked.most
        notes = () if fits else (f"It costs more than the {asked.most:.4g} that this statement may.",)
        return Offer(str(asked.target), known.epsilon, known.basis, None, by_column, fits, notes)
    estimate = asked.estimate_price()
    note = (
        f"A size estimate would be bought first, for epsilon {estimate:.4g}; the price is the most that both may cost."
    )
    return Offer(str(asked.target), asked.most, "size estimate", estimate, by_column, fits=True, notes=(note,))


def _by_column(asked: AccuracyFirst) -> dict[str, dict[int, float]]:
    foresight = Foresight(asked.logical, asked.request, asked.desk.after, asked.public)
    sizes = SIZES if asked.target.size is None else (asked.target.size,)
    names = foresight.of_sizes(asked.price(1.0), np.array([1.0]), foresight.beta) or {}
    return {name: {size: _least(asked, foresight, name, size) for size in sizes} for name in names}


def _least(asked: AccuracyFirst, foresight: Foresight, name: str, size: int) -> float:
    def excess(epsilon: float) -> float:
        found = foresight.of_sizes(asked.price(epsilon), np.array([float(size)]), foresight.beta) or {}
        least, errors = found[name]
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nan_to_num(errors / asked.target.allowed(least), nan=np.inf).max())

    found = cheapest(excess, *EPSILONS)
    return math.inf if found is None else found
