"""Laws of noise, by name or by receipt: their distribution functions, and cells of about equal probability."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import SupportsFloat

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.answer import Mechanism, Summary
from hedgerow.arguments import Floats, chosen, positive
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.testing import tolerance

Source = Summary | Mechanism | Noise


@dataclass(frozen=True, slots=True)
class Described:
    """A noise, and a factor on probabilities because the number was shown at all.

    A count that selected its own group is shown only above a threshold. If the exact count is at least the threshold,
    it is shown at least half of the time, which at most doubles every probability: one more log10(2) in k.
    """

    noise: Noise
    more: float = 0.0

    def tolerance(self, k: float, grid: float) -> float:
        """Bound that the noise exceeds with probability 10^-k; on a grid, in whole steps of it."""
        if isinstance(self.noise, Gaussian):
            bound = float(tolerance.gaussian(self.noise.sigma, k + self.more))
        else:
            bound = float(tolerance.laplace(self.noise.scale, 1.0, k + self.more))
        return grid * float(tolerance.integer(bound / grid)) if grid else bound

    def complementary(self, k: float, grid: float) -> float:
        """Bound that the noise falls short of with probability 10^-k."""
        if isinstance(self.noise, Gaussian):
            return float(tolerance.complementary_gaussian(self.noise.sigma, k + self.more, step=grid))
        return float(tolerance.complementary_laplace(self.noise.scale, 1.0, k + self.more, step=grid))

    def grid(self, numbers: Sequence[SupportsFloat], expected: float) -> float:
        """Return the grid of noisy numbers; 0 if it is too fine to matter.

        A receipt does not contain it. Whole numbers around a whole one are on the grid of whole numbers: they were
        rounded to it, as counts are, or the noise is on it, as that of a sum of whole numbers may be.
        """
        rounded = all(isinstance(number, Integral) for number in numbers)
        if isinstance(self.noise, Laplace) and self.noise.step:
            return max(self.noise.step, 1.0) if rounded else self.noise.step
        whole = expected.is_integer() and all(float(number).is_integer() for number in numbers)
        return 1.0 if rounded or whole else 0.0


def described(source: Source, expected: float, measure: str | None = None) -> Described:
    """Return the noise that `source` describes, for a number whose exact value is `expected`."""
    if isinstance(source, Gaussian | Laplace):
        return Described(source)
    if isinstance(source, Summary):
        source = _mechanism(source, measure)
    if not isinstance(source, Mechanism):
        raise ParameterError(
            "The noise must be that of a receipt, a mechanism of one, or Gaussian(sigma) or Laplace(scale).",
            code="parameter-choice",
        )
    return Described(noise_of(source), _seen(source, expected))


def noise_of(mechanism: Mechanism) -> Noise:
    """The noise of one measure."""
    if mechanism.kind == "gaussian":
        return Gaussian(mechanism.scale)
    if mechanism.kind == "laplace":
        return Laplace(mechanism.scale)
    raise ConditionNotMet(
        f"{mechanism.measure!r} was drawn by the {mechanism.kind} mechanism: its error is one of rank, not of value.",
        condition="noise that is added",
        hint="Pass the answer, asked for with confidence 1 - flakiness.",
    )


def _mechanism(receipt: Summary, measure: str | None) -> Mechanism:
    """Return the measure of that name; by default, the only measure besides the count that selects groups."""
    by_measure = {mechanism.measure: mechanism for mechanism in receipt.mechanisms}
    if not by_measure:
        raise ConditionNotMet(
            "The receipt names no noise: public data is exact.", condition="noise", hint="Compare with ==."
        )
    if measure is not None:
        return by_measure[chosen("measure", measure, tuple(by_measure))]
    measures = [mechanism for mechanism in receipt.mechanisms if mechanism.threshold is None] or list(
        receipt.mechanisms
    )
    if len(measures) > 1:
        listed = ", ".join(repr(mechanism.measure) for mechanism in measures)
        raise ConditionNotMet(
            f"The receipt names several measures: {listed}.",
            condition="one measure",
            hint="Pass measure= if the number is one of them. If it combines several, pass the answer.",
        )
    return measures[0]


def _seen(mechanism: Mechanism, expected: float) -> float:
    if mechanism.threshold is None:
        return 0.0
    if expected < mechanism.threshold:
        raise ConditionNotMet(
            "The group is shown only because its noise happened to be large, so the noise cannot be tested.",
            condition="expected reaches the threshold of the receipt",
            hint="Test with a larger group, or pass the answer.",
        )
    return math.log10(2.0)


FINE = 10_000.0
"""Number of steps from which the discrete and the rounded Gaussian agree to nine digits."""


def _gaussian(points: Floats, scale: float) -> Floats:
    return np.asarray(ndtr(points / scale), dtype=np.float64)


def _laplace(points: Floats, scale: float) -> Floats:
    tails = np.exp(-np.abs(points) / scale) / 2.0
    return np.where(points < 0.0, tails, 1.0 - tails)


def _discrete_gaussian(points: Floats, scale: float) -> Floats:
    """P(x) in proportion to exp(-x^2 / (2 scale^2)), x a whole number."""
    if scale > FINE:
        return _gaussian(points + 0.5, scale)
    reach = int(12 * scale + 12)
    support = np.arange(-reach, reach + 1)
    total = np.cumsum(np.exp(-(support**2) / (2.0 * scale**2)))
    places = np.clip(points + reach, 0, 2 * reach).astype(np.int64)
    return np.asarray(total[places] / total[-1], dtype=np.float64)


def _discrete_laplace(points: Floats, scale: float) -> Floats:
    """P(x) in proportion to exp(-|x| / scale), x a whole number."""
    ratio = math.exp(-1.0 / scale)
    below = np.exp(np.minimum(points, 0.0) / scale) / (1.0 + ratio)
    above = np.exp(-(np.maximum(points, 0.0) + 1.0) / scale) / (1.0 + ratio)
    return np.where(points < 0.0, below, 1.0 - above)


def _gaussian_quantile(shares: Floats) -> Floats:
    return np.asarray(ndtri(shares), dtype=np.float64)


def _laplace_quantile(shares: Floats) -> Floats:
    return np.asarray(np.sign(shares - 0.5) * -np.log(2.0 * np.minimum(shares, 1.0 - shares)))


_LAWS: dict[str, Callable[[Floats, float], Floats]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "rounded gaussian": lambda points, scale: _gaussian(points + 0.5, scale),
    "rounded laplace": lambda points, scale: _laplace(points + 0.5, scale),
    "discrete gaussian": _discrete_gaussian,
    "discrete laplace": _discrete_laplace,
}
NAMES = tuple(_LAWS)


@dataclass(frozen=True, slots=True)
class Law:
    """A law by its name; `step` is its grid, 0 if it has none. Points are counted in steps."""

    name: str
    scale: float
    step: float

    def __str__(self) -> str:
        grid = f" on multiples of {self.step:g}" if self.step else ""
        return f"{self.name} of scale {self.scale:.10g}{grid}"

    @property
    def scale_in_steps(self) -> float:
        """The scale in steps."""
        return self.scale / (self.step or 1.0)

    def at_most(self, points: Floats) -> Floats:
        """P(X <= x) for each point, which is whole where there is a grid."""
        return _LAWS[self.name](points, self.scale_in_steps)

    def times(self, factor: float) -> "Law":
        """Return the same law, wider by this factor."""
        return replace(self, scale=self.scale * factor)

    def edges(self, cells: int) -> Floats:
        """Return the points between cells of about equal probability; a cell ends with its edge.

        On a grid, zero noise is a cell of its own, and there are fewer cells if the law is narrow.
        """
        shares = np.arange(1, cells) / cells
        quantile = _gaussian_quantile if "gaussian" in self.name else _laplace_quantile
        points = self.scale_in_steps * quantile(shares)
        if not self.step:
            return points
        return np.unique(np.append(np.floor(points), [-1.0, 0.0]))

    def chances(self, edges: Floats) -> Floats:
        """The probability of each cell."""
        return np.diff(self.at_most(edges), prepend=0.0, append=1.0)


def law_of(law: str | Noise | Mechanism, scale: float | None, step: float) -> Law:
    """The law of that name and scale, or of a noise that has its own."""
    if isinstance(law, Mechanism):
        law = noise_of(law)
    if not isinstance(law, str):
        return _described(law, scale)
    if scale is None:
        raise ParameterError("A law by its name needs a scale.", code="parameter-positive")
    on_grid = chosen("law", law, NAMES) not in {"gaussian", "laplace"}
    return Law(law, positive("scale", scale), positive("step", step) if on_grid else 0.0)


def _described(noise: Noise, scale: float | None) -> Law:
    if not isinstance(noise, Gaussian | Laplace) or scale is not None:
        raise ParameterError(
            "The law must be a name with a scale, or Gaussian(sigma), Laplace(scale) or a mechanism without one.",
            code="parameter-choice",
        )
    if isinstance(noise, Gaussian):
        return Law("gaussian", positive("sigma", noise.sigma), 0.0)
    return Law("discrete laplace" if noise.step else "laplace", positive("scale", noise.scale), noise.step)
