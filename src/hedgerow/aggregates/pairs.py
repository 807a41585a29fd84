"""COVAR_POP, COVAR_SAMP, CORR, REGR_SLOPE, REGR_INTERCEPT, REGR_R2: two columns at once."""

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
    bounded_pair,
)
from hedgerow.error_bars.intervals import Bounds
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Expr
from hedgerow.expressions.types import Type
from hedgerow.statistics.moments import (
    Moments,
    ScaledColumn,
    corr,
    correlation_bounds,
    covar_pop,
    covar_samp,
    covariance_bounds,
    covariance_scale,
    intercept_bounds,
    intercept_scale,
    r2_bounds,
    regr_intercept,
    regr_r2,
    regr_slope,
    slope_bounds,
    slope_scale,
)


class _OfTwo(Aggregate):
    """A statistic of two columns, from their moments released together over the rows that have both."""

    result = Type.FLOAT
    max_arguments = 2
    kind: ClassVar[Kind] = Kind.PAIRS
    dependent_first: ClassVar[bool] = False
    """True if SQL names the dependent column first; the moments have it second."""

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The moments of both columns."""
        if distinct:
            raise UnsupportedSQLError(f"{self.name}(DISTINCT …) cannot be bounded for one person.", code="distinct-sum")
        first, second = bounded_pair(self.name, arguments)
        first, second = (second, first) if self.dependent_first else (first, second)
        return NeededSums(self.kind, first, where, second)

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The statistic and its interval."""
        return Estimate.around(self.values(measured), self.bounds(*_measured(measured), beta))

    def values(self, measured: MeasuredSums) -> Floats:
        """The statistic."""
        return self.value(*_measured(measured))

    @abstractmethod
    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:
        """The statistic in the units of the columns."""

    @abstractmethod
    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:
        """Its interval."""


def _measured(measured: MeasuredSums) -> tuple[Moments, ScaledColumn, ScaledColumn]:
    if measured.moments is None or measured.column is None or measured.other is None:
        raise InternalError("The moments of two columns were not measured.")
    return measured.moments, measured.column, measured.other


class _Covariance(_OfTwo):
    """The covariance, of the rows themselves or with n - 1 in the denominator."""

    kind = Kind.PAIR
    sample: ClassVar[bool]

    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:
        """Return the covariance, in the product of both units."""
        covariances = (covar_samp if self.sample else covar_pop)(moments)
        return covariance_scale(first, second).values(covariances)

    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:
        """Bounds that fail with probability at most `beta`."""
        return covariance_scale(first, second).bounds(covariance_bounds(moments, beta, sample=self.sample))


@final
@aggregate("COVAR_POP", "COVAR_POP({x}, {y})")
class CovarPop(_Covariance):
    """The covariance."""

    sample = False


@final
@aggregate("COVAR_SAMP", "COVAR_SAMP({x}, {y})")
class CovarSamp(_Covariance):
    """The covariance with n - 1 in the denominator."""

    sample = True


@final
@aggregate("CORR", "CORR({x}, {y})")
class Corr(_OfTwo):
    """The correlation; NULL where a variance is not larger than its noise."""

    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:  # noqa: ARG002 - it has no unit
        """A number from -1 to 1."""
        return corr(moments)

    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:  # noqa: ARG002
        """Bounds that fail with probability at most `beta`."""
        return correlation_bounds(moments, beta)


@final
@aggregate("REGR_SLOPE", "REGR_SLOPE({y}, {x})")
class RegrSlope(_OfTwo):
    """REGR_SLOPE(y, x): by how much y grows where x grows by one."""

    dependent_first = True

    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:
        """In units of y per unit of x."""
        return slope_scale(first, second).values(regr_slope(moments))

    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:
        """Bounds that fail with probability at most `beta`."""
        return slope_scale(first, second).bounds(slope_bounds(moments, beta))


@final
@aggregate("REGR_INTERCEPT", "REGR_INTERCEPT({y}, {x})")
class RegrIntercept(_OfTwo):
    """REGR_INTERCEPT(y, x): the line at x = 0."""

    dependent_first = True

    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:
        """In units of y."""
        return intercept_scale(second).values(regr_intercept(moments, first.offset))

    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:
        """Bounds that fail with probability at most `beta`."""
        return intercept_scale(second).bounds(intercept_bounds(moments, beta, offset=first.offset))


@final
@aggregate("REGR_R2", "REGR_R2({y}, {x})")
class RegrR2(_OfTwo):
    """REGR_R2(y, x): the share of the variance of y that the line explains."""

    dependent_first = True

    def value(self, moments: Moments, first: ScaledColumn, second: ScaledColumn) -> Floats:  # noqa: ARG002 - it has no unit
        """A number from 0 to 1."""
        return np.asarray(regr_r2(moments))

    def bounds(self, moments: Moments, first: ScaledColumn, second: ScaledColumn, beta: float) -> Bounds:  # noqa: ARG002
        """Bounds that fail with probability at most `beta`."""
        return r2_bounds(moments, beta)
