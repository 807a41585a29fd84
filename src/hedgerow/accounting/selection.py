"""Key selection: the threshold that hides small groups, and its exact privacy (docs/proofs/selection.md)."""

import math
from fractions import Fraction

from hedgerow.accounting.gaussian import SLACK, bracket, gaussian_delta
from hedgerow.arguments import non_negative, positive, probability, real, whole
from hedgerow.special import log_normal_cdf, normal_quantile

FAR = 64.0
"""Standard deviations beyond which a threshold changes nothing."""


def threshold(k: int, sigma: float, delta: float, groups: int = 1) -> float:
    """The tau at which a key of k people is shown, by noise alone, with probability `delta` over all `groups`.

    Noise on a grid of step g: round tau up to the grid and add g/2 (docs/proofs/selection.md).

    Example:
        >>> round(threshold(0, 10.0, 1e-9), 6)
        59.97807
    """
    tail = -math.expm1(math.log1p(-probability("delta", delta)) / whole("groups", groups))
    return whole("k", k, minimum=0) - positive("sigma", sigma) * normal_quantile(tail)


def laplace_threshold(k: int, scale: float, delta: float, groups: int = 1) -> float:
    """The tau of `threshold`, for Laplace noise of the given scale (docs/proofs/selection.md).

    Example:
        >>> round(laplace_threshold(0, 1.0, 1e-5), 4)
        10.8198
    """
    tail = -math.expm1(math.log1p(-probability("delta", delta)) / whole("groups", groups))
    return whole("k", k, minimum=0) - positive("scale", scale) * math.log(min(2.0 * tail, 1.0))


def selection_mass(sigma: float, k: int, tau: float, groups: int = 1) -> Fraction:
    """Return an upper bound on 1 - p^groups: the ledger's charge for a threshold, besides the noise.

    Example:
        >>> float(selection_mass(10.0, 0, 59.978070, 1)) < 1.0001e-9
        True
    """
    log_p = _log_silence(positive("sigma", sigma), whole("k", k, minimum=0), real("tau", tau))
    return Fraction(min(1.0, -math.expm1(whole("groups", groups) * log_p) * SLACK))


def selection_delta(
    epsilon: float,
    sigma: float,
    k: int,
    tau: float,
    groups: int = 1,
    *,
    extra: float = 0.0,
    stage2: float = 0.0,
) -> float:
    """Return the exact delta of one statement that selects keys, at `epsilon`.

    Args:
        epsilon: Epsilon of the whole statement.
        sigma: The noise of the user count.
        k: Minimum number of people of a key.
        tau: Minimum noisy count of a key.
        groups: Maximum number of keys of one unit.
        extra: The sum of mu squared of everything else that is released with each key.
        stage2: The mu of the measures over the selected keys.

    Privacy: the profile of docs/proofs/selection.md, maximised over the number of the unit's keys that exist without
    it, in both directions. It prices one statement; the ledger charges the parts.

    Example:
        >>> round(selection_delta(1.0, 5.0, 1, 25.0) * 1e7, 6)
        7.933282
    """
    real("epsilon", epsilon), non_negative("extra", extra), non_negative("stage2", stage2)
    log_p = _log_silence(positive("sigma", sigma), whole("k", k, minimum=0), real("tau", tau))
    per_group = 1.0 / sigma**2 + extra
    return max(
        _mixed_delta(epsilon, math.sqrt(shown * per_group + stage2**2), (groups - shown) * log_p)
        for shown in range(whole("groups", groups) + 1)
    )


def _mixed_delta(epsilon: float, mu: float, log_silence: float) -> float:
    """Delta if some keys are shown in both worlds (mu in all) and the others only with the unit: both directions."""
    add = -math.expm1(log_silence) + math.exp(log_silence) * gaussian_delta(epsilon - log_silence, mu)
    return max(add, gaussian_delta(epsilon + log_silence, mu))


def _log_silence(sigma: float, k: int, tau: float) -> float:
    """The logarithm of P(k + noise < tau)."""
    return log_normal_cdf((tau - k) / sigma)


def statement_threshold(
    epsilon: float, delta: float, sigma: float, k: int, groups: int = 1, *, extra: float = 0.0, stage2: float = 0.0
) -> float:
    """The smallest tau with which `selection_delta` is within `delta`; infinity where none is.

    Example:
        >>> round(statement_threshold(1.0, 1e-6, 4.224679, 0), 3)
        20.082
    """
    probability("delta", delta)

    def alone_exceeds(z: float) -> bool:
        return _mixed_delta(epsilon, stage2, groups * log_normal_cdf(z)) * SLACK > delta

    def exceeds(z: float) -> bool:
        needed = selection_delta(epsilon, sigma, k, k + z * sigma, groups, extra=extra, stage2=stage2)
        return needed * SLACK > delta

    if exceeds(FAR):
        return math.inf
    # The worst case is nearly always that of keys which the unit has alone: that one is quick to solve.
    z = bracket(alone_exceeds)[1]
    return k + sigma * (bracket(exceeds)[1] if exceeds(z) else z)
