"""Bounds found privately: the range of a value, and how many rows and groups one person has.

A range is found in two steps, first its order of magnitude, then the cells of a grid that people share. Powers of two
alone would not do: near zero they are so narrow that few people share one, and whatever lies there would be cut off. So
the first look finds the largest order of magnitude that enough people share, and the second one cuts the range that it
spans, both signs, into equal cells. Where hardly any of them is shared, a further look cuts those again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hedgerow.answer import FoundBounds
from hedgerow.calibration.buckets import (
    CELLS,
    CellRange,
    HeavyBuckets,
    cell,
    fine_magnitude,
    histogram,
    is_present,
    magnitude,
    rows_each,
    span_of,
    whole_below,
)
from hedgerow.calibration.clipping_search import leader
from hedgerow.calibration.sub_budget import SubBudget
from hedgerow.error_bars.intervals import half_width
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Column, Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.release import Estimator

LARGER = 4.0
"""Where the first look shows nothing, the next ones cost so many times as much."""

GROUPS = (2, 4)
"""In how many orders of magnitude, and in how many cells, one person counts."""

CUTS = 3
"""How often a range is cut into cells at most."""


@dataclass(frozen=True, slots=True)
class UnboundedValue:
    """A value without bounds: over the rows of a release, where `condition` holds."""

    release: Release
    value: Expr
    condition: Expr | None = None

    @property
    def label(self) -> str:
        """Value in words."""
        return describe(self.value)

    def magnitudes(self) -> LogicalPlan:
        """Return the plan that counts the people with values of each order of magnitude."""
        return self._histogram(magnitude(self.value), GROUPS[0])

    def cells(self, span: CellRange) -> LogicalPlan:
        """Return the plan that counts the people with values in each cell."""
        return self._histogram(cell(self.value, span), GROUPS[1])

    def _histogram(self, bucket: Expr, groups: int) -> LogicalPlan:
        present = [is_present(self.value), *([] if self.condition is None else [self.condition])]
        return histogram(self.release, bucket, present, groups)


@dataclass(frozen=True, slots=True)
class RangeShares:
    """Shares of the budget to find one range: for the first look, for each later one, for all of them."""

    first: float
    later: float
    most: float

    def among(self, count: int) -> "RangeShares":
        """Return the shares for each of so many ranges."""
        return RangeShares(self.first / count, self.later / count, self.most / count)

    def larger(self) -> "RangeShares":
        """Return the shares where a first look shows nothing."""
        return replace(self, first=self.first * LARGER, later=self.later * LARGER)


OF_A_STATEMENT = RangeShares(0.04, 0.04, 0.4)
"""Where the answer is paid from the same budget."""

ALONE = RangeShares(0.2, 0.4, 1.0)
"""Where a range is all that is asked for."""


def find_range(sub_budget: SubBudget, value: UnboundedValue, looks: RangeShares) -> FoundBounds | None:
    """Find the range that enough people share; None where no order of magnitude is shared by enough of them."""
    started, subject, used, span = len(sub_budget.payments), f"bounds of {value.label}", 0.0, None
    while span is None and used + looks.first <= looks.most:
        shown = sub_budget.ask(value.magnitudes(), looks.first, subject)
        used, span = used + looks.first, span_of(HeavyBuckets.of(shown).counts)
        looks = looks if span else looks.larger()
    for _ in range(CUTS if span else 0):
        if span is None or used + looks.later > looks.most:
            break
        heavy = HeavyBuckets.of(sub_budget.ask(value.cells(span), looks.later, subject))
        used, narrow = used + looks.later, heavy.is_narrow
        span = span.of_cells(heavy.cells(), extra=heavy.extra()) if heavy.counts else span
        if not narrow or _is_fine(value.value, span):
            break
    return None if span is None else _bounds_of(value, span, free=len(sub_budget.payments) == started)


def _is_fine(value: Expr, span: CellRange) -> bool:
    """Return True if cutting a range again tells nothing: its ends are whole neighbours, or as close as doubles go."""
    size = max(abs(span.lower), abs(span.upper))
    return span.upper - span.lower <= (CELLS / 4 if value.type is Type.INTEGER else size * 2.0**-30)


def _bounds_of(value: UnboundedValue, span: CellRange, *, free: bool) -> FoundBounds:
    """Return bounds that hold the whole span; of whole numbers, all that lie in it. What is known anyway is kept."""
    known = range_of(value.value)
    lower, upper = max(span.lower, known.lower), min(span.upper, known.upper)
    if value.value.type is Type.INTEGER:
        lower, upper = float(math.ceil(lower)), float(math.ceil(upper) - 1 if upper < known.upper else upper)
    upper = upper if lower < upper else lower + 1.0
    return FoundBounds(value.label, lower, upper, "earlier answer" if free else "bought")


BETA = 0.05
EXCEEDING = 0.01
"""Share of people who may have more than a limit that is found."""


def cap_plan(release: Release) -> LogicalPlan:
    """Return the plan that counts people by their rows in a release, in powers of two: few buckets hold more people."""
    people, rows = rows_each(release)
    return histogram(people, magnitude(rows), (), 1)


def find_cap(sub_budget: SubBudget, release: Release, share: float) -> int | None:
    """Find how many rows of one person should count; None where too few people are there to tell."""
    (estimator,) = sub_budget.ask(cap_plan(release), share, "rows of one person")
    heavy = HeavyBuckets.of([estimator])
    return cap_of(heavy, _margin(estimator, share)) if heavy.counts else None


def cap_of(heavy: HeavyBuckets, margin: float) -> int:
    """Return the winner of a race between caps: that with the largest lower limit of the number of rows it lets count.

    A sum of which a person may add c has a margin of c times `margin`, and loses what people have beyond c. The sums of
    all caps are those that a released histogram of rows says, so that none of them has to be released itself.

    Example:
        >>> cap_of(HeavyBuckets({0: 500.0, 1: 9000.0, 2: 40.0}, 20.0), 10.0)
        7
        >>> cap_of(HeavyBuckets({0: 500.0, 1: 9000.0, 2: 40.0}, 20.0), 50.0)
        3
    """
    counts = {**heavy.counts, **heavy.tail()}
    caps = {power: (1 << max(power + 1, 0)) - 1 for power in sorted(counts)}
    sums = [sum(people * min(caps[b], cap) for b, people in counts.items()) for cap in caps.values()]
    return list(caps.values())[leader(sums, [margin * cap for cap in caps.values()])]


def _margin(estimator: Estimator, share: float) -> float:
    """Return about what the noise of the answer exceeds for each row that a person may count for, once in twenty times.

    Noise is inverse to what is paid: that of a look which cost a share is 1 / share times that of the whole.
    """
    selection = estimator.plan.selection
    return 0.0 if selection is None else half_width([(1.0, selection.noise)], 2 * BETA) * share


def amounts_plan(people: Release, amount: Column) -> LogicalPlan:
    """Return the plan that counts the people with amounts of each fine order of magnitude."""
    return histogram(people, fine_magnitude(amount), (), 1)


def find_limit(sub_budget: SubBudget, people: Release, amount: Column, share: float, subject: str) -> int | None:
    """Find the smallest limit that about one in a hundred people exceeds; None where no amount is shared."""
    return limit_of(HeavyBuckets.of(sub_budget.ask(amounts_plan(people, amount), share, subject)).counts)


def limit_of(counts: Mapping[int, float]) -> int | None:
    """Return the limit that a histogram of amounts suggests.

    Example:
        >>> limit_of({0: 500.0, 4: 480.0, 8: 15.0, 12: 5.0})
        4
    """
    allowed, beyond = EXCEEDING * sum(counts.values()), 0.0
    for bucket in sorted(counts, reverse=True):
        beyond += counts[bucket]
        if beyond > allowed:
            return whole_below(bucket)
    return None
