"""How to split epsilon between two counts that one person may be in both of."""

from dataclasses import dataclass

import numpy as np

from hedgerow.arguments import Floats, positive
from hedgerow.ratio.sample_accuracy import sample_accuracy

CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class Split:
    """What each count gets, and how often the estimate then misses (None where no alpha was given)."""

    epsilon_x: float
    epsilon_y: float
    failure: float | None = None

    @property
    def share(self) -> float:
        """The part of epsilon that the numerator gets."""
        return self.epsilon_x / (self.epsilon_x + self.epsilon_y)


def split_epsilon(x: float, y: float, *, epsilon: float, alpha: float | None = None) -> Split:
    """The split of epsilon over numerator and denominator that makes their ratio most accurate.

    To first order the ratio r = x/y strays by sqrt(b_x^2 + r^2 b_y^2) / y, least where the denominator gets r^(2/3)
    times as much as the numerator. With an `alpha` the failure probability itself is made as small as it can be.

    Only where one person may be in both counts, or move between them, is there something to split: counts of disjoint
    groups have the whole epsilon each.

    Args:
        x: A guess of the numerator. Not the private count itself: the choice of a split is public.
        y: A guess of the denominator.
        epsilon: What both cost together.
        alpha: How wrong the ratio may be.

    Example:
        >>> found = split_epsilon(400, 50, epsilon=1.0)
        >>> round(found.epsilon_x, 4), round(found.epsilon_y, 4)
        (0.2, 0.8)
    """
    numerator, denominator, total = positive("x", x), positive("y", y), positive("epsilon", epsilon)
    first = total / (1 + (numerator / denominator) ** (2 / 3))
    if alpha is None:
        return Split(first, total - first)
    best = _least(numerator, denominator, total, positive("alpha", alpha))
    return Split(best, total - best, _failure(numerator, denominator, total, alpha, np.array([best]))[0])


def _least(x: float, y: float, epsilon: float, alpha: float) -> float:
    """The best of a grid, then of a finer one around it, until nothing moves."""
    low, high = 1e-3 * epsilon, (1 - 1e-3) * epsilon
    while high - low > CLOSE * epsilon:
        parts = np.linspace(low, high, 41)
        best = int(np.argmin(_failure(x, y, epsilon, alpha, parts)))
        low, high = parts[max(best - 1, 0)], parts[min(best + 1, len(parts) - 1)]
    return float((low + high) / 2)


def _failure(x: float, y: float, epsilon: float, alpha: float, parts: Floats) -> list[float]:
    whole = np.full(parts.shape, epsilon)
    found = sample_accuracy(x, y, epsilon=whole, alpha=alpha, scale=(1 / parts, 1 / (epsilon - parts)))
    return [float(one) for one in np.atleast_1d(found)]
