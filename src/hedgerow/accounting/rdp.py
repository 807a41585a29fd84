"""Renyi differential privacy at orders fixed in advance."""

import math

from hedgerow.accounting.accountant import Accountant
from hedgerow.accounting.events import AnyEvent, GaussianEvent, RangeEvent

ORDERS = (
    *(1.0 + step / 20.0 for step in range(1, 40)),
    *(3.0 + step / 4.0 for step in range(68)),
    *range(20, 256),
    *(2.0**step for step in range(8, 17)),
)
"""Where the curve is followed."""


class RDP(Accountant):
    """The Renyi curve at `ORDERS`, added up and converted at its best order.

    A pure step is taken as the worst of its epsilon (randomised response), because a Laplace event
    says how far one unit moves the whole vector, not each coordinate.
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
        return order * float(event.cost.gaussian) / 2.0
    if isinstance(event, RangeEvent):
        return min(order * float(event.squares) / 8.0, _randomised_response(float(event.range), order))
    return _randomised_response(float(event.cost.pure), order)


def _randomised_response(epsilon: float, order: float) -> float:
    """The Renyi divergence of one truthful bit with odds e^epsilon."""
    if epsilon == 0.0:
        return 0.0
    truth, lie = -math.log1p(math.exp(-epsilon)), -math.log1p(math.exp(epsilon))
    first, second = order * truth + (1.0 - order) * lie, order * lie + (1.0 - order) * truth
    return (first + math.log1p(math.exp(second - first))) / (order - 1.0)
