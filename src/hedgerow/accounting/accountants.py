"""Accountants take events, and return what the events prove together.

They are basic composition, GDP, Renyi at fixed orders, zCDP, and privacy loss distributions. Gaussian differential
privacy is exact for Gaussian noise; zCDP uses the tight conversion (Canonne, Kamath and Steinke 2020). Privacy loss
distributions come from the library dp-accounting.

An accountant totals a plan whose events were all fixed before the first answer was seen, or reports on the past. It
never decides whether the next question is answered: the ledger's filter does, which stays valid when questions depend
on answers (docs/proofs/ledger.md).

A report must never fail: an accountant has a number for every event that a ledger can hold, however large. Infinity
means that it proves nothing.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any, Self

from hedgerow.accounting.events import (
    AnyEvent,
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    LaplaceEvent,
    PureAsGaussianEvent,
    RangeEvent,
    SpreadRangeEvent,
    ThresholdEvent,
    pure_epsilon_of,
    pure_mu,
)
from hedgerow.accounting.gaussian import bracket, gaussian_delta, gaussian_epsilon
from hedgerow.arguments import non_negative, probability, whole
from hedgerow.errors import ConditionNotMet

SCALE = 2**120


def as_float(exact: Fraction) -> float:
    """Return the nearest float; infinity if it is too large."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf


def total(amounts: Iterable[Fraction]) -> Fraction:
    """Return the sum, each amount rounded up to a multiple of 2^-120: exact fractions would grow with every term."""
    return Fraction(sum(math.ceil(amount * SCALE) for amount in amounts), SCALE)


class Accountant(ABC):
    """A total over events, as a guarantee.

    Args:
        events: Added at once.
    """

    def __init__(self, events: Iterable[AnyEvent] = ()) -> None:
        self._events: Counter[AnyEvent] = Counter()
        for event in events:
            self.add(event)

    def add(self, event: AnyEvent, count: int = 1) -> Self:
        """Add one event, or the same event `count` times."""
        self._events[event] += whole("count", count)
        return self

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that this accountant proves at `delta`; infinity if it proves none."""
        probability("delta", delta)
        left = delta - self._mass
        return self._epsilon(left) if left > 0.0 else self._without_delta()

    def delta(self, epsilon: float) -> float:
        """The smallest delta that this accountant proves at `epsilon`."""
        non_negative("epsilon", epsilon)
        return min(1.0, self._mass + self._delta(epsilon))

    @abstractmethod
    def _epsilon(self, delta: float) -> float:
        """Return the epsilon of everything but the mass, which is already subtracted."""

    def _delta(self, epsilon: float) -> float:
        """Return the delta of everything but the mass, which is added afterwards."""
        if self._epsilon(2.0**-1000) <= epsilon:
            return 0.0
        return min(1.0, bracket(lambda delta: delta < 1.0 and self._epsilon(delta) > epsilon)[1])

    def _without_delta(self) -> float:
        """Return the epsilon where the mass takes all of delta: only pure steps, and only without remaining mass."""
        return math.inf

    @property
    def _mass(self) -> float:
        """Return the probability that one of the events releases anything."""
        return as_float(total(self._loose_mass(event) * count for event, count in self._events.items()))

    @staticmethod
    def _loose_mass(event: AnyEvent) -> Fraction:
        return event.cost.mass

    @property
    def _surcharge(self) -> float:
        """Return the pure epsilon that discrete Gaussian noise costs for being discrete."""
        gaussian = ((event, count) for event, count in self._events.items() if isinstance(event, GaussianEvent))
        return as_float(total(event.cost.pure * count for event, count in gaussian))

    @property
    def _steps(self) -> list[tuple[AnyEvent, int]]:
        """Return the events that are more than mass, with their counts."""
        return [(event, count) for event, count in self._events.items() if not isinstance(event, ThresholdEvent)]


class Basic(Accountant):
    """Basic composition: each Gaussian step gets an equal part of delta, and the epsilons are added.

    Draws in many groups count as the Gaussian step that dominates them: their pure epsilon grows with the groups.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.accounting.events import LaplaceEvent
        >>> Basic().add(LaplaceEvent(Fraction(1), Fraction(4)), 3).epsilon(1e-6)
        0.75
    """

    def _epsilon(self, delta: float) -> float:
        gaussian = Counter[float]()
        for event, count in self._steps:
            if isinstance(event, GaussianEvent | SpreadRangeEvent):
                gaussian[math.sqrt(as_float(event.cost.gaussian))] += count
        part = delta / max(1, gaussian.total())
        total = self._surcharge + sum(count * gaussian_epsilon(mu, part) for mu, count in gaussian.items())
        for event, count in self._steps:
            if isinstance(event, GaussianEvent | SpreadRangeEvent):
                continue
            if isinstance(event, BoundedRangeEvent):
                total += count * as_float(event.range)
            else:
                total += count * as_float(pure_epsilon_of(event))
        return total


PureStep = LaplaceEvent | ApproximateEvent | PureAsGaussianEvent


class GDP(Accountant):
    """Sum of mu squared. Pure steps are kept apart or embedded, whichever proves more.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.accounting.events import GaussianEvent
        >>> event = GaussianEvent(Fraction(1), Fraction(100), 0, Fraction(1))
        >>> round(GDP().add(event).epsilon(1e-6), 6)
        0.396857
    """

    @property
    def mu(self) -> float:
        """Mu of the Gaussian part."""
        gaussian = ((event, count) for event, count in self._steps if not isinstance(event, PureAsGaussianEvent))
        return math.sqrt(as_float(total(event.cost.gaussian * count for event, count in gaussian)))

    @property
    def _pure(self) -> float:
        """Return the epsilon of the deliberately pure steps."""
        return sum(count * as_float(pure_epsilon_of(event)) for event, count in self._pure_steps)

    @property
    def _pure_steps(self) -> list[tuple[PureStep, int]]:
        return [(event, count) for event, count in self._steps if isinstance(event, PureStep)]

    @property
    def _embedded_mu(self) -> float:
        """Return mu with the pure steps counted as Gaussian ones."""
        steps = [(as_float(pure_epsilon_of(event)), count) for event, count in self._pure_steps]
        if any(pure == math.inf for pure, _ in steps):
            return math.inf
        return math.hypot(self.mu, *(math.sqrt(count) * pure_mu(pure) for pure, count in steps))

    def _epsilon(self, delta: float) -> float:
        apart = self._pure + gaussian_epsilon(self.mu, delta)
        return self._surcharge + min(apart, gaussian_epsilon(self._embedded_mu, delta))

    def _delta(self, epsilon: float) -> float:
        left = epsilon - self._surcharge
        if left < 0.0:
            return 1.0
        embedded = gaussian_delta(left, self._embedded_mu)
        return embedded if left < self._pure else min(embedded, gaussian_delta(left - self._pure, self.mu))


ORDERS = (
    *(1.0 + step / 20.0 for step in range(1, 40)),
    *(3.0 + step / 4.0 for step in range(68)),
    *range(20, 256),
    *(2.0**step for step in range(8, 17)),
)
"""Orders at which the curve is evaluated."""


class RDP(Accountant):
    """The Renyi curve at `ORDERS`, added up and converted at its best order.

    A pure step counts as the worst mechanism of its epsilon (randomised response), because a Laplace event records the
    sensitivity of the whole vector, not of each coordinate.
    """

    def _curve(self) -> list[tuple[float, float]]:
        steps = self._steps
        return [(order, sum(count * _divergence(event, order) for event, count in steps)) for order in ORDERS]

    def _epsilon(self, delta: float) -> float:
        if not self._events:
            return 0.0
        return max(
            0.0,
            min(
                value + math.log1p(-1.0 / order) - (math.log(delta) + math.log(order)) / (order - 1.0)
                for order, value in self._curve()
            ),
        )

    def _delta(self, epsilon: float) -> float:
        exponent = min(
            (order - 1.0) * (value - epsilon + math.log1p(-1.0 / order)) - math.log(order)
            for order, value in self._curve()
        )
        return math.exp(min(exponent, 0.0))


def _divergence(event: AnyEvent, order: float) -> float:
    if isinstance(event, GaussianEvent):
        return order * as_float(event.cost.gaussian) / 2.0
    if isinstance(event, RangeEvent):
        return min(order * as_float(event.squares) / 8.0, _randomised_response(as_float(event.range), order))
    return _randomised_response(as_float(pure_epsilon_of(event)), order)


def _randomised_response(epsilon: float, order: float) -> float:
    """The Renyi divergence of one truthful bit with odds e^epsilon.

    The bit is true with p = 1 / (1 + e^-epsilon), and the divergence is log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1) with
    q = p e^-epsilon. Taking p e^((a-1) epsilon) out leaves exponents that are never above 0, so nothing overflows.
    """
    if epsilon in {0.0, math.inf}:
        return epsilon
    excess_order = order - 1.0
    rest = math.log1p(math.exp(-(2.0 * order - 1.0) * epsilon)) - math.log1p(math.exp(-epsilon))
    return max(0.0, epsilon + rest / excess_order)


def zcdp_delta(epsilon: float, rho: float) -> float:
    """The delta that rho-zCDP proves at `epsilon` (Canonne, Kamath and Steinke 2020).

    Example:
        >>> round(zcdp_delta(2.419093, 0.125) * 1e6, 4)
        1.0
    """
    if rho <= 0.0:
        return 0.0
    if rho == math.inf:
        return 1.0

    def falling(excess_order: float) -> bool:
        order = 1.0 + excess_order
        return (2.0 * order - 1.0) * rho - epsilon + math.log(excess_order / order) <= 0.0

    excess_order = max(bracket(falling)[0], 2.0**-900)
    order = 1.0 + excess_order
    exponent = excess_order * (order * rho - epsilon) + order * math.log(excess_order / order) - math.log(excess_order)
    return min(1.0, math.exp(min(exponent, 0.0)))


class ZCDP(Accountant):
    """Sum of rho: exact for the discrete Gaussian, whose discreteness costs nothing here.

    A pure step of epsilon is epsilon^2/2, one of bounded range epsilon^2/8.
    """

    @property
    def rho(self) -> float:
        """The total."""
        return sum(count * _rho(event) for event, count in self._steps)

    def _delta(self, epsilon: float) -> float:
        return zcdp_delta(epsilon, self.rho)

    def _epsilon(self, delta: float) -> float:
        rho = self.rho
        if zcdp_delta(0.0, rho) <= delta:
            return 0.0
        return bracket(lambda epsilon: zcdp_delta(epsilon, rho) > delta)[1]


def _rho(event: AnyEvent) -> float:
    if isinstance(event, GaussianEvent):
        return as_float(event.cost.gaussian) / 2.0
    if isinstance(event, RangeEvent):
        return as_float(event.squares) / 8.0
    return as_float(pure_epsilon_of(event) ** 2) / 2.0


GRID = 1e-4
"""Step to which losses are rounded up."""

LARGEST_MU = 10.0
"""Above this mu the distribution has millions of points, and epsilon exceeds 80."""

LARGEST_PURE = 100.0
"""Likewise for pure steps: each counts as its epsilon times the square root of its count."""


class PLD(Accountant):
    """The composed distribution of the privacy loss: the tightest total of a plan that is fixed in advance.

    It must not decide an admission while answers are being seen: two branches, each within budget by its own
    composition, can together be far outside (docs/proofs/ledger.md; there is a test). A fixed plan enters the ledger as
    one `ApproximateEvent` of its total.

    A pure step counts as the worst mechanism of its epsilon, draws in many groups as the Gaussian step that dominates
    them.
    The library is optional: `pip install dp-accounting`.
    """

    def _distribution(self) -> Any:  # noqa: ANN401 - the library has no types
        library = _library()
        gaussian = ((event, n) for event, n in self._steps if isinstance(event, GaussianEvent | SpreadRangeEvent))
        mu = math.sqrt(as_float(total(event.cost.gaussian * n for event, n in gaussian)))
        pure = sum(_pure(event) * math.sqrt(n) for event, n in self._steps)
        if mu > LARGEST_MU or pure > LARGEST_PURE:
            raise ConditionNotMet(
                "The charges are too large for a privacy loss distribution: it would not fit into memory.",
                condition=f"mu is at most {LARGEST_MU:g}, and pure epsilon at most {LARGEST_PURE:g}",
            )
        composed = library.identity(value_discretization_interval=GRID)
        if mu > 0.0:
            composed = composed.compose(library.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=GRID))
        for event, count in self._steps:
            if (epsilon := _pure(event)) > 0.0:
                composed = composed.compose(_bounded(library, epsilon).self_compose(count))
        return composed

    def _epsilon(self, delta: float) -> float:
        return self._surcharge + float(self._distribution().get_epsilon_for_delta(delta))

    def _delta(self, epsilon: float) -> float:
        left = epsilon - self._surcharge
        return float(self._distribution().get_delta_for_epsilon(left)) if left >= 0.0 else 1.0


def _pure(event: AnyEvent) -> float:
    """The pure epsilon of a step that is not Gaussian noise."""
    if isinstance(event, GaussianEvent | SpreadRangeEvent):
        return 0.0
    return as_float(event.range if isinstance(event, BoundedRangeEvent) else pure_epsilon_of(event))


def _bounded(library: Any, epsilon: float) -> Any:  # noqa: ANN401 - the library has no types
    """The distribution that dominates every step of this pure epsilon."""
    parameters = library.common.DifferentialPrivacyParameters(epsilon, 0.0)
    return library.from_privacy_parameters(parameters, value_discretization_interval=GRID)


def _library() -> Any:  # noqa: ANN401 - the library has no types
    """Return the library, imported on first use: it is slow to import, and optional."""
    try:
        return import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise ConditionNotMet(
            "Privacy loss distributions need the library dp-accounting.",
            condition="dp-accounting is installed",
            hint="Install it with `pip install dp-accounting`.",
        ) from None
