"""Two groups of an experiment: how much better the treatment does."""

from dataclasses import dataclass, replace

from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.errors import ParameterError
from hedgerow.statistics.two_by_two.estimate import RatioEstimate
from hedgerow.statistics.two_by_two.statistics import Method, Noises, relative_risk, risk_difference


@dataclass(frozen=True, slots=True)
class Lift:
    """What an experiment says.

    Attributes:
        value: By how much the treatment's rate exceeds the control's, relative to the latter.
        interval: Where that lies in the population.
        p_value: How likely groups as different as these are where treatment and control are equally good.
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
        size_noise: That of the numbers of people, where they were released beside; public otherwise.
        rest_noise: That of the failures, where the people are the sum of successes and failures.
        confidence: How often an interval holds.
        method: As for `relative_risk`.

    Example:
        >>> from hedgerow import Laplace
        >>> found = lift((540, 4000), (460, 4000), noise=Laplace(2.0))
        >>> round(found.value, 3), round(found.interval.lower, 3), round(found.interval.upper, 3)
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
