"""Roots of monotone functions, as brackets whose ends are verified."""

import math
from collections.abc import Callable

ROUNDS = 2000
LEAST, MOST = 2.0**-1000, 2.0**1000
"""Beyond these points nothing is tried."""

PRECISION = 2.0**-50
"""A bracket is narrow when its width is this part of its upper end."""


def bracket(holds: Callable[[float], bool], *, start: float = 1.0) -> tuple[float, float]:
    """The last point at which `holds` was seen true and the first at which it was seen false.

    `holds` is true on an initial part of the positive numbers and false after it. Both ends were
    tried, so a caller may rely on the one that is on its safe side. Where it holds up to 2^1000, the upper end is
    infinity, untried.

    Example:
        >>> low, high = bracket(lambda x: x * x <= 2.0)
        >>> round(low, 6), round(high, 6)
        (1.414214, 1.414214)
    """
    low, high = _surround(holds, start)
    for _ in range(ROUNDS):
        if high == math.inf or high - low <= PRECISION * high:
            break
        middle = low + (high - low) / 2.0
        if middle in {low, high}:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _surround(holds: Callable[[float], bool], start: float) -> tuple[float, float]:
    """A power of two where it holds (or 0.0, untried) and twice that, where it does not (or infinity, untried)."""
    point = start
    if holds(point):
        while point < MOST and holds(point * 2.0):
            point *= 2.0
        return (point, point * 2.0) if point < MOST else (point, math.inf)
    while point > LEAST and not holds(point / 2.0):
        point /= 2.0
    return (point / 2.0, point) if point > LEAST else (0.0, point)
