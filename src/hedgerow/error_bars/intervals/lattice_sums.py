"""Exact laws of sums of Laplace noises on one lattice: totals of counts, and multiples of them.

A noise with P(k) proportional to a^|k| on the integers, taken m times, has the characteristic function
(1 - a)^2 / (1 - 2 a cos(m u) + a^2) = 1 / (1 + (sin(m u / 2) / sinh(r / 2))^2) with a = exp(-r). The product over all
noises is that of their sum, which lives on the integers too, and its values at u = 2 pi j / N are the discrete Fourier
transform of its probabilities, those N apart added together. So one fast transform gives the whole law. What lies
beyond N / 2 and the rounding of the transform are bounded and added to every tail.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hedgerow.distributions import Laplace
from hedgerow.error_bars.intervals.bounds import Floats
from hedgerow.error_bars.intervals.inversion import ALIAS, MINIMUM_BETA, Sums

MAXIMUM_SIZE = 1 << 20
"""Maximum length of a transform. Sums that need a longer one are on a lattice so fine that it hardly matters."""

MAXIMUM_MULTIPLE = 1 << 12
MAXIMUM_DENOMINATOR = 64
TOLERANCE = 1e-12

Parts = tuple[tuple[int, float, int], ...]
"""Kinds of noise on the integers: their multiple, step over scale, and how many independent ones there are."""


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """The law of a sum on the multiples of `unit`; `tails[k]` bounds the chance to lie more than k units from zero.

    `blur` is how far, in units, coefficients that are multiples of `unit` only up to rounding may carry the sum.
    """

    unit: float
    tails: Floats
    blur: float

    def half_width(self, beta: float) -> float | None:
        """The smallest multiple of the unit exceeded with probability at most `beta`; None if `beta` is too small."""
        units = int(np.searchsorted(-self.tails, -beta))
        if beta < MINIMUM_BETA or units == len(self.tails):
            return None
        return (units + self.blur * max(units, 1)) * self.unit

    def tail(self, distance: float) -> float | None:
        """An upper bound on the probability to exceed `distance`; None if it is too small."""
        units = math.floor(distance / self.unit * (1 + 1e-12) + 1e-9)
        chance = float(self.tails[units]) if units < len(self.tails) else 0.0
        return chance if chance >= MINIMUM_BETA else None


def lattice_law(noises: Sequence[tuple[Laplace, int]]) -> LatticeLaw | None:
    """The law of a sum of Laplace noises on lattices, each so many times; None where they have no lattice in common.

    Example:
        >>> law = lattice_law([(Laplace(1.0, 1.0), 100)])
        >>> law.half_width(0.05)
        27.0
    """
    if any(noise.step == 0 for noise, _ in noises):
        return None
    steps = np.array([noise.step for noise, _ in noises])
    unit = _unit(steps)
    if unit is None:
        return None
    multiples = np.round(steps / unit).astype(int)
    exact = bool(np.all(multiples * unit == steps))
    parts = [(int(m), noise.step / noise.scale, n) for m, (noise, n) in zip(multiples, noises, strict=True)]
    tails = _tails(tuple(sorted(parts)))
    return None if tails is None else LatticeLaw(unit, tails, 0.0 if exact else 1e-9)


def _unit(steps: Floats) -> float | None:
    """The largest number of which all steps are small multiples."""
    smallest = float(steps.min())
    ratios = np.unique(steps / smallest)
    if ratios[-1] > MAXIMUM_MULTIPLE:
        return None
    for parts in range(1, MAXIMUM_DENOMINATOR + 1):
        multiples = ratios * parts
        if np.all(np.abs(multiples - np.round(multiples)) <= TOLERANCE * multiples):
            return smallest / parts
    return None


@lru_cache(maxsize=32)
def _tails(parts: Parts) -> Floats | None:
    """P(|X| > k) for k from zero on, until it is too small to matter; None where that takes too long a transform.

    The probabilities have error at most c e log2(N) times their Euclidean norm, e the unit of rounding; so their sum
    has at most sqrt(N) times that, which is c e log2(N) times the norm of the transform.
    """
    scales = np.array([[multiple / ratio for multiple, ratio, _ in parts]])
    counts = np.array([float(count) for _, _, count in parts])
    reach = float(Sums(np.zeros(1), scales, counts, np.zeros_like(scales)).reach(ALIAS)[0])
    from scipy.fft import irfft, next_fast_len  # noqa: PLC0415 - a tenth of a second to load, and seldom needed

    size = next_fast_len(2 * math.ceil(reach) + 2, real=True)
    if size > MAXIMUM_SIZE:
        return None
    index = np.arange(size // 2 + 1)
    exponent = np.zeros(len(index))
    for multiple, ratio, count in parts:
        sines = np.sin((multiple * index % size) * (math.pi / size))
        exponent -= count * np.log1p(np.square(sines / math.sinh(min(ratio / 2, 300.0))))
    transform = np.exp(exponent)
    chances = irfft(transform, size)
    half = (size - 1) // 2
    both_sides = 2 * np.maximum(chances[1 : half + 1], 0.0)
    rounding = 16 * np.finfo(float).eps * math.log2(size) * math.sqrt(2 * float(transform @ transform))
    tails = np.append(np.cumsum(both_sides[::-1])[::-1], 0.0) + rounding + ALIAS
    tails = tails[: int(np.searchsorted(-tails, -MINIMUM_BETA / 2)) + 1]
    tails.setflags(write=False)
    return tails
