"""What a pure epsilon is worth as a mu (Dong, Roth and Su 2019), and zCDP as an (epsilon, delta)."""

import math

from scipy.special import log_expit, ndtri_exp

from hedgerow.arguments import non_negative


def pure_mu(epsilon: float) -> float:
    """The smallest mu for which every epsilon-DP mechanism is mu-GDP.

    Example:
        >>> round(pure_mu(1.0), 8)
        1.23203539
    """
    return 2.0 * _logistic_quantile(non_negative("epsilon", epsilon))


def bounded_range_mu(epsilon: float) -> float:
    """The smallest mu for which every epsilon-bounded-range mechanism (exponential, Gumbel) is mu-GDP.

    Example:
        >>> round(bounded_range_mu(1.0), 8)
        0.62389259
    """
    return 2.0 * _logistic_quantile(non_negative("epsilon", epsilon) / 2.0)


def _logistic_quantile(x: float) -> float:
    """Phi^-1(1 / (1 + exp(-x))), also where the argument is within rounding of 1/2 or 1."""
    if x < 1e-3:
        # With c = sqrt(2 pi): Phi^-1(1/2 + p) = c p + c^3 p^3 / 6 + O(p^5), p = tanh(x/2) / 2.
        p = math.tanh(x / 2.0) / 2.0 * math.sqrt(2.0 * math.pi)
        return p + p**3 / 6.0
    return -float(ndtri_exp(log_expit(-x)))
