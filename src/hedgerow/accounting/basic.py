"""Epsilons and deltas, added up."""

import math

from hedgerow.accounting.accountant import Accountant
from hedgerow.accounting.events import BoundedRangeEvent, GaussianEvent
from hedgerow.accounting.gaussian import gaussian_epsilon


class Basic(Accountant):
    """Basic composition: each Gaussian step gets an equal part of delta, and the epsilons are added.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.accounting.events import LaplaceEvent
        >>> Basic().add(LaplaceEvent(Fraction(1), Fraction(4)), 3).epsilon(1e-6)
        0.75
    """

    def _epsilon(self, delta: float) -> float:
        number = sum(count for event, count in self._steps if isinstance(event, GaussianEvent))
        total = self._surcharge
        for event, count in self._steps:
            if isinstance(event, GaussianEvent):
                total += count * gaussian_epsilon(math.sqrt(event.cost.gaussian), delta / number)
            elif isinstance(event, BoundedRangeEvent):
                total += count * float(event.epsilon)
            else:
                total += count * float(event.cost.pure)
        return total
