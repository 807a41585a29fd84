"""RELATIVE_RISK, ODDS_RATIO, RISK_DIFFERENCE, LIFT (outcome, exposed): two groups of people compared.

Each is made of four counts: with and without the outcome, exposed and not. A row is in one of them at most, so all four
are released together at the price of one count.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

import numpy as np

from hedgerow.aggregates.base import Aggregate, Estimate, Floats, Kind, MeasuredSums, NeededSums, aggregate
from hedgerow.error_bars.intervals import Bounds
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.statistics.two_by_two import RatioEstimate, odds_ratio, relative_risk, risk_difference

CELLS = 4
LEAST_BETA = 1e-12
EXPOSED, OTHERS = "AVG(({b})::INT) FILTER (WHERE {c})", "AVG(({b})::INT) FILTER (WHERE NOT ({c}))"
"""The rate of the outcome among the exposed, and among the others: exactly, in DuckDB's SQL."""


class _Risk(Aggregate):
    """A statistic of a two by two table."""

    result = Type.FLOAT
    max_arguments = 2
    statistic: ClassVar[Callable[..., RatioEstimate]]
    shift: ClassVar[float] = 0.0

    def sums(self, arguments: Sequence[Expr], *, where: Expr | None, distinct: bool) -> NeededSums:
        """The four counts."""
        if distinct or len(arguments) != 2:
            raise UnsupportedSQLError(
                f"{self.name} takes an outcome and an exposure.",
                code="type-mismatch",
                hint=f"Write {self.name}(ill, smokes), both true or false.",
            )
        outcome, exposed = (condition(self.name, argument) for argument in arguments)
        well, others = negated(outcome), negated(exposed)
        sides = ((exposed, outcome), (exposed, well), (others, outcome), (others, well))
        return NeededSums(Kind.CELLS, None, where, bins=tuple(Call("and", pair, Type.BOOLEAN) for pair in sides))

    def estimate(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The statistic; its interval over the noise; and what it says about a population."""
        own = self.over_noise(measured, beta)
        whole = self._of(measured, confidence=1.0 - max(beta, LEAST_BETA))
        population, p_value = self._shifted(whole), np.asarray(whole.p_value, dtype=float)
        return Estimate(own.values, own.lower, own.upper, own.statuses, population, p_value)

    def over_noise(self, measured: MeasuredSums, beta: float) -> Estimate:
        """The statistic and its interval over the noise, about the people who were counted."""
        noise = self._of(measured, confidence=1.0 - max(beta, LEAST_BETA), population=False)
        return Estimate.around(self.values(measured), self._shifted(noise))

    def values(self, measured: MeasuredSums) -> Floats:
        """The statistic alone; NULL where noise left nobody in a group."""
        ill, other_ill, size, other_size = _counts(measured, minimum=0.0)
        both_groups = (size > 0) & (other_size > 0)
        sizes = np.where(both_groups, size, 1.0), np.where(both_groups, other_size, 1.0)
        counts = np.where(both_groups, ill, 0.0), np.where(both_groups, other_ill, 0.0)
        statistics = np.asarray(type(self).statistic(*counts, *sizes, method="classic").value, dtype=float)
        return np.where(both_groups & np.isfinite(statistics), self.shift + statistics, np.nan)

    def _shifted(self, estimate: RatioEstimate) -> Bounds:
        if not isinstance(estimate.interval, Bounds):
            raise InternalError("A statistic of many groups has one interval.")
        interval = estimate.interval
        return Bounds(interval.lower + self.shift, interval.upper + self.shift, interval.statuses)

    def _of(self, measured: MeasuredSums, **options: Any) -> RatioEstimate:  # noqa: ANN401 - handed on
        noise = measured.cells[0].terms[0][2]
        return type(self).statistic(*_counts(measured), noise=noise, rest_noise=noise, **options)


def _counts(measured: MeasuredSums, minimum: float = -math.inf) -> tuple[Floats, Floats, Floats, Floats]:
    """Outcomes and sizes of both groups, as the library has them; no count below `minimum`."""
    if len(measured.cells) != CELLS:
        raise InternalError("A two by two table was not measured.")
    ill, well, other_ill, other_well = (np.maximum(form.values, minimum) for form in measured.cells)
    return ill, other_ill, ill + well, other_ill + other_well


def condition(name: str, argument: Expr) -> Expr:
    """True or false; whole numbers count as true where they are 1."""
    if argument.type is Type.BOOLEAN:
        return argument
    if argument.type is Type.INTEGER:
        return Call("equal", (argument, Literal(1, Type.INTEGER)), Type.BOOLEAN)
    raise UnsupportedSQLError(
        f"{name} needs conditions; this is {argument.type.value}.",
        code="type-mismatch",
        hint=f"Write {name}(ill, smokes), both true or false.",
    )


def negated(holds: Expr) -> Expr:
    """The opposite condition; unknown where `holds` is."""
    return Call("not", (holds,), Type.BOOLEAN)


@final
@aggregate("RELATIVE_RISK", "RELATIVE_RISK({b}, {c})", f"{EXPOSED} / {OTHERS}")
class RelativeRisk(_Risk):
    """Relative risk of the outcome among the exposed."""

    statistic = relative_risk


@final
@aggregate("LIFT", "LIFT({b}, {c})", f"{EXPOSED} / {OTHERS} - 1")
class LiftAggregate(_Risk):
    """Excess of the rate of the exposed over that of the others, relative to the latter."""

    statistic = relative_risk
    shift = -1.0


@final
@aggregate("ODDS_RATIO", "ODDS_RATIO({b}, {c})", f"({EXPOSED} / (1 - {EXPOSED})) / ({OTHERS} / (1 - {OTHERS}))")
class OddsRatio(_Risk):
    """The ratio of the odds."""

    statistic = odds_ratio


@final
@aggregate("RISK_DIFFERENCE", "RISK_DIFFERENCE({b}, {c})", f"{EXPOSED} - {OTHERS}")
class RiskDifference(_Risk):
    """The difference of the two rates."""

    statistic = risk_difference
