"""Zero-concentrated differential privacy, with the tight conversion (Canonne, Kamath and Steinke 2020)."""

import math

from hedgerow.accounting.accountant import Accountant, as_float
from hedgerow.accounting.events import AnyEvent, GaussianEvent, RangeEvent
from hedgerow.accounting.gaussian import bracket


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
    return as_float(event.cost.pure**2) / 2.0
