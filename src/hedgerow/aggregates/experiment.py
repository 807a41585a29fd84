"""AVG_DIFFERENCE, AVG_LIFT (value, treated): the averages of two groups of people compared, as in an experiment.

Each is made of the moments of both groups: numbers of rows, sums, and sums of squares, which tell how much people
differ by chance. A row is in one group at most, so both are released together at the price of one.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from hedgerow.aggregates.base import (
    Aggregate,
    Estimate,
    Floats,
    Kind,
    MeasuredSums,
    NeededSums,
    aggregate,
    bounded_number,
)
from hedgerow.aggregates.risk import LEAST_BETA, condition, negated
from hedgerow.error_bars.intervals import Bounds
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.statistics.moments import Moments, ScaledColumn
from hedgerow.statistics.two_by_two.curves import RISK_DIFFERENCE, AverageRatioCurve, Curve
from hedgerow.statistics.two_by_two.estimates import averages, compare_averages

TREATED, OTHERS = "AVG({x}) FILTER (WHERE {b})", "AVG({x}) FILTER (WHERE NOT ({b}))"
"""The average of the treated, and of the others: exactly, in DuckDB's SQL."""


class _Comparison(Aggregate):
    """A statistic of two averages."""

    result = Type.FLOAT
    max_arguments = 2
    offset: ClassVar[float] = 0.0

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The moments of the treated and of the others."""
        if distinct or len(arguments) != 2:
            raise UnsupportedSQLError(
                f"{self.name} takes a number and a condition.",
                code="type-mismatch",
                hint=f"Write {self.name}(spent, arm = 'B').",
            )
        treated = condition(self.name, arguments[1])
        value = bounded_number(self.name, arguments[:1])
        return NeededSums(Kind.ARMS, value, where, bins=(treated, negated(treated)))

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The statistic; its interval over the noise; and what it says about a population."""
        level, curve = max(beta, LEAST_BETA), self.curve(_column(measured))
        noise, _ = compare_averages(_arms(measured), curve, level, population=False)
        people, p_values = compare_averages(_arms(measured), curve, level, population=True)
        own = Estimate.around(self.values(measured), self._scaled(measured, noise))
        return Estimate(own.values, own.lower, own.upper, own.statuses, self._scaled(measured, people), p_values)

    def values(self, measured: MeasuredSums) -> Floats:
        """The statistic alone; NULL where noise left nobody in a group."""
        statistic = self.curve(_column(measured)).value(*averages(_arms(measured)))
        values = self.offset + self.scale(_column(measured)) * statistic
        return np.where(np.isfinite(values), values, np.nan)

    def _scaled(self, measured: MeasuredSums, bounds: Bounds) -> Bounds:
        scale = self.scale(_column(measured))
        return Bounds(self.offset + scale * bounds.lower, self.offset + scale * bounds.upper, bounds.statuses)

    @abstractmethod
    def curve(self, column: ScaledColumn) -> Curve:
        """The statistic of two averages of values that are scaled to the range from 0 to 1."""

    def scale(self, column: ScaledColumn) -> float:  # noqa: ARG002 - a ratio has no unit
        """The unit of the statistic."""
        return 1.0


def _arms(measured: MeasuredSums) -> tuple[Moments, Moments]:
    if len(measured.arms) != 2:
        raise InternalError("The moments of two groups were not measured.")
    return measured.arms[0], measured.arms[1]


def _column(measured: MeasuredSums) -> ScaledColumn:
    if measured.column is None:
        raise InternalError("The moments of two groups were not measured.")
    return measured.column


@final
@aggregate("AVG_DIFFERENCE", "AVG_DIFFERENCE({x}, {b})", f"{TREATED} - {OTHERS}")
class AvgDifference(_Comparison):
    """The excess of the average of the treated over that of the others."""

    def curve(self, column: ScaledColumn) -> Curve:  # noqa: ARG002 - it is the same for every column
        """The difference."""
        return RISK_DIFFERENCE

    def scale(self, column: ScaledColumn) -> float:
        """The range of values."""
        return 2 * column.half


@final
@aggregate("AVG_LIFT", "AVG_LIFT(ABS({x}), {b})", f"{TREATED} / {OTHERS} - 1".replace("{x}", "ABS({x})"))
class AvgLift(_Comparison):
    """The same relative to the average of the others."""

    offset = -1.0

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The moments of both groups, of values that are not negative: otherwise the ratio would have no sign."""
        need = super().sums(arguments, where=where, distinct=distinct)
        if need.value is not None and range_of(need.value).lower < 0:
            raise UnsupportedSQLError(
                "AVG_LIFT compares averages of values that are not negative.",
                code="negative-values",
                hint="Write AVG_LIFT(CLIP(x, 0, …), …), or ask for AVG_DIFFERENCE.",
            )
        return need

    def curve(self, column: ScaledColumn) -> Curve:
        """The ratio."""
        return AverageRatioCurve(max((column.middle - column.half) / (2 * column.half), 0.0))
