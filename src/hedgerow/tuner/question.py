"""The question that a tuner answers, about an average or a quotient of two sums, and its answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.accuracy.propositions import largest
from hedgerow.arguments import MECHANISMS, Floats, Mechanism, Number, chosen, pair, probabilities, ranges
from hedgerow.errors import ParameterError

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
