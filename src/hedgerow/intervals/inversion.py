"""Tails of any sum of Gaussian and continuous Laplace noises, by inverting its characteristic function.

With phi the characteristic function (real, because all noises are symmetric) and u_k = (k + 1/2) D,

    P(|X| > t) = 1 - 2 * sum over k >= 0 of phi(u_k) sin(u_k t) / (pi (k + 1/2))

up to the mass of |X| beyond 2 pi / D - t (Davies 1973). That mass, the terms left out and the rounding
are bounded and added, so that what is returned is never below the true tail.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hedgerow.intervals.bounds import Floats

ROUNDING = 1e-13
ALIAS = 1e-14
MOST_TERMS = 1 << 17
LEAST_BETA = 1e-11
"""Below it the added errors would weigh too much, and the exponential bound alone is used."""


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
