"""Ranges of the values of expressions, derived from the catalog's bounds.

A range has one purpose: to choose the clamp of a sum. A range that is too narrow costs accuracy, never privacy, because
every value is clamped to it before it is added up.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """All values from `lower` to `upper`; either may be infinite."""

    lower: float
    upper: float

    @property
    def is_finite(self) -> bool:
        """True if a sum of such values has a sensitivity."""
        return math.isfinite(self.lower) and math.isfinite(self.upper)


EVERYTHING = Range(-math.inf, math.inf)
NON_NEGATIVE = Range(0.0, math.inf)
NOTHING = Range(math.inf, -math.inf)
"""The range of NULL: it adds nothing to a hull."""


def hull(ranges: Iterable[Range]) -> Range:
    """The smallest range that holds all of them."""
    members = list(ranges)
    return Range(min(r.lower for r in members), max(r.upper for r in members))


def meet(left: Range, right: Range) -> Range:
    """Return the values in both; `left` if they are disjoint."""
    lower, upper = max(left.lower, right.lower), min(left.upper, right.upper)
    return Range(lower, upper) if lower <= upper else left


def add(left: Range, right: Range) -> Range:
    """The range of a sum."""
    return Range(left.lower + right.lower, left.upper + right.upper)


def subtract(left: Range, right: Range) -> Range:
    """The range of a difference."""
    return Range(left.lower - right.upper, left.upper - right.lower)


def multiply(left: Range, right: Range) -> Range:
    """Return the range of a product; zero times infinity is zero, because an end stands for finite values."""
    ends = [0.0 if a == 0 or b == 0 else a * b for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
    return Range(min(ends), max(ends))


def divide(left: Range, right: Range) -> Range:
    """Return the range of a quotient: unbounded if the denominator can be zero."""
    if right.lower <= 0.0 <= right.upper:
        return EVERYTHING
    return multiply(left, Range(1.0 / right.upper, 1.0 / right.lower))


def remainder(left: Range, right: Range) -> Range:
    """The range of `left % right`, whose sign is that of `left`."""
    size = max(abs(right.lower), abs(right.upper))
    return Range(0.0 if left.lower >= 0 else -size, 0.0 if left.upper <= 0 else size)


def negate(values: Range) -> Range:
    """The range of the negative."""
    return Range(-values.upper, -values.lower)


def absolute(values: Range) -> Range:
    """Return the range of the absolute value."""
    if values.lower >= 0:
        return values
    top = max(-values.lower, values.upper)
    return Range(0.0 if values.upper >= 0 else -values.upper, top)


def monotone(function: Callable[[float], float], domain: Range = EVERYTHING) -> Callable[[Range], Range]:
    """The range rule of an increasing function that is NULL outside `domain`."""

    def apply(values: Range) -> Range:
        inside = meet(values, domain)
        return Range(_total(function, inside.lower, -math.inf), _total(function, inside.upper, math.inf))

    return apply


def _total(function: Callable[[float], float], value: float, otherwise: float) -> float:
    try:
        return float(function(value))
    except (ValueError, OverflowError):
        return otherwise
