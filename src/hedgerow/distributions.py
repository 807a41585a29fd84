"""Laws of noise. Descriptions only: nothing here is random (see `hedgerow.noise` for that)."""

from dataclasses import dataclass

from hedgerow.arguments import non_negative


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal noise with standard deviation `sigma`."""

    sigma: float

    def __post_init__(self) -> None:
        non_negative("sigma", self.sigma)


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


Noise = Gaussian | Laplace
