"""Design of an experiment: the effects that can be detected with a number of people and an epsilon, and vice versa.

Normal approximation of the binomials, exact law of the noise: the test of no difference that `relative_risk` makes.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from hedgerow.accuracy import gaussian_sigma
from hedgerow.arguments import positive, probability
from hedgerow.distributions import Gaussian, Laplace, Noise
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.statistics.two_by_two.arms import NoisePair, noises
from hedgerow.statistics.two_by_two.score import mixed_tail

DOUBLINGS = 60
HALVINGS = 80
MOST_PEOPLE = 10**12


def count_noise(epsilon: float, *, delta: float | None = None) -> Noise:
    """Return the noise of each of two counts of different people that cost `epsilon` together; Gaussian with a `delta`.

    Example:
        >>> count_noise(0.5), round(count_noise(1.0, delta=1e-4).sigma, 3)
        (Laplace(scale=2.0, step=0.0), 3.186)
    """
    spent = positive("epsilon", epsilon)
    if delta is None:
        return Laplace(1 / spent)
    return Gaussian(float(gaussian_sigma(spent, probability("delta", delta))))


def power(
    rate_x: float,
    rate_y: float,
    n_x: float,
    n_y: float,
    *,
    noise: Noise | NoisePair | None = None,
    confidence: float = 0.95,
) -> float:
    """Power: the probability that the test of no difference rejects, for groups with these rates.

    Args:
        rate_x: The rate of the outcome in the first group.
        rate_y: In the second.
        n_x: Size of the first group.
        n_y: Size of the second.
        noise: The law of the noise of the two counts: one for both, or a pair; see `count_noise`.
        confidence: One minus how often a difference may be found where there is none.

    Example:
        >>> round(power(0.12, 0.10, 4000, 4000, noise=Laplace(2.0)), 3)
        0.808
    """
    rates = probability("rate_x", rate_x), probability("rate_y", rate_y)
    sizes = positive("n_x", n_x), positive("n_y", n_y)
    laws = noises("noise", noise)
    pooled = (rates[0] * sizes[0] + rates[1] * sizes[1]) / (sizes[0] + sizes[1])
    null, real = _law((pooled, pooled), sizes, laws), _law(rates, sizes, laws)
    limit = _quantile(null, (1 - probability("confidence", confidence)) / 2)
    gap = abs(rates[0] - rates[1])
    return _beyond(real, limit - gap) + _beyond(real, limit + gap)


def detectable_ratio(
    rate: float,
    n_x: float,
    n_y: float,
    *,
    noise: Noise | NoisePair | None = None,
    target: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """The smallest relative risk above 1 that is detected with probability `target`: the minimum detectable effect.

    Args:
        rate: The rate of the outcome in the second group, the one that is compared with.
        n_x: Size of the first group.
        n_y: Size of the second.
        noise: The law of the noise of the two counts; see `count_noise`.
        target: How often it must be found.
        confidence: As for `power`.

    Raises:
        ConditionNotMet: Even a rate of 1 in the first group would be detected with a lower probability.

    Example:
        >>> round(detectable_ratio(0.1, 4000, 4000, noise=count_noise(0.5)), 3)
        1.198
    """
    wanted, base = probability("target", target), probability("rate", rate)
    highest = (1 - 1e-9) / base

    def is_detected(ratio: float) -> bool:
        return power(min(ratio * base, 1 - 1e-12), base, n_x, n_y, noise=noise, confidence=confidence) >= wanted

    if not is_detected(highest):
        raise ConditionNotMet(
            "No difference is large enough to be detected with this probability between groups of these sizes.",
            condition="power at a rate of 1 >= target",
            hint="Use more people, or a larger epsilon.",
        )
    return bisected(is_detected, 1.0, highest)


def people_needed(
    ratio: float,
    *,
    rate: float,
    noise: Noise | NoisePair | None = None,
    target: float = 0.8,
    confidence: float = 0.95,
    balance: float = 1.0,
) -> tuple[int, int]:
    """Number of people that each group needs to detect a relative risk of `ratio` with probability `target`.

    Args:
        ratio: The relative risk to be seen.
        rate: The rate of the outcome in the second group.
        noise: The law of the noise of the two counts; see `count_noise`.
        target: How often it must be found.
        confidence: As for `power`.
        balance: People in the first group for each one in the second.

    Example:
        >>> people_needed(1.2, rate=0.1, noise=count_noise(0.5))
        (3921, 3921)
    """
    effect, base = positive("ratio", ratio), probability("rate", rate)
    share = positive("balance", balance)
    if effect == 1 or effect * base >= 1:
        raise ParameterError("ratio must not be 1, and ratio times rate must be below 1.", code="parameter-range")
    wanted = probability("target", target)

    def is_detected(people: float) -> bool:
        sizes = people * share, people
        return power(effect * base, base, *sizes, noise=noise, confidence=confidence) >= wanted

    return smallest_groups(is_detected, share, "ratio")


def smallest_groups(is_enough: Callable[[float], bool], balance: float, effect: str) -> tuple[int, int]:
    """Return the sizes of the smallest groups that are enough: `balance` people in the first for one in the second."""
    high = 4.0
    while not is_enough(high):
        high *= 2
        if high > MOST_PEOPLE:
            raise ConditionNotMet(
                "No number of people is enough.", condition="power >= target", hint=f"Choose a larger {effect}."
            )
    enough = math.ceil(bisected(is_enough, 1.0, high) - 1e-6)
    return math.ceil(enough * balance), enough


def epsilon_needed(
    ratio: float,
    *,
    rate: float,
    n_x: float,
    n_y: float,
    delta: float | None = None,
    target: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """The smallest epsilon for which a relative risk of `ratio` is detected with probability `target`, rounded up.

    Args:
        ratio: The relative risk to be seen.
        rate: The rate of the outcome in the second group.
        n_x: Size of the first group.
        n_y: Size of the second.
        delta: With one, Gaussian noise.
        target: How often it must be found.
        confidence: As for `power`.

    Raises:
        ConditionNotMet: Too few people even without noise.

    Example:
        >>> epsilon_needed(1.2, rate=0.1, n_x=4000, n_y=4000)
        0.352
    """
    base, wanted = probability("rate", rate), probability("target", target)
    effect = positive("ratio", ratio)
    if effect * base >= 1:
        raise ParameterError("ratio times rate must be below 1.", code="parameter-range")
    if power(effect * base, base, n_x, n_y, confidence=confidence) < wanted:
        raise ConditionNotMet(
            "With this few people, the difference is not detected with this probability even without noise.",
            condition="power without noise >= target",
            hint="people_needed computes the required number of people.",
        )

    def is_detected(epsilon: float) -> bool:
        noise = count_noise(epsilon, delta=delta)
        return power(effect * base, base, n_x, n_y, noise=noise, confidence=confidence) >= wanted

    high = 1.0
    while not is_detected(high) and high < 2.0**DOUBLINGS:
        high *= 2
    return rounded_up(bisected(is_detected, 0.0, high))


def plan_experiment(
    ratio: float,
    epsilons: Sequence[float],
    *,
    rate: float,
    delta: float | None = None,
    target: float = 0.8,
    confidence: float = 0.95,
    balance: float = 1.0,
) -> pa.Table:
    """Number of people needed to detect a relative risk, for each epsilon and without privacy.

    Args:
        ratio: The relative risk to be seen.
        epsilons: What the two counts may cost together.
        rate: The rate of the outcome in the second group.
        delta: With one, Gaussian noise.
        target: How often it must be found.
        confidence: As for `power`.
        balance: People in the first group for each one in the second.

    Returns:
        A table with `epsilon`, `n_x`, `n_y`, `n_x_exact`, `n_y_exact` and `price`, how many times as many people.

    Example:
        >>> plan_experiment(1.2, [0.1, 1.0], rate=0.1)["n_y"].to_pylist()
        [5310, 3862]
    """

    def needed(noise: Noise | None) -> tuple[int, int]:
        return people_needed(ratio, rate=rate, noise=noise, target=target, confidence=confidence, balance=balance)

    exact = needed(None)
    sizes = [needed(count_noise(epsilon, delta=delta)) for epsilon in epsilons]
    return pa.table(
        {
            "epsilon": pa.array([float(epsilon) for epsilon in epsilons], pa.float64()),
            "n_x": pa.array([size[0] for size in sizes], pa.int64()),
            "n_y": pa.array([size[1] for size in sizes], pa.int64()),
            "n_x_exact": pa.array([exact[0]] * len(sizes), pa.int64()),
            "n_y_exact": pa.array([exact[1]] * len(sizes), pa.int64()),
            "price": pa.array([sum(size) / sum(exact) for size in sizes], pa.float64()),
        }
    )


_Law = tuple[float, float, float]
"""The normal deviation and the two Laplace scales of a noisy difference of rates."""


def _law(rates: tuple[float, float], sizes: tuple[float, float], laws: NoisePair) -> _Law:
    normal, scales = 0.0, [0.0, 0.0]
    for i, (rate, size, law) in enumerate(zip(rates, sizes, laws, strict=True)):
        normal += rate * (1 - rate) / size
        if isinstance(law, Laplace):
            scales[i] = law.scale / size
        else:
            normal += law.variance / size**2
    return math.sqrt(normal), scales[0], scales[1]


def _beyond(law: _Law, distance: float) -> float:
    tail = float(mixed_tail(abs(distance), *law))
    return tail if distance >= 0 else 1 - tail


def _quantile(law: _Law, level: float) -> float:
    """The smallest distance exceeded on one side with probability at most `level`: on a grid, then a finer one."""
    low, high = 0.0, 40 * math.hypot(*law)
    while high - low > 1e-12 * high:
        places = np.linspace(low, high, 65)
        first = int(np.argmax(mixed_tail(places, *law) <= level))
        low, high = float(places[max(first - 1, 0)]), float(places[first])
    return high


def bisected(is_enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest value that is enough, to ten digits; every larger value is enough, too."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
        if high - low <= 1e-10 * high:
            break
    return high


def rounded_up(epsilon: float) -> float:
    """Round up to three significant digits."""
    step = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return float(np.round(math.ceil(epsilon / step - 1e-9) * step, 12))
