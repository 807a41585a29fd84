"""Draw quantiles and extremes from exact bucket weights, for all groups at once: buckets, points inside, limits.

The only module that reads bucket weights and random bits together (docs/proofs/quantiles.md).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.errors import InternalError
from hedgerow.noise.exponential import choose_many, uniform_below
from hedgerow.privacy.sums import NoisySum
from hedgerow.release.draw import add_noise
from hedgerow.statistics.quantiles import DENOMINATOR, Buckets, Strategy
from hedgerow.statistics.quantiles.targets import (
    SAFE,
    Reach,
    Target,
    Whole,
    rank_scores,
    score_rate,
)

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
HALF = 0.5
AT_ONCE = 32
"""Number of groups that are scored at once, so that they stay in the processor's cache."""


def draw_buckets(weights: Whole, target: Target, epsilon: Fraction, reach: Reach) -> NDArray[np.int64]:
    """Draw a bucket for each row of weights, with probability proportional to exp(-rate * score).

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


@dataclass(frozen=True)
class Cells:
    """Buckets of each group merged into cells: the weight of each, and the buckets at which all but the first begin."""

    weights: Whole
    edges: Numbers
    buckets: Buckets

    @classmethod
    def merge(cls, weights: Whole, buckets: Buckets, edges: Numbers) -> "Cells":
        """Merge the buckets between edges (`statistics.quantiles.cell_edges`)."""
        heaviest = float(np.max(np.sum(weights.astype(np.float64), axis=1), initial=0.0))
        below = np.cumsum(weights.astype(np.int64 if heaviest < SAFE else object), axis=1)
        ends = np.concatenate([np.take_along_axis(below, edges - 1, axis=1), below[:, -1:]], axis=1)
        return cls(np.diff(ends, axis=1, prepend=0), edges, buckets)

    @property
    def count(self) -> int:
        """Number of cells of a group, empty ones included."""
        return int(self.weights.shape[1])

    def firsts(self, cells: Numbers) -> Numbers:
        """The lowest grid point of one cell of each group."""
        begins = np.concatenate([np.zeros((len(cells), 1), np.int64), self.edges], axis=1)
        return self.buckets.firsts(np.take_along_axis(begins, cells[:, None], axis=1)[:, 0])

    def lasts(self, cells: Numbers) -> Numbers:
        """The highest grid point of one cell of each group."""
        ends = np.concatenate([self.edges, np.full((len(cells), 1), self.buckets.count)], axis=1)
        return self.buckets.lasts(np.take_along_axis(ends, cells[:, None], axis=1)[:, 0] - 1)


@dataclass(frozen=True, slots=True)
class LimitRequest:
    """Limits of one quantile, below it, above it or both, that miss with probability at most `beta` in all.

    `aside` is the number of rows by which they are moved outwards.
    """

    quantile: Fraction
    beta: float
    lower: bool = True
    upper: bool = True
    aside: int = 0

    @property
    def sides(self) -> int:
        """Number of limits."""
        return self.lower + self.upper


def noisy_cell_sums(cells: Cells, released: Strategy, noise: NoisySum, *, mechanism: str, weight_bits: int) -> Floats:
    """The sums over cells that give limits, with the noise that was paid for, in rows: one row for each group.

    Privacy: integer combinations of exact weights, and integer noise (`privacy.ranks.CumulativeSums`). The cells follow
    from released buckets and public numbers.
    """
    heaviest = float(np.max(np.sum(cells.weights.astype(np.float64), axis=1), initial=0.0))
    exact = cells.weights.astype(np.int64 if heaviest * DENOMINATOR < SAFE else object)
    sums = exact @ released.coefficients.T.astype(exact.dtype)
    noisy = add_noise(sums.reshape(-1), noise.shift, noise.scale, mechanism).astype(float)
    return np.asarray(noisy.reshape(sums.shape) / (float(noise.denominator << weight_bits) * 2.0**noise.shift))


def cumulative_limits(
    cells: Cells, sums: Floats, form: Floats, wanted: LimitRequest, noise: Noise
) -> tuple[Numbers, Numbers]:
    """Limits from noisy sums over cells: a cell is left out where its own test excludes the quantile from it.

    The quantile lies in one cell, and is missed below only if the test at the end of this cell fails, above only if the
    one at its beginning does. So for every data set, every quantile of it lies between the limits with probability at
    least 1 - beta (docs/proofs/quantiles.md). Where a limit is not wanted, it is the end of the range.

    Privacy: post-processing.
    """
    beta_per_side = wanted.beta / wanted.sides
    margins = [
        half_width([(c, noise) for c in row if c], 2 * beta_per_side) if beta_per_side < HALF else 0.0
        for row in form.tolist()
    ]
    margin = np.array(margins) + wanted.aside
    centred = sums @ form.T
    always = np.ones((len(sums), 1), bool)
    lower, upper = range_ends(cells.buckets, len(sums))
    if wanted.lower:
        possible = np.concatenate([centred >= -margin, always], axis=1)
        lower = cells.firsts(np.argmax(possible, axis=1))
    if wanted.upper:
        possible = np.concatenate([always, centred <= margin], axis=1)
        upper = cells.lasts(possible.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1))
    return lower, upper


def range_ends(buckets: Buckets, groups: int) -> tuple[Numbers, Numbers]:
    """The ends of the public range, for every group."""
    return np.full(groups, buckets.low, np.int64), np.full(groups, buckets.high, np.int64)


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
    bound on ranks of its own; the limits of each quantile hold whatever was drawn, and the value is moved between them.

    Privacy: the parts of a level share no weight. An owner who adds a to a group adds non-negative whole numbers to
    the parts, a in all: halving a bucket of weight w by floor and by ceiling adds up to w before and after. A part's
    draw reads nothing but its own weights, the cuts (released) and public numbers, so a level costs one draw
    over groups and parts together: `charge.levels` times `charge.mu_squared` or `charge.pure_epsilon`.

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
    """Draw a bucket of the part for each group, by the weights inside the part alone."""
    target = Target((quantile - part.low) / (part.high - part.low))
    indices = np.arange(part.weights.shape[1])
    inside = (part.begin[:, None] <= indices) & (indices <= part.end[:, None])
    return choose_many(rank_scores(part.weights, target), inside.astype(np.int64), score_rate(target, epsilon, reach))


def _cut(part: _Part, middle: int, quantile: Fraction, drawn: Numbers) -> list[_Part]:
    """Return the parts below and above the drawn buckets in which quantiles remain to be drawn."""
    parts = []
    indices = np.arange(part.weights.shape[1])
    own = np.where(indices == drawn[:, None], part.weights, 0)
    if part.first < middle:
        below = np.where(indices < drawn[:, None], part.weights, own // 2)
        parts.append(_Part(below, part.begin, drawn.copy(), part.first, middle - 1, part.low, quantile))
    if middle < part.last:
        above = np.where(indices > drawn[:, None], part.weights, own - own // 2)
        parts.append(_Part(above, drawn.copy(), part.end, middle + 1, part.last, quantile, part.high))
    return parts
