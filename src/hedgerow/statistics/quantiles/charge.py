"""Prices of quantiles: in the Gaussian sum, in the pure one, and back."""

import math
from collections.abc import Sequence
from fractions import Fraction

from hedgerow.accounting import bounded_range_mu
from hedgerow.accounting.events import SLOPE_SQUARED
from hedgerow.errors import InternalError
from hedgerow.special import log_ndtr

SLACK = 1 + Fraction(1, 10**9)
"""Factor that covers the float error of a computed mu squared."""
FINEST = 2**40
"""Epsilons that are computed here are multiples of 1 / FINEST, rounded down."""
NO_GROUPS = Fraction(1)
INTERVAL_SHARE = Fraction(1, 2)
"""Share of the budget for the limits: both errors fall with the root of their share, and their product is least."""


def mu_squared(epsilon: Fraction, norm_squared: Fraction = NO_GROUPS, *, one_group: bool) -> Fraction:
    """Price of one draw in every group, in the Gaussian sum.

    Args:
        epsilon: The range of the loss for an owner of full weight, in one group.
        norm_squared: (T / r)^2, T being the l2 norm of an owner's weights over groups and r the most in one.
        one_group: Whether there is one group only, so that T = r.

    Privacy: in a group where an owner weighs a_g the draw is (epsilon a_g / r)-bounded range. One group: mu =
    2 Phi^-1(1 / (1 + exp(-epsilon / 2))) (Dong, Roth and Su 2019). Several: that function of epsilon lies below its
    tangent sqrt(2 pi) / 4 epsilon, so the sum of mu_g squared is at most (pi / 8) epsilon^2 sum (a_g / r)^2. The first
    formula times (T / r)^2 would be too little for an owner spread thinly (docs/proofs/quantiles.md).

    Example:
        >>> round(float(mu_squared(Fraction(1), one_group=True)) ** 0.5, 6)
        0.623893
        >>> round(float(mu_squared(Fraction(4), Fraction(1), one_group=False)) ** 0.5, 6)
        2.506628
    """
    if one_group:
        return Fraction(bounded_range_mu(float(epsilon))) ** 2 * SLACK
    return SLOPE_SQUARED * epsilon**2 * norm_squared


def affordable_epsilon(budget: Fraction, norm_squared: Fraction = NO_GROUPS, *, one_group: bool) -> Fraction:
    """The largest epsilon (of a fine grid) whose `mu_squared` is within `budget`; the charge itself was tried.

    Example:
        >>> round(float(affordable_epsilon(Fraction(1, 4), one_group=True)), 4)
        0.8002
    """
    if budget <= 0 or norm_squared <= 0:
        raise InternalError("A quantile needs a budget and a weight above 0.")
    ratio = budget / (SLOPE_SQUARED * norm_squared) * FINEST**2
    epsilon = Fraction(math.isqrt(math.floor(ratio)), FINEST)
    if one_group:
        half = math.sqrt(budget) / 2
        closed = Fraction(2 * float(log_ndtr(half) - log_ndtr(-half)) * (1 - 2e-9))
        epsilon = max(epsilon, Fraction(math.floor(closed * FINEST), FINEST))
    if epsilon <= 0 or mu_squared(epsilon, norm_squared, one_group=one_group) > budget:
        raise InternalError("The budget of a quantile is too small or too large to be turned into an epsilon.")
    return epsilon


def pure_epsilon(epsilon: Fraction, norm: Fraction) -> Fraction:
    """Price of one draw in every group, in the pure sum; `norm` is A / r, A the l1 norm of an owner's weights.

    Privacy: a loss whose range is e, of which the expectation of exp is 1, lies within e of 0. So a group costs at
    most epsilon a_g / r, and all of them epsilon A / r.

    Example:
        >>> pure_epsilon(Fraction(1, 2), Fraction(3))
        Fraction(3, 2)
    """
    return epsilon * norm


def levels(quantiles: int) -> int:
    """Number of charged draws per group if several quantiles of one column are nested: one per level.

    Privacy: the parts of a level share no weight, so an owner's weights over groups *and* parts have an l2 norm of at
    most T, and an l1 norm of at most A. Each level is priced by the slope: the parts are several even in one group.

    Example:
        >>> [levels(m) for m in (1, 2, 3, 4, 7, 9)]
        [1, 2, 2, 3, 3, 4]
    """
    return quantiles.bit_length()


def joint_factor(quantiles: Sequence[Fraction]) -> Fraction:
    """Price of several quantiles of one column, each drawn from the whole group, in draws; at most their number.

    It multiplies `mu_squared(…, one_group=False)`. A full owner cannot be at its worst for a low and a high
    quantile at once: 22/9 for quartiles in place of 3.

    Privacy: for quantile q, M = max(q, 1 - q), an owner of weight a of whom b lies at or below the target changes the
    draw by a range of at most epsilon (M a + |b - q a|) / (2 M r). The b grow with q, and a sum of squares of convex
    functions is largest where each is 0 or a (docs/proofs/quantiles.md). For draws without a shift only.

    Example:
        >>> quartiles = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
        >>> joint_factor(quartiles), joint_factor(quartiles[1:2])
        (Fraction(22, 9), Fraction(1, 1))
    """
    return _largest([(below**2, above**2) for below, above in _ranges(quantiles)])


def joint_range(quantiles: Sequence[Fraction]) -> Fraction:
    """Sum of the ranges of several quantiles of one column, each drawn from the whole group, in units of one.

    It multiplies `pure_epsilon`: 8/3 for quartiles in place of 3.

    Privacy: as for `joint_factor`; a sum of convex functions is convex, too.

    Example:
        >>> joint_range([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
        Fraction(8, 3)
    """
    return _largest(_ranges(quantiles))


def _ranges(quantiles: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return, by ascending quantile, the range caused by an owner with all rows above it, or at and below it."""
    shares = [(quantile, max(quantile, 1 - quantile)) for quantile in sorted(quantiles)]
    return [((larger + q) / (2 * larger), (larger + 1 - q) / (2 * larger)) for q, larger in shares]


def _largest(pairs: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """The largest sum of first numbers up to some place and of second numbers from there on."""
    sums = (
        sum((above for above, _ in pairs[:cut]), Fraction(0)) + sum((below for _, below in pairs[cut:]), Fraction(0))
        for cut in range(len(pairs) + 1)
    )
    return max(sums)


def joint_rank_variances(quantiles: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    """Squared errors in rank of quantiles that are drawn each on its own, `factor` times the price of one.

    The unit is that of a median drawn alone, per row of an owner.
    """
    return [(2 * max(quantile, 1 - quantile)) ** 2 * factor for quantile in quantiles]


def nested_rank_variances(quantiles: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    """Squared errors in rank of nested quantiles (ascending), in the same unit.

    A quantile inherits the errors of the two that cut its part out, by its distance from each.

    Example:
        >>> nested_rank_variances([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], Fraction(2))
        [Fraction(5, 2), Fraction(2, 1), Fraction(5, 2)]
    """
    variances = [Fraction(0)] * len(quantiles)

    def cut(first: int, last: int, low: tuple[Fraction, Fraction], high: tuple[Fraction, Fraction]) -> None:
        if first > last:
            return
        middle = (first + last + 1) // 2
        share = (quantiles[middle] - low[0]) / (high[0] - low[0])
        own = (2 * max(share, 1 - share)) ** 2 * factor
        variances[middle] = own + (1 - share) ** 2 * low[1] + share**2 * high[1]
        here = quantiles[middle], variances[middle]
        cut(first, middle - 1, low, here)
        cut(middle + 1, last, here, high)

    cut(0, len(quantiles) - 1, (Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)))
    return variances
