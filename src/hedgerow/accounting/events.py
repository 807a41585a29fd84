"""Events of a charge: the steps that made a release, with exact sensitivities and scales.

The meaning of an event never changes once released; a new mechanism is a new event.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self, get_args

from hedgerow.accounting.budget import Cost, Event
from hedgerow.arguments import non_negative
from hedgerow.errors import LedgerError, ParameterError
from hedgerow.exchange import register
from hedgerow.special import log_expit, ndtri_exp


def pure_mu(epsilon: float) -> float:
    """The smallest mu for which every epsilon-DP mechanism is mu-GDP.

    Example:
        >>> round(pure_mu(1.0), 8)
        1.23203539
    """
    return 2.0 * _logistic_quantile(non_negative("epsilon", epsilon))


def bounded_range_mu(epsilon: float) -> float:
    """The smallest mu for which every epsilon-bounded-range mechanism (exponential, Gumbel) is mu-GDP.

    Example:
        >>> round(bounded_range_mu(1.0), 8)
        0.62389259
    """
    return 2.0 * _logistic_quantile(non_negative("epsilon", epsilon) / 2.0)


def _logistic_quantile(x: float) -> float:
    """Return Phi^-1(1 / (1 + exp(-x))), also where the argument is within rounding of 1/2 or 1."""
    if x < 1e-3:
        # With c = sqrt(2 pi): Phi^-1(1/2 + p) = c p + c^3 p^3 / 6 + O(p^5), p = tanh(x/2) / 2.
        p = math.tanh(x / 2.0) / 2.0 * math.sqrt(2.0 * math.pi)
        return p + p**3 / 6.0
    return -float(ndtri_exp(log_expit(-x)))


_EXACT = re.compile(r"\d+(?:/\d+|\.\d+)?", re.ASCII)


def _exact(text: str) -> Fraction:
    """Read an exact number. Exponents are refused: 1e999999999 is short, and takes for ever to compute with."""
    if _EXACT.fullmatch(text) is None:
        raise ParameterError("An amount of an event is not an exact number.", code="event-value")
    return Fraction(text)


LEAST_GRID_SCALE_SQUARED = 2**20
"""The proved charge of a discrete Gaussian needs sigma / grid of 2^10 or more (docs/proofs/noise.md)."""

SURCHARGE = 37
STRAY_MASS = Fraction(3, 10**31)
SLACK = 1 + Fraction(1, 10**9)
SLOPE_SQUARED = Fraction(314_159_265_358_979_324, 8 * 10**17)
"""Slightly more than pi / 8: the square of the slope at 0 of mu as a function of a bounded range."""


class _Event:
    """Serialisation of all events: fractions as text, without rounding."""

    kind: ClassVar[str]
    surcharge_only: ClassVar[bool] = False
    """True if its pure coordinate is a discretisation surcharge, which the ledger's reserve covers."""

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON, with its kind under "kind"."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind} | {
            name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The event that `to_dict` wrote."""
        values = {name: value for name, value in stored.items() if name != "kind"}
        return cls(**{name: _exact(value) if isinstance(value, str) else value for name, value in values.items()})

    def _require(self, **minimums: int) -> None:
        """Refuse a value below its minimum, or one that is not exact."""
        for name, bound in minimums.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < bound:
                raise ParameterError(
                    f"{name} of a {self.kind} event must be an exact number of at least {bound}, not {value!r}.",
                    code="event-value",
                )


@dataclass(frozen=True, slots=True)
class GaussianEvent(_Event):
    """Integer Gaussian noise on a vector.

    Attributes:
        sensitivity_squared: The squared l2 sensitivity of the vector, in units of `variance`.
        variance: The noise of each coordinate.
        moved: Number of coordinates that one unit can change; 0 if the sampler is the rounded Gaussian of
            docs/proofs/noise.md, which costs nothing for being discrete.
        grid_scale_squared: The variance in squared steps of the grid, the smallest if they differ.

    Privacy: sensitivity_squared / variance is mu squared of the rounded Gaussian. The discrete one is within a factor
    exp(37 moved / s^2) of it outside of a mass of 3e-31 a coordinate (1.4).
    """

    sensitivity_squared: Fraction
    variance: Fraction
    moved: int
    grid_scale_squared: Fraction
    kind: ClassVar[str] = "gaussian"
    surcharge_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._require(sensitivity_squared=0, variance=0, moved=0, grid_scale_squared=0)
        if self.variance == 0:
            raise ParameterError("The variance of a Gaussian event must be above 0.", code="event-value")
        if self.moved and self.grid_scale_squared < LEAST_GRID_SCALE_SQUARED:
            raise ParameterError(
                "The grid is too coarse for this noise: sigma must be at least 2^10 steps.", code="event-grid"
            )

    @property
    def cost(self) -> Cost:
        """(mu squared, 37 m / s^2, 3e-31 m)."""
        pure = SURCHARGE * self.moved / Fraction(self.grid_scale_squared) if self.moved else Fraction(0)
        return Cost(Fraction(self.sensitivity_squared) / self.variance, pure, STRAY_MASS * self.moved)


@dataclass(frozen=True, slots=True)
class LaplaceEvent(_Event):
    """Integer Laplace noise: `sensitivity` is in l1, over all coordinates, in units of `scale`."""

    sensitivity: Fraction
    scale: Fraction
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        self._require(sensitivity=0, scale=0)
        if self.scale == 0:
            raise ParameterError("The scale of a Laplace event must be above 0.", code="event-value")

    @property
    def cost(self) -> Cost:
        """Pure epsilon: sensitivity / scale."""
        return Cost(pure=Fraction(self.sensitivity) / self.scale)


@dataclass(frozen=True, slots=True)
class ThresholdEvent(_Event):
    """A threshold on a noisy count: `mass` bounds the probability that a key of one unit alone is shown.

    The noise of the count is an event of its own.
    """

    mass: Fraction
    kind: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        self._require(mass=0)

    @property
    def cost(self) -> Cost:
        """Mass, and nothing else."""
        return Cost(mass=Fraction(self.mass))


@dataclass(frozen=True, slots=True)
class BoundedRangeEvent(_Event):
    """An exponential mechanism (or noisy maximum with Gumbel noise) whose loss has a range of `epsilon`.

    Privacy: it is mu-GDP with mu = 2 Phi^-1(1 / (1 + exp(-epsilon/2))), so post-processing of a
    Gaussian pair, and charged like one (Dong, Roth and Su 2019).
    """

    epsilon: Fraction
    kind: ClassVar[str] = "bounded-range"

    def __post_init__(self) -> None:
        self._require(epsilon=0)

    @property
    def cost(self) -> Cost:
        """Mu squared, rounded up."""
        return Cost(gaussian=Fraction(bounded_range_mu(float(self.epsilon))) ** 2 * SLACK)

    @property
    def range(self) -> Fraction:
        """The range of the whole loss."""
        return self.epsilon

    @property
    def squares(self) -> Fraction:
        """The sum of the squared ranges of its parts: it has one."""
        return self.epsilon**2


@dataclass(frozen=True, slots=True)
class SpreadRangeEvent(_Event):
    """Exponential mechanisms in many groups, among which one unit divides its weight.

    Attributes:
        epsilon: The range of the loss in a group where a unit has full weight.
        norm_squared: The largest sum over groups of a unit's squared weights.
        norm: The largest sum over groups of its weights.

    Privacy: in group g the range is epsilon a_g. Mu as a function of the range lies below its tangent at 0,
    sqrt(2 pi) / 4 times the range, so mu squared of all groups is at most (pi / 8) epsilon^2 times the sum of a_g
    squared (docs/proofs/quantiles.md).
    """

    epsilon: Fraction
    norm_squared: Fraction
    norm: Fraction
    kind: ClassVar[str] = "spread-range"

    def __post_init__(self) -> None:
        self._require(epsilon=0, norm_squared=0, norm=0)

    @property
    def cost(self) -> Cost:
        """(pi / 8) epsilon^2 norm^2."""
        return Cost(gaussian=SLOPE_SQUARED * self.squares)

    @property
    def range(self) -> Fraction:
        """The range of the whole loss."""
        return self.epsilon * self.norm

    @property
    def squares(self) -> Fraction:
        """The sum of the squared ranges of its parts."""
        return self.epsilon**2 * self.norm_squared


@dataclass(frozen=True, slots=True)
class PureAsGaussianEvent(_Event):
    """A step of pure `epsilon`, charged as Gaussian noise that dominates it instead of as pure epsilon.

    Privacy: it is mu-GDP with mu = 2 Phi^-1(1 / (1 + exp(-epsilon))), so post-processing of a Gaussian pair, and
    charged like one (docs/proofs/ledger.md).
    """

    epsilon: Fraction
    kind: ClassVar[str] = "pure-as-gaussian"

    def __post_init__(self) -> None:
        self._require(epsilon=0)

    @property
    def cost(self) -> Cost:
        """Mu squared, rounded up."""
        return Cost(gaussian=Fraction(pure_mu(float(self.epsilon))) ** 2 * SLACK)


@dataclass(frozen=True, slots=True)
class ApproximateEvent(_Event):
    """Any other (epsilon, delta)-DP step, such as a plan that is fixed in advance and totalled by PLD.

    Privacy: every such pair splits into a part of pure epsilon and a mass delta of arbitrary output.
    """

    epsilon: Fraction
    delta: Fraction
    kind: ClassVar[str] = "approximate"

    def __post_init__(self) -> None:
        self._require(epsilon=0, delta=0)

    @property
    def cost(self) -> Cost:
        """(0, epsilon, delta)."""
        return Cost(pure=Fraction(self.epsilon), mass=Fraction(self.delta))


AnyEvent = (
    GaussianEvent
    | LaplaceEvent
    | ThresholdEvent
    | BoundedRangeEvent
    | SpreadRangeEvent
    | PureAsGaussianEvent
    | ApproximateEvent
)
"""All events that this version knows."""

RangeEvent = BoundedRangeEvent | SpreadRangeEvent
"""Events whose loss has a bounded range."""


def pure_epsilon_of(event: AnyEvent) -> Fraction:
    """The pure epsilon of a step that has one, whichever sum of the ledger it is charged to; 0 for any other."""
    if isinstance(event, PureAsGaussianEvent):
        return event.epsilon
    return Fraction(0) if isinstance(event, GaussianEvent) else event.cost.pure


_KINDS: Mapping[str, type[AnyEvent]] = {event.kind: event for event in get_args(AnyEvent)}


def event_from_dict(stored: Mapping[str, Any]) -> AnyEvent:
    """The event that `to_dict` wrote, whatever its kind.

    Example:
        >>> event_from_dict({"kind": "laplace", "sensitivity": "1", "scale": "10"}).cost.pure
        Fraction(1, 10)
    """
    event = _KINDS.get(stored.get("kind", ""))
    if event is None:
        raise LedgerError(
            "The ledger holds an event of a kind that this version of hedgerow does not know.",
            code="ledger-newer",
            hint="Use the version that wrote it, or a newer one.",
        )
    return event.from_dict(stored)


register(Event, get_args(AnyEvent), lambda event: event.to_dict(), event_from_dict)
