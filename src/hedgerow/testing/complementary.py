"""Complementary tolerances: how near a noisy number may come before a test says that there is no noise in it."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfinv

from hedgerow.arguments import Floats, Number, non_negatives, plain, positives, reals
from hedgerow.errors import ConditionNotMet
from hedgerow.testing.flakiness import exponents


def complementary_laplace(sensitivity: ArrayLike, epsilon: ArrayLike, k: ArrayLike, *, step: float = 0.0) -> Number:
    """What Laplace noise falls short of, to either side, with probability 10^-k.

    Args:
        sensitivity: In l1.
        epsilon: The scale of the noise is sensitivity / epsilon.
        k: How seldom.
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
    """What Gaussian noise falls short of, to either side, with probability 10^-k; `step` as for Laplace noise.

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
    """What the error of a noisy mean falls short of, with probability 10^-k.

    Whatever the noisy count c, a mean within t of the exact one needs a noisy sum within t c of c times it. The noise
    of the sum is independent of c, symmetric, and likeliest at zero, so that is never likelier than noise below t c.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        count_tolerance: What the noise of the count exceeds with 10^-l, l = `partitions(k, 2)`.
        sum_complementary: What the noise of the centred sum, independent of the count's, falls short of with 10^-l.
        half_range: Half the width of the range, where the mean is cut to it: one at an end would be cut to the exact
            mean although there is noise.

    Example:
        >>> complementary_mean(count=90, centred_sum=45, count_tolerance=10, sum_complementary=0.5)
        0.005
    """
    rows, total = float(positives("count", count)), float(reals("centred_sum", centred_sum))
    found = _shared(rows, count_tolerance, sum_complementary)
    if half_range is not None:
        most = float(positives("half_range", half_range))
        _inside(total / rows, found, (-most, most))
    return found


def complementary_variance(
    *,
    count: float,
    centred_sum: float,
    square_sum: float,
    count_tolerance: float,
    square_complementary: float,
    half_range: float | None = None,
) -> float:
    """What the error of a noisy variance falls short of, with probability 10^-k.

    The argument is that of the mean, with the sum of squares given whatever the count and the sum came out as.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        square_sum: The exact sum of the squares of these.
        count_tolerance: What the noise of the count exceeds with 10^-l, l = `partitions(k, 2)`.
        square_complementary: What the noise of the squares, independent of the others, falls short of with 10^-l.
        half_range: Half the width of the range, where the variance is cut to the possible.

    Example:
        >>> complementary_variance(
        ...     count=90, centred_sum=45, square_sum=300, count_tolerance=10, square_complementary=2
        ... )
        0.02
    """
    rows, total = float(positives("count", count)), float(reals("centred_sum", centred_sum))
    squares = float(non_negatives("square_sum", square_sum))
    found = _shared(rows, count_tolerance, square_complementary)
    if half_range is not None:
        _inside(squares / rows - (total / rows) ** 2, found, (0.0, float(positives("half_range", half_range)) ** 2))
    return found


def _shared(count: float, count_tolerance: float, complementary: float) -> float:
    """A sum that is off by `complementary`, as it shows in the quotient by the largest count there may be."""
    most = max(1.0, count + float(non_negatives("count_tolerance", count_tolerance)))
    return float(non_negatives("complementary", complementary)) / most


def _inside(exact: float, tolerance: float, ends: tuple[float, float]) -> None:
    if not ends[0] < exact - tolerance <= exact + tolerance < ends[1]:
        raise ConditionNotMet(
            "The exact value is at an end of its range, and noise beyond the end is cut off: it may seem to be none.",
            condition="the exact value lies inside of the range",
            hint="Test with data whose mean and variance are not the least or the greatest possible.",
        )


def _on_grid(tolerance: Floats, scale: Floats, chance: Floats, step: float) -> Number:
    """The tolerance, or on a grid as many whole steps as are still seldom enough: |X| < T + 1/2 steps."""
    grid = float(non_negatives("step", step))
    if grid == 0.0:
        return plain(tolerance)
    if np.any(scale * chance <= grid):
        raise ConditionNotMet(
            "On this grid the noise is none at all more often than the test may fail.",
            condition="scale > 10^k steps",
            hint="Test several numbers at once with assert_noisy, or the law of many draws with assert_distribution.",
        )
    return plain(grid * np.floor(tolerance / grid - 0.5))
