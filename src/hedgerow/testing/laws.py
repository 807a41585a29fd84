"""The laws that noise follows, by name: how much of it lies at or below a point, and cells of about equal chance."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from hedgerow.answer import Mechanism
from hedgerow.arguments import Floats, chosen, positives
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ParameterError
from hedgerow.testing.described import noise_of

FINE = 10_000.0
"""From this many steps on, the discrete Gaussian and the rounded one agree to nine digits."""


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
    """A law by its name; `step` is the grid it lives on, 0 where it has none. Points are counted in steps."""

    name: str
    scale: float
    step: float

    def __str__(self) -> str:
        grid = f" on multiples of {self.step:g}" if self.step else ""
        return f"{self.name} of scale {self.scale:.10g}{grid}"

    @property
    def spread(self) -> float:
        """The scale in steps."""
        return self.scale / (self.step or 1.0)

    def at_most(self, points: Floats) -> Floats:
        """P(X <= x) for each point, which is whole where there is a grid."""
        return _LAWS[self.name](points, self.spread)

    def times(self, factor: float) -> "Law":
        """The same law, so much wider."""
        return replace(self, scale=self.scale * factor)

    def edges(self, cells: int) -> Floats:
        """The points between cells of about equal chance; a cell ends with its edge.

        On a grid, no noise at all is a cell of its own, and there are fewer cells where the law is narrow.
        """
        shares = np.arange(1, cells) / cells
        quantile = _gaussian_quantile if "gaussian" in self.name else _laplace_quantile
        points = self.spread * quantile(shares)
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
    return Law(law, float(positives("scale", scale)), float(positives("step", step)) if on_grid else 0.0)


def _described(noise: Noise, scale: float | None) -> Law:
    if not isinstance(noise, Gaussian | Laplace) or scale is not None:
        raise ParameterError(
            "The law must be a name with a scale, or Gaussian(sigma), Laplace(scale) or a mechanism without one.",
            code="parameter-choice",
        )
    if isinstance(noise, Gaussian):
        return Law("gaussian", float(positives("sigma", noise.sigma)), 0.0)
    return Law("discrete laplace" if noise.step else "laplace", float(positives("scale", noise.scale)), noise.step)
