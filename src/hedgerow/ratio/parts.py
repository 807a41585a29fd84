"""How much of an interval is sampling, and how much is the price of privacy (Shoham and Ligett 2025, section 4.2)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, Number, chosen, plain, reals
from hedgerow.distributions import Noise
from hedgerow.statistics.two_by_two.arms import Arm, public_size
from hedgerow.statistics.two_by_two.laws import NoisePair, noises

Statistic = Literal["relative_risk", "odds_ratio", "risk_difference"]
STATISTICS: tuple[Statistic, ...] = ("relative_risk", "odds_ratio", "risk_difference")


@dataclass(frozen=True, slots=True)
class WidthParts:
    """Deviations of the estimate, on the scale of logarithms for the two ratios.

    Attributes:
        sampling: What drawing people contributes; it would be there without privacy.
        privacy: What the noise contributes.
        total: Both together: the root of the sum of squares.
        widening: How many times as wide the interval is as it would be without noise.
    """

    sampling: Number
    privacy: Number
    total: Number
    widening: Number


def width_parts(
    x: ArrayLike,
    y: ArrayLike,
    n_x: ArrayLike,
    n_y: ArrayLike,
    *,
    noise: Noise | NoisePair,
    statistic: Statistic = "relative_risk",
) -> WidthParts:
    """Split the width of an interval into sampling and privacy, to first order.

    Noise adds variance / x^2 to the sampling variance 1/x - 1/n_x of a logarithm, so it matters only where counts are
    so small that sampling alone says little: privacy is half of the variance where the count, times the share without
    the outcome, equals the variance of the noise.

    Args:
        x: (Noisy or expected) count of outcomes in the first group.
        y: In the second.
        n_x: Size of the first group.
        n_y: Size of the second.
        noise: The law of the noise of x and y: one for both, or a pair.
        statistic: Which statistic the interval is for.

    Example:
        >>> from hedgerow import Laplace
        >>> parts = width_parts(100, 50, 150, 150, noise=Laplace(2.0))
        >>> round(parts.sampling, 4), round(parts.privacy, 4), round(parts.widening, 3)
        (0.1291, 0.0632, 1.114)
    """
    chosen("statistic", statistic, STATISTICS)
    counts = [reals(name, value) for name, value in (("x", x), ("y", y), ("n_x", n_x), ("n_y", n_y))]
    laws = noises("noise", noise)
    first = Arm(counts[0], counts[2], public_size(laws[0]))
    second = Arm(counts[1], counts[3], public_size(laws[1]))
    sampling, privacy = (
        sum(part(arm) * _stretch(arm, statistic) for arm in (first, second)) for part in (_sampling, _privacy)
    )
    total = sampling + privacy
    with np.errstate(divide="ignore"):
        widening = np.sqrt(total / sampling)
    return WidthParts(plain(np.sqrt(sampling)), plain(np.sqrt(privacy)), plain(np.sqrt(total)), plain(widening))


def _sampling(arm: Arm) -> Floats:
    return arm.sampling(_rate(arm))


def _privacy(arm: Arm) -> Floats:
    return arm.noise(_rate(arm))


def _rate(arm: Arm) -> Floats:
    """The rate as it is, kept away from 0 and 1, where logarithms have no deviation."""
    edge = 1 / (arm.size + 2)
    return np.clip(arm.rate, edge, 1 - edge)


def _stretch(arm: Arm, statistic: Statistic) -> Floats | float:
    rate = _rate(arm)
    if statistic == "relative_risk":
        return 1 / rate**2
    return 1.0 if statistic == "risk_difference" else 1 / (rate * (1 - rate)) ** 2
