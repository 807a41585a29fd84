"""Equality of values that two engines returned."""

import datetime as dt
import math
from decimal import Decimal

FIRST, LAST = 1900, 2299
"""The years that all engines can store."""

CLOSE = 1e-12
"""Logarithms and sines of different libraries differ in the last bits; nothing else may."""


def same(left, right, *, close=False, finite=False):
    """True if two cells are equal: NaN is NaN, zero has no sign, decimals and doubles are numbers.

    With `finite`, what is infinite or NaN on the left is NULL on the right.
    """
    left, right = _stored_everywhere(left), _stored_everywhere(right)
    if finite and isinstance(left, float) and not math.isfinite(left):
        return right is None
    if left is None or right is None:
        return left is right
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float | int | Decimal) and isinstance(right, float | int | Decimal):
        return _same_number(left, right, close=close)
    return type(left) is type(right) and left == right


def _stored_everywhere(value):
    """A date that some engine could not hold counts as none."""
    if isinstance(value, dt.date) and not FIRST <= value.year <= LAST:
        return None
    return value


def _same_number(left, right, *, close):
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return left == right or (close and math.isclose(left, right, rel_tol=CLOSE, abs_tol=CLOSE))
