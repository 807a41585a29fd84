"""Interval arithmetic: if each operand lies between its ends, so does the result.

Ends are computed in floats, rounded to nearest. Rounding keeps order, so the float result for any floats between
the ends lies between the computed ends too. The product of zero and an infinite end is zero: the end
stands for values without limit, each of them finite.

A condition on numbers in known intervals is certainly true, certainly false, certainly NULL, or undecided (`Verdict`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.error_bars.intervals.interval import ZERO_DENOMINATOR, Bounds, Flags, Floats, Reason, Status
from hedgerow.errors import InternalError

OUTSIDE_DOMAIN = Status(
    reason=Reason.UNDEFINED, note="unbounded: the noisy value lies where the function is not defined"
)


COMPARISONS: Mapping[str, Callable[[Bounds, Bounds], tuple[Flags, Flags]]] = {
    "less": lambda a, b: (a.upper < b.lower, a.lower >= b.upper),
    "less_or_equal": lambda a, b: (a.upper <= b.lower, a.lower > b.upper),
    "greater": lambda a, b: (a.lower > b.upper, a.upper <= b.lower),
    "greater_or_equal": lambda a, b: (a.lower >= b.upper, a.upper < b.lower),
    "equal": lambda a, b: ((a.lower == b.upper) & (a.upper == b.lower), (a.upper < b.lower) | (a.lower > b.upper)),
    "unequal": lambda a, b: ((a.upper < b.lower) | (a.lower > b.upper), (a.lower == b.upper) & (a.upper == b.lower)),
}


def add(left: Bounds, right: Bounds) -> Bounds:
    """The sum."""
    return _joined(left, right, _total(left.lower, right.lower, -math.inf), _total(left.upper, right.upper, math.inf))


def subtract(left: Bounds, right: Bounds) -> Bounds:
    """The difference."""
    return add(left, negate(right))


def negate(operand: Bounds) -> Bounds:
    """The negated value."""
    return Bounds(-operand.upper, -operand.lower, operand.statuses)


def absolute(operand: Bounds) -> Bounds:
    """The absolute value."""
    lower = np.maximum(np.maximum(operand.lower, -operand.upper), 0.0)
    return Bounds(lower, np.maximum(-operand.lower, operand.upper), operand.statuses)


def minimum(left: Bounds, right: Bounds) -> Bounds:
    """The smaller of two values."""
    return _joined(left, right, np.minimum(left.lower, right.lower), np.minimum(left.upper, right.upper))


def maximum(left: Bounds, right: Bounds) -> Bounds:
    """The larger of two values."""
    return _joined(left, right, np.maximum(left.lower, right.lower), np.maximum(left.upper, right.upper))


def multiply(left: Bounds, right: Bounds) -> Bounds:
    """The product of two values, treated as independent (for a square use `power`)."""
    corners = [_product(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
    return _joined(left, right, np.minimum.reduce(corners), np.maximum.reduce(corners))


def divide(numerator: Bounds, denominator: Bounds) -> Bounds:
    """The quotient; unbounded, with a note, where the denominator may be zero."""
    zero = (denominator.lower <= 0) & (denominator.upper >= 0)
    tops, bottoms = (numerator.lower, numerator.upper), (denominator.lower, denominator.upper)
    corners = [_fraction(top, bottom) for top in tops for bottom in bottoms]
    lower = np.where(zero, -math.inf, np.minimum.reduce(corners))
    upper = np.where(zero, math.inf, np.maximum.reduce(corners))
    return _joined(numerator, denominator, lower, upper).with_status(zero, ZERO_DENOMINATOR)


def power(operand: Bounds, exponent: int) -> Bounds:
    """The value raised to the power `exponent`."""
    if exponent < 0:
        raise InternalError("Interval arithmetic was asked for a negative power. Divide by the positive power instead.")
    if exponent == 0:
        return Bounds(np.ones_like(operand.lower), np.ones_like(operand.upper), operand.statuses)
    if exponent % 2:
        return Bounds(_repeated(operand.lower, exponent), _repeated(operand.upper, exponent), operand.statuses)
    size = absolute(operand)
    return Bounds(_repeated(size.lower, exponent), _repeated(size.upper, exponent), operand.statuses)


def monotone(
    function: Callable[[Floats], Floats],
    operand: Bounds,
    *,
    falling: bool = False,
    domain: tuple[float, float] = (-math.inf, math.inf),
) -> Bounds:
    """A monotone function, applied to both ends.

    Args:
        function: Takes and gives arrays.
        operand: What it is applied to.
        falling: Whether the function falls.
        domain: Where it is defined. The operand is cut to it; where nothing is left the result is unbounded.
    """
    missed = (operand.lower > domain[1]) | (operand.upper < domain[0])
    with np.errstate(all="ignore"):
        ends = [np.asarray(function(np.clip(end, *domain)), dtype=float) for end in (operand.lower, operand.upper)]
    lower, upper = reversed(ends) if falling else ends
    lower, upper = (np.where(missed | np.isnan(end), far, end) for end, far in ((lower, -math.inf), (upper, math.inf)))
    return Bounds(lower, upper, operand.statuses).with_status(missed, OUTSIDE_DOMAIN)


def _joined(left: Bounds, right: Bounds, lower: Floats, upper: Floats) -> Bounds:
    return Bounds(lower, upper, [a.joined(b) for a, b in zip(left.statuses, right.statuses, strict=True)])


def _total(left: Floats, right: Floats, unknown: float) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        total = left + right
    return np.where(np.isnan(total), unknown, total)


def _product(left: Floats, right: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        return np.where((left == 0) | (right == 0), 0.0, left * right)


def _fraction(left: Floats, right: Floats) -> Floats:
    """One corner of a quotient; zero where both ends are infinite, because the other corners cover that case."""
    with np.errstate(all="ignore"):
        quotient = left / right
    return np.where(np.isnan(quotient), 0.0, quotient)


def _repeated(base: Floats, exponent: int) -> Floats:
    result = base
    for _ in range(exponent - 1):
        result = _product(result, base)
    return result


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
