"""The range of a value, found privately: first its order of magnitude, then the cells of a grid that people share.

Powers of two alone would not do: near zero they are so narrow that few people share one, and whatever lies there would
be cut off. So the first look finds the largest order of magnitude that enough people share, and the second one cuts
the range that it spans, both signs, into equal cells. Where hardly any of them is shared, a further look cuts
those again.
"""

import math
from dataclasses import dataclass, replace

from hedgerow.answer import FoundBounds
from hedgerow.calibration.buckets import CELLS, Span, cell, magnitude, span_of
from hedgerow.calibration.heavy_buckets import Shared
from hedgerow.calibration.plans import histogram, is_present
from hedgerow.calibration.sub_budget import Purse
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr, describe
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import LogicalPlan, Release

LARGER = 4.0
"""Where the first look shows nothing, the next ones cost so many times as much."""

GROUPS = (2, 4)
"""In how many orders of magnitude, and in how many cells, one person counts."""

CUTS = 3
"""How often a range is cut into cells at most."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A value whose range is sought: over the rows of a release, where `condition` holds."""

    release: Release
    value: Expr
    condition: Expr | None = None

    @property
    def label(self) -> str:
        """The value in words."""
        return describe(self.value)

    def magnitudes(self) -> LogicalPlan:
        """How many people have values of each order of magnitude."""
        return self._histogram(magnitude(self.value), GROUPS[0])

    def cells(self, span: Span) -> LogicalPlan:
        """How many people have values in each cell."""
        return self._histogram(cell(self.value, span), GROUPS[1])

    def _histogram(self, bucket: Expr, groups: int) -> LogicalPlan:
        present = [is_present(self.value), *([] if self.condition is None else [self.condition])]
        return histogram(self.release, bucket, present, groups)


@dataclass(frozen=True, slots=True)
class Looks:
    """How much of the budget goes to finding one range: for the first look, for each later one, for all of them."""

    first: float
    later: float
    most: float

    def among(self, count: int) -> "Looks":
        """The same for each of so many ranges."""
        return Looks(self.first / count, self.later / count, self.most / count)

    def larger(self) -> "Looks":
        """What is spent where a first look shows nothing."""
        return replace(self, first=self.first * LARGER, later=self.later * LARGER)


OF_A_STATEMENT = Looks(0.04, 0.04, 0.4)
"""Where the answer is paid from the same budget."""

ALONE = Looks(0.2, 0.4, 1.0)
"""Where a range is all that is asked for."""


def find_range(purse: Purse, sought: Sought, looks: Looks) -> FoundBounds | None:
    """The range that enough people share; None where no order of magnitude is shared by enough of them."""
    started, subject, used, span = len(purse.payments), f"bounds of {sought.label}", 0.0, None
    while span is None and used + looks.first <= looks.most:
        shown = purse.look(sought.magnitudes(), looks.first, subject)
        used, span = used + looks.first, span_of(Shared.of(shown).counts)
        looks = looks if span else looks.larger()
    for _ in range(CUTS if span else 0):
        if span is None or used + looks.later > looks.most:
            break
        shared = Shared.of(purse.look(sought.cells(span), looks.later, subject))
        used, narrow = used + looks.later, shared.is_narrow
        span = span.of_cells(shared.cells(), extra=shared.extra()) if shared.counts else span
        if not narrow or _is_fine(sought.value, span):
            break
    return None if span is None else _found(sought, span, free=len(purse.payments) == started)


def _is_fine(value: Expr, span: Span) -> bool:
    """Whether cutting a range again would tell nothing: its ends are whole neighbours, or as close as doubles go."""
    size = max(abs(span.lower), abs(span.upper))
    return span.upper - span.lower <= (CELLS / 4 if value.type is Type.INTEGER else size * 2.0**-30)


def _found(sought: Sought, span: Span, *, free: bool) -> FoundBounds:
    """Bounds that hold the whole span; of whole numbers, all that lie in it. What is known anyway is kept."""
    known = range_of(sought.value)
    lower, upper = max(span.lower, known.lower), min(span.upper, known.upper)
    if sought.value.type is Type.INTEGER:
        lower, upper = float(math.ceil(lower)), float(math.ceil(upper) - 1 if upper < known.upper else upper)
    upper = upper if lower < upper else lower + 1.0
    return FoundBounds(sought.label, lower, upper, "earlier answer" if free else "bought")
