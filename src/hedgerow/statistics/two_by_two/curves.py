"""Curves of two rates for a supposed value of a statistic: p_x as a function of p_y.

Each statistic is looked at on a scale `place` from 0 to 1, so that infinite values are reached.
"""

from dataclasses import dataclass

import numpy as np

from hedgerow.arguments import Floats
from hedgerow.special import expit, logit

FARTHEST = 1e12
"""Substitute for an infinite ratio."""

TINY = 1e-30
LONGEST_STEP = 3.0


class Curve:
    """A statistic of two rates."""

    null: float
    lowest: float
    highest: float
    rounds: int = 4
    """Number of iterations that improve the nearest rates and their variances in turn; more change nothing."""

    def value(self, x: Floats, y: Floats) -> Floats:
        """The statistic at two rates."""
        raise NotImplementedError

    def above(self, value: Floats, y: Floats) -> Floats:
        """The rate p_x that makes the statistic `value` if the other rate is `y`."""
        raise NotImplementedError

    def slope(self, value: Floats, y: Floats) -> Floats:
        """The derivative of `above` with respect to `y`."""
        raise NotImplementedError

    def start(self, value: Floats, x: Floats, y: Floats) -> Floats:  # noqa: ARG002
        """A starting value for p_y, given the two noisy rates."""
        low, high = self.allowed(value)
        return np.clip(y + 0 * value, low, high)

    def allowed(self, value: Floats) -> tuple[Floats, Floats]:
        """The range of p_y in which both rates lie between 0 and 1."""
        return np.zeros_like(value), np.ones_like(value)

    def step(
        self, value: Floats, rates: tuple[Floats, Floats], gaps: tuple[Floats, Floats], variances: tuple[Floats, Floats]
    ) -> Floats:
        """The rate p_y on the curve that is nearer to the noisy rates, which lie `gaps` away from `rates`."""
        slope = self.slope(value, rates[1])
        pull = gaps[0] * slope * variances[1] + gaps[1] * variances[0]
        low, high = self.allowed(value)
        return np.clip(rates[1] + pull / (slope**2 * variances[1] + variances[0]), low, high)

    def place(self, value: Floats) -> Floats:
        """Values of the statistic, mapped monotonically to the range from 0 to 1."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(value), 1.0, value / (1 + value))

    def at(self, place: Floats) -> Floats:
        """The value at a place."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(place / (1 - np.minimum(place, 1.0)), FARTHEST), dtype=np.float64)

    def far(self, value: Floats) -> Floats:
        """Distance of a value from the null, from -1 below to 1 above; 0 for statistics without uneven ends."""
        return np.zeros_like(value)


@dataclass(frozen=True, slots=True)
class RelativeRiskCurve(Curve):
    """p_x / p_y."""

    null: float = 1.0
    lowest: float = 0.0
    highest: float = np.inf

    def value(self, x: Floats, y: Floats) -> Floats:
        """The quotient."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return x / y

    def above(self, value: Floats, y: Floats) -> Floats:
        """Proportional."""
        return value * y

    def slope(self, value: Floats, y: Floats) -> Floats:
        """The statistic itself."""
        return value + 0 * y

    def allowed(self, value: Floats) -> tuple[Floats, Floats]:
        """At most 1 / value, so that p_x is at most 1."""
        return np.zeros_like(value), 1 / np.maximum(value, 1.0)

    def far(self, value: Floats) -> Floats:
        """Antisymmetric under an exchange of the groups."""
        with np.errstate(divide="ignore"):
            return np.where(value > 1, 1 - 1 / value**2, value**2 - 1)


@dataclass(frozen=True, slots=True)
class OddsRatioCurve(Curve):
    """p_x / (1 - p_x) over p_y / (1 - p_y)."""

    null: float = 1.0
    lowest: float = 0.0
    highest: float = np.inf
    rounds: int = 10

    def value(self, x: Floats, y: Floats) -> Floats:
        """The quotient of the odds."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return x * (1 - y) / ((1 - x) * y)

    def above(self, value: Floats, y: Floats) -> Floats:
        """The share whose odds are `value` times as high."""
        return value * y / (1 - y + value * y)

    def slope(self, value: Floats, y: Floats) -> Floats:
        """From `value` at y = 0 to 1 / value at y = 1."""
        return value / (1 - y + value * y) ** 2

    def start(self, value: Floats, x: Floats, y: Floats) -> Floats:
        """The point of the curve halfway between the two rates in log-odds."""
        return expit((logit(x) + logit(y) - np.log(value)) / 2)

    def step(  # the curve does not bend on this scale, so where it is does not matter
        self,
        value: Floats,  # noqa: ARG002
        rates: tuple[Floats, Floats],
        gaps: tuple[Floats, Floats],
        variances: tuple[Floats, Floats],
    ) -> Floats:
        """A bounded step in log-odds, in which the curve is straight."""
        x, y = (np.maximum(rate * (1 - rate), TINY) for rate in rates)
        pull = gaps[0] * x * variances[1] + gaps[1] * y * variances[0]
        move = np.clip(pull / (x**2 * variances[1] + y**2 * variances[0]), -LONGEST_STEP, LONGEST_STEP)
        return expit(logit(rates[1]) + move)


@dataclass(frozen=True, slots=True)
class RiskDifferenceCurve(Curve):
    """p_x - p_y."""

    null: float = 0.0
    lowest: float = -1.0
    highest: float = 1.0

    def value(self, x: Floats, y: Floats) -> Floats:
        """The difference."""
        return x - y

    def above(self, value: Floats, y: Floats) -> Floats:
        """A shift."""
        return value + y

    def slope(self, value: Floats, y: Floats) -> Floats:
        """One."""
        return 1.0 + 0 * (value + y)

    def allowed(self, value: Floats) -> tuple[Floats, Floats]:
        """The range of p_y in which both shares lie between 0 and 1."""
        return np.maximum(-value, 0.0), np.minimum(1 - value, 1.0)

    def place(self, value: Floats) -> Floats:
        """From -1 to 1."""
        return (value + 1) / 2

    def at(self, place: Floats) -> Floats:
        """From -1 to 1."""
        return 2 * place - 1


@dataclass(frozen=True, slots=True)
class AverageRatioCurve(Curve):
    """(offset + p_x) / (offset + p_y): a ratio of averages whose lowest value is `offset` times the range of values.

    It has no uneven ends, so its test of no difference is that of `RiskDifferenceCurve`.
    """

    offset: float = 0.0
    null: float = 1.0

    @property
    def lowest(self) -> float:  # type: ignore[override]
        """The value if the first group is at the bottom of the range, and the second at the top."""
        return self.offset / (1 + self.offset)

    @property
    def highest(self) -> float:  # type: ignore[override]
        """The inverse."""
        return np.inf if self.offset == 0 else 1 / self.lowest

    def value(self, x: Floats, y: Floats) -> Floats:
        """The quotient."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.offset + x) / (self.offset + y)

    def above(self, value: Floats, y: Floats) -> Floats:
        """Proportional, from the offset on."""
        return value * (self.offset + y) - self.offset

    def slope(self, value: Floats, y: Floats) -> Floats:
        """The statistic itself."""
        return value + 0 * y

    def allowed(self, value: Floats) -> tuple[Floats, Floats]:
        """The range of the second average in which both averages lie in their ranges."""
        with np.errstate(divide="ignore"):
            low = np.maximum(self.offset / value - self.offset, 0.0) if self.offset else np.zeros_like(value)
            high = np.minimum((1 + self.offset) / value - self.offset, 1.0)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


RELATIVE_RISK, ODDS_RATIO, RISK_DIFFERENCE = RelativeRiskCurve(), OddsRatioCurve(), RiskDifferenceCurve()
