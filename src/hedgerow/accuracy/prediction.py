"""What is predicted about an error, and under which conditions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arguments import Floats, Number, plain

Flag = bool | NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Condition:
    """One precondition: its name, what it says, the numbers on its two sides, and whether it holds."""

    name: str
    statement: str
    left: Number
    right: Number
    holds: Flag

    def __str__(self) -> str:
        if isinstance(self.holds, bool):
            return f"{self.statement}: {self.left:.6g} and {self.right:.6g}, {'holds' if self.holds else 'fails'}"
        return f"{self.statement}: holds for {int(np.sum(self.holds))} of {self.holds.size}"


@dataclass(frozen=True, slots=True)
class Prediction:
    """How large an error is at most, and whether that may be relied upon.

    `valid` says that all `conditions` hold. Where it is False, `error` is what the formula gives all the same, or
    infinite, and nothing is promised about it.
    """

    error: Number
    valid: Flag
    conditions: tuple[Condition, ...]


def at_most(name: str, statement: str, left: Floats, right: Floats) -> Condition:
    """The condition that `left` is not above `right`."""
    return Condition(name, statement, plain(left), plain(right), flag(left <= right))


def above(name: str, statement: str, left: Floats, right: Floats) -> Condition:
    """The condition that `left` is above `right`."""
    return Condition(name, statement, plain(left), plain(right), flag(left > right))


def predicted(error: Floats, conditions: tuple[Condition, ...]) -> Prediction:
    """The prediction that rests on `conditions`; an error without end where the formula gives none."""
    valid = np.logical_and.reduce(np.broadcast_arrays(*(condition.holds for condition in conditions)))
    sensible = np.where(np.isnan(error) | (error < 0), np.inf, error)
    return Prediction(plain(sensible), flag(np.broadcast_to(valid, sensible.shape)), conditions)


def flag(value: NDArray[np.bool_] | np.bool_) -> Flag:
    """A bool where there is one, the array otherwise."""
    flags = np.asarray(value)
    return bool(flags) if flags.ndim == 0 else flags
