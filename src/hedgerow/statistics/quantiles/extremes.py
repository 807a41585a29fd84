"""MIN and MAX: never the extreme value itself, but a rank a few noise units inside of it."""

import math
from fractions import Fraction

from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.statistics.quantiles.scores import Reach, Target

LARGEST_SHARE = Fraction(1, 4)
SMALL_GROUP = Status(
    IntervalKind.CONSERVATIVE,
    Reason.SMALL_GROUP,
    "the group is too small, or the budget too small, for a private extreme",
)
BEYOND = 10
"""The buckets beyond the extreme together have at most one BEYOND-th of the weight of the one that is aimed at."""


def units(buckets: int) -> int:
    """How many noise units r / epsilon inside an extreme is aimed at.

    A bucket beyond all values has the weight exp(-units / 2), that of the wanted rank 1. There are fewer than `buckets`
    of the former: with 2 ln(10 buckets) they rarely win, though most of the public range may be empty.

    Example:
        >>> units(1024)
        19
    """
    return math.ceil(2 * math.log(BEYOND * buckets))


def lowest(epsilon: Fraction, reach: Reach, buckets: int) -> Target:
    """The rank that MIN asks for: some rows above the lowest. It is public: no count is needed.

    Example:
        >>> lowest(Fraction(1, 2), Reach(rows=2), buckets=1024)
        Target(quantile=Fraction(0, 1), shift=76)
    """
    return Target(Fraction(0), math.ceil(units(buckets) * reach.weight / epsilon))


def highest(epsilon: Fraction, reach: Reach, buckets: int) -> Target:
    """The rank that MAX asks for: as far below the highest."""
    return Target(Fraction(1), -math.ceil(units(buckets) * reach.weight / epsilon))


def extreme_is_safe(noisy_rows: float | Fraction, epsilon: Fraction, reach: Reach, buckets: int) -> bool:
    """Whether an extreme may be shown: its rank is in the outer quarter, by a *released* weighted count.

    Otherwise NULL with `SMALL_GROUP`: the rank might be anywhere in the group, or outside of it.

    Example:
        >>> [extreme_is_safe(n, Fraction(1), Reach(1), buckets=1024) for n in (-3, 75, 76)]
        [False, False, True]
    """
    wanted = Fraction(units(buckets) * reach.rows)
    return noisy_rows > 0 and wanted <= LARGEST_SHARE * epsilon * Fraction(noisy_rows)
