"""Propositions 3.2 to 3.5 of Russo et al. (2025): conditions for small noise of a count and of a sum.

They are asked for alone here; `average_error` and `quotient_error` report those that they rest on. Every
`beta` is that of one noise, and every `delta` that of one release.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.accounting import gaussian_epsilon, gaussian_mu
from hedgerow.arguments import (
    MECHANISMS,
    Floats,
    Mechanism,
    Number,
    budgets,
    chosen,
    non_negatives,
    plain,
    positives,
    probabilities,
    ranges,
    reals,
)
from hedgerow.distributions import Laplace
from hedgerow.error_bars.intervals import half_width
from hedgerow.errors import ParameterError
from hedgerow.special import ndtri, normal_quantile


def gaussian_sigma(
    epsilon: ArrayLike,
    delta: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    method: Literal["analytic", "classic"] = "analytic",
) -> Number:
    """The standard deviation of Gaussian noise that is (epsilon, delta)-DP.

    Privacy: `analytic` is the least that is (Balle and Wang 2018). `classic`, sensitivity sqrt(2 ln(1.25 / delta)) /
    epsilon, is proved for epsilon below 1, refused elsewhere, and up to 1.6 times as much.

    Example:
        >>> round(gaussian_sigma(0.5, 1e-6), 4), round(gaussian_sigma(0.5, 1e-6, method="classic"), 4)
        (8.0576, 10.5976)
    """
    chosen("method", method, ("analytic", "classic"))
    mechanism: Mechanism = "analytic" if method == "analytic" else "gaussian"
    epsilons, deltas = budgets("epsilon", epsilon, delta, mechanism)
    return plain(positives("sensitivity", sensitivity) * unit_noise(mechanism, epsilons, deltas))


def laplace_error(sensitivity: ArrayLike, epsilon: ArrayLike, beta: ArrayLike) -> Number:
    """Bound that Laplace noise exceeds, in either direction, with probability `beta` exactly (Definition 2.6).

    Example:
        >>> round(laplace_error(1.0, 0.1, 0.05), 4)
        29.9573
    """
    scale = positives("sensitivity", sensitivity) / positives("epsilon", epsilon)
    return plain(scale * reach("laplace", probabilities("beta", beta)))


def gaussian_error(sigma: ArrayLike, beta: ArrayLike, method: Literal["quantile", "tail"] = "quantile") -> Number:
    """Bound that Gaussian noise exceeds, in either direction, with probability at most `beta`.

    `quantile` is exact. `tail` is Definition 2.7 of Russo et al. (2025), sigma sqrt(2 ln(2 / beta)): 40 % more at 0.05.

    Example:
        >>> round(gaussian_error(10.0, 0.05), 4), round(gaussian_error(10.0, 0.05, method="tail"), 4)
        (19.5996, 27.162)
    """
    chosen("method", method, ("quantile", "tail"))
    mechanism: Mechanism = "analytic" if method == "quantile" else "gaussian"
    return plain(non_negatives("sigma", sigma) * reach(mechanism, probabilities("beta", beta)))


def unit_noise(mechanism: Mechanism, epsilon: Floats, delta: Floats) -> Floats:
    """The scale (Laplace) or standard deviation (Gaussian) of noise for a sensitivity of 1."""
    if mechanism == "laplace":
        return 1.0 / epsilon
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(1.25 / delta)) / epsilon
    return np.asarray(1.0 / _each_mu(epsilon, delta), dtype=np.float64)


def unit_epsilon(mechanism: Mechanism, noise: Floats, delta: Floats) -> Floats:
    """The epsilon with which noise for a sensitivity of 1 is as small as `noise`."""
    if mechanism == "laplace":
        return 1.0 / noise
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(1.25 / delta)) / noise
    return np.asarray(_each_epsilon(1.0 / noise, delta), dtype=np.float64)


def reach(mechanism: Mechanism, beta: Floats) -> Floats:
    """Bound that noise of scale, or standard deviation, 1 exceeds with probability at most `beta`.

    For the classic Gaussian mechanism it is the tail bound that Russo et al. (2025) use, for the others the quantile.
    """
    if mechanism == "laplace":
        return -np.log(beta)
    if mechanism == "gaussian":
        return np.sqrt(2.0 * np.log(2.0 / beta))
    return np.asarray(-ndtri(beta / 2.0), dtype=np.float64)


_each_mu = np.vectorize(lambda epsilon, delta: gaussian_mu(float(epsilon), float(delta)), otypes=[np.float64])
_each_epsilon = np.vectorize(lambda mu, delta: gaussian_epsilon(float(mu), float(delta)), otypes=[np.float64])


def joint_error(mechanism: Mechanism, first: Floats, second: Floats, beta: Floats) -> Floats:
    """Bound that the sum of two independent noises exceeds, in either direction, with probability `beta` exactly.

    `first` and `second` are their scales (Laplace) or standard deviations (Gaussian, of either calibration). As a
    function of the scales it is a norm, so it is at most the sum of what each noise exceeds alone.
    """
    if mechanism == "laplace":
        return np.asarray(_two_laplaces(first, second, beta), dtype=np.float64)
    return np.hypot(first, second) * reach("analytic", beta)


def _half_width(first: float, second: float, beta: float) -> float:
    return half_width([(1.0, Laplace(float(first))), (1.0, Laplace(float(second)))], float(beta))


_two_laplaces = np.vectorize(_half_width, otypes=[np.float64])


Flag = bool | NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Condition:
    """One precondition: its name, what it says, the numbers on its two sides, and whether it holds."""

    name: str
    statement: str
    left: Number
    right: Number
    holds: Flag

    def __str__(self) -> str:
        if isinstance(self.holds, bool):
            return f"{self.statement}: {self.left:.6g} and {self.right:.6g}, {'holds' if self.holds else 'fails'}"
        return f"{self.statement}: holds for {int(np.sum(self.holds))} of {self.holds.size}"


@dataclass(frozen=True, slots=True)
class Prediction:
    """A bound on an error, and whether its conditions hold.

    `valid` says that all `conditions` hold. Where it is False, `error` is what the formula gives all the same, or
    infinite, and nothing is promised about it.
    """

    error: Number
    valid: Flag
    conditions: tuple[Condition, ...]


def at_most(name: str, statement: str, left: Floats, right: Floats) -> Condition:
    """The condition that `left` is not above `right`."""
    return Condition(name, statement, plain(left), plain(right), flag(left <= right))


def above(name: str, statement: str, left: Floats, right: Floats) -> Condition:
    """The condition that `left` is above `right`."""
    return Condition(name, statement, plain(left), plain(right), flag(left > right))


def predicted(error: Floats, conditions: tuple[Condition, ...]) -> Prediction:
    """The prediction that rests on `conditions`; an error without end where the formula gives none."""
    valid = np.logical_and.reduce(np.broadcast_arrays(*(condition.holds for condition in conditions)))
    sensible = np.where(np.isnan(error) | (error < 0), np.inf, error)
    return Prediction(plain(sensible), flag(np.broadcast_to(valid, sensible.shape)), conditions)


def flag(value: NDArray[np.bool_] | np.bool_) -> Flag:
    """A bool where there is one, the array otherwise."""
    flags = np.asarray(value)
    return bool(flags) if flags.ndim == 0 else flags


def enough_rows(
    count: ArrayLike,
    *,
    epsilon_count: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> Condition:
    """Proposition 3.2: from so many rows on, a noisy count will be within gamma of itself with probability 1 - beta.

    Example:
        >>> print(enough_rows(1000, epsilon_count=0.1, beta=0.05))
        count >= alpha_count (1 + gamma) / gamma: 329.531 and 1000, holds
    """
    gammas = probabilities("gamma", gamma)
    needed = error_bound(1.0, epsilon_count, delta, beta, mechanism, "epsilon_count") * (1 + gammas) / gammas
    return at_most("rows", "count >= alpha_count (1 + gamma) / gamma", needed, reals("count", count))


def steady_sum(
    count: ArrayLike,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    epsilon_count: ArrayLike,
    epsilon_sum: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> tuple[Condition, ...]:
    """Proposition 3.3: conditions on the exact count under which a noisy sum will be within gamma of itself.

    It then is, with probability (1 - beta)^2. The first condition follows from the others.
    """
    rows, gammas = reals("count", count), probabilities("gamma", gamma)
    low, high = ranges(lower, upper)
    of_count = error_bound(1.0, epsilon_count, delta, beta, mechanism, "epsilon_count")
    of_sum = error_bound(largest(low, high), epsilon_sum, delta, beta, mechanism, "epsilon_sum")
    with np.errstate(divide="ignore"):
        fraction = np.where(rows > of_count, of_count / (rows - of_count), np.inf)
    return (
        positive_range(low),
        above("sum", "count * lower > alpha_sum", rows * low, of_sum),
        at_most("count", "alpha_count / (count - alpha_count) <= gamma", fraction, gammas),
        balance(low, high, epsilon_count, epsilon_sum, np.zeros(()), delta, mechanism),
    )


def sum_uncertainty(
    noisy_count: ArrayLike,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    epsilon_count: ArrayLike,
    epsilon_sum: ArrayLike,
    beta: ArrayLike,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> Number:
    """Proposition 3.4: what the noise of a sum, as a fraction of it, is at most, by a noisy count of what is summed.

    It holds with probability (1 - beta)^2 and is infinite where the sum may be zero.
    """
    low, high = ranges(lower, upper)
    of_count = error_bound(1.0, epsilon_count, delta, beta, mechanism, "epsilon_count")
    of_sum = error_bound(largest(low, high), epsilon_sum, delta, beta, mechanism, "epsilon_sum")
    smallest_sum = low * (reals("noisy_count", noisy_count) - of_count) - of_sum
    with np.errstate(divide="ignore"):
        return plain(np.where(smallest_sum > 0, of_sum / smallest_sum, np.inf))


def balanced_budget(
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    epsilon_count: ArrayLike,
    epsilon_sum: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> Condition:
    """Proposition 3.5: the sum has enough of the budget that its noise is within gamma of it when that of the count is.

    For the analytic Gaussian mechanism epsilons are not inversely proportional to noise, so the standard deviations
    are compared: upper sigma_sum <= lower sigma_count (1 - gamma) / (1 + gamma), of which the published form
    is a special case.

    Example:
        >>> print(balanced_budget(lower=18, upper=65, epsilon_count=0.1, epsilon_sum=1.0))
        upper / epsilon_sum <= lower / epsilon_count (1 - gamma) / (1 + gamma): 65 and 147.273, holds
    """
    low, high = ranges(lower, upper)
    return balance(low, high, epsilon_count, epsilon_sum, probabilities("gamma", gamma), delta, mechanism)


def balance(
    lower: Floats,
    upper: Floats,
    epsilon_count: ArrayLike,
    epsilon_sum: ArrayLike,
    gamma: Floats,
    delta: ArrayLike,
    mechanism: Mechanism,
    name: str = "budget",
) -> Condition:
    """The comparison of Proposition 3.5, with a gamma of zero that of 3.3."""
    chosen("mechanism", mechanism, MECHANISMS)
    for_count, deltas = budgets("epsilon_count", epsilon_count, delta, mechanism)
    for_sum, _ = budgets("epsilon_sum", epsilon_sum, delta, mechanism)
    share, size = (1 - gamma) / (1 + gamma), largest(lower, upper)
    factor = " (1 - gamma) / (1 + gamma)" if np.any(gamma > 0) else ""
    if mechanism != "analytic":
        statement = f"upper / epsilon_sum <= lower / epsilon_count{factor}"
        return at_most(name, statement, size / for_sum, lower / for_count * share)
    statement = f"upper sigma_sum <= lower sigma_count{factor}"
    of_sum, of_count = (unit_noise(mechanism, epsilon, deltas) for epsilon in (for_sum, for_count))
    return at_most(name, statement, size * of_sum, lower * of_count * share)


def error_bound(
    sensitivity: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, beta: ArrayLike, mechanism: Mechanism, name: str
) -> Floats:
    """Bound that the noise of one release exceeds with probability at most `beta`: icdf in Russo et al. (2025)."""
    chosen("mechanism", mechanism, MECHANISMS)
    epsilons, deltas = budgets(name, epsilon, delta, mechanism)
    factor = reach(mechanism, probabilities("beta", beta))
    return np.asarray(sensitivity, dtype=np.float64) * unit_noise(mechanism, epsilons, deltas) * factor


def largest(lower: Floats, upper: Floats) -> Floats:
    """The sensitivity of a sum: the largest absolute value of a row."""
    return np.maximum(np.abs(lower), np.abs(upper))


def positive_range(lower: Floats, name: str = "range") -> Condition:
    """The condition that everything that is added up is positive."""
    return above(name, "lower > 0", lower, np.zeros(()))


def race_to_the_top(noisy_sums: Sequence[float], sigmas: Sequence[float], beta: float) -> float:
    """Return a lower confidence limit, at 1 - `beta`, of a sum of non-negative contributions.

    A sum capped at 2^j for each person needs noise in proportion to 2^j. A small cap cuts off too much, a large one
    drowns the sum in noise. All caps are released together, and the one with the largest lower limit wins.

    Args:
        noisy_sums: The sum at each cap, with Gaussian noise.
        sigmas: The standard deviation of each noise.
        beta: How often the limit may lie above the uncapped sum.

    The limit is the largest of the limits at the single caps, each of which may fail with probability beta / J. Every
    capped sum is at most the uncapped one, so it is also a limit of the uncapped sum. There is no such upper limit.

    Example:
        >>> round(race_to_the_top([900.0, 1700.0, 2000.0], [10.0, 20.0, 200.0], 0.05), 1)
        1657.4
    """
    winner = leader(noisy_sums, margins(sigmas, beta))
    return max(0.0, noisy_sums[winner] - margins(sigmas, beta)[winner])


def margins(sigmas: Sequence[float], beta: float) -> list[float]:
    """Return the distance that each of J Gaussian noises exceeds with probability beta / J."""
    if not sigmas or not all(math.isfinite(sigma) and sigma >= 0 for sigma in sigmas) or not 0 < beta < 1:
        raise ParameterError("A race needs noise of at least one sum, and a beta between 0 and 1.", code="bad-race")
    quantile = -normal_quantile(beta / len(sigmas))
    return [sigma * quantile for sigma in sigmas]


def leader(noisy_sums: Sequence[float], margin: Sequence[float]) -> int:
    """Return the index of the sum with the largest lower limit; among equals the first, which has the smallest cap."""
    if len(noisy_sums) != len(margin) or not noisy_sums:
        raise ParameterError("A race needs as many sums as noises, and at least one.", code="bad-race")
    limits = [value - less for value, less in zip(noisy_sums, margin, strict=True)]
    return limits.index(max(limits))
