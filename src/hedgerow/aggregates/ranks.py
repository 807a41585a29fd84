"""MEDIAN, QUANTILE_CONT, QUANTILE_DISC, MIN, MAX: values in order of size, drawn by the exponential mechanism."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from hedgerow.aggregates.base import (
    Aggregate,
    Estimate,
    Floats,
    Kind,
    MeasuredSums,
    NeededSums,
    Rank,
    aggregate,
    bounded_number,
)
from hedgerow.error_bars.intervals.interval import IntervalKind, Reason, Status
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.statistics.quantiles import SMALL_GROUP

MOST_PLACES = 10**9
UNKNOWN_DENSITY = Status(
    IntervalKind.NONE, Reason.UNKNOWN_DENSITY, "unbounded: how wrong it is depends on how close the values lie"
)
TOO_SURE = Status(
    IntervalKind.CONSERVATIVE,
    Reason.PUBLIC_RANGE,
    "conservative: the public range, because the interval was bought at a lower confidence",
)


class _Ranked(Aggregate):
    """A value at a rank."""

    result = Type.FLOAT

    def rank(self, constants: Sequence[Expr]) -> Rank:
        """The wanted rank."""
        raise NotImplementedError

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The values of the rows that have one, in buckets."""
        if distinct and self.name not in {"MIN", "MAX"}:
            raise UnsupportedSQLError(f"{self.name}(DISTINCT …) cannot be bounded for one person.", code="distinct-sum")
        return NeededSums(Kind.RANK, bounded_number(self.name, arguments[:1]), where, rank=self.rank(arguments[1:]))

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The drawn value; its interval where it was bought at this confidence, else the public range."""
        drawn = measured.drawn
        if drawn is None:
            return _nothing(measured)
        values = self.values(measured)
        if beta < drawn.beta * (1 - 1e-9):
            whole = np.full_like(values, drawn.lowest), np.full_like(values, drawn.highest)
            return Estimate(values, *whole, [TOO_SURE] * len(values))
        pairs = zip(drawn.bounds.statuses, drawn.safe, strict=True)
        statuses = [status if safe else SMALL_GROUP for status, safe in pairs]
        return Estimate(values, drawn.bounds.lower, drawn.bounds.upper, statuses)

    def values(self, measured: MeasuredSums) -> Floats:
        """The drawn value; NULL where the group is too small for an extreme."""
        drawn = measured.drawn
        return _nothing(measured).values if drawn is None else np.where(drawn.safe, drawn.values, np.nan)


def _nothing(measured: MeasuredSums) -> Estimate:
    """Estimate without a draw, in a quote."""
    rows = measured.groups
    return Estimate(np.zeros(rows), np.full(rows, -np.inf), np.full(rows, np.inf), [UNKNOWN_DENSITY] * rows)


@final
@aggregate("MEDIAN", "MEDIAN({x})")
class Median(_Ranked):
    """The value in the middle."""

    def rank(self, constants: Sequence[Expr]) -> Rank:  # noqa: ARG002 - it has none
        """One half."""
        return Rank(Fraction(1, 2))


class _Quantile(_Ranked):
    max_arguments = 2
    aside: ClassVar[int]

    def rank(self, constants: Sequence[Expr]) -> Rank:
        """The share given in the query."""
        value = constants[0].value if len(constants) == 1 and isinstance(constants[0], Literal) else None
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 <= value <= 1:
            raise UnsupportedSQLError(
                f"{self.name} needs a constant share from 0 to 1.",
                code="type-mismatch",
                hint=f"Write {self.name}(x, 0.9).",
            )
        share = Fraction(str(value)).limit_denominator(MOST_PLACES)
        return Rank(share, aside=0 if share == Fraction(1, 2) else self.aside)


@final
@aggregate("QUANTILE_CONT", "QUANTILE_CONT({x}, 0.25)")
class QuantileCont(_Quantile):
    """A quantile; SQL interpolates between two neighbours, so the interval allows for one row more."""

    aside = 1


@final
@aggregate("QUANTILE_DISC", "QUANTILE_DISC({x}, 0.75)")
class QuantileDisc(_Quantile):
    """A quantile that is one of the values."""

    aside = 0


@final
@aggregate("MIN", "MIN({x})")
class Min(_Ranked):
    """A value a few noise units above the smallest, never the smallest itself."""

    def rank(self, constants: Sequence[Expr]) -> Rank:  # noqa: ARG002 - it has none
        """From the lower end."""
        return Rank(Fraction(0), extreme=True)


@final
@aggregate("MAX", "MAX({x})")
class Max(_Ranked):
    """A value a few noise units below the largest."""

    def rank(self, constants: Sequence[Expr]) -> Rank:  # noqa: ARG002 - it has none
        """From the upper end."""
        return Rank(Fraction(1), extreme=True)
