"""Several quantiles of one column for the price of fewer: the middle one first, the others in the parts it cuts off."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.noise.exponential import choose_many
from hedgerow.statistics.quantiles.scores import Reach, Target, Whole, rank_scores, score_rate

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of buckets in every group, the weights inside it (0 elsewhere), and which quantiles lie there.

    `first` to `last` are positions in the list of quantiles, both included; `low` and `high` the quantiles that cut it.
    """

    weights: Whole
    begin: Numbers
    end: Numbers
    first: int
    last: int
    low: Fraction
    high: Fraction


def draw_nested(weights: Whole, quantiles: list[Fraction], epsilon: Fraction, reach: Reach) -> Numbers:
    """Buckets for several quantiles: one row per group, one column per quantile, ascending in each row.

    The middle quantile is drawn from all buckets. The bucket it falls into cuts the group in two: those before it,
    those after it, and half of its own weight for each (rounded down for the lower part, up for the upper). Each part
    is then treated alike, its quantiles taken relative to the two that cut it out. An error in a cut is passed on to
    what is drawn inside, and a bucket heavier than the distance of two quantiles can carry them away. So it has no
    bound on ranks; it pays from about five quantiles on, on columns without heavy buckets (benchmarks/quantiles.py).

    Privacy: the parts of a level share no weight. An owner who adds a to a group adds non-negative whole numbers to
    the parts, a in all: halving a bucket of weight w by floor and by ceiling adds up to w before and after. A part's
    draw reads nothing but its own weights, the cuts (released) and public numbers, so a level costs one draw
    over groups and parts together: `charge.nested_mu_squared`, and `charge.pure_epsilon` times `charge.levels`.

    Example:
        >>> quartiles = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
        >>> draw_nested(np.array([[900, 0, 900, 900, 900]]), quartiles, Fraction(9), Reach(1)).shape
        (1, 3)
    """
    if not quantiles or sorted(set(quantiles)) != quantiles or not 0 < quantiles[0] <= quantiles[-1] < 1:
        raise InternalError("Nested quantiles must be distinct, ascending, and between 0 and 1.")
    table = np.asarray(weights)
    groups, count = table.shape
    begin, end = np.zeros(groups, np.int64), np.full(groups, count - 1, np.int64)
    parts = [_Part(table, begin, end, 0, len(quantiles) - 1, Fraction(0), Fraction(1))]
    drawn = np.empty((groups, len(quantiles)), dtype=np.int64)
    while parts:
        part = parts.pop()
        middle = (part.first + part.last + 1) // 2
        drawn[:, middle] = _draw(part, quantiles[middle], epsilon, reach)
        parts += _cut(part, middle, quantiles[middle], drawn[:, middle])
    return drawn


def _draw(part: _Part, quantile: Fraction, epsilon: Fraction, reach: Reach) -> Numbers:
    """One bucket of the part for each group, by the weights inside the part alone."""
    target = Target((quantile - part.low) / (part.high - part.low))
    places = np.arange(part.weights.shape[1])
    inside = (part.begin[:, None] <= places) & (places <= part.end[:, None])
    return choose_many(rank_scores(part.weights, target), inside.astype(np.int64), score_rate(target, epsilon, reach))


def _cut(part: _Part, middle: int, quantile: Fraction, drawn: Numbers) -> list[_Part]:
    """The parts below and above the drawn buckets in which quantiles are left to draw."""
    parts = []
    places = np.arange(part.weights.shape[1])
    own = np.where(places == drawn[:, None], part.weights, 0)
    if part.first < middle:
        below = np.where(places < drawn[:, None], part.weights, own // 2)
        parts.append(_Part(below, part.begin, drawn.copy(), part.first, middle - 1, part.low, quantile))
    if middle < part.last:
        above = np.where(places > drawn[:, None], part.weights, own - own // 2)
        parts.append(_Part(above, drawn.copy(), part.end, middle + 1, part.last, quantile, part.high))
    return parts
