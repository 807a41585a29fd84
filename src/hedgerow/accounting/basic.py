"""Epsilons and deltas, added up."""

import math
from collections import Counter

from hedgerow.accounting.accountant import Accountant, as_float
from hedgerow.accounting.events import BoundedRangeEvent, GaussianEvent, SpreadRangeEvent
from hedgerow.accounting.gaussian import gaussian_epsilon


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
                total += count * as_float(event.cost.pure)
        return total
