"""Propositions 3.2 to 3.5 of Russo et al. (2025): when the noise of a count and of a sum is small beside them.

They are asked for alone here; `average_error` and `quotient_error` report those that they rest on. Every
`beta` is that of one noise, and every `delta` that of one release.
"""

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.accuracy.noise_error import reach, unit_noise
from hedgerow.accuracy.prediction import Condition, above, at_most
from hedgerow.arguments import (
    MECHANISMS,
    Floats,
    Mechanism,
    Number,
    budgets,
    chosen,
    plain,
    probabilities,
    ranges,
    reals,
)


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
    least = low * (reals("noisy_count", noisy_count) - of_count) - of_sum
    with np.errstate(divide="ignore"):
        return plain(np.where(least > 0, of_sum / least, np.inf))


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
    if mechanism != "analytic":
        statement = "upper / epsilon_sum <= lower / epsilon_count (1 - gamma) / (1 + gamma)"
        return at_most(name, statement, size / for_sum, lower / for_count * share)
    statement = "upper sigma_sum <= lower sigma_count (1 - gamma) / (1 + gamma)"
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
