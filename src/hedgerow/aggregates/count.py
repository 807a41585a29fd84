"""COUNT(*), COUNT(x), COUNT(DISTINCT unit), COUNT(DISTINCT x)."""

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from hedgerow.aggregates.base import Aggregate, Estimate, Floats, Form, Kind, MeasuredSums, NeededSums, Ratio, aggregate
from hedgerow.error_bars.intervals import half_width, selected_count_bounds
from hedgerow.error_bars.intervals.interval import EXACT, IntervalKind, Reason, Status
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type

LOWER = Status(
    IntervalKind.CONSERVATIVE,
    Reason.LOWER_ESTIMATE,
    "conservative: a lower estimate, for each person adds a few values at most",
)


class CountedRows(Aggregate):
    """A number of rows, of values or of people.

    It is a whole number and may come out below zero: cutting it off would bias every total made of it.
    Its interval is cut to what is possible.
    """

    result = Type.INTEGER

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The noisy count, rounded; the noise's own quantile, or the conditional one for a count that selected."""
        if measured.distinct is not None:
            return _of_values(measured.distinct, beta, whole=measured.whole)
        form = measured.count
        if form is None:
            raise InternalError("COUNT was not measured.")
        shown = self.values(measured)
        if measured.selected is not None:
            _, noise = form.noise[0]
            bounds = selected_count_bounds(
                form.values, noise, measured.selected.threshold, measured.selected.minimum, beta
            )
            return Estimate(shown, np.minimum(bounds.lower, shown), np.maximum(bounds.upper, shown), bounds.statuses)
        margin = half_width(form.noise, beta)
        lower, upper = np.maximum(form.values - margin, 0.0), np.maximum(form.values + margin, 0.0)
        possible = np.maximum(shown, 0.0)
        return Estimate(shown, np.minimum(lower, possible), np.maximum(upper, possible), [EXACT] * len(shown))

    def values(self, measured: MeasuredSums) -> Floats:
        """The noisy count, rounded."""
        form = measured.count if measured.distinct is None else measured.distinct
        if form is None:
            raise InternalError("COUNT was not measured.")
        return np.asarray(np.round(form.values))

    def ratio(self, measured: MeasuredSums) -> Ratio | None:
        """The count itself; not where it was seen only because it was large."""
        if measured.count is None or measured.selected is not None or measured.distinct is not None:
            return None
        return Ratio(measured.count, support=(0.0, math.inf))


@final
@aggregate("COUNT", "COUNT(*)")
class Count(CountedRows):
    """The number of rows, of rows with a value, or of people."""

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """Units for COUNT(DISTINCT unit), values for another DISTINCT, else rows: all where none can be missing."""
        if distinct and arguments:
            return NeededSums(Kind.DISTINCT, arguments[0], where)
        if distinct:
            if where is not None:
                raise UnsupportedSQLError(
                    "COUNT(DISTINCT unit) cannot be filtered.",
                    code="filtered-units",
                    hint="Put the condition into WHERE.",
                )
            return NeededSums(Kind.UNITS)
        value = arguments[0] if arguments else None
        return NeededSums(Kind.ROWS, value if value is not None and may_be_null(value) else None, where)


def _of_values(form: Form, beta: float, *, whole: bool) -> Estimate:
    """A number of different values: where people may have more than were counted, a lower limit alone."""
    shown = np.round(form.values)
    margin = half_width(form.noise, beta if whole else min(2 * beta, 0.999))
    lower = np.minimum(np.maximum(form.values - margin, 0.0), np.maximum(shown, 0.0))
    if whole:
        upper = np.maximum(np.maximum(form.values + margin, 0.0), shown)
        return Estimate(shown, lower, upper, [EXACT] * len(shown))
    return Estimate(shown, lower, np.full_like(shown, math.inf), [LOWER] * len(shown))
