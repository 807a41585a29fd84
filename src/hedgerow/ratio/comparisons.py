"""Two groups of an experiment: the lift, and the share of its interval that is due to privacy."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.arguments import Floats, Number, chosen, plain, reals
from hedgerow.distributions import Noise
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.statistics.two_by_two.arms import Arm, NoisePair, noises, public_size
from hedgerow.statistics.two_by_two.estimates import Method, Noises, RatioEstimate, relative_risk, risk_difference


@dataclass(frozen=True, slots=True)
class Lift:
    """Result of an experiment.

    Attributes:
        value: Excess of the treatment's rate over the control's, relative to the latter.
        interval: The interval of that in the population.
        p_value: Probability of a difference at least this large if treatment and control are equally good.
        rates: The (noisy) rates of treatment and control.
        ratio: The same as a relative risk.
        difference: The difference of the rates.
    """

    value: float
    interval: Interval
    p_value: float
    rates: tuple[float, float]
    ratio: RatioEstimate
    difference: RatioEstimate


def lift(
    treatment: tuple[float, float],
    control: tuple[float, float],
    *,
    noise: Noises = None,
    size_noise: Noises = None,
    rest_noise: Noises = None,
    confidence: float = 0.95,
    method: Method = "auto",
) -> Lift:
    """Compare two groups of an experiment, each given as (successes, people), which may be noisy.

    Args:
        treatment: Successes and people in the treatment group.
        control: Likewise in the control group.
        noise: The law of the noise of the successes: one for both groups, or a pair.
        size_noise: The law of the noise of the numbers of people, if they were released, too; public otherwise.
        rest_noise: The law of the noise of the failures, if the people are the sum of successes and failures.
        confidence: Coverage of an interval.
        method: As for `relative_risk`.

    Example:
        >>> from hedgerow import Laplace
        >>> estimate = lift((540, 4000), (460, 4000), noise=Laplace(2.0))
        >>> round(estimate.value, 3), round(estimate.interval.lower, 3), round(estimate.interval.upper, 3)
        (0.174, 0.044, 0.319)
    """
    (x, n_x), (y, n_y) = _group("treatment", treatment), _group("control", control)
    shared = {"noise": noise, "size_noise": size_noise, "rest_noise": rest_noise, "confidence": confidence}
    ratio = relative_risk(x, y, n_x, n_y, method=method, **shared)  # type: ignore[arg-type]
    difference = risk_difference(x, y, n_x, n_y, method="auto" if method == "log" else method, **shared)  # type: ignore[arg-type]
    ends = ratio.interval
    if not isinstance(ends, Interval) or not isinstance(ratio.value, float) or not isinstance(ratio.p_value, float):
        raise ParameterError("Each group is one pair: (successes, people).", code="parameter-pair")
    shifted = replace(ends, lower=ends.lower - 1, upper=ends.upper - 1)
    return Lift(ratio.value - 1, shifted, ratio.p_value, (x / n_x, y / n_y), ratio, difference)


def _group(name: str, given: object) -> tuple[float, float]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ParameterError(f"{name} must be a pair: (successes, people).", code="parameter-pair")
    return given[0], given[1]


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
    stretched = [(arm, _rate(arm), _stretch(arm, statistic)) for arm in (first, second)]
    sampling = sum(arm.sampling(rate) * stretch for arm, rate, stretch in stretched)
    privacy = sum(arm.noise(rate) * stretch for arm, rate, stretch in stretched)
    total = sampling + privacy
    with np.errstate(divide="ignore"):
        widening = np.sqrt(total / sampling)
    return WidthParts(plain(np.sqrt(sampling)), plain(np.sqrt(privacy)), plain(np.sqrt(total)), plain(widening))


def _rate(arm: Arm) -> Floats:
    """Return the rate, kept away from 0 and 1, where the logarithm has no standard deviation."""
    edge = 1 / (arm.size + 2)
    return np.clip(arm.rate, edge, 1 - edge)


def _stretch(arm: Arm, statistic: Statistic) -> Floats | float:
    rate = _rate(arm)
    if statistic == "relative_risk":
        return 1 / rate**2
    return 1.0 if statistic == "risk_difference" else 1 / (rate * (1 - rate)) ** 2
