"""How wrong a quotient of two sums will be: predicted from a noisy count, before the sums are bought."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.accuracy.average import METHODS, Method, small_count
from hedgerow.accuracy.joint import joint_error
from hedgerow.accuracy.noise_error import unit_noise
from hedgerow.accuracy.prediction import Condition, Prediction, above, predicted
from hedgerow.accuracy.propositions import balance, error_bound, largest, positive_range
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

PLACES = ("numerator", "denominator")


@dataclass(frozen=True, slots=True)
class _Quotient:
    """What both formulas need, checked. Pairs belong to the sum above and the sum below."""

    count: Floats
    lowers: tuple[Floats, Floats]
    uppers: tuple[Floats, Floats]
    epsilon_count: ArrayLike
    epsilon_sums: tuple[ArrayLike, ArrayLike]
    beta: Floats
    gamma: Floats
    delta: ArrayLike
    mechanism: Mechanism

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        return largest(self.lowers[0], self.uppers[0]), largest(self.lowers[1], self.uppers[1])

    def noise(self, epsilon: ArrayLike, name: str) -> Floats:
        return unit_noise(self.mechanism, *budgets(name, epsilon, self.delta, self.mechanism))

    def bound(self, sensitivity: ArrayLike, epsilon: ArrayLike, name: str) -> Floats:
        return error_bound(sensitivity, epsilon, self.delta, self.beta / 3, self.mechanism, name)


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
    """How far the quotient of two noisy sums over the same rows will be from the exact one, with probability 1 - beta.

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
    asked = _Quotient(
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
    positive = np.any(asked.lowers[0] > 0) and np.any(asked.lowers[1] > 0)
    return _direct(asked) if method == "direct" or (method == "auto" and not positive) else _published(asked)


def _published(asked: _Quotient) -> Prediction:
    """Proposition 3.7."""
    count = asked.count
    of_count = asked.bound(1.0, asked.epsilon_count, "epsilon_count")
    errors = [asked.bound(s, e, "epsilon_sums") for s, e in zip(asked.sizes, asked.epsilon_sums, strict=True)]
    least = [low * (count - of_count) - error for low, error in zip(asked.lowers, errors, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = (asked.uppers[0] * (count + of_count) + errors[0]) / least[1]
        error = size * (errors[0] / least[0] + errors[1] / least[1])
    sums = [_conditions(asked, i, of_count, errors[i]) for i in (0, 1)]
    conditions = (small_count(of_count, count, asked.gamma), *sums[0], *sums[1])
    return predicted(np.where((count > 0) & (least[0] > 0) & (least[1] > 0), error, np.inf), conditions)


def _conditions(asked: _Quotient, i: int, of_count: Floats, of_sum: Floats) -> tuple[Condition, ...]:
    """What Proposition 3.7 asks of one of the sums."""
    low, high, name = asked.lowers[i], asked.uppers[i], PLACES[i]
    least = low * (asked.count - of_count)
    return (
        positive_range(low, f"range of the {name}"),
        balance(
            low,
            high,
            asked.epsilon_count,
            asked.epsilon_sums[i],
            asked.gamma,
            asked.delta,
            asked.mechanism,
            f"budget of the {name}",
        ),
        above(name, "lower (noisy_count - alpha_count) > alpha_sum", least, of_sum + 0 * least),
    )


def _direct(asked: _Quotient) -> Prediction:
    """Half of beta for the noise of the quotient, half for how small the denominator can be."""
    nearest = np.maximum(np.maximum(asked.lowers[1], -asked.uppers[1]), 0.0)
    of_count = nearest * asked.noise(asked.epsilon_count, "epsilon_count")
    above_noise, below_noise = (
        size * asked.noise(epsilon, "epsilon_sums")
        for size, epsilon in zip(asked.sizes, asked.epsilon_sums, strict=True)
    )
    apart = joint_error(asked.mechanism, below_noise, of_count, asked.beta)  # on one side: with beta / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        furthest = np.where(nearest > 0, asked.sizes[0] / np.where(nearest > 0, nearest, 1.0), 0.0)
        together = joint_error(asked.mechanism, above_noise, furthest * below_noise, asked.beta / 2)
        least = nearest * asked.count - apart
        error = np.where(least > 0, together / least, np.inf)
    conditions = (
        above("range of the denominator", "its values keep away from zero", nearest, np.zeros(())),
        above("denominator", "least |value| * noisy_count > noise", nearest * asked.count, apart + 0 * asked.count),
    )
    return predicted(error, conditions)
