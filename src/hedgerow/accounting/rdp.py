"""Renyi differential privacy at orders fixed in advance."""

import math

from hedgerow.accounting.accountant import Accountant, as_float
from hedgerow.accounting.events import AnyEvent, GaussianEvent, RangeEvent

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
    return _randomised_response(as_float(event.cost.pure), order)


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
