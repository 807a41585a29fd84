"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP."""

from collections.abc import Sequence
from typing import ClassVar, final

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
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.statistics.moments import (
    Moments,
    ScaledColumn,
    stddev_bounds,
    stddev_pop,
    stddev_samp,
    stddev_scale,
    var_pop,
    var_samp,
    variance_bounds,
    variance_scale,
)


class _VarianceAggregate(Aggregate):
    """A variance or standard deviation, from a count, a sum and a sum of squares released together."""

    result = Type.FLOAT
    sample: ClassVar[bool]
    root: ClassVar[bool]

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """Count, sum and sum of squares over the rows that have a value."""
        if distinct:
            raise UnsupportedSQLError(f"{self.name}(DISTINCT …) cannot be bounded for one person.", code="distinct-sum")
        return NeededSums(Kind.SPREAD, bounded_number(self.name, arguments), where)

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The corrected estimate, within its interval."""
        moments, column = measured_column(measured)
        find, scale = (stddev_bounds, stddev_scale) if self.root else (variance_bounds, variance_scale)
        bounds = scale(column).bounds(find(moments, beta, sample=self.sample))
        return Estimate.around(self.values(measured), bounds)

    def values(self, measured: MeasuredSums) -> Floats:
        """The corrected estimate."""
        moments, column = measured_column(measured)
        if self.root:
            return stddev_scale(column).values((stddev_samp if self.sample else stddev_pop)(moments))
        return variance_scale(column).values((var_samp if self.sample else var_pop)(moments))


def measured_column(measured: MeasuredSums) -> tuple[Moments, ScaledColumn]:
    """Measured sums of one column."""
    if measured.moments is None or measured.column is None:
        raise InternalError("Moments were not measured.")
    return measured.moments, measured.column


@final
@aggregate("VAR_POP", "VAR_POP({x})")
class VarPop(_VarianceAggregate):
    """The mean squared distance from the mean."""

    sample, root = False, False


@final
@aggregate("VAR_SAMP", "VAR_SAMP({x})")
class VarSamp(_VarianceAggregate):
    """The same with n - 1 in the denominator."""

    sample, root = True, False


@final
@aggregate("STDDEV_POP", "STDDEV_POP({x})")
class StddevPop(_VarianceAggregate):
    """The root of VAR_POP."""

    sample, root = False, True


@final
@aggregate("STDDEV_SAMP", "STDDEV_SAMP({x})")
class StddevSamp(_VarianceAggregate):
    """The root of VAR_SAMP."""

    sample, root = True, True
