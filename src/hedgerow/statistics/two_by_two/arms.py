"""The two groups that are compared: their counts, the noise of the counts, and the variance of their rates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.arguments import Floats
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ParameterError

NoisePair = tuple[Noise, Noise]
NONE = Gaussian(0.0)
"""The law of a count that is published exactly."""


def farthest(noise: Noise) -> float:
    """Distance that a noise exceeds with a probability below 1e-30."""
    return 12.0 * noise.sigma if isinstance(noise, Gaussian) else 70.0 * noise.scale


def noises(name: str, value: Noise | NoisePair | None) -> NoisePair:
    """The laws for the first and the second count: one for both, a pair, or none."""
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ParameterError(
            f"{name} must be one noise, or a pair: of the first count and of the second.", code="parameter-pair"
        )
    first, second = (NONE if one is None else one for one in pair)
    if not isinstance(first, (Gaussian, Laplace)) or not isinstance(second, (Gaussian, Laplace)):
        raise ParameterError(f"{name} must be Gaussian(sigma) or Laplace(scale).", code="parameter-noise")
    return first, second


Weight = Callable[[Floats], Floats | float]
"""Coefficient of a noise in count - rate * size, as a function of the supposed rate."""


@dataclass(frozen=True, slots=True)
class Term:
    """A noise, its coefficient, and a flag that the size has the same noise."""

    noise: Noise
    weight: Weight
    in_size: bool = False


@dataclass(frozen=True, slots=True)
class Arm:
    """One group: noisy outcomes among a size that is public, or noisy too.

    At the rate p the difference count - p size has mean zero. Its variance is that of the binomial, size p (1 - p), and
    that of the noise of the count, plus p^2 times that of the size if it was released beside it. Where those with and
    without the outcome were released and the size is their sum, the weights are 1 - p and p.

    An average of values from 0 to 1 is such a rate, too: `count` is then their sum, and `value_variance` the variance
    of one value, which is at most p (1 - p).
    """

    count: Floats
    size: Floats
    terms: tuple[Term, ...]
    value_variance: Floats | None = None

    @property
    def rate(self) -> Floats:
        """The noisy share of outcomes; it need not lie between 0 and 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.count / self.size

    @property
    def smooth_rate(self) -> Floats:
        """A smoothed share, never 0 or 1, for variances."""
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = 1 / (self.size + 2)
            return np.clip((self.count + 1) * edge, edge, 1 - edge)

    def sampling(self, rate: Floats) -> Floats:
        """The variance of the share due to sampling."""
        with np.errstate(divide="ignore", invalid="ignore"):
            largest = np.maximum(rate * (1 - rate), 0.0)
            one = largest if self.value_variance is None else np.minimum(self.value_variance, largest)
            return np.asarray(one / self.size, dtype=np.float64)

    def noise(self, rate: Floats) -> Floats:
        """The variance of the share due to noise."""
        return self._sum(rate, self.terms)

    def normal_noise(self, rate: Floats) -> Floats:
        """The Gaussian part of the variance due to noise."""
        return self._sum(rate, [term for term in self.terms if not isinstance(term.noise, Laplace)])

    def scales(self, rate: Floats) -> list[Floats]:
        """The scales of the Laplace noises in the share."""
        laplaces = [term for term in self.terms if isinstance(term.noise, Laplace) and term.noise.scale > 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return [np.abs(term.weight(rate)) * term.noise.size / self.size + 0 * rate for term in laplaces]

    @property
    def size_variance(self) -> float:
        """The variance of the noise of the size; 0 where it is public."""
        return sum(term.noise.variance for term in self.terms if term.in_size)

    def at(self, index: slice | tuple[slice | None, ...]) -> "Arm":
        """The same arm with other axes, for looking at many supposed values at once."""
        values = None if self.value_variance is None else self.value_variance[index]
        return Arm(self.count[index], self.size[index], self.terms, values)

    def without_noise(self) -> "Arm":
        """The same counts, treated as exact."""
        return Arm(self.count, self.size, (), self.value_variance)

    def _sum(self, rate: Floats, terms: "tuple[Term, ...] | list[Term]") -> Floats:
        total = np.zeros(np.broadcast_shapes(rate.shape, self.size.shape))
        with np.errstate(divide="ignore", invalid="ignore"):
            for term in terms:
                total = total + (term.weight(rate) / self.size) ** 2 * term.noise.variance
        return total


def public_size(noise: Noise) -> tuple[Term, ...]:
    """A noisy count among a public size."""
    return (Term(noise, lambda rate: 1.0 + 0 * rate),)


def noisy_size(noise: Noise, size_noise: Noise) -> tuple[Term, ...]:
    """A noisy count and a noisy size."""
    return (Term(noise, lambda rate: 1.0 + 0 * rate), Term(size_noise, lambda rate: rate, in_size=True))


def disjoint_counts(noise: Noise, rest_noise: Noise) -> tuple[Term, ...]:
    """Noisy counts of those with and of those without the outcome; the size is their sum."""
    return (
        Term(noise, lambda rate: 1.0 - rate, in_size=True),
        Term(rest_noise, lambda rate: rate, in_size=True),
    )
