"""Laws of noise. Descriptions only: nothing here is random (see `hedgerow.noise` for that)."""

import math
from dataclasses import dataclass

from hedgerow.arguments import non_negative


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal noise with standard deviation `sigma`."""

    sigma: float

    def __post_init__(self) -> None:
        non_negative("sigma", self.sigma)

    @property
    def size(self) -> float:
        """The one number that describes it, in the unit of the noise."""
        return self.sigma

    @property
    def variance(self) -> float:
        """The variance."""
        return self.sigma**2

    @property
    def variance_bound(self) -> float:
        """The variance; see `Laplace.variance_bound`."""
        return self.sigma**2


@dataclass(frozen=True, slots=True)
class Laplace:
    """Two-sided exponential noise with the given `scale` (mean absolute deviation).

    With `step` above zero the noise lives on the multiples of `step`: P(x) is proportional to
    exp(-|x| / scale) there. Zero means a grid too fine to matter.
    """

    scale: float
    step: float = 0.0

    def __post_init__(self) -> None:
        non_negative("scale", self.scale)
        non_negative("step", self.step)

    @property
    def size(self) -> float:
        """The one number that describes it, in the unit of the noise."""
        return self.scale

    @property
    def variance(self) -> float:
        """The variance, on the lattice where there is one.

        Example:
            >>> Laplace(2.0).variance, round(Laplace(2.0, step=1.0).variance, 4)
            (8.0, 7.8354)
        """
        if self.step == 0 or self.scale == 0:
            return self.variance_bound
        apart = -self.step / self.scale
        return 2 * self.step**2 * math.exp(apart) / math.expm1(apart) ** 2

    @property
    def variance_bound(self) -> float:
        """The variance without a lattice, which is never smaller than the one on it."""
        return 2 * self.scale**2


Noise = Gaussian | Laplace
