"""Error bars of sums: how far a fixed combination of independent noises strays from zero."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import InternalError
from hedgerow.intervals.inversion import sum_half_width, sum_tail
from hedgerow.intervals.laplace_pair import pair_tail

Terms = Sequence[tuple[float, Noise]]


@dataclass(frozen=True, slots=True)
class _Mixture:
    """A normal noise plus Laplace noises; `slack` is how far their lattices can carry the sum beyond it."""

    sigma: float
    laplaces: tuple[Laplace, ...]

    @property
    def scales(self) -> tuple[float, ...]:
        return tuple(sorted((noise.scale for noise in self.laplaces), reverse=True))

    @property
    def slack(self) -> float:
        return sum(lattice_slack(noise) for noise in self.laplaces)


def half_width(terms: Terms, beta: float) -> float:
    """The least t such that sum c_i X_i lies farther than t from zero with probability at most `beta`.

    Exact for normal noises, for one Laplace noise (on its lattice, if it has one) and for two continuous ones.
    Any other sum is inverted numerically with all errors added, and a lattice in it is bounded: a little more,
    never less.

    Args:
        terms: Pairs of a coefficient and the law of an independent noise.
        beta: How often the sum may stray farther.

    Example:
        >>> round(half_width([(1.0, Gaussian(10.0))], beta=0.05), 4)
        19.5996
        >>> round(half_width([(1.0, Laplace(1.0)), (-1.0, Laplace(1.0))], beta=0.05), 4)
        4.113
    """
    check_beta(beta)
    mixture = _mixture(terms)
    if not mixture.laplaces:
        return float(-ndtri(beta / 2) * mixture.sigma)
    if mixture.sigma == 0 and len(mixture.laplaces) == 1:
        return _one_laplace(mixture.laplaces[0], beta)
    if mixture.sigma == 0 and len(mixture.laplaces) == 2:
        larger, smaller = mixture.scales
        return _two_laplaces(larger, smaller, beta) + mixture.slack
    return sum_half_width(mixture.sigma, mixture.scales, beta) + mixture.slack


def tail(terms: Terms, distance: float) -> float:
    """The probability that sum c_i X_i lies farther than `distance` from zero, or a bound above it.

    It is exact and bounded in the same cases as `half_width`.

    Example:
        >>> round(tail([(2.0, Gaussian(5.0))], distance=19.5996), 4)
        0.05
    """
    mixture = _mixture(terms)
    if distance < 0:
        return 1.0
    if not mixture.laplaces:
        return float(2 * ndtr(-distance / mixture.sigma)) if mixture.sigma > 0 else 0.0
    if mixture.sigma == 0 and len(mixture.laplaces) == 1:
        return _one_tail(mixture.laplaces[0], distance)
    left = distance - mixture.slack
    if left <= 0:
        return 1.0
    if mixture.sigma == 0 and len(mixture.laplaces) == 2:
        first, second = mixture.scales
        return float(pair_tail(np.array(first), np.array(second), np.array(left)))
    return sum_tail(mixture.sigma, mixture.scales, left)


def lattice_slack(noise: Laplace) -> float:
    """How far a Laplace noise on a lattice can be from a continuous one of the same scale.

    Both are taken as functions of one uniform draw. With q = exp(-step/scale) the lattice noise is k steps or more
    with probability 2 q^k / (1 + q), and that is where the continuous one is k step - scale ln(2 / (1 + q)) or more.
    So they differ by at most step - scale ln(2 / (1 + q)), about half a step on a fine lattice.
    """
    if noise.step == 0:
        return 0.0
    ahead = noise.scale * (math.log(2.0) - math.log1p(math.exp(-noise.step / noise.scale)))
    return max(ahead, noise.step - ahead)


def check_beta(beta: float) -> None:
    """Refuse a failure probability that is none."""
    if not 0 < beta < 1:
        raise InternalError("An interval was asked for with a failure probability that is not between 0 and 1.")


def _mixture(terms: Terms) -> _Mixture:
    sigma, laplaces = 0.0, []
    for coefficient, noise in terms:
        size = abs(coefficient)
        if isinstance(noise, Gaussian):
            sigma = math.hypot(sigma, size * noise.sigma)
        elif size * noise.scale > 0:
            laplaces.append(Laplace(size * noise.scale, size * noise.step))
    return _Mixture(sigma, tuple(laplaces))


def _one_laplace(noise: Laplace, beta: float) -> float:
    if noise.step == 0:
        return -noise.scale * math.log(beta)
    ratio = noise.step / noise.scale
    steps = max(0, math.floor(math.log(2 / (beta * (1 + math.exp(-ratio)))) / ratio) - 1)
    while _one_tail(noise, steps * noise.step) > beta:
        steps += 1
    return steps * noise.step


def _one_tail(noise: Laplace, distance: float) -> float:
    if noise.step == 0:
        return math.exp(-distance / noise.scale)
    ratio = noise.step / noise.scale
    # A distance that was computed as a multiple of the step may lie a rounding error below it.
    steps = math.floor(distance / noise.step + 1e-9)
    return 2 * math.exp(-(steps + 1) * ratio) / (1 + math.exp(-ratio))


def _two_laplaces(larger: float, smaller: float, beta: float) -> float:
    low, high = 0.0, 2 * larger * (math.log(2 / beta) + 1)
    pair = np.array(larger), np.array(smaller)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if pair_tail(*pair, np.array(middle)) <= beta else (middle, high)
    return high
