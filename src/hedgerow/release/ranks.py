"""Drawing quantiles and extremes from exact bucket weights, for all groups at once: buckets, points inside, limits.

The only module that reads bucket weights and random bits together (docs/proofs/quantiles.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt
from hedgerow.compiled import BUCKET, KEY_INDEX, WEIGHT
from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals import half_width
from hedgerow.errors import InternalError
from hedgerow.exact import ExactTable
from hedgerow.noise.exponential import choose_many, uniform_below
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import CumulativeSums, Draw
from hedgerow.privacy.sums import NoisySum
from hedgerow.release.draw import add_noise, require
from hedgerow.release.key_selection import SelectedKeys
from hedgerow.statistics.quantiles import (
    DENOMINATOR,
    Buckets,
    QuantilePoints,
    Strategy,
    Target,
    cell_edges,
    highest,
    lowest,
    strategy,
)
from hedgerow.statistics.quantiles.buckets import (
    SAFE,
    Reach,
    Whole,
    rank_scores,
    score_rate,
)

Numbers = NDArray[np.int64]
HALF = 0.5
GROUPS_AT_ONCE = 32
"""Number of groups that are scored at once, so that they stay in the processor's cache."""


Floats = NDArray[np.float64]

BUCKETS_AT_ONCE = 4_000_000
"""Maximum number of buckets, over all groups, that are held at once."""


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
    for start in range(0, len(weights), GROUPS_AT_ONCE):
        scores = rank_scores(weights[start : start + GROUPS_AT_ONCE], target)
        drawn[start : start + GROUPS_AT_ONCE] = choose_many(scores, np.ones(scores.shape[1], dtype=np.int64), rate)
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
        target = Target((quantiles[middle] - part.low) / (part.high - part.low))
        indices = np.arange(part.weights.shape[1])
        inside = (part.begin[:, None] <= indices) & (indices <= part.end[:, None])
        drawn[:, middle] = choose_many(
            rank_scores(part.weights, target), inside.astype(np.int64), score_rate(target, epsilon, reach)
        )
        parts += _cut(part, middle, quantiles[middle], drawn[:, middle])
    return drawn


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


@dataclass(frozen=True)
class RankColumn:
    """Grid points that were drawn, one per group, and the ends of their intervals; NaN where a group is held back."""

    points: Floats
    lower: Floats
    upper: Floats


def draw_ranks(
    exact: ExactTable, selected: SelectedKeys, plan: PrivatePlan, index: int, receipt: Receipt
) -> list[RankColumn]:
    """Return all draws from bucketing number `index`, in every shown group.

    Privacy: `draw_buckets` and `draw_nested`, with the epsilons that were charged. The weights are read here and go no
    further.
    """
    require(receipt, plan)
    shown = np.flatnonzero(selected.shown)
    draws, buckets = [draw for draw in plan.draws if draw.bucketing == index], plan.bucketings[index].buckets
    shared = next((sums for sums in plan.cumulative if sums.bucketing == index), None)
    parts: list[list[QuantilePoints]] = [[] for _ in draws]
    at_once = max(1, BUCKETS_AT_ONCE // buckets.count)
    weights = _Weights(exact, len(selected.shown), buckets.count)
    for start in range(0, len(shown), at_once):
        table = weights.of(shown[start : start + at_once])
        columns = measure_column(table, buckets, draws, shared, mechanism=plan.mechanism, weight_bits=plan.weight_bits)
        for part, points in zip(parts, columns, strict=True):
            part.append(points)
    return [_column(part, shown, len(selected.shown)) for part in parts]


class _Weights:
    """Exact weights by group and bucket."""

    def __init__(self, exact: ExactTable, groups: int, buckets: int) -> None:
        self._place, self._bucket = exact.exact_numbers(KEY_INDEX), exact.exact_numbers(BUCKET)
        self._weight = exact.exact_numbers(WEIGHT)
        self._groups, self._buckets = groups, buckets

    def of(self, groups: NDArray[np.int64]) -> Whole:
        """The weights of some groups, one row for each."""
        row = np.full(self._groups, -1)
        row[groups] = np.arange(len(groups))
        rows = row[self._place]
        wanted = rows >= 0
        table = np.zeros((len(groups), self._buckets), dtype=self._weight.dtype)
        table[rows[wanted], self._bucket[wanted]] = self._weight[wanted]
        return table


def measure_column(
    table: Whole,
    buckets: Buckets,
    draws: Sequence[Draw],
    shared: CumulativeSums | None,
    *,
    mechanism: str,
    weight_bits: int,
) -> list[QuantilePoints]:
    """Values and limits of all draws from one column, from its exact weights: one row for each group.

    For every data set and every quantile of it, with probability at least 1 - beta, the quantile of the weighted rows
    on the grid lies between its limits. Without sums over cells (`shared`), these are the ends of the range.

    Privacy: the draws and the sums that give limits are charged one by one; all else is post-processing.
    """
    drawn = _drawn_buckets(table, buckets, draws)
    limits = [range_ends(buckets, len(table))] * len(draws)
    if shared is not None:
        cells = Cells.merge(table, buckets, cell_edges(drawn, buckets.count, shared.cells))
        released = strategy(shared.cells, shared.quantiles, mechanism)
        sums = noisy_cell_sums(cells, released, shared.sum, mechanism=mechanism, weight_bits=weight_bits)
        limits = [
            cumulative_limits(cells, sums, released.form(draw.rank.quantile), _wanted(draw), shared.sum.noise)
            for draw in draws
        ]
    columns = zip(draws, drawn.T, limits, strict=True)
    return [_held(draw, draw_points(buckets, column), *ends) for draw, column, ends in columns]


def _drawn_buckets(table: Whole, buckets: Buckets, draws: Sequence[Draw]) -> Numbers:
    """A bucket for each draw (columns) in each group (rows); draws that are nested cut the group for each other."""
    nested = [draw for draw in draws if draw.nested]
    values = sorted({draw.rank.quantile for draw in nested})
    together = draw_nested(table, values, nested[0].epsilon, nested[0].reach) if nested else None
    columns = []
    for draw in draws:
        if draw.nested and together is not None:
            columns.append(together[:, values.index(draw.rank.quantile)])
        else:
            columns.append(draw_buckets(table, _aim(draw, buckets), draw.epsilon, draw.reach))
    return np.stack(columns, axis=1)


def _aim(draw: Draw, buckets: Buckets) -> Target:
    """Return the rank that a draw aims at: for an extreme, a little inside."""
    if not draw.rank.extreme:
        return Target(draw.rank.quantile)
    return (highest if draw.rank.quantile else lowest)(draw.epsilon, draw.reach, buckets.count)


def _wanted(draw: Draw) -> LimitRequest:
    """Return both limits of a quantile; for an extreme, the one on its inner side."""
    rank = draw.rank
    if rank.extreme:
        return LimitRequest(rank.quantile, draw.beta, lower=rank.quantile == 1, upper=rank.quantile == 0)
    return LimitRequest(rank.quantile, draw.beta, aside=rank.aside)


def _held(draw: Draw, points: Numbers, lower: Numbers, upper: Numbers) -> QuantilePoints:
    """Clip a quantile to its limits, which keep their level; for an extreme, move the limit beyond the value."""
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    if draw.rank.extreme:
        return QuantilePoints(points, np.minimum(lower, points), np.maximum(upper, points))
    return QuantilePoints(np.clip(points, lower, upper), lower, upper)


def _column(parts: list[QuantilePoints], shown: NDArray[np.int64], groups: int) -> RankColumn:
    """Return the draws of all shown groups, at their indices."""

    def whole(name: str) -> Floats:
        values = np.full(groups, np.nan)
        if parts:
            values[shown] = np.concatenate([getattr(part, name) for part in parts])
        return values

    return RankColumn(whole("points"), whole("lower"), whole("upper"))


def in_order(plan: PrivatePlan, columns_of_bucketings: Sequence[Sequence[RankColumn]]) -> tuple[RankColumn, ...]:
    """The columns of all bucketings in the order of the plan's draws."""
    left = [iter(columns) for columns in columns_of_bucketings]
    return tuple(next(left[draw.bucketing]) for draw in plan.draws)
