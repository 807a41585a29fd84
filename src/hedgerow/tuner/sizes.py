"""Modes I and II: what a sum needs, and how many rows, given what was or will be spent on the count."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.accuracy.noise_error import unit_epsilon, unit_noise
from hedgerow.accuracy.propositions import error_bound
from hedgerow.arguments import Floats, Mechanism, budgets, plain, probabilities, reals
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.tuner.parameters import Ask, ask
from hedgerow.tuner.tuning import Tuning

ROUNDING = 2e-15
"""Relative: epsilons are rounded up by it, so that what they must reach is reached in floating point, too."""


def unknown_size(
    *,
    epsilon_count: ArrayLike,
    beta: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> Tuning:
    """How many rows, and how much for the sums, before anything is known of the size (Russo et al. 2025, mode I).

    With that many rows the noisy count is precise enough with probability 1 - beta, and with that much for each sum
    `average_error` (for pairs `quotient_error`) can then predict the error: the conditions of Propositions 3.6 and 3.7.
    For a range with zero in it, noise is measured against the largest value M instead of the smallest: the error of the
    average is then at most 2 gamma M / (1 + gamma).

    Args:
        epsilon_count: What the count will cost; an array for a grid.
        beta: How often the noise of the count may exceed its bound, and that of each sum.
        lower: The least value of a row; a pair for a quotient of two sums; a NumPy array for a grid.
        upper: The greatest, likewise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of the count, and that of each sum; 0 for Laplace noise.
        mechanism: `laplace`, `gaussian` (the classic calibration, as published) or `analytic`.

    Example:
        >>> found = unknown_size(epsilon_count=0.05, beta=0.05, lower=1, upper=10)
        >>> found.min_count, round(found.epsilon_sum, 4)
        (660, 0.6111)
    """
    asked = ask(lower, upper, gamma, mechanism)
    betas = probabilities("beta", beta)
    of_count = error_bound(1.0, epsilon_count, delta, betas, mechanism, "epsilon_count")
    count = np.ceil(of_count * (1 + asked.gamma) / asked.gamma)
    epsilons, deltas = budgets("epsilon_count", epsilon_count, delta, mechanism)
    found = epsilon_sums(asked, epsilons, deltas)
    _provable(found, mechanism)
    each = tuple(plain(epsilon) for epsilon in found)
    return Tuning(_whole(count), (each[0], each[1]) if len(each) == 2 else each[0], plain(deltas), plain(betas))


def known_size(
    noisy_count: float,
    *,
    epsilon_count: ArrayLike,
    beta: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    gamma: ArrayLike = 0.1,
    delta: ArrayLike = 0.0,
    mechanism: Mechanism = "laplace",
) -> Tuning:
    """How much for the sums, once a noisy count was released (Russo et al. 2025, mode II).

    Args:
        noisy_count: The released count.
        epsilon_count: What it cost.
        beta: As for `unknown_size`, like the rest.
        lower: The least value of a row; a pair for a quotient of two sums.
        upper: The greatest, likewise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of the count, and that of each sum.
        mechanism: `laplace`, `gaussian` or `analytic`.

    Raises:
        ConditionNotMet: The noise of the count is not small beside it.

    Example:
        >>> round(known_size(9971, epsilon_count=0.05, beta=0.05, lower=1, upper=100).epsilon_sum, 2)
        6.11
    """
    count = reals("noisy_count", noisy_count)
    if count.ndim:
        raise ParameterError("noisy_count must be one number.", code="parameter-number")
    found = unknown_size(
        epsilon_count=epsilon_count, beta=beta, lower=lower, upper=upper, gamma=gamma, delta=delta, mechanism=mechanism
    )
    of_count = error_bound(1.0, epsilon_count, delta, beta, mechanism, "epsilon_count")
    if np.any(of_count > count * probabilities("gamma", gamma)):
        raise ConditionNotMet(
            "The noisy count is too small for what was spent on it: its noise is not small beside it, so no error can "
            "be predicted.",
            condition="alpha_count / noisy_count <= gamma",
            hint=f"It would have to be at least {_needed(of_count, gamma):,}. Spend more on a count, or allow a larger "
            "gamma.",
        )
    return found


def epsilon_sums(asked: Ask, epsilon_count: Floats, delta: Floats) -> tuple[Floats, ...]:
    """For each sum, the least epsilon that meets Proposition 3.5."""
    factor = (1 + asked.gamma) / (1 - asked.gamma)
    if asked.mechanism != "analytic":
        return tuple(spread * epsilon_count * factor * (1 + ROUNDING) for spread in asked.spreads)
    noise = unit_noise(asked.mechanism, epsilon_count, delta) * (1 - ROUNDING)
    return tuple(unit_epsilon(asked.mechanism, noise / (spread * factor), delta) for spread in asked.spreads)


def _provable(epsilons: tuple[Floats, ...], mechanism: Mechanism) -> None:
    if mechanism == "gaussian" and any(np.any(epsilon >= 1) for epsilon in epsilons):
        raise ConditionNotMet(
            "A sum would need an epsilon of 1 or more, where the classic Gaussian mechanism is not proved private.",
            condition="epsilon_sum < 1",
            hint='Spend less on the count, narrow the range of values, or use mechanism="analytic".',
        )


def _needed(of_count: Floats, gamma: ArrayLike) -> int:
    return int(np.max(np.ceil(of_count / np.asarray(gamma))))


def _whole(count: Floats) -> int | NDArray[np.int64]:
    return int(count) if count.ndim == 0 else count.astype(np.int64)
