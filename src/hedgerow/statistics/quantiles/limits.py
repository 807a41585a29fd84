"""Limits of a quantile that hold without a condition on the data, and a bound on ranks."""

import math
from fractions import Fraction

from hedgerow.arguments import probability
from hedgerow.statistics.quantiles.scores import Reach, Target


def rank_bound(target: Target, epsilon: Fraction, reach: Reach, buckets: int, beta: float) -> float:
    """How far from the target rank a drawn bucket is, at most, but with probability `beta`; in rows.

    Some bucket scores 0 and has weight 1, and each bucket that scores t or more has weight at most exp(-rate t).

    Example:
        >>> round(rank_bound(Target(Fraction(1, 2)), Fraction(1), Reach(1), 1024, 0.05), 2)
        9.93
    """
    return _noise_unit(target, epsilon) * reach.rows * math.log(buckets / probability("beta", beta))


def limit_shift(target: Target, epsilon: Fraction, reach: Reach, buckets: int, beta: float) -> int:
    """How far a limit aims beside the quantile to miss it with probability at most `beta`; in units of weight.

    At most (buckets - 1) of them miss, each of weight exp(-rate shift) or less, against 1 of a bucket that scores 0. So
    the chance is at most x / (1 + x), x = (buckets - 1) exp(-rate shift), and that is `beta` for x = beta / (1 - beta).
    """
    odds = max(buckets - 1, 1) * (1 - probability("beta", beta)) / beta
    nats = max(math.log(odds), 0.0) * (1 + 1e-9)
    return math.ceil(Fraction(nats) * 2 * target.larger_share * reach.weight / epsilon)


def lower_target(target: Target, shift: int) -> Target:
    """Where to aim for a lower limit: a bucket that scores below `shift` begins at or below every such quantile.

    Example:
        >>> lower_target(Target(Fraction(1, 2)), 7)
        Target(quantile=Fraction(1, 2), shift=-7)
    """
    return Target(target.quantile, target.shift - shift)


def upper_target(target: Target, shift: int) -> Target:
    """Where to aim for an upper limit: a bucket that scores below `shift` ends at or above every such quantile."""
    return Target(target.quantile, target.shift + shift)


def _noise_unit(target: Target, epsilon: Fraction) -> float:
    return float(2 * target.larger_share / epsilon)
