"""SUM(column)."""

from collections.abc import Sequence
from typing import final

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
)
from hedgerow.error_bars.intervals import half_width
from hedgerow.error_bars.intervals.interval import EXACT
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type


@final
@aggregate("SUM", "SUM({x})")
class Total(Aggregate):
    """The sum of a clamped value.

    Alone it is one noisy sum. Next to a count of the same rows it is made of that count and the
    centred sum, which never has more noise.
    """

    result = Type.FLOAT

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The sum over the rows that have a value."""
        if distinct:
            raise UnsupportedSQLError("SUM(DISTINCT …) cannot be bounded for one person.", code="distinct-sum")
        return NeededSums(Kind.SUM, bounded_number("SUM", arguments), where)

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The noisy sum and the quantile of its noise."""
        form = measured.total
        if form is None:
            raise InternalError("SUM was not measured.")
        margin = half_width(form.noise, beta)
        return Estimate(form.values, form.values - margin, form.values + margin, [EXACT] * len(form.values))

    def values(self, measured: MeasuredSums) -> Floats:
        """The noisy sum."""
        if measured.total is None:
            raise InternalError("SUM was not measured.")
        return measured.total.values

    def ratio(self, measured: MeasuredSums) -> Ratio | None:
        """The sum itself."""
        return None if measured.total is None else Ratio(measured.total)
