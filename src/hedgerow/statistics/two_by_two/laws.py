"""Which noise was added to which count, and how large it is."""

import math

from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ParameterError

NoisePair = tuple[Noise, Noise]
NONE = Gaussian(0.0)
"""The law of a count that is published as it is."""


def size(noise: Noise) -> float:
    """The scale or standard deviation that describes a noise."""
    return noise.sigma if isinstance(noise, Gaussian) else noise.scale


def variance(noise: Noise) -> float:
    """The variance of a noise, on its lattice where it has one.

    Example:
        >>> variance(Laplace(2.0)), round(variance(Laplace(2.0, step=1.0)), 4)
        (8.0, 7.8354)
    """
    if isinstance(noise, Gaussian):
        return noise.sigma**2
    if noise.step == 0 or noise.scale == 0:
        return 2 * noise.scale**2
    apart = -noise.step / noise.scale
    return 2 * noise.step**2 * math.exp(apart) / math.expm1(apart) ** 2


def noises(name: str, value: Noise | NoisePair | None) -> NoisePair:
    """The laws for the first and the second count: one for both, a pair, or none."""
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ParameterError(
            f"{name} must be one noise, or a pair: of the first count and of the second.", code="parameter-pair"
        )
    first, second = (_checked(name, NONE if one is None else one) for one in pair)
    return first, second


def _checked(name: str, noise: Noise) -> Noise:
    found = size(noise) if isinstance(noise, (Gaussian, Laplace)) else math.nan
    if not (math.isfinite(found) and found >= 0):
        raise ParameterError(
            f"{name} must be Gaussian(sigma) or Laplace(scale), with a finite size that is not below 0.",
            code="parameter-noise",
        )
    return noise
