"""COUNT(*), COUNT(x), COUNT(DISTINCT unit), COUNT(DISTINCT x)."""

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from hedgerow.aggregates.base import (
    Aggregate,
    DistinctCount,
    Estimate,
    Floats,
    Kind,
    MeasuredSums,
    NeededSums,
    Ratio,
    aggregate,
)
from hedgerow.error_bars.intervals import half_width, selected_count_bounds
from hedgerow.error_bars.intervals.interval import CONSERVATIVE, EXACT, IntervalKind, Reason, Status
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type

HALF = 0.5
CHOICE_BETA = 0.001
"""Level of the limits by which one of several counts of distinct values is chosen."""

LOWER = Status(
    IntervalKind.CONSERVATIVE,
    Reason.LOWER_ESTIMATE,
    "conservative: a lower estimate, because each person adds at most a few values",
)


class CountedRows(Aggregate):
    """A number of rows, of values or of people.

    It is a whole number and may come out below zero: cutting it off would bias every total made of it.
    Its interval is cut to what is possible.
    """

    result = Type.INTEGER

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The noisy count, rounded; the noise's own quantile, or the conditional one for a count that selected."""
        if measured.distinct:
            return _of_values(measured.distinct, beta)
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
        if measured.distinct:
            return _shown_values(measured.distinct)
        if measured.count is None:
            raise InternalError("COUNT was not measured.")
        return np.asarray(np.round(measured.count.values))

    def ratio(self, measured: MeasuredSums) -> Ratio | None:
        """The count itself; not where it was seen only because it was large."""
        if measured.count is None or measured.selected is not None or measured.distinct:
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


def _of_values(counts: Sequence[DistinctCount], beta: float) -> Estimate:
    """Return bounds on the number of distinct values: at least the lower end of every count, and at most their ceiling.

    Every count is at most the number of values, so each gives a lower limit, and the highest holds if all do. A count
    to which people add all of their values gives an upper limit, too; so does the catalog.
    """
    shown = _shown_values(counts)
    complete = next((count for count in counts if count.complete or count.whole), None)
    sides = 1 if complete is None else 2
    limits = [count.form.values - _margin(count, beta / sides / len(counts)) for count in counts]
    lower = np.minimum(np.maximum(np.max(limits, axis=0), 0.0), np.maximum(shown, 0.0))
    upper = np.full_like(shown, math.inf)
    if complete is not None:
        upper = np.maximum(complete.form.values + _margin(complete, beta / sides), 0.0)
    upper = np.maximum(np.minimum(upper, counts[0].ceiling), np.maximum(shown, lower))
    status = LOWER if complete is None else EXACT if complete.whole else CONSERVATIVE
    return Estimate(shown, lower, upper, [status] * len(shown))


def _shown_values(counts: Sequence[DistinctCount]) -> Floats:
    """Return the first count, from the least noisy on, that no later one shows to be too low; rounded.

    That is where the lower limit of a later one exceeds its upper limit. Nothing above the ceiling is shown, unless
    nothing was left out.
    """
    values = np.array([count.form.values for count in counts])
    margins = np.array([_margin(count, CHOICE_BETA / len(counts)) for count in counts])[:, None]
    chosen, shown_low = values[-1], values[-1] - margins[-1]
    for value, margin in zip(values[-2::-1], margins[-2::-1], strict=True):
        chosen = np.where(value + margin >= shown_low, value, chosen)
        shown_low = np.maximum(shown_low, value - margin)
    ceiling = math.inf if counts[0].whole else counts[0].ceiling
    return np.asarray(np.round(np.minimum(chosen, ceiling)))


def _margin(count: DistinctCount, beta: float) -> float:
    """Return how far the noise goes to one side, but with probability `beta`."""
    return half_width(count.form.noise, 2 * beta) if beta < HALF else 0.0
