"""How wrong an average will be: predicted from a noisy count, before the sum is bought."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.accuracy.joint import joint_error
from hedgerow.accuracy.noise_error import unit_noise
from hedgerow.accuracy.prediction import Condition, Prediction, above, at_most, predicted
from hedgerow.accuracy.propositions import balance, error_bound, largest, positive_range
from hedgerow.arguments import (
    MECHANISMS,
    Floats,
    Mechanism,
    budgets,
    chosen,
    probabilities,
    ranges,
    reals,
)

Method = Literal["auto", "published", "direct"]
METHODS: tuple[Method, ...] = ("auto", "published", "direct")


@dataclass(frozen=True, slots=True)
class _Average:
    """What both formulas need, checked."""

    count: Floats
    lower: Floats
    upper: Floats
    epsilon_count: ArrayLike
    epsilon_sum: ArrayLike
    beta: Floats
    gamma: Floats
    delta: ArrayLike
    mechanism: Mechanism

    def noise(self, epsilon: ArrayLike, name: str) -> Floats:
        return unit_noise(self.mechanism, *budgets(name, epsilon, self.delta, self.mechanism))

    def bound(self, sensitivity: ArrayLike, epsilon: ArrayLike, name: str) -> Floats:
        return error_bound(sensitivity, epsilon, self.delta, self.beta / 2, self.mechanism, name)


def average_error(
    noisy_count: ArrayLike,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    epsilon_count: ArrayLike,
    epsilon_sum: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
    method: Method = "auto",
) -> Prediction:
    """How far noisy sum / noisy count will be from the exact average, with probability 1 - beta.

    `published` is alpha*_avg of Russo et al. (2025, Proposition 3.6), beta / 2 for each noise. It needs a positive
    range. `direct` needs a positive noisy count and nothing else, and is never larger: with r the exact average,

        noisy average - r = (noise of the sum - r * noise of the count) / noisy count,

    and |r| is at most the largest absolute value M in the range, so the quantile of noise of the sum + M * noise of the
    count, over the noisy count, will do. `auto` is `published` for positive ranges and `direct` for all others.

    The sum has the sensitivity M. For the sum of centred values x - (lower + upper) / 2 pass their range: the average
    moves by a constant, and its error stays. Arguments may be arrays that broadcast; `auto` is then `direct` if no
    range is positive, and else says of those that are not that nothing is valid.

    Args:
        noisy_count: A released count of the rows.
        lower: The least value of a row.
        upper: The greatest.
        epsilon_count: What the count cost.
        epsilon_sum: What the sum will cost.
        beta: How often the error may be larger.
        gamma: What Russo et al. (2025) call small: noise relative to what it is added to.
        delta: That of the count, and that of the sum; 0 for Laplace noise.
        mechanism: `laplace`, `gaussian` (the classic calibration and its tail bound, as published) or `analytic`.
        method: `auto`, `published` or `direct`.

    Example:
        >>> budget = {"epsilon_count": 0.1, "epsilon_sum": 1.0, "beta": 0.05}
        >>> ages = average_error(998, lower=18, upper=65, **budget)
        >>> round(ages.error, 4), ages.valid
        (3.451, True)
        >>> round(average_error(998, lower=18, upper=65, method="direct", **budget).error, 4)
        1.9577
    """
    chosen("mechanism", mechanism, MECHANISMS)
    chosen("method", method, METHODS)
    low, high = ranges(lower, upper)
    asked = _Average(
        count=reals("noisy_count", noisy_count),
        lower=low,
        upper=high,
        epsilon_count=epsilon_count,
        epsilon_sum=epsilon_sum,
        beta=probabilities("beta", beta),
        gamma=probabilities("gamma", gamma),
        delta=delta,
        mechanism=mechanism,
    )
    if method == "direct" or (method == "auto" and not np.any(low > 0)):
        return _direct(asked)
    return _published(asked)


def _published(asked: _Average) -> Prediction:
    """Proposition 3.6."""
    count, low, high = asked.count, asked.lower, asked.upper
    of_count = asked.bound(1.0, asked.epsilon_count, "epsilon_count")
    of_sum = asked.bound(largest(low, high), asked.epsilon_sum, "epsilon_sum")
    least = low * (count - of_count) - of_sum
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (high * (count + of_count) + of_sum) / count
        error = size * (of_count / count + of_sum / least)
    conditions = (
        positive_range(low),
        small_count(of_count, count, asked.gamma),
        balance(low, high, asked.epsilon_count, asked.epsilon_sum, asked.gamma, asked.delta, asked.mechanism),
        above("sum", "lower (noisy_count - alpha_count) > alpha_sum", low * (count - of_count), of_sum + 0 * count),
    )
    return predicted(np.where((count > 0) & (least > 0), error, np.inf), conditions)


def _direct(asked: _Average) -> Prediction:
    """The quantile of both noises together, whatever the range."""
    largest_value = largest(asked.lower, asked.upper)
    of_sum = largest_value * asked.noise(asked.epsilon_sum, "epsilon_sum")
    of_count = largest_value * asked.noise(asked.epsilon_count, "epsilon_count")
    together = joint_error(asked.mechanism, of_sum, of_count, asked.beta)
    with np.errstate(divide="ignore"):
        error = np.where(asked.count > 0, together / asked.count, np.inf)
    return predicted(error, (above("count", "noisy_count > 0", asked.count, np.zeros(())),))


def small_count(of_count: Floats, count: Floats, gamma: Floats) -> Condition:
    """The condition that the noise of a count is small beside it.

    Russo et al. take the absolute value of the noisy count. No exact count is negative, so a negative one fails here.
    """
    with np.errstate(divide="ignore"):
        fraction = np.where(count > 0, of_count / count, np.inf)
    return at_most("count", "alpha_count / noisy_count <= gamma", fraction, gamma)
