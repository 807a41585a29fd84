"""Tolerances of noisy numbers in tests.

Each fails, although nothing is wrong, with probability at most 10^-k. The complementary ones are for the opposite
question: whether there is any noise at all.

Noise on count, centred sum (and sum of squares) is in a box except with a probability that the k of the parts decides:
`independent(k, 2)` for a mean and `independent(k, 3)` for a variance, or `partitions` if the noises depend on each
other. In the box, the quotient lies in a bracket.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfinv, ndtri_exp

from hedgerow.arguments import (
    Floats,
    Number,
    non_negative,
    non_negatives,
    plain,
    positive,
    positives,
    probability,
    real,
    whole,
)
from hedgerow.errors import ConditionNotMet, ParameterError

__all__ = [
    "LARGEST_K",
    "Bracket",
    "complementary_gaussian",
    "complementary_laplace",
    "complementary_mean",
    "complementary_variance",
    "gaussian",
    "independent",
    "integer",
    "k_of",
    "laplace",
    "mean",
    "partitions",
    "variance",
]

LARGEST_K = 300.0
"""10^-300 is about the smallest number that floats hold with all their digits."""


def exponents(k: ArrayLike) -> Floats:
    """`k` as floats above 0 and up to `LARGEST_K`."""
    numbers = positives("k", k)
    if np.any(numbers > LARGEST_K):
        raise ConditionNotMet(
            f"k is above {LARGEST_K:g}: floats do not hold a probability that small.",
            condition=f"k up to {LARGEST_K:g}",
            hint="A test that fails once in 10^23 runs is rare enough.",
        )
    return numbers


def k_of(flakiness: float) -> float:
    """The k of a flakiness.

    Example:
        >>> k_of(1e-9)
        9.0
    """
    return -math.log10(probability("flakiness", flakiness))


def partitions(k: ArrayLike, n: int) -> Number:
    """The k that each of `n` comparisons needs, so that all of them together fail with 10^-k at most.

    It holds for noises that depend on each other, too (the union bound).

    Example:
        >>> partitions(23, 10)
        24.0
    """
    return plain(exponents(k) + math.log10(whole("n", n)))


def independent(k: ArrayLike, n: int) -> Number:
    """The k that each of `n` independent parts needs, exactly: (1 - 10^-l)^n = 1 - 10^-k.

    Example:
        >>> round(independent(3, 2), 12), round(independent(3, 3), 12)
        (3.300921381306, 3.476976433563)
    """
    all_hold = np.log1p(-(10.0 ** -exponents(k)))
    return plain(-np.log10(-np.expm1(all_hold / whole("n", n))))


def laplace(sensitivity: ArrayLike, epsilon: ArrayLike, k: ArrayLike) -> Number:
    """The tolerance for Laplace noise of scale sensitivity / epsilon.

    Example:
        >>> round(laplace(1.0, 50.0, 23), 12)
        1.059189142777
    """
    scale = positives("sensitivity", sensitivity) / positives("epsilon", epsilon)
    return plain(scale * exponents(k) * math.log(10.0))


def gaussian(sigma: ArrayLike, k: ArrayLike) -> Number:
    """The tolerance for Gaussian noise.

    The quantile is found from the logarithm of its probability: 1 - 10^-k is 1 in floats from k = 17 on.

    Example:
        >>> round(gaussian(1.0, 23), 12), round(gaussian(1.0, 300), 6)
        (10.041637612176, 37.065788)
    """
    log_tail = -exponents(k) * math.log(10.0) - math.log(2.0)
    return plain(-positives("sigma", sigma) * ndtri_exp(log_tail))


def integer(tolerance: ArrayLike) -> Number:
    """The tolerance where the noisy number is rounded to a whole one: |round(X)| <= T means |X| < T + 1/2.

    So a half and more is rounded up, and less than a half down: the test is as sharp as the flakiness allows.

    Example:
        >>> integer(1.1), integer(2.4), integer(2.6)
        (1.0, 2.0, 3.0)
    """
    return plain(np.floor(non_negatives("tolerance", tolerance) + 0.5))


def complementary_laplace(sensitivity: ArrayLike, epsilon: ArrayLike, k: ArrayLike, *, step: float = 0.0) -> Number:
    """Bound that Laplace noise falls short of, to either side, with probability 10^-k.

    Args:
        sensitivity: In l1.
        epsilon: The scale of the noise is sensitivity / epsilon.
        k: The probability is 10^-k.
        step: Of the grid that the noisy number is on: 1 for a count, 0 for a grid too fine to matter. Noise of few
            steps is often none at all, so a grid needs a scale of more than 10^k steps.

    Example:
        >>> round(complementary_laplace(1.0, 1.0, 3), 11)
        0.00100050033
    """
    scale = positives("sensitivity", sensitivity) / positives("epsilon", epsilon)
    chance = 10.0 ** -exponents(k)
    return _on_grid(-scale * np.log1p(-chance), scale, chance, step)


def complementary_gaussian(sigma: ArrayLike, k: ArrayLike, *, step: float = 0.0) -> Number:
    """Bound that Gaussian noise falls short of, to either side, with probability 10^-k; `step` as for Laplace noise.

    Example:
        >>> round(complementary_gaussian(1.0, 3), 11)
        0.00125331447
    """
    scale = positives("sigma", sigma)
    chance = 10.0 ** -exponents(k)
    return _on_grid(scale * np.sqrt(2.0) * erfinv(chance), scale, chance, step)


def complementary_mean(
    *,
    count: float,
    centred_sum: float,
    count_tolerance: float,
    sum_complementary: float,
    half_range: float | None = None,
) -> float:
    """Bound that the error of a noisy mean falls short of, with probability 10^-k.

    Whatever the noisy count c, a mean within t of the exact one needs a noisy sum within t c of c times it. The noise
    of the sum is independent of c, symmetric, and likeliest at zero, so that is never likelier than noise below t c.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        count_tolerance: Bound that the noise of the count exceeds with probability 10^-l, l = `partitions(k, 2)`.
        sum_complementary: Likewise, that the noise of the centred sum, independent of the count's, falls short of.
        half_range: Half the width of the range, where the mean is cut to it: one at an end would be cut to the exact
            mean although there is noise.

    Example:
        >>> complementary_mean(count=90, centred_sum=45, count_tolerance=10, sum_complementary=0.5)
        0.005
    """
    rows, total = positive("count", count), real("centred_sum", centred_sum)
    bound = _shared(rows, count_tolerance, sum_complementary)
    if half_range is not None:
        half = positive("half_range", half_range)
        _inside(total / rows, bound, (-half, half))
    return bound


def complementary_variance(
    *,
    count: float,
    centred_sum: float,
    square_sum: float,
    count_tolerance: float,
    square_complementary: float,
    half_range: float | None = None,
) -> float:
    """Bound that the error of a noisy variance falls short of, with probability 10^-k.

    The argument is that of the mean, applied to the sum of squares whatever the noisy count and sum are.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        square_sum: The exact sum of the squares of these.
        count_tolerance: Bound that the noise of the count exceeds with probability 10^-l, l = `partitions(k, 2)`.
        square_complementary: Likewise, that the noise of the squares, independent of the others, falls short of.
        half_range: Half the width of the range, where the variance is cut to the possible.

    Example:
        >>> complementary_variance(
        ...     count=90, centred_sum=45, square_sum=300, count_tolerance=10, square_complementary=2
        ... )
        0.02
    """
    rows, total = positive("count", count), real("centred_sum", centred_sum)
    squares = non_negative("square_sum", square_sum)
    _possible_sums(rows, total, squares, half_range)
    bound = _shared(rows, count_tolerance, square_complementary)
    if half_range is not None:
        _inside(squares / rows - (total / rows) ** 2, bound, (0.0, positive("half_range", half_range) ** 2))
    return bound


def _shared(count: float, count_tolerance: float, complementary: float) -> float:
    """Return the error of the quotient by the largest possible count, for a sum that is off by `complementary`."""
    maximum = max(1.0, count + non_negative("count_tolerance", count_tolerance))
    return non_negative("complementary", complementary) / maximum


def _inside(exact: float, tolerance: float, ends: tuple[float, float]) -> None:
    if not ends[0] < exact - tolerance <= exact + tolerance < ends[1]:
        raise ConditionNotMet(
            "The exact value is at an end of its range, where noise beyond the end is cut off and may look like zero.",
            condition="the exact value lies inside of the range",
            hint="Test with data whose mean and variance are not the smallest or largest possible.",
        )


def _on_grid(tolerance: Floats, scale: Floats, chance: Floats, step: float) -> Number:
    """Return the tolerance, or on a grid as many whole steps as are still rare enough: |X| < T + 1/2 steps."""
    grid = non_negative("step", step)
    if grid == 0.0:
        return plain(tolerance)
    if np.any(scale * chance <= grid):
        raise ConditionNotMet(
            "On this grid the noise is zero more often than the test may fail.",
            condition="scale > 10^k steps",
            hint="Test several numbers at once with assert_noisy, or the law of many draws with assert_distribution.",
        )
    return plain(grid * np.floor(tolerance / grid - 0.5))


Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bracket of a noisy mean or variance, and the distance that covers it on both sides of the exact one."""

    lower: float
    upper: float
    tolerance: float

    @classmethod
    def around(cls, exact: float, ends: Pair) -> "Bracket":
        """The bracket with these ends."""
        lower, upper = ends
        return cls(lower, upper, max(upper - exact, exact - lower))


def mean(*, count: float, centred_sum: float, count_tolerance: float, sum_tolerance: float) -> Bracket:
    """The bracket of a noisy mean, measured from the middle of the range: noisy sum / max(noisy count, 1).

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle.
        count_tolerance: Bound that the noise of the count exceeds with probability 10^-l, l = `independent(k, 2)`.
        sum_tolerance: Likewise for the noise of the centred sum.

    Example:
        >>> part = 29.017315
        >>> average = mean(count=100, centred_sum=50, count_tolerance=part, sum_tolerance=4.5 * part)
        >>> round(average.lower, 5), round(average.upper, 5), round(average.tolerance, 5)
        (-1.13518, 2.54397, 2.04397)
    """
    rows = positive("count", count)
    total = real("centred_sum", centred_sum)
    counts = _counts(rows, count_tolerance)
    return Bracket.around(total / rows, _quotient(_around("sum_tolerance", total, sum_tolerance), counts))


def variance(
    *,
    count: float,
    centred_sum: float,
    square_sum: float,
    half_range: float,
    count_tolerance: float,
    sum_tolerance: float,
    square_tolerance: float,
) -> Bracket:
    """The bracket of a noisy variance: noisy squares / c - (noisy sum / c)^2 with c = max(noisy count, 1), cut.

    It is cut to what a variance can be, as the noisy one is.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        square_sum: The exact sum of the squares of these.
        half_range: Half the width of the range: a variance lies between 0 and its square.
        count_tolerance: Bound that the noise of the count exceeds with probability 10^-l, l = `independent(k, 3)`.
        sum_tolerance: Likewise for the noise of the centred sum.
        square_tolerance: Likewise for the noise of the sum of squares.

    Example:
        >>> part = 24.018028
        >>> noise = dict(count_tolerance=part, sum_tolerance=4.5 * part, square_tolerance=4.5**2 * part)
        >>> ends = variance(count=1000, centred_sum=50, square_sum=700, half_range=4.5, **noise)
        >>> round(ends.lower, 5), round(ends.upper, 5)
        (0.18239, 1.21556)
    """
    rows, maximum = positive("count", count), positive("half_range", half_range) ** 2
    total, squares = real("centred_sum", centred_sum), non_negative("square_sum", square_sum)
    _possible_sums(rows, total, squares, half_range)
    counts = _counts(rows, count_tolerance)
    second = _quotient(_around("square_tolerance", squares, square_tolerance), counts)
    first = _square(_quotient(_around("sum_tolerance", total, sum_tolerance), counts))
    ends = (_cut(second[0] - first[1], maximum), _cut(second[1] - first[0], maximum))
    return Bracket.around(squares / rows - (total / rows) ** 2, ends)


def _possible_sums(count: float, centred_sum: float, square_sum: float, half_range: float | None) -> None:
    """Raise unless `count` values within `half_range` of the middle can have these sums, up to rounding."""
    room = 1.0 + 1e-9
    farthest = math.inf if half_range is None else half_range
    if abs(centred_sum) > count * farthest * room:
        raise ParameterError("centred_sum is above count times half_range.", code="parameter-sums")
    if square_sum * count * room < centred_sum**2 or square_sum > count * farthest**2 * room:
        raise ParameterError(
            "square_sum must lie between centred_sum^2 / count and count times half_range^2.",
            code="parameter-sums",
            hint="It is the sum of the squares of the distances from the middle of the range.",
        )


def _around(name: str, exact: float, tolerance: float) -> Pair:
    distance = non_negative(name, tolerance)
    return exact - distance, exact + distance


def _counts(count: float, tolerance: float) -> Pair:
    """The noisy count, at least 1."""
    lower, upper = _around("count_tolerance", count, tolerance)
    return max(lower, 1.0), max(upper, 1.0)


def _quotient(totals: Pair, counts: Pair) -> Pair:
    """Return the smallest and largest quotient; for a positive end the larger count makes the smaller number."""
    low, high = totals
    return low / counts[low > 0], high / counts[high <= 0]


def _square(ends: Pair) -> Pair:
    """Return the smallest and largest square; zero if the ends differ in sign."""
    low, high = sorted(end * end for end in ends)
    return (0.0 if ends[0] <= 0.0 <= ends[1] else low), high


def _cut(value: float, maximum: float) -> float:
    return min(max(value, 0.0), maximum)
