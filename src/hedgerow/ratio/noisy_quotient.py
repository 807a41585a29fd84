"""How often the quotient of two noisy counts is farther than alpha from the exact one: exactly, for either noise."""

import numpy as np
from scipy.special import exprel, ndtr, owens_t

from hedgerow.arguments import Floats
from hedgerow.error_bars.intervals.noise_sums import pair_tail


def laplace_failure(x: Floats, y: Floats, alpha: Floats, first: Floats, second: Floats) -> Floats:
    """P(|X~/Y~ - x/y| > alpha) for Laplace noise of the scales `first` on x and `second` on y, both above zero.

    Claim 3.2 of Shoham and Ligett (2025) gives the probability of X~ < a Y~, dividing by zero if a = 1. Here a negative
    denominator is accounted for, so it is exact, and alpha may exceed the quotient.
    """
    quotient = x / y
    low, high = quotient - alpha, quotient + alpha
    return np.asarray(_laplace_below(x, y, low, first, second) + _laplace_above(x, y, high, first, second))


def gaussian_failure(x: Floats, y: Floats, alpha: Floats, first: Floats, second: Floats) -> Floats:
    """The same for Gaussian noise with the deviations `first` and `second`, by Owen's function."""
    quotient = x / y
    low, high = quotient - alpha, quotient + alpha
    below = _gaussian_below(x, y, low, first, second)
    return np.asarray(below + 1.0 - _gaussian_below(x, y, high, first, second))


def _laplace_above(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """P(X~/Y~ > a) for a above x/y: the linear event, less what a negative denominator takes away from it."""
    with np.errstate(under="ignore"):
        linear = pair_tail(b, a * c, a * y - x) / 2
        both = np.exp(-x / b - y / c) / (2 * (1 + a * c / b))
        return linear - np.exp(-y / c) / 2 + both


def _laplace_below(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """P(X~/Y~ < a) for a below x/y, also where a is negative."""
    size = np.abs(a)
    with np.errstate(under="ignore"):
        negative = np.exp(-y / c) / 2
        linear = pair_tail(b, size * c, x - a * y) / 2
        both = np.exp(-x / b) * negative / (1 + size * c / b)
        return np.where(a >= 0, linear + negative - both, 2 * _opposite(x, y, size, b, c) + negative - linear)


def _opposite(x: Floats, y: Floats, size: Floats, b: Floats, c: Floats) -> Floats:
    """P(Y~ > 0 and X~ < -size Y~): the numerator is far below zero, the denominator is not."""
    with np.errstate(under="ignore", over="ignore"):
        gap = y * (1 / c - size / b)
        lower = (
            y
            / c
            * np.where(gap > 0, np.exp(-size * y / b) * exprel(-np.abs(gap)), np.exp(-y / c) * exprel(-np.abs(gap)))
        )
        upper = np.exp(-size * y / b) / (1 + size * c / b)
        return np.exp(-x / b) * (lower + upper) / 4


def _gaussian_below(x: Floats, y: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """P(X~/Y~ < a): one of X~ - a Y~ < 0 and Y~ < 0 holds, not both."""
    spread = np.hypot(b, a * c)
    h, k = (a * y - x) / spread, -y / c
    correlation = -a * c / spread
    return np.asarray(ndtr(h) + ndtr(k) - 2 * _both_below(h, k, correlation))


def _both_below(h: Floats, k: Floats, correlation: Floats) -> Floats:
    """P(U < h and V < k) for standard normal variables (Owen 1956); k is below zero here."""
    rest = np.sqrt((1 - correlation) * (1 + correlation))
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(h != 0, (k / h - correlation) / rest, np.sign(k) * np.inf)
        second = (h / k - correlation) / rest
    crossed = np.where(h * k > 0, 0.0, np.where((h == 0) & (k >= 0), 0.0, 0.5))
    total = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, first) - owens_t(k, second) - crossed
    return np.asarray(np.maximum(total, 0.0), dtype=np.float64)
