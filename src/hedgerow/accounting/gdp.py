"""Gaussian differential privacy: exact for Gaussian noise."""

import math

from hedgerow.accounting.accountant import Accountant, as_float, total
from hedgerow.accounting.events import ApproximateEvent, LaplaceEvent, pure_mu
from hedgerow.accounting.gaussian import gaussian_delta, gaussian_epsilon


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
        return math.sqrt(as_float(total(event.cost.gaussian * count for event, count in self._steps)))

    @property
    def _pure(self) -> float:
        """Return the epsilon of the deliberately pure steps."""
        return sum(count * as_float(event.cost.pure) for event, count in self._pure_steps)

    @property
    def _pure_steps(self) -> list[tuple[LaplaceEvent | ApproximateEvent, int]]:
        return [(event, count) for event, count in self._steps if isinstance(event, (LaplaceEvent, ApproximateEvent))]

    @property
    def _embedded_mu(self) -> float:
        """Return mu with the pure steps counted as Gaussian ones."""
        steps = [(as_float(event.cost.pure), count) for event, count in self._pure_steps]
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
