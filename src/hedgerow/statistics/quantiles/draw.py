"""Drawing buckets, and a point inside each."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.noise.exponential import choose_many, uniform_below
from hedgerow.statistics.quantiles.buckets import Buckets
from hedgerow.statistics.quantiles.scores import Reach, Target, Whole, rank_scores, score_rate

AT_ONCE = 32
"""Groups that are scored at once, so that they stay in the processor's cache."""


def draw_buckets(weights: Whole, target: Target, epsilon: Fraction, reach: Reach) -> NDArray[np.int64]:
    """One bucket for each row of weights, with probability proportional to exp(-rate * score).

    All buckets of the grid have the same width but for the last, and the same prior weight.

    Privacy: for an owner who weighs a_g <= `reach` in group g, the draw of that group is (epsilon a_g / reach)-bounded
    range (`scores`), exactly (`noise.exponential`). Over groups see `charge.mu_squared`.

    Example:
        >>> draw_buckets(np.array([[0, 900, 0]]), Target(Fraction(1, 2)), Fraction(1), Reach(rows=1)).tolist()
        [1]
    """
    rate = score_rate(target, epsilon, reach)
    drawn = np.empty(len(weights), dtype=np.int64)
    for start in range(0, len(weights), AT_ONCE):
        scores = rank_scores(weights[start : start + AT_ONCE], target)
        drawn[start : start + AT_ONCE] = choose_many(scores, np.ones(scores.shape[1], dtype=np.int64), rate)
    return drawn


def draw_points(buckets: Buckets, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """A uniform grid point of each drawn bucket: post-processing, always within the range."""
    numbers = drawn.tolist()
    inside = uniform_below([buckets.size(number) for number in numbers])
    return np.array([buckets.first(number) + offset for number, offset in zip(numbers, inside, strict=True)], np.int64)
