"""What an interval promises, in one word."""

import math
from collections.abc import Iterable

from hedgerow.answer.plain import is_held_back
from hedgerow.interval import Interval

KINDS = ("exact", "conservative", "approximate", "none")
"""From the best to the worst."""


def kind_of(interval: Interval) -> str:
    """`exact`, `conservative` (holds at least as often), `approximate` or `none` (nothing can be said).

    Example:
        >>> kind_of(Interval(0, 15)), kind_of(Interval(0, 15, "conservative")), kind_of(Interval())
        ('exact', 'conservative', 'none')
    """
    if math.isinf(interval.lower) and math.isinf(interval.upper):
        return "none"
    note = interval.note or ""
    return next((kind for kind in KINDS[1:3] if note.startswith(kind)), "exact")


def weakest(intervals: Iterable[Interval]) -> str:
    """What all intervals of a column promise: the least of theirs, leaving out what was held back."""
    kinds = {kind_of(interval) for interval in intervals if not is_held_back(interval)}
    return max(kinds, key=KINDS.index, default="none")
