"""Scores of buckets by their distance from a rank, and the ranks that limits, MIN and MAX aim at."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arguments import probability
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.errors import InternalError

Whole = NDArray[Any]
SAFE = 2.0**61
LARGEST_DENOMINATOR = 2**64


@dataclass(frozen=True, slots=True)
class Reach:
    """Maximum weight of one owner in one group: `rows`, in units of 2^-`weight_bits`."""

    rows: int
    weight_bits: int = 0

    @property
    def weight(self) -> int:
        """The largest sum of weights of one owner in one group."""
        return self.rows << self.weight_bits


@dataclass(frozen=True, slots=True)
class Target:
    """The rank `quantile` * (weight of the group) + `shift`, the shift being public, in units of weight."""

    quantile: Fraction
    shift: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.quantile <= 1 or self.quantile.denominator > LARGEST_DENOMINATOR:
            raise InternalError("A quantile must be an exact number from 0 to 1 with a small denominator.")

    @property
    def larger_share(self) -> Fraction:
        """max(q, 1 - q): an owner of weight a moves a score by at most this times a."""
        return max(self.quantile, 1 - self.quantile)


def rank_scores(weights: Whole, target: Target) -> Whole:
    """The distance of the target rank from the ranks that each bucket covers, times the quantile's denominator.

    Bucket j of a group of weight W covers the ranks from below(j), the weight of the buckets before it, to
    upto(j) = below(j) + weight(j); the first covers everything below, the last everything above. With
    t = q W + shift the score is max(0, below(j) - t, t - upto(j)). Some bucket scores 0, whatever the data
    and the shift; without a shift they are those that hold a q-quantile, a point with weight(x < point) <= q W <=
    weight(x <= point). A tie, a value on an edge or a heavy bucket needs no rule of its own.

    Privacy: an owner who adds a_j >= 0 to each bucket, a in all, moves below(j) - t by something between -q a and
    (1 - q) a, and t - upto(j) by something between -(1 - q) a and q a. So each score moves by at most
    max(q, 1 - q) a, for any public shift.

    Args:
        weights: One row per group, one column per bucket.
        target: The rank.

    Example:
        >>> rank_scores(np.array([[4, 1, 5]]), Target(Fraction(1, 2))).tolist()
        [[2, 0, 0]]
    """
    exact = _wide_enough(weights, target)
    top, bottom = target.quantile.numerator, target.quantile.denominator
    upto = np.cumsum(exact, axis=1)
    wanted = top * upto[:, -1:] + bottom * target.shift
    scores = wanted - bottom * upto
    scores[:, -1:] = 0
    np.maximum(scores, 0, out=scores)
    np.maximum(scores[:, 1:], bottom * upto[:, :-1] - wanted, out=scores[:, 1:])
    return np.asarray(scores)


def score_rate(target: Target, epsilon: Fraction, reach: Reach) -> Fraction:
    """Factor of `rank_scores` with which the loss for an owner of weight a has range epsilon a / rows.

    Privacy: a score moves by at most max(q, 1 - q) a, so the loss has a range of at most
    2 rate max(q, 1 - q) a, and rate = epsilon / (2 max(q, 1 - q) rows). The scores' denominator is divided out.

    Example:
        >>> score_rate(Target(Fraction(1, 2)), Fraction(1), Reach(rows=3, weight_bits=1))
        Fraction(1, 12)
    """
    return epsilon / (2 * target.larger_share * reach.weight * target.quantile.denominator)


def _wide_enough(weights: Whole, target: Target) -> Whole:
    """The same numbers, in 64 bits if every number on the way fits, otherwise as Python's integers."""
    table = np.asarray(weights)
    if table.ndim != 2 or table.shape[1] < 1 or table.dtype.kind not in "iuO":
        raise InternalError("Bucket weights must be whole numbers, one row for each group.")
    heaviest = float(np.max(np.sum(table.astype(np.float64), axis=1), initial=0.0))
    largest = (heaviest + abs(target.shift)) * target.quantile.denominator
    return table.astype(np.int64 if largest < SAFE else object)


def rank_bound(target: Target, epsilon: Fraction, reach: Reach, buckets: int, beta: float) -> float:
    """Distance, in rows, from the target rank that a drawn bucket exceeds with probability at most `beta`.

    Some bucket scores 0 and has weight 1, and each bucket that scores t or more has weight at most exp(-rate t).

    Example:
        >>> round(rank_bound(Target(Fraction(1, 2)), Fraction(1), Reach(1), 1024, 0.05), 2)
        9.93
    """
    return float(2 * target.larger_share / epsilon) * reach.rows * math.log(buckets / probability("beta", beta))


LARGEST_SHARE = Fraction(1, 4)
SMALL_GROUP = Status(
    IntervalKind.CONSERVATIVE,
    Reason.SMALL_GROUP,
    "the group is too small, or the budget too small, for a private extreme",
)
BEYOND = 10
"""The buckets beyond the extreme together have at most one BEYOND-th of the weight of the one that is aimed at."""


def units(buckets: int) -> int:
    """Distance inside the extreme at which a draw aims, in noise units r / epsilon.

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
    """True if an extreme may be shown: its rank is in the outer quarter, by a *released* weighted count.

    Otherwise NULL with `SMALL_GROUP`: the rank might be anywhere in the group, or outside of it.

    Example:
        >>> [extreme_is_safe(n, Fraction(1), Reach(1), buckets=1024) for n in (-3, 75, 76)]
        [False, False, True]
    """
    wanted = Fraction(units(buckets) * reach.rows)
    return noisy_rows > 0 and wanted <= LARGEST_SHARE * epsilon * Fraction(noisy_rows)
