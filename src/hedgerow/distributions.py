"""Laws of noise. Descriptions only: nothing here is random (see `hedgerow.noise` for that)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal noise with standard deviation `sigma`."""

    sigma: float


@dataclass(frozen=True, slots=True)
class Laplace:
    """Two-sided exponential noise with the given `scale` (mean absolute deviation).

    With `step` above zero the noise lives on the multiples of `step`: P(x) is proportional to
    exp(-|x| / scale) there. Zero means a grid too fine to matter.
    """

    scale: float
    step: float = 0.0


Noise = Gaussian | Laplace
