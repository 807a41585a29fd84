"""Error bars of sums: how far a fixed combination of independent noises strays from zero.

One Laplace noise, two of them, and any number of normal ones have tails in closed form. The tail of any other sum is
found by inverting its characteristic function phi, which is real because all noises are symmetric. With
u_k = (k + 1/2) D,

    P(|X| > t) = 1 - 2 * sum over k >= 0 of phi(u_k) sin(u_k t) / (pi (k + 1/2))

up to the mass of |X| beyond 2 pi / D - t (Davies 1973). That mass, the terms left out and the rounding
are bounded and added, so that what is returned is never below the true tail.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import exprel, ndtr, ndtri

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.error_bars.intervals.bounds import Floats
from hedgerow.errors import InternalError

Terms = Sequence[tuple[float, Noise]]

ROUNDING = 1e-13
ALIAS = 1e-14
MOST_TERMS = 1 << 17
LEAST_BETA = 1e-11
"""Below it the added errors would weigh too much, and the exponential bound alone is used."""


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
    """The largest distance between a Laplace noise on a lattice and a continuous one of the same scale.

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


def pair_tail(first: Floats, second: Floats, distance: Floats) -> Floats:
    """P(|X + Y| > distance) for Laplace X, Y with the scales `first` and `second`, either of which may be zero.

    With b the larger and c the smaller scale it is (b^2 e^(-t/b) - c^2 e^(-t/c)) / (b^2 - c^2). Written as below
    nothing cancels, and equal scales need no case of their own: exprel is 1 there and leaves (1 + t/2b) e^(-t/b).
    """
    larger, smaller = np.maximum(first, second), np.minimum(first, second)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        reach = distance / larger
        gap = np.where(smaller > 0, reach * (larger - smaller) / smaller, np.inf)
        mixed = np.where(smaller > 0, smaller * reach / (larger + smaller) * exprel(-gap), 0.0)
        result = np.exp(-reach) * (1.0 + mixed)
    result = np.where(larger > 0, result, 0.0)
    return np.where(distance > 0, np.minimum(result, 1.0), 1.0)


@dataclass(frozen=True, slots=True)
class Series:
    """The terms of the sum above, for all t up to the `limit` it was made for, and what to add for the rest."""

    frequencies: Floats
    weights: Floats
    error: float

    def tail(self, distance: float) -> float:
        """A bound on P(|X| > distance), above the exact value by no more than the error and what it covers."""
        return float(1.0 - 2.0 * (self.weights @ np.sin(self.frequencies * distance))) + self.error


def sum_tail(sigma: float, scales: tuple[float, ...], distance: float) -> float:
    """P(|X| > distance) for a normal noise plus Laplace noises, never below the exact value."""
    exponential = math.exp(min(0.0, _exponent(sigma, scales, distance)))
    if exponential < LEAST_BETA:
        return exponential
    return min(exponential, _series(sigma, scales, distance).tail(distance))


@lru_cache(maxsize=1024)
def sum_half_width(sigma: float, scales: tuple[float, ...], beta: float) -> float:
    """The least t with P(|X| > t) at most beta, or a little more."""
    high = _reach(sigma, scales, beta)
    if beta < LEAST_BETA:
        return high
    series, low = _series(sigma, scales, high), 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if series.tail(middle) <= beta else (middle, high)
    return high


def _exponent(sigma: float, scales: tuple[float, ...], distance: float) -> float:
    """The logarithm of Chernoff's bound on P(|X| > distance), least over a grid of exponents."""
    rates = (np.arange(1, 256) / 256.0) / max(scales)
    moments = (sigma * rates) ** 2 / 2
    for scale, count in _multiplicities(scales):
        moments = moments - count * np.log1p(-np.square(rates * scale))
    return math.log(2.0) + float(np.min(moments - rates * distance))


def _reach(sigma: float, scales: tuple[float, ...], mass: float) -> float:
    """A distance beyond which at most `mass` lies, by Chernoff's bound."""
    high = math.sqrt(sigma**2 + 2 * sum(b * b for b in scales))
    while _exponent(sigma, scales, high) > math.log(mass):
        high *= 2
    low = high / 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if _exponent(sigma, scales, middle) <= math.log(mass) else (middle, high)
    return high


def _series(sigma: float, scales: tuple[float, ...], limit: float) -> Series:
    spacing = 2 * math.pi / (limit + _reach(sigma, scales, ALIAS))
    terms, left_out = 128, 1.0
    while left_out > ROUNDING and terms < MOST_TERMS:
        terms *= 2
        left_out = _left_out(sigma, scales, spacing, terms)
    order = np.arange(terms, dtype=np.float64) + 0.5
    frequencies: Floats = order * spacing
    weights = np.exp(_log_characteristic(sigma, scales, frequencies)) / (math.pi * order)
    return Series(frequencies, weights, 2 * (left_out + ALIAS) + ROUNDING)


def _left_out(sigma: float, scales: tuple[float, ...], spacing: float, terms: int) -> float:
    """A bound on the terms from `terms` on.

    phi(u) falls at least like 1 / (1 + b^2 u^2), b the largest scale, so the terms fall like those of
    sum (k + 1/2)^-3, which is below 1 / (2 terms^2).
    """
    first = np.array([(terms + 0.5) * spacing])
    size = math.exp(_log_characteristic(sigma, scales, first)[0])
    square = (max(scales) * spacing) ** 2
    return float(size * (1 + square * (terms + 0.5) ** 2) / (2 * math.pi * square * terms**2))


def _log_characteristic(sigma: float, scales: tuple[float, ...], at: Floats) -> Floats:
    result = -np.square(sigma * at) / 2
    for scale, count in _multiplicities(scales):
        result = result - count * np.log1p(np.square(scale * at))
    return result


@lru_cache(maxsize=64)
def _multiplicities(scales: tuple[float, ...]) -> tuple[tuple[float, int], ...]:
    """Each different scale with how often it occurs: equal groups have equal noise."""
    return tuple(Counter(scales).items())
