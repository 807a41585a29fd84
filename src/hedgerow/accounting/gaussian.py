"""The exact privacy of Gaussian noise: delta, epsilon and mu from one another (Balle and Wang 2018), by bisection."""

import math
from collections.abc import Callable
from functools import lru_cache

from hedgerow.arguments import non_negative, probability, real
from hedgerow.special import scaled_erfc

ROUNDS = 2000
LEAST, MOST = 2.0**-1000, 2.0**1000
"""The search does not go beyond these points."""

PRECISION = 2.0**-50
"""A bracket is narrow when its width is this fraction of its upper end."""


def bracket(holds: Callable[[float], bool], *, start: float = 1.0) -> tuple[float, float]:
    """Return the last point at which `holds` was evaluated as true and the first at which it was evaluated as false.

    `holds` is true on an initial part of the positive numbers and false after it. Both ends were evaluated, so a caller
    may rely on the one that is on its safe side. If it holds up to 2^1000, the upper end is infinity, not evaluated.

    Example:
        >>> low, high = bracket(lambda x: x * x <= 2.0)
        >>> round(low, 6), round(high, 6)
        (1.414214, 1.414214)
    """
    low, high = _surround(holds, start)
    for _ in range(ROUNDS):
        if high == math.inf or high - low <= PRECISION * high:
            break
        middle = low + (high - low) / 2.0
        if middle in {low, high}:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _surround(holds: Callable[[float], bool], start: float) -> tuple[float, float]:
    """A power of two where it holds (or 0.0) and twice that, where it does not (or infinity)."""
    point = start
    if holds(point):
        while point < MOST and holds(point * 2.0):
            point *= 2.0
        return (point, point * 2.0) if point < MOST else (point, math.inf)
    while point > LEAST and not holds(point / 2.0):
        point /= 2.0
    return (point / 2.0, point) if point > LEAST else (0.0, point)


SLACK = 1.0 + 1e-9
"""A computed delta times this is an upper bound on the exact one."""

_NARROW = 1.0 / 16.0
_NODES = (
    (0.0, 128 / 225),
    *(
        (sign * math.sqrt(5 + side * 2 * math.sqrt(10 / 7)) / 3, (322 - side * 13 * math.sqrt(70)) / 900)
        for side in (-1, 1)
        for sign in (-1, 1)
    ),
)
"""Gauss-Legendre nodes and weights on [-1, 1]."""

_ROOT = math.sqrt(2.0)
_PEAK = 1.0 / math.sqrt(2.0 * math.pi)
"""Density of the normal law at 0."""


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest delta with which a mu-GDP release is (epsilon, delta)-DP, for any real epsilon.

    Privacy: the pair N(0, 1) and N(mu, 1) dominates every pair of neighbours, so this is the
    exact profile of Gaussian noise with mu = sensitivity / sigma (Balle and Wang 2018).

    Example:
        >>> round(gaussian_delta(1.0, 1 / 4.224679) * 1e6, 4)
        1.0
    """
    if mu == math.inf:
        return 1.0
    epsilon, mu = real("epsilon", epsilon), non_negative("mu", mu)
    if epsilon < 0.0:
        return -math.expm1(epsilon) + math.exp(epsilon) * _profile(-epsilon, mu)
    return _profile(epsilon, mu)


def _profile(epsilon: float, mu: float) -> float:
    """Phi(-near) - e^epsilon Phi(-far), with the common factor exp(-near^2/2) taken out; epsilon is not below 0."""
    if mu == 0.0:
        return 0.0
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    if near > 40.0:
        return 0.0
    if near < -1.0:
        return _upper_tail(near) - math.exp(-near * near / 2.0) * _scaled_tail(far)
    difference = _scaled_tail(near) - _scaled_tail(far) if mu > _NARROW else _integrated_slope(epsilon / mu, mu / 2.0)
    return math.exp(-near * near / 2.0) * difference


def _integrated_slope(middle: float, half: float) -> float:
    """Decrease of `_scaled_tail` from middle - half to middle + half, where a difference would nearly cancel."""
    total = 0.0
    for node, weight in _NODES:
        x = middle + half * node
        total += weight * (_PEAK - x * _scaled_tail(x))  # minus the derivative of `_scaled_tail`: positive everywhere
    return half * total


def _scaled_tail(x: float) -> float:
    """Phi(-x) exp(x^2/2)."""
    return scaled_erfc(x / _ROOT) / 2.0


def _upper_tail(x: float) -> float:
    """Phi(-x)."""
    return math.erfc(x / _ROOT) / 2.0


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu that is (epsilon, delta)-DP, rounded down: noise is sigma = sensitivity / mu.

    Privacy: the returned float itself was tried: gaussian_delta(epsilon, mu) (1 + 1e-9) <= delta.

    Example:
        >>> round(1 / gaussian_mu(1.0, 1e-6), 6)
        4.224679
    """
    return _largest_mu(non_negative("epsilon", epsilon), probability("delta", delta))


@lru_cache(maxsize=1024)
def _largest_mu(epsilon: float, delta: float) -> float:
    return bracket(lambda mu: _profile(epsilon, mu) * SLACK <= delta)[0]


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 for which mu-GDP is (epsilon, delta)-DP, rounded up.

    Example:
        >>> round(gaussian_epsilon(0.5, 1e-6), 6)
        2.254085
    """
    if mu == math.inf:
        return math.inf
    return _smallest_epsilon(non_negative("mu", mu), probability("delta", delta))


@lru_cache(maxsize=1024)
def _smallest_epsilon(mu: float, delta: float) -> float:
    if _profile(0.0, mu) * SLACK <= delta:
        return 0.0
    return bracket(lambda epsilon: _profile(epsilon, mu) * SLACK > delta)[1]
