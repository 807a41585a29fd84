"""Conditions on numbers that lie in known intervals: certainly true, certainly false, or undecided."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.bounds import Bounds

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Verdict:
    """Flags of the rows in which a condition is certainly true, false or NULL; no row has more than one flag."""

    true: Flags
    false: Flags
    null: Flags

    @property
    def not_true(self) -> Flags:
        """Flags of the rows that a filter certainly drops."""
        return self.false | self.null

    def inverted(self) -> "Verdict":
        """NOT."""
        return Verdict(self.false, self.true, self.null)


COMPARISONS: Mapping[str, Callable[[Bounds, Bounds], tuple[Flags, Flags]]] = {
    "less": lambda a, b: (a.upper < b.lower, a.lower >= b.upper),
    "less_or_equal": lambda a, b: (a.upper <= b.lower, a.lower > b.upper),
    "greater": lambda a, b: (a.lower > b.upper, a.upper <= b.lower),
    "greater_or_equal": lambda a, b: (a.lower >= b.upper, a.upper < b.lower),
    "equal": lambda a, b: ((a.lower == b.upper) & (a.upper == b.lower), (a.upper < b.lower) | (a.lower > b.upper)),
    "unequal": lambda a, b: ((a.upper < b.lower) | (a.lower > b.upper), (a.lower == b.upper) & (a.upper == b.lower)),
}


def undecided(rows: int) -> Verdict:
    """A condition that is undecided in every row."""
    none = np.zeros(rows, bool)
    return Verdict(none, none, none)


def compared(name: str, left: Bounds, right: Bounds, missing: Flags) -> Verdict:
    """The verdict of a comparison; NULL where a side is `missing`."""
    if name not in COMPARISONS:
        return undecided(len(missing))
    true, false = COMPARISONS[name](left, right)
    return Verdict(true & ~missing, false & ~missing, missing)


def both(left: Verdict, right: Verdict) -> Verdict:
    """AND."""
    true, false = left.true & right.true, left.false | right.false
    return Verdict(true, false, _certain(left) & _certain(right) & ~true & ~false)


def either(left: Verdict, right: Verdict) -> Verdict:
    """OR."""
    return both(left.inverted(), right.inverted()).inverted()


def chosen(
    conditions: Sequence[Verdict], branches: Sequence[Bounds]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The possible values of a CASE: the hull of the branches that may be taken, the last of which is ELSE."""
    rows = len(branches[-1].lower)
    lower, upper, open_ = np.full(rows, np.inf), np.full(rows, -np.inf), np.ones(rows, bool)
    for verdict, branch in zip(conditions, branches, strict=False):
        may = open_ & ~verdict.not_true
        lower, upper = (
            np.where(may, np.fmin(lower, branch.lower), lower),
            np.where(may, np.fmax(upper, branch.upper), upper),
        )
        open_ = open_ & ~verdict.true
    rest = branches[-1]
    return np.where(open_, np.fmin(lower, rest.lower), lower), np.where(open_, np.fmax(upper, rest.upper), upper)


def _certain(verdict: Verdict) -> Flags:
    return verdict.true | verdict.false | verdict.null
