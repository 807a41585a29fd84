"""The exact interval for a quotient of two noisy quantities under one or two Laplace noises, for all groups at once.

A quotient r is rejected when numerator - r denominator lies farther from zero than its noise does with
probability beta. That distance, as a function of r, is the quantile of a linear form of symmetric log-concave
noise and therefore convex in r (Meyer and Reisner 1991; Bobkov 2010). So the r rejected for being too low form an
interval, as do those rejected for being too high, and bisection finds their ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributions import Laplace
from hedgerow.intervals.bounds import Floats
from hedgerow.intervals.laplace_pair import pair_tail
from hedgerow.intervals.linear import lattice_slack

Flags = NDArray[np.bool_]
DOUBLINGS = 200
HALVINGS = 200
TOLERANCE = 1e-13
FARTHEST = 1e100
"""Beyond it no quotient is looked for."""


@dataclass(frozen=True, slots=True)
class LaplaceQuotient:
    """Noisy numerators and denominators, and for each noise its coefficient above, its coefficient below, its law."""

    numerator: Floats
    denominator: Floats
    terms: Sequence[tuple[float, float, Laplace]]
    beta: float

    def hull(self, support: tuple[float, float]) -> tuple[Floats, Floats]:
        """The least and greatest accepted quotient in `support`; nan for both where none is accepted there."""
        lower = self.least(*support)
        upper = -self._mirrored().least(-support[1], -support[0])
        return lower, np.where(np.isnan(lower), np.nan, upper)

    def tail(self, quotient: Floats | float) -> Floats:
        """The chance of noise as far from zero as numerator - quotient * denominator is seen to be."""
        distance = np.abs(self.numerator - quotient * self.denominator)
        return self._tail([a - quotient * b for a, b, _ in self.terms], distance)

    def zero_possible(self) -> Flags:
        """Where the denominator may be zero, that is, where quotients without limit are accepted."""
        return self._tail([b for _, b, _ in self.terms], np.abs(self.denominator)) >= self.beta

    def _tail(self, coefficients: Sequence[Floats | float], distance: Floats) -> Floats:
        sizes = [np.abs(c) for c in coefficients]
        scales = [size * noise.scale for size, (_, _, noise) in zip(sizes, self.terms, strict=True)]
        slack = sum(size * lattice_slack(noise) for size, (_, _, noise) in zip(sizes, self.terms, strict=True))
        second = scales[1] if len(scales) > 1 else np.zeros(1)
        return pair_tail(np.asarray(scales[0]), np.asarray(second), distance - slack)

    def _mirrored(self) -> "LaplaceQuotient":
        terms = [(a, -b, noise) for a, b, noise in self.terms]
        return LaplaceQuotient(self.numerator, -self.denominator, terms, self.beta)

    def _side(self, quotient: Floats) -> Floats:
        """On which side of zero the quotient leaves numerator - quotient * denominator, if it is rejected; else 0."""
        remainder = self.numerator - quotient * self.denominator
        return np.where(self.tail(quotient) < self.beta, np.sign(remainder), 0.0)

    def least(self, lowest: float, highest: float) -> Floats:
        """Find the least accepted quotient from `lowest` to `highest`; nan where there is none."""
        start = np.full(self.numerator.shape, lowest) if math.isfinite(lowest) else self._far_left()
        finite = np.where(np.isfinite(start), start, 0.0)
        side = np.where(np.isfinite(start), self._side(finite), 0.0)
        stop = np.full(self.numerator.shape, highest) if math.isfinite(highest) else self._leave(finite, side)
        empty = (side != 0) & (self._side(stop) == side)
        centre = self._estimate()
        ends = self._bisect(finite, np.where((centre > finite) & (centre < stop), centre, stop), side)
        return np.where(empty, np.nan, np.where(side == 0, start, ends))

    def _far_left(self) -> Floats:
        """A rejected quotient to the left of all accepted ones; minus infinity where there is none."""
        centre = self._estimate()
        step, found = np.maximum(np.abs(centre), 1.0), self.zero_possible()
        place = np.where(found, -np.inf, centre)
        for _ in range(DOUBLINGS):
            found |= self._side(np.where(found, centre, place)) != 0
            if found.all():
                return place
            place, step = np.where(found, place, place - step), 2 * step
        return np.where(found, place, -np.inf)

    def _leave(self, start: Floats, side: Floats) -> Floats:
        """A quotient to the right of `start` that is not rejected on the same side."""
        step, place = np.maximum(np.abs(start), 1.0), start
        for _ in range(DOUBLINGS):
            inside = (self._side(place) == side) & (side != 0)
            if not inside.any():
                break
            place, step = np.where(inside, place + step, place), 2 * step
        return place

    def _bisect(self, rejected: Floats, other: Floats, side: Floats) -> Floats:
        """The end of the rejected quotients, from the rejected side."""
        for _ in range(HALVINGS):
            middle = rejected + (other - rejected) / 2
            if np.all(np.abs(other - rejected) <= TOLERANCE * np.abs(middle)):
                break
            inside = self._side(middle) == side
            rejected, other = np.where(inside, middle, rejected), np.where(inside, other, middle)
        return rejected

    def _estimate(self) -> Floats:
        zero = self.denominator == 0
        with np.errstate(over="ignore"):
            quotient = np.where(zero, 0.0, self.numerator / np.where(zero, 1.0, self.denominator))
        return np.clip(quotient, -FARTHEST, FARTHEST)
