"""The error bounds of the query-budget note for means and variances of noisy sums (its equations 5 and 9).

They are upper bounds by tail inequalities, kept as published so that its users find them; the intervals of an answer
(`hedgerow.error_bars.intervals`) are exact and several times narrower.
"""

import math

from hedgerow.errors import ParameterError


def mean_bound(
    noisy_count: float, noisy_sum: float, sigma_count: float, sigma_sum: float, alpha: float
) -> float | None:
    """Bound on the error of noisy_sum / noisy_count, with probability 1 - alpha; None where there is no bound.

    Equation 5, under the condition (4) that the noisy count exceeds 2 sqrt(2 ln(4/alpha)) sigma_count.

    Example:
        >>> round(mean_bound(2000.0, 1000.0, 92.0, 92.0, 0.05), 4)
        0.3094
    """
    _check(alpha, sigma_count, sigma_sum)
    # Number of standard deviations within which Gaussian noise stays with probability 1 - alpha / 2.
    reach = math.sqrt(2 * math.log(4 / alpha))
    if not noisy_count > 2 * reach * sigma_count:
        return None
    first = reach * sigma_sum / noisy_count
    second = 2 * reach * abs(noisy_sum) * sigma_count + 2 * reach**2 * sigma_count * sigma_sum
    return first + second / noisy_count**2


def variance_bound(
    noisy_count: float,
    noisy_sum: float,
    noisy_square_sum: float,
    sigma_count: float,
    sigma_sum: float,
    sigma_square: float,
    alpha: float,
) -> float | None:
    """Bound on the error of the noisy variance, with probability 1 - 3 alpha / 2; None where there is no bound.

    The noisy variance is noisy_square_sum / noisy_count - (noisy_sum / noisy_count)^2. Equation 9, with the absolute
    value of the noisy sum, which the note leaves out: as printed the bound fails for negative means.

    Example:
        >>> round(variance_bound(2000.0, 1000.0, 650.0, 92.0, 92.0, 92.0, 0.05), 4)
        0.667
    """
    mean = mean_bound(noisy_count, noisy_sum, sigma_count, sigma_sum, alpha)
    square = mean_bound(noisy_count, noisy_square_sum, sigma_count, sigma_square, alpha)
    if mean is None or square is None:
        return None
    return square + mean * (mean + 2 * abs(noisy_sum) / noisy_count)


def _check(alpha: float, *sigmas: float) -> None:
    if not 0 < alpha < 1 or not all(math.isfinite(sigma) and sigma > 0 for sigma in sigmas):
        raise ParameterError(
            "alpha must lie between 0 and 1, and every sigma must be positive.",
            code="parameter-accuracy",
            hint="alpha is how often the bound may fail; sigma is the standard deviation of the noise.",
        )
