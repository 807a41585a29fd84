"""Error of an average or of a quotient of two sums: predicted from a noisy count, before the sums are bought."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.accuracy.propositions import (
    Condition,
    Prediction,
    above,
    at_most,
    balance,
    error_bound,
    joint_error,
    largest,
    positive_range,
    predicted,
    unit_noise,
)
from hedgerow.arguments import (
    MECHANISMS,
    Floats,
    Mechanism,
    budgets,
    chosen,
    pair,
    probabilities,
    ranges,
    reals,
)

Method = Literal["auto", "published", "direct"]
METHODS: tuple[Method, ...] = ("auto", "published", "direct")


@dataclass(frozen=True, slots=True)
class _Sums:
    """Parameters of a count and sums over the same rows, checked. `releases` is the number of noises."""

    releases: ClassVar[int]

    count: Floats
    epsilon_count: ArrayLike
    beta: Floats
    gamma: Floats
    delta: ArrayLike
    mechanism: Mechanism

    def noise(self, epsilon: ArrayLike, name: str) -> Floats:
        return unit_noise(self.mechanism, *budgets(name, epsilon, self.delta, self.mechanism))

    def bound(self, sensitivity: ArrayLike, epsilon: ArrayLike, name: str) -> Floats:
        return error_bound(sensitivity, epsilon, self.delta, self.beta / self.releases, self.mechanism, name)


@dataclass(frozen=True, slots=True)
class _Average(_Sums):
    releases = 2

    lower: Floats
    upper: Floats
    epsilon_sum: ArrayLike


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
    """Predicted error of noisy sum / noisy count as an average, with probability 1 - beta.

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
    question = _Average(
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
        return _direct_average(question)
    return _published_average(question)


def _published_average(question: _Average) -> Prediction:
    """Proposition 3.6."""
    count, low, high = question.count, question.lower, question.upper
    of_count = question.bound(1.0, question.epsilon_count, "epsilon_count")
    of_sum = question.bound(largest(low, high), question.epsilon_sum, "epsilon_sum")
    smallest_sum = low * (count - of_count) - of_sum
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (high * (count + of_count) + of_sum) / count
        error = size * (of_count / count + of_sum / smallest_sum)
    conditions = (
        positive_range(low),
        small_count(of_count, count, question.gamma),
        balance(
            low, high, question.epsilon_count, question.epsilon_sum, question.gamma, question.delta, question.mechanism
        ),
        above("sum", "lower (noisy_count - alpha_count) > alpha_sum", low * (count - of_count), of_sum + 0 * count),
    )
    return predicted(np.where((count > 0) & (smallest_sum > 0), error, np.inf), conditions)


def _direct_average(question: _Average) -> Prediction:
    """The quantile of both noises together, whatever the range."""
    largest_value = largest(question.lower, question.upper)
    of_sum = largest_value * question.noise(question.epsilon_sum, "epsilon_sum")
    of_count = largest_value * question.noise(question.epsilon_count, "epsilon_count")
    together = joint_error(question.mechanism, of_sum, of_count, question.beta)
    with np.errstate(divide="ignore"):
        error = np.where(question.count > 0, together / question.count, np.inf)
    return predicted(error, (above("count", "noisy_count > 0", question.count, np.zeros(())),))


def small_count(of_count: Floats, count: Floats, gamma: Floats) -> Condition:
    """The condition that the noise of a count is small compared with it.

    Russo et al. take the absolute value of the noisy count. No exact count is negative, so a negative one fails here.
    """
    with np.errstate(divide="ignore"):
        fraction = np.where(count > 0, of_count / count, np.inf)
    return at_most("count", "alpha_count / noisy_count <= gamma", fraction, gamma)


PLACES = ("numerator", "denominator")


@dataclass(frozen=True, slots=True)
class _Quotient(_Sums):
    """Pairs belong to the numerator and the denominator."""

    releases = 3

    lowers: tuple[Floats, Floats]
    uppers: tuple[Floats, Floats]
    epsilon_sums: tuple[ArrayLike, ArrayLike]

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        return largest(self.lowers[0], self.uppers[0]), largest(self.lowers[1], self.uppers[1])


def quotient_error(
    noisy_count: ArrayLike,
    *,
    lowers: Sequence[ArrayLike],
    uppers: Sequence[ArrayLike],
    epsilon_count: ArrayLike,
    epsilon_sums: Sequence[ArrayLike],
    beta: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
    method: Method = "auto",
) -> Prediction:
    """Predicted error of the quotient of two noisy sums over the same rows, with probability 1 - beta.

    `published` is alpha*_{s1/s2} of Russo et al. (2025, Proposition 3.7), with beta / 3 for each noise: all three keep
    their bounds with probability (1 - beta / 3)^3, which is at least 1 - beta. It needs positive ranges. `direct`
    needs a denominator whose range keeps away from zero, and is never larger: see `average_error`, with the sum below
    in place of the count. `auto` is `published` for positive ranges and `direct` for all others.

    Args:
        noisy_count: A released count of the rows.
        lowers: The least value of a row, for the sum above and for the sum below.
        uppers: The greatest, likewise.
        epsilon_count: What the count cost.
        epsilon_sums: What the two sums will cost.
        beta: How often the error may be larger.
        gamma: What Russo et al. (2025) call small: noise relative to what it is added to.
        delta: That of the count, and of each sum; 0 for Laplace noise.
        mechanism: `laplace`, `gaussian` (the classic calibration and its tail bound, as published) or `analytic`.
        method: `auto`, `published` or `direct`.

    Example:
        >>> hours_per_day = quotient_error(
        ...     5000, lowers=(1, 2), uppers=(10, 5), epsilon_count=0.05, epsilon_sums=(1.0, 1.0), beta=0.05
        ... )
        >>> round(hours_per_day.error, 4), hours_per_day.valid
        (0.0543, True)
    """
    chosen("mechanism", mechanism, MECHANISMS)
    chosen("method", method, METHODS)
    given = [pair(*named) for named in (("lowers", lowers), ("uppers", uppers), ("epsilon_sums", epsilon_sums))]
    above_ends, below_ends = (ranges(given[0][i], given[1][i]) for i in (0, 1))
    question = _Quotient(
        count=reals("noisy_count", noisy_count),
        lowers=(above_ends[0], below_ends[0]),
        uppers=(above_ends[1], below_ends[1]),
        epsilon_count=epsilon_count,
        epsilon_sums=given[2],
        beta=probabilities("beta", beta),
        gamma=probabilities("gamma", gamma),
        delta=delta,
        mechanism=mechanism,
    )
    positive = np.any(question.lowers[0] > 0) and np.any(question.lowers[1] > 0)
    return (
        _direct_quotient(question)
        if method == "direct" or (method == "auto" and not positive)
        else _published_quotient(question)
    )


def _published_quotient(question: _Quotient) -> Prediction:
    """Proposition 3.7."""
    count = question.count
    of_count = question.bound(1.0, question.epsilon_count, "epsilon_count")
    errors = [question.bound(s, e, "epsilon_sums") for s, e in zip(question.sizes, question.epsilon_sums, strict=True)]
    smallest_sum = [low * (count - of_count) - error for low, error in zip(question.lowers, errors, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (question.uppers[0] * (count + of_count) + errors[0]) / smallest_sum[1]
        error = size * (errors[0] / smallest_sum[0] + errors[1] / smallest_sum[1])
    sums = [_conditions(question, i, of_count, errors[i]) for i in (0, 1)]
    conditions = (small_count(of_count, count, question.gamma), *sums[0], *sums[1])
    return predicted(np.where((count > 0) & (smallest_sum[0] > 0) & (smallest_sum[1] > 0), error, np.inf), conditions)


def _conditions(question: _Quotient, i: int, of_count: Floats, of_sum: Floats) -> tuple[Condition, ...]:
    """Condition of Proposition 3.7 on one of the sums."""
    low, high, name = question.lowers[i], question.uppers[i], PLACES[i]
    smallest_sum = low * (question.count - of_count)
    return (
        positive_range(low, f"range of the {name}"),
        balance(
            low,
            high,
            question.epsilon_count,
            question.epsilon_sums[i],
            question.gamma,
            question.delta,
            question.mechanism,
            f"budget of the {name}",
        ),
        above(name, "lower (noisy_count - alpha_count) > alpha_sum", smallest_sum, of_sum + 0 * smallest_sum),
    )


def _direct_quotient(question: _Quotient) -> Prediction:
    """Half of beta for the noise of the quotient, half for how small the denominator can be."""
    nearest = np.maximum(np.maximum(question.lowers[1], -question.uppers[1]), 0.0)
    of_count = nearest * question.noise(question.epsilon_count, "epsilon_count")
    above_noise, below_noise = (
        size * question.noise(epsilon, "epsilon_sums")
        for size, epsilon in zip(question.sizes, question.epsilon_sums, strict=True)
    )
    apart = joint_error(question.mechanism, below_noise, of_count, question.beta)  # on one side: with beta / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        furthest = np.where(nearest > 0, question.sizes[0] / np.where(nearest > 0, nearest, 1.0), 0.0)
        together = joint_error(question.mechanism, above_noise, furthest * below_noise, question.beta / 2)
        smallest_sum = nearest * question.count - apart
        error = np.where(smallest_sum > 0, together / smallest_sum, np.inf)
    conditions = (
        above("range of the denominator", "its values keep away from zero", nearest, np.zeros(())),
        above(
            "denominator", "least |value| * noisy_count > noise", nearest * question.count, apart + 0 * question.count
        ),
    )
    return predicted(error, conditions)
