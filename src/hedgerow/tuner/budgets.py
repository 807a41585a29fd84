"""The question that a tuner answers, about an average or a quotient of two sums; and modes I to III, which answer it.

The modes are the budget of a sum, the number of rows, and the split of a budget between the count and the sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hedgerow.accuracy.propositions import error_bound, largest, reach, unit_epsilon, unit_noise
from hedgerow.arguments import (
    MECHANISMS,
    Floats,
    Mechanism,
    Number,
    budgets,
    chosen,
    pair,
    plain,
    positives,
    probabilities,
    ranges,
    reals,
)
from hedgerow.errors import ConditionNotMet, ParameterError

Budget = Number | tuple[Number, Number]
"""One epsilon; for a quotient that of the sum above and that of the sum below."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Number of rows needed, and epsilon of each sum.

    `min_count` is the number of rows from which the noisy count is likely (with probability 1 - beta) to be precise
    enough. `epsilon_sum` is a pair for quotients. `delta_sum` and `beta_sum` are those of each sum.
    """

    min_count: int | NDArray[np.int64]
    epsilon_sum: Budget
    delta_sum: Number
    beta_sum: Number


@dataclass(frozen=True, slots=True)
class Ask:
    """The parameters that all modes share, checked."""

    lowers: tuple[Floats, ...]
    uppers: tuple[Floats, ...]
    gamma: Floats
    mechanism: Mechanism

    @property
    def quotient(self) -> bool:
        """True if two sums are asked about."""
        return len(self.lowers) == 2

    @property
    def parts(self) -> int:
        """Number of releases: the count, and each sum."""
        return 1 + len(self.lowers)

    @property
    def budget_ratios(self) -> tuple[Floats, ...]:
        """Return how many times the budget of the count each sum needs, up to the factor of gamma.

        For ranges that keep away from zero upper / lower, as in Russo et al. (2025). Elsewhere no noise is small beside
        every possible sum; it is measured against the largest value instead, which makes it 1.
        """
        return tuple(_ratio_of_ends(low, high) for low, high in zip(self.lowers, self.uppers, strict=True))


def ask(lower: ArrayLike, upper: ArrayLike, gamma: ArrayLike, mechanism: Mechanism) -> Ask:
    """The parameters, or a refusal. Tuples and lists are pairs; a grid of ranges is a NumPy array."""
    chosen("mechanism", mechanism, MECHANISMS)
    pairs = [isinstance(ends, (tuple, list)) for ends in (lower, upper)]
    if pairs[0] != pairs[1]:
        raise ParameterError(
            "lower and upper must both be single, or both be pairs.",
            code="parameter-pair",
            hint="A pair is for a quotient of two sums: numerator and denominator.",
        )
    lowers = pair("lower", lower) if pairs[0] else (lower,)
    uppers = pair("upper", upper) if pairs[1] else (upper,)
    ranges_of_sums = [ranges(low, high) for low, high in zip(lowers, uppers, strict=True)]
    if len(ranges_of_sums) == 2 and np.any((ranges_of_sums[1][0] <= 0) & (ranges_of_sums[1][1] >= 0)):
        raise ParameterError(
            "The range of the denominator contains 0, so the quotient may not exist.",
            code="parameter-range",
            hint="Exchange the two sums, or divide by a count.",
        )
    lows, highs = zip(*ranges_of_sums, strict=True)
    return Ask(tuple(lows), tuple(highs), probabilities("gamma", gamma), mechanism)


def _ratio_of_ends(lower: Floats, upper: Floats) -> Floats:
    nearest = np.maximum(lower, -upper)
    return np.where(nearest > 0, largest(lower, upper) / np.where(nearest > 0, nearest, 1.0), 1.0)


ROUNDING = 2e-15
"""Relative amount by which epsilons are rounded up, so that conditions also hold in floating point."""


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
    """Rows needed, and epsilon of the sums, if the size is unknown (Russo et al. 2025, mode I).

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
        >>> tuning = unknown_size(epsilon_count=0.05, beta=0.05, lower=1, upper=10)
        >>> tuning.min_count, round(tuning.epsilon_sum, 4)
        (660, 0.6111)
    """
    question = ask(lower, upper, gamma, mechanism)
    betas = probabilities("beta", beta)
    of_count = error_bound(1.0, epsilon_count, delta, betas, mechanism, "epsilon_count")
    count = np.ceil(of_count * (1 + question.gamma) / question.gamma)
    epsilons, deltas = budgets("epsilon_count", epsilon_count, delta, mechanism)
    sums = epsilon_sums(question, epsilons, deltas)
    if mechanism == "gaussian" and any(np.any(epsilon >= 1) for epsilon in sums):
        raise ConditionNotMet(
            "A sum would need an epsilon of 1 or more, where the classic Gaussian mechanism is not proved private.",
            condition="epsilon_sum < 1",
            hint='Spend less on the count, narrow the range of values, or use mechanism="analytic".',
        )
    epsilons_of_sums = tuple(plain(epsilon) for epsilon in sums)
    return Tuning(
        int(count) if count.ndim == 0 else count.astype(np.int64),
        (epsilons_of_sums[0], epsilons_of_sums[1]) if len(epsilons_of_sums) == 2 else epsilons_of_sums[0],
        plain(deltas),
        plain(betas),
    )


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
    """Epsilon of the sums, after a noisy count was released (Russo et al. 2025, mode II).

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
    tuning = unknown_size(
        epsilon_count=epsilon_count, beta=beta, lower=lower, upper=upper, gamma=gamma, delta=delta, mechanism=mechanism
    )
    of_count = error_bound(1.0, epsilon_count, delta, beta, mechanism, "epsilon_count")
    if np.any(of_count > count * probabilities("gamma", gamma)):
        needed = int(np.max(np.ceil(of_count / np.asarray(gamma))))
        raise ConditionNotMet(
            "The noisy count is too small for what was spent on it: its noise is not small beside it, so no error can "
            "be predicted.",
            condition="alpha_count / noisy_count <= gamma",
            hint=f"It would have to be at least {needed:,}. Spend more on a count, or allow a larger gamma.",
        )
    return tuning


def epsilon_sums(question: Ask, epsilon_count: Floats, delta: Floats) -> tuple[Floats, ...]:
    """Return the smallest epsilon of each sum that meets Proposition 3.5."""
    factor = (1 + question.gamma) / (1 - question.gamma)
    if question.mechanism != "analytic":
        return tuple(ratio * epsilon_count * factor * (1 + ROUNDING) for ratio in question.budget_ratios)
    noise = unit_noise(question.mechanism, epsilon_count, delta) * (1 - ROUNDING)
    return tuple(unit_epsilon(question.mechanism, noise / (ratio * factor), delta) for ratio in question.budget_ratios)


def split_budget(
    sizes: ArrayLike,
    epsilons: ArrayLike,
    *,
    beta: float,
    lower: ArrayLike,
    upper: ArrayLike,
    gamma: float = 0.1,
    delta: float = 0.0,
    mechanism: Mechanism = "laplace",
) -> pa.Table:
    """Return the smallest split that predicts the error, for each size and each budget (Russo et al. 2025, mode III).

    The count gets the least that makes it precise enough at that size, each sum what Proposition 3.5 then asks for. A
    row is feasible if all of it together is within the budget, and is provably private (the classic Gaussian mechanism
    needs every epsilon below 1).

    Args:
        sizes: Guesses of the number of rows.
        epsilons: The most that the whole may cost.
        beta: How often the predicted error may be exceeded; shared out evenly over the count and the sums.
        lower: The least value of a row; a pair for a quotient of two sums.
        upper: The greatest, likewise.
        gamma: How large the noise may be, relative to what it is added to.
        delta: That of the whole, shared out evenly; 0 for Laplace noise.
        mechanism: `laplace`, `gaussian` or `analytic`.

    Returns:
        A table with `epsilon_max`, `size`, `epsilon_count`, `epsilon_sum` (lists of two for a quotient),
        `epsilon_total` and `feasible`, one row for each pair of a budget and a size.

    Example:
        >>> table = split_budget([10_000, 100_000], [0.041], beta=0.05, lower=1, upper=10)
        >>> [f"{total:.2e}" for total in table["epsilon_total"].to_pylist()], table["feasible"].to_pylist()
        (['5.37e-02', '5.37e-03'], [False, True])
    """
    question = ask(lower, upper, gamma, mechanism)
    if any(ends.ndim for ends in (*question.lowers, *question.uppers, question.gamma)):
        raise ParameterError(
            "A split has one range and one gamma; its grid is sizes by budgets.", code="parameter-number"
        )
    limits, rows = np.meshgrid(_listed("epsilons", epsilons), _listed("sizes", sizes), indexing="ij")
    share = _delta(delta, question)
    for_count = _count(rows.ravel(), question, probabilities("beta", beta) / question.parts, share)
    for_sums = epsilon_sums(question, for_count, share)
    total = for_count + sum(for_sums)
    provable = mechanism != "gaussian" or np.all([epsilon < 1 for epsilon in (for_count, *for_sums)], axis=0)
    return pa.table(
        {
            "epsilon_max": limits.ravel(),
            "size": rows.ravel(),
            "epsilon_count": for_count,
            "epsilon_sum": _sums(for_sums),
            "epsilon_total": total,
            "feasible": (total <= limits.ravel()) & provable,
        }
    )


def _count(rows: Floats, question: Ask, beta: Floats, delta: Floats) -> Floats:
    """The smallest epsilon with which a count of this many rows is precise enough (Proposition 3.2)."""
    noise = rows * question.gamma / (1 + question.gamma) / reach(question.mechanism, beta)
    return unit_epsilon(question.mechanism, noise * (1 - ROUNDING), delta)


def _delta(delta: float, question: Ask) -> Floats:
    """The delta of each release."""
    if question.mechanism == "laplace":
        if np.any(whole := reals("delta", delta)):
            raise ParameterError("Laplace noise has no delta, so delta must be 0.", code="parameter-delta")
        return whole
    return probabilities("delta", delta) / question.parts


def _sums(epsilons: Sequence[Floats]) -> Floats | pa.Array:
    if len(epsilons) == 1:
        return epsilons[0]
    return pa.FixedSizeListArray.from_arrays(np.stack(epsilons, axis=1).ravel(), 2)


def _listed(name: str, values: ArrayLike) -> Floats:
    listed = np.atleast_1d(positives(name, values))
    if listed.ndim > 1 or not listed.size:
        raise ParameterError(f"{name} must be a list of numbers.", code="parameter-number")
    return listed
