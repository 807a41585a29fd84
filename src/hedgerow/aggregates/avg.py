"""AVG(column)."""

from collections.abc import Sequence
from typing import final

import numpy as np

from hedgerow.aggregates.base import (
    Aggregate,
    Estimate,
    Floats,
    Kind,
    MeasuredSums,
    NeededSums,
    Ratio,
    aggregate,
    bounded_number,
    shared_noises,
)
from hedgerow.error_bars.intervals import quotient_bounds
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type


@final
@aggregate("AVG", "AVG({x})")
class Avg(Aggregate):
    """The mean of a clamped value, from a centred sum and a count released together.

    Centring on the middle of the range shrinks the sensitivity of the sum; on a mean that is known from an earlier
    release, it makes the count matter little (`use_known_means`). While the count may be zero, the interval is the
    whole range: nothing was learned.
    """

    result = Type.FLOAT

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """A count and a sum over the rows that have a value."""
        if distinct:
            raise UnsupportedSQLError("AVG(DISTINCT …) cannot be bounded for one person.", code="distinct-sum")
        return NeededSums(Kind.MEAN, bounded_number("AVG", arguments), where)

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The quotient, cut to the range; its exact interval, from the values before they were cut."""
        count, centred = measured.count, measured.centred
        if count is None or centred is None:
            raise InternalError("AVG was not measured.")
        low, high = ((end - measured.middle) / measured.half for end in measured.support)
        support = (low, high) if measured.ends else (-1.0, 1.0)
        bounds = quotient_bounds(centred.values, count.values, shared_noises(centred, count), beta, support)
        values = self.values(measured)
        lower, upper = (measured.middle + measured.half * end for end in (bounds.lower, bounds.upper))
        return Estimate(values, np.minimum(lower, values), np.maximum(upper, values), bounds.statuses)

    def values(self, measured: MeasuredSums) -> Floats:
        """The quotient, cut to the range; its middle where the count is not positive."""
        count, centred = measured.count, measured.centred
        if count is None or centred is None:
            raise InternalError("AVG was not measured.")
        positive = count.values > 0
        raw = np.divide(centred.values, count.values, out=np.zeros_like(count.values), where=positive)
        return np.clip(measured.middle + measured.half * raw, *measured.support)

    def ratio(self, measured: MeasuredSums) -> Ratio | None:
        """(middle count + half centred sum) / count."""
        if measured.count is None or measured.centred is None:
            return None
        total = measured.count.times(measured.middle).plus(measured.centred.times(measured.half))
        return Ratio(total, measured.count, measured.support)
