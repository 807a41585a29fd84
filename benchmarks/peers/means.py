"""The mean absolute value of a sum of independent noise."""

import math
from collections.abc import Sequence

from scipy.integrate import quad


def laplace(scales: Sequence[float]) -> float:
    """The mean of |x_1 + x_2 + …| for independent Laplace noise of these scales.

    By the characteristic function: (2/pi) times the integral over t > 0 of (1 - product of 1/(1 + s^2 t^2)) / t^2. The
    integral is cut at one, and 1/t put for t beyond it.
    """
    largest = max(abs(scale) for scale in scales)
    shares = [scale / largest for scale in scales if scale]

    def integrand(t: float) -> float:
        if t == 0.0:
            return sum(share * share for share in shares)
        log = sum(math.log1p((share * t) ** 2) for share in shares)
        return -math.expm1(-log) / (t * t)

    near, _ = quad(integrand, 0.0, 1.0)
    far, _ = quad(lambda u: -math.expm1(-sum(math.log1p((share / u) ** 2) for share in shares)), 0.0, 1.0)
    return largest * 2.0 / math.pi * (near + far)


def whole_laplace(scale: float) -> float:
    """The mean of |x| for whole numbers x with probability proportional to exp(-|x| / scale)."""
    q = math.exp(-1.0 / scale)
    return 2.0 * q / (1.0 - q * q)


def gaussian(sigmas: Sequence[float]) -> float:
    """The mean of |x_1 + x_2 + …| for independent Gaussian noise."""
    return math.sqrt(2.0 / math.pi) * math.hypot(*sigmas)


def whole_gaussian(sigma: float) -> float:
    """The mean of |x| for whole numbers x with probability proportional to exp(-x^2 / (2 sigma^2))."""
    if sigma > 20.0:
        return gaussian([sigma])
    weights = [math.exp(-x * x / (2.0 * sigma * sigma)) for x in range(1, math.ceil(40 * sigma) + 2)]
    return 2.0 * sum(x * weight for x, weight in enumerate(weights, start=1)) / (1.0 + 2.0 * sum(weights))
